"""Logarithmic axes whose labels need no TeX: a dollar in a figure is a dollar (see `style`)."""

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def set_logarithmic(axes: "Axes", which: Literal["x", "y"], base: float = 10) -> None:
    """Makes an axis logarithmic. Matplotlib chooses the ticks and which of them have labels, like 10² and 2·10⁻³."""
    scale = axes.set_xscale if which == "x" else axes.set_yscale
    scale("log", base=base)
    label_powers(axes.xaxis if which == "x" else axes.yaxis, base)


def label_powers(axis: "Axis", base: float = 10, linthresh: float | None = None) -> None:
    """Labels the ticks of a logarithmic axis, or of one that is linear up to `linthresh`, in plain characters."""
    from matplotlib.ticker import LogFormatterSciNotation

    class Powers(LogFormatterSciNotation):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return without_tex(str(super().__call__(x, pos)))

    axis.set_major_formatter(Powers(base=base, linthresh=linthresh))
    axis.set_minor_formatter(Powers(base=base, linthresh=linthresh))


def without_tex(label: str) -> str:
    r"""A label of matplotlib's own formatters, `$\mathdefault{2\times10^{-3}}$`, in plain characters: 2·10⁻³."""
    label = re.sub(r"^\$\\mathdefault\{(.*)\}\$$", r"\1", label).replace(r"\times", "·")
    return re.sub(r"\^\{(-?\d+)\}", lambda found: found[1].translate(_RAISED), label)
