"""The limits of axes, set when everything is drawn: nothing drawn lies outside of them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def from_zero(rows: "Iterable[Sequence[Axes]]") -> None:
    """For panels whose rows share a vertical axis: from zero to the greatest of all that is drawn in the row.

    Setting one limit of a shared axis fixes both, for all its panels: so it is done once, when all of them are drawn.
    """
    for row in rows:
        row[0].set_ylim(bottom=0)


def at_least(axes: "Axes", bottom: float, top: float) -> None:
    """Sets the vertical limits so that both numbers and everything drawn are inside."""
    axes.set_ylim(min(bottom, axes.dataLim.ymin), max(top, axes.dataLim.ymax))
