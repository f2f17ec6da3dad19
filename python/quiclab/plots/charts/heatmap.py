"""Heat maps: the mean of the runs in each cell, as a colour and, while there is room, as a number."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.plots.charts.labels import tick, value_text
from quiclab.plots.charts.panels import Axis, Panel, Panels, point
from quiclab.plots.charts.places import name_places
from quiclab.plots.downsample import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NUMBERS = 150
"""Cells that have their number written in them."""


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A grid with a place for each pair of values; without a run it stays empty. All panels have the same colours."""
    from matplotlib.colors import LogNorm, Normalize

    assert all_.y is not None, "a heat map has a vertical axis"
    grid = _grid(panel, all_.x, all_.y, all_)
    whole = np.asarray([_grid(other, all_.x, all_.y, all_) for other in all_.panels])
    least, greatest = float(np.nanmin(whole)), float(np.nanmax(whole))
    scale = LogNorm if "v" in all_.choice.log and least > 0 else Normalize
    norm = scale(least, greatest)
    image = axes.imshow(grid, origin="lower", aspect="auto", cmap="viridis", norm=norm, interpolation="nearest")
    axes.grid(visible=False)
    if grid.size <= _MOST_NUMBERS and len(all_.panels) == 1:
        for row, column in zip(*np.nonzero(~np.isnan(grid)), strict=True):
            bright = float(norm(grid[row, column])) > 0.6
            colour = "black" if bright else "white"
            axes.text(column, row, tick(grid[row, column]), ha="center", va="center", color=colour, fontsize=7)
    name_places(axes, all_.x)
    axes.set_xlim(-0.5, len(all_.x.values) - 0.5)
    axes.set_yticks(range(len(all_.y.values)), [value_text(value) for value in all_.y.values])
    if panel is all_.panels[-1]:
        figure = axes.figure
        shown = [cell for cell in figure.axes if cell.get_visible()]
        figure.colorbar(image, ax=shown, label=all_.choice.value_label or all_.value_label)


def _grid(panel: Panel, x: Axis, y: Axis, all_: Panels) -> Series:
    grid = np.full((len(y.values), len(x.values)), np.nan)
    cells: dict[tuple[int, int], list[float]] = {}
    places = zip(x.positions(panel.rows["x"]), y.positions(panel.rows["y"]), panel.rows["value"], strict=True)
    for column, row, value in places:
        cells.setdefault((int(row), int(column)), []).append(value)
    for (row, column), values in cells.items():
        found = point(np.asarray(values), all_.choice)
        assert found is not None, "a cell has a run"
        grid[row, column] = found.middle
    return grid
