"""Figures are drawn, show what happened, and are the same for the same run."""

import itertools
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import quiclab
from quiclab import plots
from quiclab.drawings.plots import files
from quiclab.drawings.plots.view import views

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("ending", plots.FORMATS)
def test_every_format_is_written_and_repeats(run: quiclab.Run, tmp_path: Path, ending: str) -> None:
    for name in "ab":
        run.plot(tmp_path / f"{name}.{ending}")
    first = (tmp_path / f"a.{ending}").read_bytes()
    assert first.startswith(MAGIC[ending])
    assert len(first) > 10_000
    assert first == (tmp_path / f"b.{ending}").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a.{ending}", f"b.{ending}"]


def test_the_picture_is_not_empty(run: quiclab.Run, tmp_path: Path) -> None:
    from matplotlib.image import imread

    run.plot(tmp_path / "a.png")
    pixels = np.asarray(imread(tmp_path / "a.png"))
    assert pixels.shape[0] > 800
    assert pixels.shape[1] > 800
    coloured = (pixels[..., :3].max(axis=2) - pixels[..., :3].min(axis=2)) > 0.3
    assert coloured.mean() > 0.005


def test_a_png_is_what_savefig_makes_of_the_figure(run: quiclab.Run) -> None:
    from matplotlib.figure import Figure

    from quiclab.drawings.plots.style import styled

    def chart() -> Figure:
        table = pa.table({"x": [1, 2, 3], "y": [0.1, 3.5, 2.0]})
        return plots.chart(table, "line", plots.Choice(x="x", y="y"))

    def plain() -> Figure:
        figure = Figure()
        figure.subplots().plot([1, 2], [3, 4])
        return figure

    for draw in (run.plot, chart, plain, lambda: Figure(layout="constrained")):
        # Twice: the second layout of a figure begins where the first one ended.
        figure, other = draw(), draw()
        canvas, layout, resolution = figure.canvas, figure.get_layout_engine(), figure.get_dpi()
        ours = files._bytes([figure], "png")
        assert (figure.canvas, figure.get_layout_engine(), figure.get_dpi()) == (canvas, layout, resolution)
        theirs = BytesIO()
        with styled():
            other.savefig(theirs, format="png", metadata={"Software": None})
        assert ours == theirs.getvalue()


