"""Charts of sweeps: what is drawn is what the tables say."""

import json
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import quiclab
from conftest import SCENARIO, Command
from quiclab import plots
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.drawings.plots.style import styled

SWEEP = (
    SCENARIO
    + """
[sweep]
repetitions = 4
series = ["queue", "connection"]
transport.ack_ratio = [10, 1]
link.cell.delay = ["10 ms", "20 ms", "40 ms"]
"""
)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> quiclab.Sweep:
    return quiclab.sweep(quiclab.Scenario.from_text(SWEEP), out=tmp_path_factory.mktemp("sweep") / "s")


def draw(sweep: quiclab.Sweep, kind: str, **choice: Any) -> Axes:
    return sweep.plot(None, kind, **choice).axes[0]


def mean(sweep: quiclab.Sweep, ratio: int, delay: float, column: str = "goodput_mbps") -> dict[str, Any]:
    rows = sweep.means(column).to_pylist()
    (row,) = (row for row in rows if (row["transport.ack_ratio"], row["link.cell.delay_ms"]) == (ratio, delay))
    found: dict[str, Any] = row
    return found


def test_a_line_goes_through_the_means_and_its_band_is_the_interval(sweep: quiclab.Sweep) -> None:
    axes = draw(sweep, "line", x="link.cell.delay", y="goodput_mbps", group="ack_ratio")
    # In rising order, whatever that of the file is.
    assert [line.get_label() for line in axes.lines] == ["1", "10"]
    for line, band, ratio in zip(axes.lines, axes.collections, (1, 10), strict=True):
        assert list(np.asarray(line.get_xdata())) == [10, 20, 40]
        expected = [mean(sweep, ratio, delay) for delay in (10, 20, 40)]
        np.testing.assert_allclose(np.asarray(line.get_ydata()), [row["mean"] for row in expected])
        corners = np.asarray(band.get_paths()[0].vertices)[:, 1]
        assert min(corners) == pytest.approx(min(row["low"] for row in expected))
        assert max(corners) == pytest.approx(max(row["high"] for row in expected))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("delay (ms)", "goodput (Mbit/s)")


def test_medians_and_quantiles(sweep: quiclab.Sweep) -> None:
    axes = draw(sweep, "line", x="delay_ms", y="goodput_mbps", spread="quantiles", confidence=0.5)
    quantiles = sweep.quantiles("goodput_mbps", by=["delay_ms"], q=[0.25, 0.5, 0.75]).to_pydict()
    np.testing.assert_allclose(np.asarray(axes.lines[0].get_ydata()), quantiles["q50"])
    corners = np.asarray(axes.collections[0].get_paths()[0].vertices)[:, 1]
    assert (min(corners), max(corners)) == pytest.approx((min(quantiles["q25"]), max(quantiles["q75"])))


def test_the_title_says_over_what_the_means_are(sweep: quiclab.Sweep) -> None:
    def title(kind: str, **choice: Any) -> str:
        return sweep.plot(None, kind, **choice).get_suptitle()

    both = {"x": "delay_ms", "y": "goodput_mbps"}
    assert title("line", **both) == "bulk, 24 runs, means with 95 % intervals (Student), over all ack_ratio"
    assert title("bar", **both, group="ack_ratio") == "bulk, 24 runs, means with 95 % intervals (Student)"
    one = {"transport.ack_ratio": 1}
    assert title("line", **both, where=one, spread="bootstrap", confidence=0.9).endswith("90 % intervals (bootstrap)")
    assert title("line", **both, where=one, spread="quantiles") == "bulk, 12 runs, medians and the middle 95 %"
    assert title("box", **both, facet="ack_ratio") == "bulk, 24 runs"
    assert title("box", **both, title="") == ""


