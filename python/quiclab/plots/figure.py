"""The class of all figures: one of matplotlib that a notebook shows without being told to."""

from io import BytesIO
from typing import Any

from matplotlib import figure

_PIXELS_PER_INCH = 150
"""Of the picture, which is shown at two thirds of its size: sharp on screens of high resolution."""
_SHOWN_PER_INCH = 100


class Figure(figure.Figure):
    """A `matplotlib.figure.Figure` that a notebook shows as the value of a cell, without `%matplotlib inline`.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> figure = run.plot(kind="rtt")
    >>> figure
    <Figure size 900x300 with 1 Axes>
    >>> figure.savefig("figure.pdf")

    It does not belong to pyplot, so it is shown once and needs no `close`.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """For IPython: the picture, and the size at which it is shown."""
        from quiclab.plots.style import styled

        file = BytesIO()
        with styled():
            self.savefig(file, format="png", dpi=_PIXELS_PER_INCH, metadata={"Software": None})
        width, height = (round(float(inches) * _SHOWN_PER_INCH) for inches in self.get_size_inches())
        return file.getvalue(), {"width": width, "height": height}
