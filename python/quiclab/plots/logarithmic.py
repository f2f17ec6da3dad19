"""Logarithmic axes whose labels need no TeX: a dollar in a figure is a dollar (see `style`)."""

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_WHOLE = 1 - 1e-9
"""A power of ten is not always one exactly."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def set_logarithmic(axes: "Axes", which: Literal["x", "y"], base: float = 10, values: Iterable[float] = ()) -> None:
    """Makes an axis logarithmic. Matplotlib chooses the ticks and which of them have labels, like 10² and 2·10⁻³.

    If some of the values that will be drawn are 0 or negative, the axis is linear around 0, and has a place for them.
    """
    scale = axes.set_xscale if which == "x" else axes.set_yscale
    linear = linear_up_to(values, base)
    if linear is None:
        scale("log", base=base)
    else:
        scale("symlog", base=base, linthresh=linear)
    label_powers(axes.xaxis if which == "x" else axes.yaxis, base, linear)


def linear_up_to(values: Iterable[float], base: float = 10) -> float | None:
    """The power of the base up to which an axis must be linear to show all these values; None if all are positive.

    It is not above the least of them, but for what is less than a hundred-millionth of the greatest.
    """
    found = [value for value in values if math.isfinite(value)]
    if all(value > 0 for value in found):
        return None
    sizes = [abs(value) for value in found if value != 0]
    if not sizes:
        return 1.0
    return float(base ** math.floor(math.log(max(min(sizes), max(sizes) * _LEAST), base)))


_LEAST = 1e-8
"""Of the greatest value, below which an axis does not tell values apart."""


def label_powers(axis: "Axis", base: float = 10, linthresh: float | None = None) -> None:
    """Labels the ticks of a logarithmic axis, or of one that is linear up to `linthresh`, in plain characters."""
    from matplotlib.ticker import LogFormatterSciNotation

    class Powers(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            if linthresh is not None and 0 < abs(x) < linthresh * _WHOLE:
                # Powers in the linear part stand too close to each other and to 0.
                return ""
            return without_tex(str(super().__call__(x, pos)))

    axis.set_major_formatter(Powers(base=base, linthresh=linthresh))
    axis.set_minor_formatter(Powers(base=base, linthresh=linthresh))


def without_tex(label: str) -> str:
    r"""A label of matplotlib's own formatters, `$\mathdefault{2\times10^{-3}}$`, in plain characters: 2·10⁻³."""
    label = re.sub(r"^\$\\mathdefault\{(.*)\}\$$", r"\1", label).replace(r"\times", "·")
    return re.sub(r"\^\{(-?\d+)\}", lambda found: found[1].translate(_RAISED), label)
