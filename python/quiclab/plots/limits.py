"""The limits of axes, set when everything is drawn: nothing drawn lies outside of them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def from_zero(rows: "Iterable[Sequence[Axes]]") -> None:
    """For panels whose rows share a vertical axis: from zero to the greatest of all that is drawn in the row.

    Setting one limit of a shared axis fixes both, for all its panels: so it is done once, when all of them are drawn.
    """
    for row in rows:
        row[0].set_ylim(bottom=0)


def at_least(axes: "Axes", bottom: float, top: float) -> None:
    """Sets the vertical limits so that both numbers and everything drawn are inside."""
    axes.set_ylim(min(bottom, axes.dataLim.ymin), max(top, axes.dataLim.ymax))


def with_whole_marks(figure: "Figure") -> "Figure":
    """The same figure, whose marks at the left and the right edge are not cut in half by it.

    In the style of all figures lines end at the edges. A panel with marks gets a margin, unless its limits were set.
    """
    for axes in figure.axes:
        has_marks = any(line.get_marker() not in _NO_MARKS for line in axes.lines)
        if has_marks and axes.get_xmargin() == 0 and axes.get_autoscalex_on():
            axes.margins(x=_MARGIN)
    return figure


_MARGIN = 0.05
"""Of the width of a panel."""
_NO_MARKS = (None, "None", "none", " ", "")
