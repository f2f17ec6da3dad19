"""Runs that did not finish: a statistic of the others always says how many runs it covers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes

import quiclab
from conftest import SCENARIO, Command
from quiclab import plots, statistics

SWEEP = (
    SCENARIO.replace('duration = "20 s"', 'duration = "0.9 s"')
    + """
[sweep]
repetitions = 10
series = ["connection"]
link.cell.delay = ["10 ms", "40 ms", "400 ms"]
"""
)
"""Of ten downloads nine, six and none are complete when the run ends."""

COUNTS = ["9/10", "6/10", "0/10"]
SAID = (
    "completion (s): covers 0 to 9 of 10 runs at 3 of 3 points; the other runs have no value: not completed, or failed"
)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> quiclab.Sweep:
    return quiclab.sweep(quiclab.Scenario.from_text(SWEEP), out=tmp_path_factory.mktemp("sweep") / "s")


def draw(sweep: quiclab.Sweep, kind: str, **choice: Any) -> Axes:
    return sweep.plot(None, kind, **choice).axes[0]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_statistics_have_the_number_of_all_runs_beside_those_that_count(sweep: quiclab.Sweep) -> None:
    for table in (sweep.means("completion_s"), sweep.quantiles("completion_s")):
        assert list(zip(table["n"].to_pylist(), table["total"].to_pylist(), strict=True)) == [(9, 10), (6, 10), (0, 10)]
    assert sweep.means("goodput_mbps")["n"].to_pylist() == [10] * 3
    (told,) = statistics.parts(sweep.means("completion_s", "goodput_mbps").to_pylist())
    assert told == "connection.download." + SAID.replace("completion (s)", "completion_s")


def test_what_is_said_of_parts() -> None:
    def told(*places: tuple[int, int]) -> str | None:
        return statistics.part_told("x", [statistics.Part(*place) for place in places])

    assert told((3, 3), (2, 2)) is told() is None
    assert told((1, 3)) == "x: covers 1 of 3 runs; the other runs have no value: not completed, or failed"
    assert str(told((1, 3), (3, 3), (2, 3))).startswith("x: covers 1 to 2 of 3 runs at 2 of 3 points;")
    assert str(told((1, 3), (3, 4))).startswith("x: covers 1 of 3 to 3 of 4 runs at 2 of 2 points;")


def test_a_run_that_failed_counts_among_all() -> None:
    table = pa.table({"run": [1, 2], "error": [None, "a reason"], "v": [1.0, None]})
    (row,) = statistics.means(table, ["v"], []).to_pylist()
    assert (row["n"], row["total"], row["mean"]) == (1, 2, 1.0)


@pytest.mark.parametrize("kind", ["line", "bar", "box"])
def test_each_point_of_a_part_of_the_runs_says_so(sweep: quiclab.Sweep, kind: str) -> None:
    axes = draw(sweep, kind, x="delay_ms", y="completion_s")
    assert sorted(texts(axes)) == sorted(COUNTS)
    # A value at which no run finished keeps its place.
    places = {text.get_text(): text.xy[0] for text in axes.texts}  # type: ignore[attr-defined]
    assert places == dict(zip(COUNTS, (10, 40, 400) if kind == "line" else (0, 1, 2), strict=True))
    left, right = axes.get_xlim()
    assert left <= min(places.values()) and max(places.values()) <= right
    assert texts(draw(sweep, kind, x="delay_ms", y="goodput_mbps")) == []


def test_points_of_a_part_of_the_runs_are_hollow_and_bars_and_boxes_hatched() -> None:
    """The means at 1 and 3 cover all runs, that at 2 does not."""
    table = pa.table({"x": [1, 1, 2, 2, 3, 3], "v": [1.0, 1.0, 2.0, None, 3.0, 3.0]})

    def axes(kind: str) -> Axes:
        return plots.chart(table, kind, plots.Choice(x="x", y="v")).axes[0]

    solid, dashed = axes("line").lines
    np.testing.assert_array_equal(np.asarray(solid.get_ydata()), [1, np.nan, 3])
    np.testing.assert_array_equal(np.asarray(dashed.get_ydata()), [1, 2, 3])
    assert (dashed.get_markerfacecolor(), list(dashed.get_markevery())) == ("white", [1])  # type: ignore[arg-type]
    assert solid.get_linestyle() == "-" != dashed.get_linestyle()
    for kind in ("bar", "box"):
        assert [bool(patch.get_hatch()) for patch in axes(kind).patches] == [False, True, False]


def test_a_distribution_ends_below_one(sweep: quiclab.Sweep) -> None:
    axes = draw(sweep, "ecdf", x="completion_s", group="delay_ms")
    assert [np.asarray(line.get_ydata()).max() for line in axes.lines] == [0.9, 0.6, 0.0]
    values = np.sort([row for row in sweep.runs["connection.download.completion_s"].to_pylist()[:10] if row])
    np.testing.assert_allclose(np.asarray(axes.lines[0].get_xdata())[1:], values)
    np.testing.assert_allclose(np.asarray(axes.lines[0].get_ydata())[1:], np.arange(1, 10) / 10)
    assert texts(axes) == COUNTS
    together = draw(sweep, "ecdf", x="completion_s")
    assert (np.asarray(together.lines[0].get_ydata()).max(), texts(together)) == (0.5, ["15/30"])


def test_a_heat_map_says_it_in_the_cell() -> None:
    table = pa.table({"a": [1, 1, 2, 2], "b": ["x"] * 4, "v": [4.0, None, None, None]})
    axes = plots.chart(table, "heatmap", plots.Choice(x="a", y="b", value="v")).axes[0]
    assert texts(axes) == ["4.00\n1/2", "0/2"]
    assert [bool(patch.get_hatch()) for patch in axes.patches] == [True]


def test_a_heat_map_of_many_cells_or_panels_says_it_too() -> None:
    cells = [(a, b) for a in range(20) for b in range(10)]
    many = {"a": [a for a, _ in cells] * 2, "b": [b for _, b in cells] * 2, "v": [1.0] * 200 + [None] * 200}
    axes = plots.chart(pa.table(many), "heatmap", plots.Choice(x="a", y="b", value="v")).axes[0]
    assert texts(axes) == ["1/2"] * 200
    faceted = {"a": [1, 1, 1, 1], "b": ["x"] * 4, "c": [1, 1, 2, 2], "v": [4.0, None, 5.0, 5.0]}
    panels = plots.chart(pa.table(faceted), "heatmap", plots.Choice(x="a", y="b", value="v", facet="c")).axes
    assert [texts(axes) for axes in panels[:2]] == [["1/2"], []]


def test_over_time_runs_that_failed_do_not_hide_the_others() -> None:
    values = [*([1.0] * 10), *([2.0] * 10), *([float("nan")] * 40)]
    table = pa.table({"time_s": [t / 10 for t in range(10)] * 6, "v": values})
    axes = plots.chart(table, "line", plots.Choice(x="time_s", y="v")).axes[0]
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in axes.lines])
    assert np.nanmax(drawn) == 1.5


def test_over_time_a_line_is_dashed_when_runs_have_ended() -> None:
    two = SWEEP.replace('"0.9 s"', '"20 s"').replace("repetitions = 10", "repetitions = 2")
    made = quiclab.sweep(quiclab.Scenario.from_text(two))
    figure = made.plot(None, x="time_s", y="cwnd_bytes", subject="download server", where={"delay_ms": 40})
    solid, dashed = figure.axes[0].lines
    ends = sorted(made.runs["duration_s"].to_pylist()[2:4])
    shown = np.asarray(solid.get_xdata())[~np.isnan(np.asarray(solid.get_ydata()))]
    later = np.asarray(dashed.get_xdata())[~np.isnan(np.asarray(dashed.get_ydata()))]
    assert shown.max() <= ends[0] < later.max() <= ends[1]
    assert "cwnd (bytes): covers 1 of 2 runs" in figure.get_suptitle().replace("\n", " ")


def test_the_title_says_it(sweep: quiclab.Sweep) -> None:
    for title in (None, "", "Mine"):
        figure = sweep.plot(None, x="delay_ms", y="completion_s", title=title)
        assert figure.get_suptitle().replace("\n", " ").endswith(SAID)
    assert "no value" not in sweep.plot(None, x="delay_ms", y="goodput_mbps").get_suptitle()


def test_the_commands_warn(command: Command) -> None:
    (command.folder / "s.toml").write_text(SWEEP, encoding="utf-8")
    result = command("sweep", "s.toml", "--out", "s", "--show", "completion_s", "--show", "goodput_mbps")
    warning = f"warning: connection.download.{SAID.replace('completion (s)', 'completion_s')}\n"
    # Of those that are not complete nothing drew that matters, which is another warning.
    same, said = result.stderr.splitlines(keepends=True)
    assert (result.returncode, said) == (0, warning)
    assert same.startswith("warning: all 10 repetitions gave the same results in 1 of 3 combinations")
    assert "(9 of 10)" in result.stdout and "(6 of 10)" in result.stdout and "- (0 of 10)" in result.stdout
    assert result.stdout.count(" of 10)") == 3, "goodput is that of all"
    told = json.loads(command("sweep", "s.toml", "--out", "s", "--json").stdout)
    assert [f"warning: {text}\n" for text in told["warnings"]] == [same, warning]
    of_completion = [row for row in told["means"] if row["column"].endswith("completion_s")]
    assert [(row["n"], row["total"]) for row in of_completion] == [(9, 10), (6, 10), (0, 10)]
    result = command("plot", "s", "--x", "delay_ms", "--y", "completion_s", "--out", "a.svg")
    assert (result.returncode, result.stderr) == (0, f"warning: {SAID}\n")
    result = command("plot", "s", "--x", "delay_ms", "--y", "goodput_mbps", "--out", "a.svg")
    assert (result.returncode, result.stderr) == (0, "")


def test_figures_of_parts_are_drawn(sweep: quiclab.Sweep, tmp_path: Path) -> None:
    for kind in ("line", "bar", "box", "ecdf"):
        along: dict[str, Any] = {"x": "completion_s"} if kind == "ecdf" else {"x": "delay_ms", "y": "completion_s"}
        sweep.plot(tmp_path / f"{kind}.png", kind, **along, facet="repetition")
        assert (tmp_path / f"{kind}.png").read_bytes().startswith(b"\x89PNG")
