"""Legends that cover nothing."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def legend_above(figure: "Figure", panels: "Iterable[Axes]", columns: int | None = None) -> None:
    """A legend above all panels of a figure with constrained layout: what these panels have, each label once.

    `columns`: default one for each label, which gives one line.
    """
    found: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(list(found.values()), list(found), loc="outside upper center", ncols=columns or len(found))