def test_bars_have_the_height_of_the_means_and_error_bars(sweep: quiclab.Sweep) -> None:
    axes = draw(sweep, "bar", x="delay_ms", y="goodput_mbps", group="ack_ratio")
    heights = [patch.get_height() for patch in axes.patches]  # type: ignore[attr-defined]
    rows = [mean(sweep, ratio, delay) for ratio in (1, 10) for delay in (10, 20, 40)]
    np.testing.assert_allclose(heights, [row["mean"] for row in rows])
    ends = [segment[:, 1] for bars in axes.collections for segment in bars.get_segments()]  # type: ignore[attr-defined]
    np.testing.assert_allclose(ends, [[row["low"], row["high"]] for row in rows])
    # Bars of one place do not overlap.
    edges = sorted((patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches)  # type: ignore[attr-defined]
    assert all(left[1] <= right[0] for left, right in pairwise(edges))


def test_boxes_are_the_quartiles(sweep: quiclab.Sweep) -> None:
    axes = draw(sweep, "box", x="delay_ms", y="completion_s", where={"ack_ratio": 10})
    quartiles = sweep.quantiles("completion_s", q=[0.25, 0.5, 0.75]).to_pylist()[:3]
    for box, row in zip(axes.patches, quartiles, strict=True):
        corners = np.asarray(box.get_path().vertices)[:, 1]
        assert (min(corners), max(corners)) == pytest.approx((row["q25"], row["q75"]))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10", "20", "40"]


def test_distributions_rise_by_a_step_for_each_run(sweep: quiclab.Sweep) -> None:
    axes = draw(sweep, "ecdf", x="completion_s", group="ack_ratio")
    frame = sweep.runs.to_pandas()
    for line, ratio in zip(axes.lines, (1, 10), strict=True):
        values = np.sort(frame[frame["transport.ack_ratio"] == ratio]["connection.download.completion_s"])
        np.testing.assert_allclose(np.asarray(line.get_xdata())[1:], values)
        np.testing.assert_allclose(np.asarray(line.get_ydata())[1:], np.arange(1, 13) / 12)


def test_a_heat_map_has_the_mean_in_each_cell(sweep: quiclab.Sweep) -> None:
    figure = sweep.plot(None, "heatmap", x="ack_ratio", y="link.cell.delay", value="ack_only_packets_received")
    grid = np.asarray(figure.axes[0].images[0].get_array())
    column = "ack_only_packets_received"
    expected = [[mean(sweep, ratio, delay, column)["mean"] for ratio in (1, 10)] for delay in (10, 20, 40)]
    np.testing.assert_allclose(grid, expected)
    assert figure.axes[1].get_ylabel() == "ack only packets received"
    numbers = [float(text.get_text()) for text in figure.axes[0].texts]
    np.testing.assert_allclose(numbers, np.ravel(expected), rtol=0.01)


def test_a_cell_without_a_run_stays_empty() -> None:
    table = pa.table({"a": [1, 1, 2], "b": ["x", "y", "x"], "v": [1.0, 2.0, 3.0]})
    axes = plots.chart(table, "heatmap", plots.Choice(x="a", y="b", value="v")).axes[0]
    grid: Any = axes.images[0].get_array()
    np.testing.assert_array_equal(grid.filled(np.nan), [[1, 3], [2, np.nan]])


def test_words_and_truth_values_have_places_on_an_axis() -> None:
    table = pa.table({"who": ["b", "a", "b"], "on": [True, False, True], "v": [1.0, 2.0, 3.0]})
    axes = plots.chart(table, "line", plots.Choice(x="who", y="v")).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["b", "a"]
    assert list(np.asarray(axes.lines[0].get_ydata())) == [2, 2]
    axes = plots.chart(table, "bar", plots.Choice(x="on", y="v", where={"on": "true"})).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["True"]


def test_the_legend_has_what_the_first_panel_lacks() -> None:
    table = pa.table({"x": [1, 1, 2, 2], "v": [1.0, 2.0, 3.0, 4.0], "who": ["b", "a", "a", "c"], "f": [1, 2, 2, 2]})
    figure = plots.chart(table, "bar", plots.Choice(x="x", y="v", group="who", facet="f"))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["b", "a", "c"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["f: 1", "f: 2"]


def test_series_over_time(sweep: quiclab.Sweep) -> None:
    """A value holds until the next, so that at each time the mean is that of what the runs had then."""
    where = {"link.cell.delay": 10, "ack_ratio": 1, "repetition": 2}
    axes = draw(sweep, "line", x="time_s", y="cwnd_bytes", subject="download server", where=where)
    times, values = (np.asarray(data) for data in axes.lines[0].get_data())
    row = sweep.runs.filter(
        (pc.field("transport.ack_ratio") == 1) & (pc.field("link.cell.delay_ms") == 10) & (pc.field("repetition") == 2)
    ).to_pylist()[0]
    changes = {"transport.ack_ratio": 1, "link.cell.delay": "10 ms"}
    alone = quiclab.Scenario.from_text(SWEEP, changes).run(row["seed"])
    table = alone.table("connection").to_pandas()
    table = table[(table.side == "server") & table.cwnd_bytes.notna()]
    places = np.searchsorted(table.time_s, times, side="right") - 1
    np.testing.assert_array_equal(values, table.cwnd_bytes.to_numpy()[places])
    assert len(times) > 300


def test_a_title_is_text(sweep: quiclab.Sweep, tmp_path: Path) -> None:
    """Mathematics that does not end and control characters are shown as text."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = sweep.plot(tmp_path / "a.svg", x="delay_ms", y="goodput_mbps", title="$\\frac$ \x1b[31m")
    assert figure.get_suptitle() == "$\\frac$ \\x1b[31m"


def test_equal_sweeps_give_equal_files(sweep: quiclab.Sweep, tmp_path: Path) -> None:
    for ending, magic in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        files = [tmp_path / f"{name}.{ending}" for name in "ab"]
        for file in files:
            sweep.plot(file, "box", x="delay_ms", y="goodput_mbps", group="ack_ratio", facet="repetition")
        assert files[0].read_bytes().startswith(magic)
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("kind", "choice", "message"),
    [
        ("pie", {"x": "delay_ms", "y": "goodput_mbps"}, "no chart 'pie': there are line, bar"),
        ("line", {"x": "dely", "y": "goodput_mbps"}, "no column 'dely'; there are: run"),
        ("line", {"x": "delay_ms"}, "a chart of kind line needs a column for y"),
        ("line", {"x": "delay_ms", "y": "close"}, "'connection.download.close' is not numeric"),
        ("line", {"x": "delay_ms", "y": "goodput_mbps", "value": "run"}, "a chart of kind line has no value"),
        ("line", {"y": "goodput_mbps"}, "needs a column for x"),
        ("line", {"x": "delay_ms", "y": "goodput_mbps", "spread": "sigma"}, "no spread 'sigma'"),
        ("line", {"x": "delay_ms", "y": "goodput_mbps", "confidence": 95}, "confidence is 95"),
        (
            "line",
            {"x": "delay_ms", "y": "goodput_mbps", "log": "xq"},
            "no logarithmic axis 'q': expected some of x, y",
        ),
        ("line", {"x": "delay_ms", "y": "goodput_mbps", "group": "run"}, "24 groups are too many to tell apart"),
        ("line", {"x": "delay_ms", "y": "goodput_mbps", "where": {"ack_ratio": 3}}, r"ack_ratio = 3; there are: 1, 10"),
        ("line", {"x": "time_s", "y": "cwnd"}, "no quantity 'cwnd' in the series; there are: .*cwnd_bytes"),
        ("line", {"x": "time_s", "y": "cwnd_bytes"}, "say which subject: download client, download server"),
        ("box", {"x": "delay_ms", "y": "goodput_mbps", "subject": "x"}, "a subject is only for charts over time"),
        ("heatmap", {"x": "delay_ms", "y": "ack_ratio"}, "needs a column for value"),
        ("heatmap", {"x": "delay_ms", "y": "ack_ratio", "value": "run", "group": "run"}, "a heat map has no groups"),
    ],
)
def test_what_cannot_be_drawn_is_said(sweep: quiclab.Sweep, kind: str, choice: dict[str, Any], message: str) -> None:
    with pytest.raises(quiclab.Error, match=message):
        sweep.plot(None, kind, **choice)


def test_the_command_draws_a_sweep(command: Command, sweep: quiclab.Sweep) -> None:
    where = str(sweep.path)
    arguments = ["plot", where, "--x", "delay_ms", "--y", "goodput_mbps", "--group", "ack_ratio", "--log", "xy"]
    result = command(*arguments, "--where", "ack_ratio=1", "--where", "ack_ratio=10", "--out", "f.svg", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {"figure": "f.svg"}
    assert (command.folder / "f.svg").read_bytes().startswith(b"<?xml")
    for arguments, message in (
        (
            ["plot", where, "--kind", "bar"],
            "--x is missing; expected a varied column (transport.ack_ratio, link.cell.delay_ms), like --x ack_ratio ",
        ),
        (["plot", where, "--x", "run", "--connection", "download"], "--connection is for runs"),
        (["plot", where, "--x", "run", "--y", "run", "--where", "run"], "--where run: expected COLUMN=VALUE"),
        (["plot", where, "--out", "f.gif"], "a figure ends in"),
    ):
        result = command(*arguments)
        assert (result.returncode, result.stdout) == (2, ""), arguments
        assert message in result.stderr
    command("run", "bulk.toml", "--out", "r")
    result = command("plot", "r", "--x", "time_s")
    assert result.returncode == 2
    assert "r: not a sweep, and --x is only for sweeps" in result.stderr


def test_labels_of_logarithmic_axes_are_plain() -> None:
    """A dollar in a title is a dollar, so that math is not read; the labels of powers do without."""
    figure = Figure()
    axes = figure.subplots()
    with styled():
        set_logarithmic(axes, "y")
        axes.plot([1, 2], [0.002, 30])
        figure.draw_without_rendering()
    labels = {label.get_text() for label in axes.get_yticklabels()}
    assert "10⁰" in labels and "10⁻²" in labels
    with styled():
        set_logarithmic(axes, "x", 2)
        axes.set_ylim(2, 5)
        figure.draw_without_rendering()
    minor = {label.get_text() for label in axes.get_yticklabels(minor=True)}
    assert "3·10⁰" in minor
    assert not any("$" in label for label in labels | minor)


@pytest.fixture(scope="module")
def of_two(tmp_path_factory: pytest.TempPathFactory) -> quiclab.Sweep:
    flow = {"client": "b", "server": "a", "application": "bulk"}
    link = {"name": "path", "from": "a", "to": "b", "rate": "5 Mbit/s", "delay": "10 ms"}
    document = {
        "name": "two",
        "duration": "2 s",
        "link": [{**link, "jitter": "1 ms"}],
        "flow": [{"name": "one", **flow}, {"name": "the.other", **flow}],
        "sweep": {
            "repetitions": 3,
            "link": {"path": {"forward": {"queue": ["1 BDP", "2 BDP"]}}},
            "transport": {"controller": ["cubic", "bbr3"]},
        },
    }
    return quiclab.sweep(quiclab.Scenario(document), out=tmp_path_factory.mktemp("two") / "s")


def test_a_number_of_all_flows_is_drawn_with_a_colour_for_each(of_two: quiclab.Sweep) -> None:
    # `queue` is the end of a path that was varied, and of columns of results too.
    figure = of_two.plot(None, x="queue", y="goodput_mbps", facet="controller")
    for axes, controller in zip(figure.axes, ("cubic", "bbr3"), strict=True):
        assert axes.get_title("left") == f"controller: {controller}"
        assert [line.get_label() for line in axes.lines] == ["one", "the.other"]
        for line, flow in zip(axes.lines, ("one", "the.other"), strict=True):
            rows = of_two.means(f"connection.{flow}.goodput_mbps").to_pylist()
            wanted = [row["mean"] for row in rows if row["transport.controller"] == controller]
            np.testing.assert_allclose(np.asarray(line.get_ydata()), wanted)
    assert figure.axes[0].get_xlabel() == "queue (BDP)"
    assert figure.legends[0].get_title().get_text() == "flow"
    values = draw(of_two, "ecdf", x="goodput_mbps")
    assert [line.get_label() for line in values.lines] == ["one", "the.other"]
    with pytest.raises(quiclab.Error, match=r"ambiguous: connection\.one\.goodput_mbps"):
        draw(of_two, "line", x="queue", y="goodput_mbps", group="controller")


def test_columns_that_nobody_named(command: Command, sweep: quiclab.Sweep, of_two: quiclab.Sweep) -> None:
    assert plots.usual(sweep) == {"x": "ack_ratio", "y": "goodput_mbps", "group": "delay_ms"}
    assert plots.usual(of_two) == {"x": "queue_bdp", "y": "goodput_mbps", "facet": "controller"}
    result = command("plot", str(of_two.path), "--out", "f.svg")
    assert (result.returncode, result.stdout) == (0, "figure   f.svg\n")
    assert result.stderr == "columns  --x queue_bdp --y goodput_mbps --facet controller\n"
    command("plot", str(of_two.path), "--out", "g.svg", *result.stderr.split()[1:])
    assert (command.folder / "f.svg").read_bytes() == (command.folder / "g.svg").read_bytes()
    wrong = command("plot", str(of_two.path), "--confidence", "2", "--out", "h.svg")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "quiclab: confidence is 2.0; expected a number between 0 and 1\n"
