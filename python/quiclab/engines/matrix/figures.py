"""Heat maps of a matrix: for each pair of stacks a figure, with a panel for what is varied beyond two axes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.drawings import plots
from quiclab.drawings.plots.charts import Choice, chart
from quiclab.drawings.plots.charts.labels import label

if TYPE_CHECKING:
    import pyarrow as pa

_FIRST = ("rate_mbps", "rtt_ms", "loss_percent", "queue")
"""What is an axis rather than a panel."""
_MOST_FIGURES = 64
_MOST_PANELS = 30
_MOST_PLACES = 200


def write(out: Path, table: "pa.Table", parameters: Sequence[str]) -> list[Path]:
    """Writes the figures of a table of runs; returns their paths. There is none unless two parameters are varied."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = [row for row in table.to_pylist() if row["goodput_mbps"] is not None]
    own = [name for name in parameters if name not in ("client", "server")]
    varied = [name for name in own if len({row[name] for row in rows}) > 1]
    axes = sorted(varied, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))[:2]
    if len(axes) < 2 or any(len({row[name] for row in rows}) > _MOST_PLACES for name in axes):
        return []
    value = "utilisation" if all(row["utilisation"] is not None for row in rows) else "goodput_mbps"
    beside = [name for name in varied if name not in axes]
    written = []
    for client, server in list(dict.fromkeys((row["client"], row["server"]) for row in rows))[:_MOST_FIGURES]:
        mine = [row for row in rows if (row["client"], row["server"]) == (client, server)]
        panels = [", ".join(f"{label(name, [])} {row[name]}" for name in beside) for row in mine]
        kept = list(dict.fromkeys(panels))[:_MOST_PANELS]
        chosen = [(row, panel) for row, panel in zip(mine, panels, strict=True) if panel in kept]
        columns = {name: [row[name] for row, _ in chosen] for name in (*axes, value)}
        drawn = pa.table({**columns, "at": [panel for _, panel in chosen]})
        choice = Choice(x=axes[0], y=axes[1], value=value, facet="at" if beside else None)
        figure = chart(drawn, "heatmap", choice, f"{client} from {server}: means of {label(value, [])}")
        path = out / f"heatmap-{client}-{server}.png"
        plots.save_figures([figure], path)
        written.append(path)
    return written
