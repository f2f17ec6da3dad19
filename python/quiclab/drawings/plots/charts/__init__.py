"""Charts of many runs, by naming columns: each kind one file and one line in `CHARTS`."""

from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING

from quiclab._quiclab import Error
from quiclab.drawings.plots.around_zero import show_all
from quiclab.drawings.plots.charts import bar, box, ecdf, heatmap, line
from quiclab.drawings.plots.charts.labels import value_text
from quiclab.drawings.plots.charts.panels import Panel, Panels, panels
from quiclab.drawings.plots.looks import current, styled
from quiclab.results.choice import Choice
from quiclab.results.figure import Figure
from quiclab.values import arguments
from quiclab.values.plain_text import plain
from quiclab.values.suggestions import hint

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

    from quiclab.results.figure import Figure

__all__ = ["CHARTS", "Choice", "chart", "chart_with_note"]

CHARTS: dict[str, Callable[["Axes", Panel, Panels], None]] = {
    "line": line.draw,
    "bar": bar.draw,
    "box": box.draw,
    "ecdf": ecdf.draw,
    "heatmap": heatmap.draw,
}
"""Kind of chart: what draws one panel of it."""

_PANELS_IN_A_ROW = 3
_MOST_TICKS = 12
_LETTERS_PER_INCH = 13
"""Of the title."""


def chart(table: "pa.Table", kind: str, choice: Choice, title: str = "") -> "Figure":
    """Draws the columns of a table that `choice` names. Raises `Error` if a column is missing or of the wrong type.

    >>> runs = quiclab.sweep("examples/sweep.toml").runs
    >>> choice = quiclab.plots.Choice(x="ack_ratio", y="goodput_mbps", group="loss.probability")
    >>> figure = quiclab.plots.chart(runs.arrow, "line", choice)

    If some runs have no value, the figure shows how many have one, and says so below its title.
    """
    return chart_with_note(table, kind, choice, title)[0]


def chart_with_note(table: "pa.Table", kind: str, choice: Choice, title: str = "") -> "tuple[Figure, str | None]":
    """The same, and the note about runs without a value, or None."""
    arguments.text("kind", kind, f"one of {', '.join(CHARTS)}")
    if kind not in CHARTS:
        raise Error(f"no chart {kind!r}: there are {', '.join(CHARTS)}{hint(kind, CHARTS)}")
    found = panels(table, kind, choice)
    with styled():
        return _page(found, kind, choice, title), found.note


def _page(found: Panels, kind: str, choice: Choice, title: str) -> "Figure":
    # Not through pyplot: a Figure by itself belongs to no window and no global list.

    columns, rows, size = _layout(len(found.panels))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for place, cell in enumerate(axes.flat):
        if place >= len(found.panels):
            cell.set_visible(False)
            continue
        panel = found.panels[place]
        # First the scale, by which some kinds lay out what they draw.
        if "x" in choice.log and found.x.numeric and not found.x.places:
            show_all(cell, "x", found.x.values)
            if len(found.x.values) <= _MOST_TICKS:
                # What was run, and not the powers of ten between which it lies.
                cell.set_xticks(found.x.values, [value_text(value) for value in found.x.values])
                cell.minorticks_off()
        if "y" in choice.log and found.y is None:
            show_all(cell, "y", found.heights(kind))
        CHARTS[kind](cell, panel, found)
        if panel.title:
            cell.set_title(panel.title, loc="left")
        if place % columns == 0:
            cell.set_ylabel(choice.y_label or found.y_label)
        if place + columns >= len(found.panels):
            cell.set_xlabel(choice.x_label or found.x_label)
            # Of shared axes only the last row has labels, and above an empty cell there would be none.
            cell.tick_params(labelbottom=True)
    _legend(figure, found)
    heading = choice.title if choice.title is not None else title
    note = wrap(found.note, int(_LETTERS_PER_INCH * size[0])) if found.note else []
    lines = [plain(heading)] if heading and (current().titles or choice.title is not None) else []
    if current().titles:
        lines += note
    if lines:
        figure.suptitle("\n".join(lines), fontweight="bold", fontsize=9)
    return figure


def _layout(panels: int) -> tuple[int, int, tuple[float, float]]:
    """Columns and rows of panels, and the size of the figure in inches."""
    look = current()
    columns = 1 if look.narrow else min(panels, _PANELS_IN_A_ROW)
    rows = -(-panels // columns)
    if look.width is None:
        return columns, rows, (7.0 if columns == 1 else 4.2 * columns, 4.4 if rows == 1 else 3.4 * rows + 0.6)
    # A golden rectangle for a panel alone, and no panel higher than what stands in one column.
    return columns, rows, (look.width, min(0.62 * look.width / columns, 2.4) * rows + 0.4)


def _legend(figure: "Figure", found: Panels) -> None:
    """One for all panels; a panel may lack some of the groups."""
    handles = {
        label: handle for axes in figure.axes for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    labels = [label for label in found.labels if label in handles]
    if found.legend and len(labels) > 1:
        look = current()
        most = 4 if len(found.panels) == 1 else 7
        if look.width is not None:
            # The handle and the distances take as much as some six letters.
            most = max(1, int(_LETTERS_PER_INCH * 1.3 * look.width) // (max(map(len, labels)) + 6))
        columns = min(len(labels), most)
        shown = [handles[label] for label in labels]
        figure.legend(shown, labels, title=found.legend, loc="outside lower center", ncols=columns)