def test_axes_have_units_and_legends(run: quiclab.Run) -> None:
    figure = run.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["bytes (kB)", "RTT (ms)", "rate (Mbit/s)", "queue (packets)"]
    assert figure.axes[-1].get_xlabel() == "time (s)"
    labels = [text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    for word in ("in flight", "congestion window", "latest", "smoothed", "minimum", "sent", "delivered"):
        assert word in labels
    assert any(label.startswith("capacity of ") for label in labels)
    assert any(label.startswith("declared lost (") for label in labels)
    title = figure.get_suptitle()
    assert "bulk" in title
    assert "newreno" in title
    assert "seed 1" in title


@pytest.mark.parametrize("kind", [kind for kind in plots.PLOTS if kind not in ("air", "playback")])
def test_every_kind_shows_lines_with_values(run: quiclab.Run, kind: str) -> None:
    figure = run.plot(kind=kind)
    (view,) = views(run, None)
    assert len(figure.axes) == sum(1 for panel in plots.PLOTS[kind] if panel.applies(view))
    for axes in figure.axes:
        heights = [np.nanmax(np.asarray(line.get_ydata(), dtype=float)) for line in axes.lines if len(line.get_ydata())]  # type: ignore[arg-type]
        assert max(heights) > 0, axes.get_ylabel()


def test_wrong_words_name_the_right_ones(run: quiclab.Run, tmp_path: Path) -> None:
    with pytest.raises(quiclab.Error, match="overview"):
        run.plot(kind="nonsense")
    with pytest.raises(quiclab.Error, match="no connection 'nobody'"):
        run.plot(connection="nobody")
    with pytest.raises(quiclab.OutputError, match="png"):
        run.plot(tmp_path / "figure.gif")
    assert list(tmp_path.iterdir()) == []


def test_the_users_matplotlibrc_changes_nothing(run: quiclab.Run, tmp_path: Path) -> None:
    import matplotlib

    run.plot(tmp_path / "a.png")
    with matplotlib.rc_context({"lines.linewidth": 9, "axes.facecolor": "black", "savefig.dpi": 50}):
        run.plot(tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def large(rows: int, connections: int) -> quiclab.Run:
    """A run of many rows that no simulator had to make."""
    times = np.linspace(0, 60, rows)
    names = [f"flow{number}" for number in range(connections)]

    def text(word: str) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([word]))

    def wave(scale: float) -> pa.Array:
        return pa.array(scale * (1 + np.sin(times * 5)))

    owners = pa.DictionaryArray.from_arrays(pa.array(np.arange(rows, dtype=np.int32) % connections), pa.array(names))
    columns = {"time_s": pa.array(times), "connection": owners, "side": text("server")}
    gauges = ("cwnd_bytes", "bytes_in_flight", "delivery_rate_mbps", "latest_rtt_ms", "smoothed_rtt_ms", "min_rtt_ms")
    tables: dict[str, Any] = {
        "connection": pa.table({**columns, **{name: wave(1e4) for name in gauges}}),
        "loss": pa.table(columns),
        "queue": pa.table({"time_s": times, "link": text("cell forward"), "packets": wave(9)}),
    }
    summary = {
        "scenario": "large",
        "seed": 1,
        "duration_s": 60,
        "connections": [{"name": name} for name in names],
        "links": [{"name": "cell", "direction": "forward", "queue_mean_packets": 9}],
    }
    run = quiclab.Run(summary, "", {})
    run._sources = tables
    return run


def test_a_million_rows_plot_fast(tmp_path: Path) -> None:
    run = large(1_000_000, 1)
    start = time.perf_counter()
    plots.save(run, tmp_path / "a.png")
    assert time.perf_counter() - start < 10


def test_a_connection_that_is_over_sends_nothing() -> None:
    """Its rate falls to zero after its last bin, while another connection goes on."""
    text = (Path(__file__).parents[1] / "examples" / "cell.toml").read_text(encoding="utf-8")
    run = quiclab.Scenario.from_text(text).run()
    film, page = (entry["completion_s"] for entry in run.summary["connections"])
    assert film + 0.5 < page
    axes = run.plot(kind="rate", connection="film").axes[0]
    for label in ("sent", "all connections"):
        (line,) = (line for line in axes.lines if line.get_label() == label)
        times, values = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert times[-1] == pytest.approx(run.summary["duration_s"])
        assert values[times > film + 0.2].max() == (0 if label == "sent" else pytest.approx(0, abs=0.5))


def test_a_capacity_far_above_the_rates_is_a_number(run: quiclab.Run) -> None:
    """An area of 1 Gbit/s would flatten what a call sends."""
    text = """
duration = "2 s"
[[link]]
name = "wire"
from = "server"
to = "phone"
both = { rate = "1 Gbit/s", delay = "10 ms" }
[[flow]]
name = "call"
client = "phone"
server = "server"
application = { type = "messages", source = { type = "constant", size = 160, gap = "20 ms" } }
"""
    axes = quiclab.Scenario.from_text(text).run().plot(kind="rate").axes[0]
    labels = [entry.get_text() for entry in axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels[0] == "capacity of wire backward: 1,000"
    assert 0.05 < axes.get_ylim()[1] < 1
    # A link that is filled has its area.
    axes = run.plot(kind="rate").axes[0]
    assert axes.get_legend().get_texts()[0].get_text() == "capacity of cell forward"  # type: ignore[union-attr]


def test_many_connections_stand_side_by_side_or_on_pages(tmp_path: Path) -> None:
    run = large(7_000, 7)
    figure = run.plot()
    assert len(figure.axes) == 4 * 4
    assert "4 of 7 connections" in figure.get_suptitle()
    plots.save(run, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().count(b"/Type /Page ") == 7
    assert len(run.plot(connection="flow6").axes) == 4


def test_each_connection_is_shown_with_the_bottleneck_of_its_own_route() -> None:
    from quiclab.results.numbers import of_bottlenecks

    example = Path(__file__).parent.parent / "examples" / "page.toml"
    run = quiclab.Scenario.from_file(example).run()
    links = ["first forward", "second forward", "third forward"]
    assert [view.link for view in views(run, None)] == links
    title, names = of_bottlenecks(run.summary)[0]
    assert (title, names) == ("bottleneck", links)
    # Not three times the numbers of one link.
    assert all(len(set(values)) > 1 for _, values in of_bottlenecks(run.summary)[:2])
    peaks = [view.queue()[1].max() for view in views(run, None)]
    told = {f"{link['name']} {link['direction']}": link["queue_max_packets"] for link in run.summary["links"]}
    assert peaks == [told[link] for link in links]


def test_a_figure_and_means_cope_with_what_is_not_known_yet(tmp_path: Path) -> None:
    """No RTT before the first sample, no goodput over no time: null in the tables, and no line or value for it."""
    text = SCENARIO_WITHOUT_RTT
    run = quiclab.Scenario.from_text(text).run()
    latest = run.table("connection")["latest_rtt_ms"]
    assert 0 < latest.null_count < len(latest)
    (axes,) = (axes for axes in run.plot().axes if axes.get_ylabel() == "RTT (ms)")
    for line in axes.lines:
        values = np.asarray(line.get_ydata(), dtype=float)
        assert np.nanmin(values) >= 20, line.get_label()
    nothing = text.replace("delay = '10 ms'", "delay = '0 s'").replace("rate = '10 Mbit/s'", "rate = 'unlimited'")
    nothing = nothing.replace("60 kB", "1 kB").replace(", loss = { type = 'list', packets = [1] }", "")
    result = quiclab.sweep(quiclab.Scenario.from_text(nothing + "[sweep]\nflow.get.ip = [4, 6]\n"), out=tmp_path / "a")
    assert result.runs["connection.get.goodput_mbps"].null_count == 2
    means = result.means("goodput_mbps").to_pylist()
    assert [row["mean"] for row in means] == [None, None]


SCENARIO_WITHOUT_RTT = """
duration = "10 s"
[[link]]
name = "cell"
from = "server"
to = "client"
both = { rate = '10 Mbit/s', delay = '10 ms', queue = '50 packets', loss = { type = 'list', packets = [1] } }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "60 kB" }
"""


RESUMED = """
duration = "6 s"
[record]
tables = ["connection", "loss", "event", "gauge", "queue", "rate"]
[transport]
resume = "careful"
initial_max_data = "16 MB"
initial_max_stream_data_bidi_local = "16 MB"
[[link]]
name = "geo"
from = "server"
to = "client"
both = { rate = "10 Mbit/s", delay = "100 ms", queue = "50 kB" }
[[memory]]
name = "geo"
node = "server"
peer = "client"
capacity = "250 kB"
rtt = "200 ms"
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "2 MB" }
"""


def words(figure: Any) -> list[str]:
    """Those of both legends of the first panel."""
    from matplotlib.legend import Legend

    legends = [child for child in figure.axes[0].get_children() if isinstance(child, Legend)]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def test_careful_resume_has_bands_and_a_jump() -> None:
    scenario = quiclab.Scenario.from_text(RESUMED)
    run = scenario.run()
    events = [row for row in run.table("event").to_pylist() if row["event"] == "resume_phase"]
    assert [row["detail"].split()[0] for row in events] == ["reconnaissance", "unvalidated", "validating", "normal"]
    axes = run.plot(kind="flight").axes[0]
    bands = [patch.get_extents().transformed(axes.transData.inverted()) for patch in axes.patches]
    times = [row["time_s"] for row in events]
    assert [(band.x0, band.x1) for band in bands] == [pytest.approx(pair) for pair in itertools.pairwise(times)]
    shown = words(run.plot())
    assert {"reconnaissance", "unvalidated", "validating", "jump to 125 kB"} <= set(shown)
    jump = axes.lines[2]
    assert (jump.get_marker(), jump.get_xdata()[0], jump.get_ydata()[0]) == ("^", times[1], 125.0)  # type: ignore[index]
    # The window jumps then, and not at the next acknowledgement.
    window = dict(zip(axes.lines[1].get_xdata(), axes.lines[1].get_ydata(), strict=True))  # type: ignore[arg-type]
    assert window[times[1]] == 125.0
    # The window is there as a gauge, beside the phase by its number.
    gauges = run.table("gauge").to_pylist()
    sampled = {row["value"] for row in gauges if row["gauge"] == "jump_cwnd_bytes"}
    phases = [row["value"] for row in gauges if row["gauge"] == "resume_phase"]
    assert sampled == {125_000.0}
    assert phases == sorted(phases)
    assert {0.0, 1.0, 4.0} <= set(phases)


def test_a_safe_retreat_is_shown() -> None:
    scenario = quiclab.Scenario.from_text(RESUMED).with_({"memory.geo.capacity": "4 MB"})
    assert {"safe retreat", "jump to 2,000 kB"} <= set(words(scenario.run().plot()))


def test_a_connection_beside_one_that_resumes_has_no_phases() -> None:
    """In the example only the second of two flows resumes what the first one has learned."""
    example = Path(__file__).resolve().parent.parent / "examples" / "resume-store.toml"
    run = quiclab.Scenario.from_file(example).run()
    phases = [len(view.phases()) > 0 for view in views(run, None)]
    assert any(phases)
    assert not all(phases)


def test_without_resume_a_figure_has_no_phases(run: quiclab.Run) -> None:
    figure = run.plot()
    assert [len(axes.patches) for axes in figure.axes] == [0] * 4
    assert words(figure) == ["in flight", "congestion window", words(figure)[-1]]
    assert "resume_phase" not in run.table("event")["event"].to_pylist()
