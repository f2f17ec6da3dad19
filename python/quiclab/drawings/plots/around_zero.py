"""Logarithmic axes that are linear around 0, where some of the values have no logarithm."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from quiclab.drawings.plots.logarithmic import set_logarithmic, without_tex

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


def show_all(axes: "Axes", which: Literal["x", "y"], values: Iterable[float]) -> None:
    """Makes an axis logarithmic; linear around 0, if some of the values that will be drawn are 0 or negative."""
    linear = linear_up_to(values)
    if linear is None:
        set_logarithmic(axes, which)
        return
    scale = axes.set_xscale if which == "x" else axes.set_yscale
    scale("symlog", linthresh=linear)
    label_powers(axes.xaxis if which == "x" else axes.yaxis, linear)


def linear_up_to(values: Iterable[float]) -> float | None:
    """The power of ten up to which an axis must be linear to show all these values; None if all are positive.

    It is not above the least of them, but for what is less than a hundred-millionth of the greatest.
    """
    found = [value for value in values if math.isfinite(value)]
    if all(value > 0 for value in found):
        return None
    sizes = [abs(value) for value in found if value != 0]
    if not sizes:
        return 1.0
    return 10.0 ** math.floor(math.log10(max(min(sizes), max(sizes) * _LEAST)))


_LEAST = 1e-8
"""Of the greatest value, below which an axis does not tell values apart."""


def label_powers(axis: "Axis", linear: float) -> None:
    """Labels the ticks of an axis that is linear up to a number. Powers below that stand too close to 0."""
    from matplotlib.ticker import LogFormatterSciNotation

    class Powers(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            if 0 < abs(x) < linear * _WHOLE:
                return ""
            return without_tex(str(super().__call__(x, pos)))

    axis.set_major_formatter(Powers(linthresh=linear))
    axis.set_minor_formatter(Powers(linthresh=linear))


_WHOLE = 1 - 1e-9
"""A power of ten is not always one exactly."""
