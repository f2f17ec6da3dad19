"""Heat maps: the mean of the runs in each cell, as a colour and, while there is room, as a number."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.drawings.plots import around_zero, logarithmic
from quiclab.drawings.plots.charts import parts
from quiclab.drawings.plots.charts.labels import tick, value_text
from quiclab.drawings.plots.charts.panels import Axis, Cell, Panel, Panels, point
from quiclab.drawings.plots.charts.places import name_places
from quiclab.values.downsampling import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

_MOST_NUMBERS = 150
"""Cells that have their number written in them."""


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A grid with a place for each pair of values; without a run it stays empty. All panels have the same colours.

    Hatched, with their number, where some runs have no value. With a spread the interval of each mean is below it.
    """
    from matplotlib.colors import LogNorm, Normalize, SymLogNorm

    assert all_.y is not None, "a heat map has a vertical axis"
    grid = _grid(panel, all_.x, all_.y, all_)
    whole = np.asarray([_grid(other, all_.x, all_.y, all_) for other in all_.panels])
    least, greatest = float(np.nanmin(whole)), float(np.nanmax(whole))
    # Linear around 0, if there are values that have no logarithm.
    linear = around_zero.linear_up_to(whole.ravel())
    if "v" not in all_.choice.log:
        norm: Normalize = Normalize(least, greatest)
    else:
        norm = LogNorm(least, greatest) if linear is None else SymLogNorm(linear, vmin=least, vmax=greatest, base=10)
    image = axes.imshow(grid, origin="lower", aspect="auto", cmap="viridis", norm=norm, interpolation="nearest")
    axes.grid(visible=False)
    numbers = grid.size <= _MOST_NUMBERS and len(all_.panels) == 1
    for (column, row), cell in sorted(_places(panel, all_.x, all_.y).items(), key=lambda place: place[0][::-1]):
        found, part = grid[row, column], cell.part
        empty = np.isnan(found)
        colour = "black" if empty or float(norm(found)) > 0.6 else "white"
        if not part.whole and not empty:
            axes.add_patch(_hatched(column, row, colour))
        lines = [tick(found), *_spread(cell, all_)] if numbers and not empty else []
        if not part.whole:
            lines.append(parts.text(part))
        if lines:
            axes.text(column, row, "\n".join(lines), ha="center", va="center", color=colour, fontsize=7)
    name_places(axes, all_.x)
    axes.set_xlim(-0.5, len(all_.x.values) - 0.5)
    axes.set_yticks(range(len(all_.y.values)), [value_text(value) for value in all_.y.values])
    if panel is all_.panels[-1]:
        figure = axes.figure
        shown = [cell for cell in figure.axes if cell.get_visible()]
        bar = figure.colorbar(image, ax=shown, label=all_.choice.value_label or all_.value_label)
        if isinstance(norm, LogNorm):
            logarithmic.label_powers(bar.ax.yaxis)
        elif linear is not None and isinstance(norm, SymLogNorm):
            around_zero.label_powers(bar.ax.yaxis, linear)


def _spread(cell: Cell, all_: Panels) -> list[str]:
    """The interval of the mean, or the quantiles of the median; nothing for a single run, or if nobody asked."""
    found = point(cell.values, all_.choice)
    if all_.choice.spread is None or found is None or found.low == found.high:
        return []
    if all_.choice.spread == "quantiles":
        return [f"{tick(found.low)}\N{EN DASH}{tick(found.high)}"]
    return [f"\N{PLUS-MINUS SIGN}{tick((found.high - found.low) / 2)}"]


def _hatched(column: float, row: float, colour: str) -> "Rectangle":
    """What lies over a cell that shows a part of its runs."""
    from matplotlib.patches import Rectangle

    return Rectangle(
        (column - 0.5, row - 0.5), 1, 1, fill=False, hatch=parts.HATCH, linewidth=0, edgecolor=colour, alpha=0.25
    )


def _grid(panel: Panel, x: Axis, y: Axis, all_: Panels) -> Series:
    grid = np.full((len(y.values), len(x.values)), np.nan)
    for (column, row), cell in _places(panel, x, y).items():
        if (found := point(cell.values, all_.choice)) is not None:
            grid[row, column] = found.middle
    return grid


def _places(panel: Panel, x: Axis, y: Axis) -> dict[tuple[int, int], Cell]:
    """The cells by column and row."""
    cells = panel.cells()
    columns, rows = x.positions([pair[0] for pair in cells]), y.positions([pair[1] for pair in cells])
    return {(int(column), int(row)): cell for column, row, cell in zip(columns, rows, cells.values(), strict=True)}
