"""Marks at the edges of a panel, which are drawn whole."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
