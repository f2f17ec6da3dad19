"""Every figure of plots, charts and traces shows all that is drawn in it. For those of papers see test_reproduce.py."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import quiclab
from conftest import SCENARIO
from quiclab import plots, traces
from quiclab.drawings import traces as trace_figure
from quiclab.drawings.plots.inside import covered, drawn, outside

SECOND = """
[[flow]]
name = "large"
client = "client"
server = "server"
start = "100 ms"
application = { type = "bulk", size = "3 MB" }
"""
"""Beside it the first download is small: its own panel could do with a tenth of the height."""


@pytest.fixture(scope="module")
def two() -> quiclab.Run:
    text = SCENARIO.replace('"1 BDP"', '"200 kB"').replace("300 kB", "20 kB").replace('loss = "1 %"', "")
    return quiclab.Scenario.from_text(text + SECOND).run()


@pytest.mark.parametrize("kind", [kind for kind in plots.PLOTS if kind not in ("air", "playback")])
def test_plots_of_runs(run: quiclab.Run, two: quiclab.Run, kind: str) -> None:
    cell = Path(__file__).parents[1] / "examples" / "cell.toml"
    # Only a link layer has air time.
    for one in (run, two) if kind != "air" else (quiclab.Scenario.from_file(cell).run(),):
        figure = one.plot(kind=kind)
        assert outside(figure) == [] and covered(figure) == []
        assert drawn(figure) >= len(figure.axes)
        assert all(axes.get_ylim()[0] == 0 for axes in figure.axes), "from zero"


ROWS: list[tuple[Any, ...]] = [
    # Facet, group, x, two values: in the second panel all is larger, and one run has no value.
    (facet, group, x, 10.0 ** (4 * facet) * (x + group) * (1 + repetition / 9), None if x == 3 and facet else 1.0 * x)
    for facet in (0, 1)
    for group in (1, 2)
    for x in (1, 2, 3)
    for repetition in range(4)
]
TABLE = pa.table(dict(zip(("f", "g", "x", "v", "w"), map(list, zip(*ROWS, strict=True)), strict=True)))


@pytest.mark.parametrize("log", ["", "x", "y", "xy", "v"])
@pytest.mark.parametrize("value", ["v", "w"])
@pytest.mark.parametrize("kind", plots.CHARTS)
def test_charts_of_sweeps(kind: str, value: str, log: str) -> None:
    along: dict[str, Any] = {"x": "x", "y": value, "group": "g"}
    if kind == "ecdf":
        along = {"x": value, "group": "g"}
    elif kind == "heatmap":
        along = {"x": "x", "y": "g", "value": value}
    for facet in (None, "f"):
        figure = plots.chart(TABLE, kind, plots.Choice(**along, facet=facet, log=log))
        assert outside(figure) == [] and covered(figure) == []
        assert drawn(figure) >= len(figure.axes)


def test_traces(tmp_path: Path) -> None:
    (tmp_path / "drive.csv").write_text(traces.generate("lte-driving", seed=3, duration_s=40), encoding="utf-8")
    # The last bin is longer than what is left of the trace.
    figure = trace_figure.draw(traces.read(tmp_path / "drive.csv"), "drive", 300)
    assert outside(figure) == [] and covered(figure) == []
    assert drawn(figure) >= 2


def test_what_reaches_out_is_found() -> None:
    """For every sort of artist, and only where it is drawn by data."""
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 2], [0, 5], label="line")
    axes.scatter([1], [6], label="points")
    axes.bar([1], [7], label="bar")
    axes.errorbar([1], [1], yerr=[8], fmt="none")
    axes.fill_between([0, 1], [0, 9], label="area")
    axes.annotate("10", (1, 10))
    axes.imshow([[1]], extent=(0, 1, 0, 11), aspect="auto", label="image")
    axes.stairs([12], [0, 1], label="stairs")
    axes.axhline(1, label="across")
    axes.axvspan(0, 1, label="span")
    axes.text(0.5, 20, "above", transform=axes.get_yaxis_transform().frozen())
    axes.plot([0, 1], [2, 2], transform=axes.transAxes, label="by the panel")
    axes.set(xlim=(-1, 3), ylim=(-10, 20))
    assert outside(figure) == [] and covered(figure) == []
    axes.set_ylim(-10, 4)
    found = outside(figure)
    assert [text.split("to ", 1)[1].split(" along")[0] for text in found] == ["5", "6", "7", "9", "9", "10", "11", "12"]
    axes.set(xlim=(0.9, 0.95), ylim=(-10, 20))
    assert len(outside(figure)) == 9 and all("along x" in text for text in outside(figure))
