"""The panels of the link layer: what they draw is what the table `air` has."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quiclab
from quiclab.drawings.plots.inside import outside

EXAMPLES = Path(__file__).parent.parent / "examples"
PARTS = ("queue", "access", "transfer", "order")

IDLE = """
duration = "20 s"
[[node]]
name = "server"
[[node]]
name = "gnb"
kind = "router"
[[node]]
name = "phone"
[[node]]
name = "wired"
[[medium]]
name = "cell"
type = "nr"
station = "gnb"
terminals = ["phone"]
block_errors = 0.3
harq_retransmissions = 1
rlc = "um"
[[link]]
name = "core"
from = "server"
to = "gnb"
both = { delay = "10 ms" }
[[link]]
name = "wire"
from = "server"
to = "wired"
both = { delay = "10 ms", rate = "10 Mbit/s" }
[[flow]]
name = "call"
client = "phone"
server = "server"
application = { type = "messages", source = { type = "constant", size = 1000, gap = "2 s" }, count = 9 }
[[flow]]
name = "wired"
client = "wired"
server = "server"
application = { type = "bulk", size = "100 kB" }
"""


@pytest.fixture(scope="module")
def cell() -> quiclab.Run:
    return quiclab.Scenario.from_file(EXAMPLES / "cell.toml").run()


@pytest.fixture(scope="module")
def wlan() -> quiclab.Run:
    return quiclab.Scenario.from_file(EXAMPLES / "wlan.toml").run()


def rows(run: quiclab.Run, lane: str) -> list[dict[str, Any]]:
    return [row for row in run.table("air").to_pylist() if row["link"] == lane]


def line(axes: Any, label: str) -> dict[float, float]:
    """The level of a line by the start of its bin, without the bins that have none."""
    (found,) = (line for line in axes.lines if line.get_label() == label)
    times, values = found.get_xdata()[::2], found.get_ydata()[::2]
    assert list(found.get_ydata()[1::2]) == pytest.approx(list(values), nan_ok=True)
    return {round(float(time), 6): float(value) for time, value in zip(times, values, strict=True) if value == value}


def areas(axes: Any) -> dict[str, tuple[float, float]]:
    """The area of each filled region in percent times seconds, and its highest point."""
    found = {}
    for region in axes.collections:
        if not region.get_label().startswith("_"):
            area, top = 0.0, 0.0
            for path in region.get_paths():
                x, y = path.vertices[:, 0], path.vertices[:, 1]
                area += abs(float(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))) / 2
                top = max(top, float(y.max()))
            found[region.get_label()] = (area, top)
    return found


def test_a_run_over_a_link_layer_has_two_more_panels(cell: quiclab.Run, run: quiclab.Run) -> None:
    figure = cell.plot(connection="film")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels[-2:] == ["air time (%)", "link delay (ms)"]
    assert len(labels) == 6
    legends = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes[-2:]]  # type: ignore[union-attr]
    assert legends[0] == ["cell enb near", "cell enb edge", "blocks sent again (%)"]
    assert legends[1] == [*PARTS, "all of cell near"]
    assert figure.axes[-1].get_xlabel() == "time (s)"
    assert not outside(figure)
    # Without such a medium there are none, and no figure of nothing else.
    assert len(run.plot().axes) == 4
    with pytest.raises(quiclab.Error, match="no connection passes a medium with a link layer"):
        run.plot(kind="air")


@pytest.mark.parametrize("connection", ["film", "page"])
def test_the_panels_show_the_table(cell: quiclab.Run, connection: str) -> None:
    terminal = {"film": "near", "page": "edge"}[connection]
    share, delay = cell.plot(kind="air", connection=connection).axes
    own = rows(cell, f"cell enb {terminal}")
    again = line(share, "blocks sent again (%)")
    told = {
        round(row["time_s"], 6): 100 * row["again_blocks"] / blocks
        for row in own
        if (blocks := row["again_blocks"] + row["sent_blocks"])
    }
    assert again == pytest.approx(told)
    for part in PARTS:
        told = {round(row["time_s"], 6): row[f"{part}_delay_ms"] for row in own if row["packets"]}
        assert line(delay, part) == pytest.approx(told)
    told = {
        round(row["time_s"], 6): sum(row[f"{part}_delay_ms"] for part in PARTS)
        for row in rows(cell, f"cell {terminal}")
        if row["packets"]
    }
    assert line(delay, f"all of cell {terminal}") == pytest.approx(told)


def test_areas_of_air_time_lie_upon_each_other(cell: quiclab.Run, wlan: quiclab.Run) -> None:
    def shares(run: quiclab.Run, lanes: list[str]) -> float:
        """Percent times seconds, in the bins that are drawn up to the end of the run."""
        end = run.summary["duration_s"]
        some = [row for lane in lanes for row in rows(run, lane)]
        return float(sum(100 * row["air_share"] * min(0.1, end - row["time_s"]) for row in some))

    found = areas(cell.plot(kind="air", connection="film").axes[0])
    assert list(found) == ["cell enb near", "cell enb edge"]
    for lane in found:
        assert found[lane][0] == pytest.approx(shares(cell, [lane]), rel=1e-6)
    # Both terminals always have something to send: they fill the carrier.
    assert found["cell enb edge"][1] == pytest.approx(100, abs=1e-6)
    # In a WLAN what comes back uses the same air.
    found = areas(wlan.plot(kind="air", connection="download1").axes[0])
    assert list(found) == ["air ap", "air laptop1", "6 others"]
    others = ["air phone", *(f"air laptop{number}" for number in range(2, 7))]
    for label, lanes in (("air ap", ["air ap"]), ("air laptop1", ["air laptop1"]), ("6 others", others)):
        assert found[label][0] == pytest.approx(shares(wlan, lanes), rel=1e-6)
    assert 50 < found["6 others"][1] <= 100
    # An upload is sent by the laptop.
    assert list(areas(wlan.plot(kind="air", connection="upload3").axes[0])) == ["air laptop3", "air ap", "6 others"]


def test_four_connections_stand_side_by_side(wlan: quiclab.Run) -> None:
    figure = wlan.plot()
    assert len(figure.axes) == 6 * 4
    assert not outside(figure)


def test_an_idle_lane_and_lost_blocks() -> None:
    run = quiclab.Scenario.from_text(IDLE).run()
    figure = run.plot(kind="air")
    # The other connection has a link, and no column here; beside the other panels it is said so.
    share, delay = figure.axes
    beside = run.plot().axes[-3]
    own = rows(run, "cell gnb phone" if run.summary["connections"][0]["sender"] == "server" else "cell phone")
    lost = sum(row["lost_blocks"] for row in own)
    assert lost > 0
    (crosses,) = (line for line in share.lines if line.get_marker() == "x")
    assert crosses.get_label() == f"lost ({lost:,} blocks)"
    times = np.asarray(crosses.get_xdata(), dtype=float)
    assert len(times) == lost
    bins = {round(row["time_s"], 6) for row in own if row["lost_blocks"]}
    assert {round(float(time) - 0.05, 6) for time in times} == bins
    # Between the messages there are no packets, and no delays; the rest of the run is there.
    assert len(line(delay, "transfer")) == len([row for row in own if row["packets"]]) < 30
    assert share.get_xlim()[1] == pytest.approx(run.summary["duration_s"], abs=0.1)
    assert [text.get_text() for text in beside.texts] == ["passes no medium with a link layer"]
    assert not outside(figure)


def test_fine_bins_are_drawn_together(cell: quiclab.Run) -> None:
    """More bins than a panel shows are drawn as fewer, whose sums and means are those of the table."""
    fine = quiclab.Scenario.from_file(EXAMPLES / "cell.toml", {"record.bin": "1 ms"}).run()
    share, delay = fine.plot(kind="air", connection="film").axes
    coarse = areas(cell.plot(kind="air", connection="film").axes[0])
    for lane, (area, _) in areas(share).items():
        assert area == pytest.approx(coarse[lane][0], rel=0.01)
    own = rows(fine, "cell enb near")
    drawn = line(delay, "queue")
    bins = fine.summary["duration_s"] / 0.001
    assert len(drawn) <= 200 < bins
    # Fifteen of a millisecond each: packets of the first ones.
    width = math.ceil(bins / 200) * 0.001
    first = min(drawn)
    some = [row for row in own if first - 1e-9 <= row["time_s"] < first + width - 1e-9 and row["packets"]]
    mean = sum(row["packets"] * row["queue_delay_ms"] for row in some) / sum(row["packets"] for row in some)
    assert drawn[first] == pytest.approx(mean)


def test_without_the_table_there_is_no_panel() -> None:
    short = {"duration": "300 ms", "record.tables": ["connection", "loss", "queue"]}
    run = quiclab.Scenario.from_file(EXAMPLES / "cell.toml", short).run()
    assert len(run.plot(connection="film").axes) == 4
    with pytest.raises(quiclab.Error, match="without tables"):
        quiclab.Scenario.from_file(EXAMPLES / "cell.toml", short).run(tables=False).plot()


def test_a_table_that_was_cut_off_shows_no_idle_lane() -> None:
    """After its last row nothing is known."""
    run = quiclab.Scenario.from_file(EXAMPLES / "cell.toml", {"record.rows": 20}).run()
    assert run.notes
    last = max(row["time_s"] for row in run.table("air").to_pylist())
    share = run.plot(kind="air", connection="film").axes[0]
    (own, *_) = (line for line in share.lines if str(line.get_label()).startswith("_"))
    assert np.asarray(own.get_xdata(), dtype=float).max() == pytest.approx(last + 0.1)


def test_handovers_are_lines(cell: quiclab.Run) -> None:
    """At the bins in which the table counts one; none where no terminal moves."""
    text = 'duration = "3 s"\n[[node]]\nname = "server"\n[[node]]\nname = "phone"\n'
    text += '[[node]]\nname = "enb"\nkind = "router"\n'
    text += '[[medium]]\nname = "cell"\ntype = "lte"\nstation = "enb"\nterminals = ["phone"]\nsites = [0.0, 500.0]\n'
    text += 'handover = { type = "times", steps = [["1.23 s", 1], ["2.02 s", 0]] }\n'
    text += '[[link]]\nname = "core"\nfrom = "server"\nto = "enb"\nboth = { delay = "10 ms" }\n'
    text += '[[flow]]\nname = "film"\nclient = "phone"\nserver = "server"\napplication = "bulk"\n'
    run = quiclab.Scenario.from_text(text).run()
    share = run.plot(kind="air").axes[0]
    (marks,) = (found for found in share.collections if found.get_label() == "handover")
    assert [path.vertices[0][0] for path in marks.get_paths()] == pytest.approx([1.25, 2.05])  # type: ignore[index]
    assert not [found for found in cell.plot(kind="air").axes[0].collections if found.get_label() == "handover"]


def test_hundreds_of_terminals_are_one_area(tmp_path: Path) -> None:
    """A connection's own lane beside all others; a figure of 300 connections draws no more than it shows."""
    count = 300
    names = [f"phone{number}" for number in range(count)]
    text = 'duration = "1 s"\n' + "".join(f'[[node]]\nname = "{name}"\n' for name in ["server", *names])
    text += '[[node]]\nname = "enb"\nkind = "router"\n'
    text += f'[[medium]]\nname = "cell"\ntype = "lte"\nstation = "enb"\nterminals = {names}\n'
    text += '[[link]]\nname = "core"\nfrom = "server"\nto = "enb"\nboth = { delay = "10 ms" }\n'
    for name in names:
        text += f'[[flow]]\nname = "{name}"\nclient = "{name}"\nserver = "server"\n'
        text += 'application = { type = "bulk", size = "20 kB" }\n'
    run = quiclab.Scenario.from_text(text).run()
    figure = run.plot(tmp_path / "a.png")
    assert len(figure.axes) == 6 * 4
    assert "4 of 300 connections" in figure.get_suptitle()
    share = figure.axes[4 * 4]
    (label,) = (name for name in areas(share) if name.endswith("others"))
    assert label == "299 others"
    downlinks = [row for row in run.table("air").to_pylist() if row["link"].startswith("cell enb ")]
    bins = {row["time_s"] for row in downlinks}
    most = max(sum(row["air_share"] for row in downlinks if row["time_s"] == time) for time in bins)
    assert areas(share)[label][1] == pytest.approx(100 * most)
    assert most > 0.5
