"""The class of all figures: one of matplotlib that a notebook shows without being told to."""

from typing import Any

from matplotlib import figure

from quiclab.results.attached import NotAttachedError, attached


class Figure(figure.Figure):
    """A `matplotlib.figure.Figure` that a notebook shows as the value of a cell, without `%matplotlib inline`.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> figure = run.plot(kind="rtt")
    >>> figure
    <Figure size 900x300 with 1 Axes>
    >>> figure.savefig("figure.pdf")

    It does not belong to pyplot, so it is shown once and needs no `close`.
    """

    @attached
    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """For IPython: the picture, and the size at which it is shown."""
        raise NotAttachedError
