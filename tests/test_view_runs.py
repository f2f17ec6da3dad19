"""What the page of `quiclab view` has from the tables of a run: bottleneck, outages, stalls, where the time went."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quiclab
from chromium import Browser, browser
from quiclab import view
from quiclab.drawings.view import bottleneck, causes, model, records
from quiclab.drawings.view.columns import Columns, integers
from quiclab.drawings.view.page import page as build
from quiclab.records import qlog
from quiclab.why import Answer, Cause
from test_view_page import MS, READY, Figure
from view_logs import ack, header, packet, stream, two_streams, write_sequence, write_two_streams

_ENDS = {"client": "client", "server": "server"}

OUTAGE = quiclab.Scenario(
    {
        "name": "outage",
        "seed": 1,
        "duration": "4 s",
        "link": [
            {
                "name": "cell",
                "from": "server",
                "to": "client",
                "delay": "20 ms",
                "queue": "1 BDP",
                "backward": {"rate": "10 Mbit/s"},
                "forward": {
                    "rate": {
                        "type": "changes",
                        "steps": [["0 s", "10 Mbit/s"], ["1.5 s", "0 Mbit/s"], ["2.3 s", "6 Mbit/s"]],
                    },
                    "loss": "0.5 %",
                },
            }
        ],
        "flow": [
            {"name": "get", **_ENDS, "application": {"type": "bulk", "size": "3 MB", "streams": 3}},
            {"name": "second", **_ENDS, "start": "0.5 s", "application": {"type": "bulk", "size": "1500 kB"}},
        ],
    }
)
"""Two flows over a link that carries nothing for 0.8 s."""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def outage(tmp_path_factory: pytest.TempPathFactory) -> tuple[quiclab.Run, Path]:
    """The run, and its page."""
    folder = tmp_path_factory.mktemp("outage") / "run"
    return OUTAGE.run(qlog=True, out=folder), view.write(folder).view


def opened(chromium: Browser, path: Path) -> Figure:
    page = chromium.page()
    page.scheme("light")
    page.load(path, READY)
    return Figure(page)


def rows(figure: Figure, table: str) -> list[list[str]]:
    """The visible cells of a table."""
    found: list[list[str]] = figure.page.value(
        f"[...document.querySelectorAll('{table} tbody tr')]"
        ".map((row) => [...row.cells].filter((cell) => cell.offsetParent).map((cell) => cell.innerText.trim()))"
    )
    return found


def leads(figure: Figure, table: str, row: int) -> tuple[float, float]:
    """What is marked after a click on the button of a row, in nanoseconds."""
    figure.page.value(f"document.querySelectorAll('{table} tbody tr')[{row}].querySelector('button').click()")
    figure.page.settle()
    start, end = figure.value("[figure.kept.start, figure.kept.end]")
    return start, end


def test_capacity_and_queue_are_those_of_the_tables(chromium: Browser, outage: tuple[quiclab.Run, Path]) -> None:
    run, path = outage
    figure = opened(chromium, path)
    rate, queue = (run.table(name).to_pylist() for name in ("rate", "queue"))
    name = run.summary["connections"][0]["bottleneck"]

    def series(key: str) -> list[list[float]]:
        metric = f"[...figure.links.keys()][0].metrics.get('{key}')"
        found: list[list[float]] = figure.value(f"[...{metric}.times].map((time, at) => [time, {metric}.values[at]])")
        return found

    for kind in ("capacity", "delivered"):
        expected = [
            (row["time_s"] * 1e9, row["mbps"] * 1e6) for row in rate if (row["subject"], row["kind"]) == (name, kind)
        ]
        assert np.array(series(kind)) == pytest.approx(np.array(expected), abs=0.51)
    for key in ("packets", "bytes"):
        expected = [(row["time_s"] * 1e9, row[key]) for row in queue if row["link"] == name]
        assert np.array(series(key)) == pytest.approx(np.array(expected), abs=0.51)
    # Below the packets, and told at the pointer.
    titles = figure.value("figure.panels.map((panel) => panel.title)")
    assert titles[:6] == ["all", "sent", "in flight", "waits for", "rate (Mbit/s)", "queue (kB)"]
    top, height = figure.top("figure.panels[5]")
    said = figure.hover(figure.x(2e9), top + height / 2).splitlines()
    assert said[0] == "cell forward at 2,000.000 ms" or said[0].startswith("cell forward at 1,99")
    assert said[1:3] == ["capacity 0 bit/s", "delivered 0 bit/s"] and "packets in the queue" in said[3]
    assert said[4] == "an outage: it carries nothing"
    assert figure.page.complaints == []


def test_outages_are_shaded_in_all_panels(chromium: Browser, outage: tuple[quiclab.Run, Path]) -> None:
    figure = opened(chromium, outage[1])
    assert figure.value("[...figure.links.keys()][0].outages") == [[1_500_000_000, 2_300_000_000]]
    panel, grid = figure.value("[figure.colours.panel, figure.colours.grid]")
    left, right = figure.x(1.5e9), figure.x(2.3e9)
    top, _ = figure.top("figure.panels[4]")
    y = top + 6
    inside, outside = figure.pixel(left + 3, y), figure.pixel(right + 3, y)
    assert outside in (panel, grid) and inside not in (panel, grid)
    assert figure.pixel(right - 3, y) == inside and figure.pixel(left - 3, y) in (panel, grid)
    # The other direction does not pass the bottleneck.
    figure.page.value(
        "(() => { const choice = document.querySelector('#direction'); choice.value = '1';"
        " choice.dispatchEvent(new Event('change')); })()"
    )
    assert figure.value("figure.links.size") == 0
    assert figure.page.value("document.querySelector('#why').hidden")


def test_a_foreign_log_lacks_what_only_a_run_has(chromium: Browser, tmp_path: Path) -> None:
    figure = opened(chromium, view.write(write_two_streams(tmp_path / "run")).view)
    titles = ["all", "sent", "in flight", "", "window (kB)", "RTT (ms)"]
    assert figure.value("figure.panels.map((panel) => panel.title)") == titles
    assert figure.page.value("document.querySelector('#why').hidden")


def test_a_run_without_tables_is_shown_as_well(chromium: Browser, tmp_path: Path) -> None:
    OUTAGE.run(qlog=True, out=tmp_path / "run")
    for path in (tmp_path / "run").glob("*.parquet"):
        path.unlink()
    figure = opened(chromium, view.write(tmp_path / "run").view)
    assert "waits for" not in figure.value("figure.panels.map((panel) => panel.title)")
    assert figure.page.complaints == []


def delivered(direction: model.Direction) -> list[int]:
    """When bytes of streams could be delivered, in nanoseconds: by sets of bytes."""
    missing: dict[int, int] = {}
    there: dict[int, set[int]] = {}
    times = []
    arrivals = sorted((time, at) for at, time in enumerate(direction.received) if time != model.UNKNOWN)
    for time, at in arrivals:
        before = dict(missing)
        for number, offset, length, _ in direction.packets[at].streams:
            there.setdefault(number, set()).update(range(offset, offset + length))
            while missing.setdefault(number, 0) in there[number]:
                missing[number] += 1
        if any(value > before.get(number, 0) for number, value in missing.items()):
            times.append(time)
    return times


def test_the_longest_stalls_are_told_with_their_reason(chromium: Browser, outage: tuple[quiclab.Run, Path]) -> None:
    _, path = outage
    figure = opened(chromium, path)
    logs = [log for file in sorted(path.parent.glob("get-*.sqlog")) for log in qlog.read(file)]
    (connection,) = model.connections(logs)
    times = [connection.start, *delivered(connection.directions[0]), 4000 * MS]
    longest = sorted(((end - start, start) for start, end in itertools.pairwise(times)), reverse=True)
    told = rows(figure, "#stalls")
    shown = [(float(lasted.replace(",", "")), float(start.replace(",", ""))) for start, lasted, _ in told]
    expected = [(length / MS, (start - connection.start) / MS) for length, start in longest[: len(shown)]]
    assert shown == [pytest.approx(row, abs=0.0006) for row in expected]
    assert told[0][2].startswith("outage of cell forward for 7") and "the sender waited for 3 timeouts" in told[0][2]
    start, end = leads(figure, "#stalls", 0)
    assert (start / MS, (end - start) / MS) == pytest.approx((shown[0][1], shown[0][0]), abs=0.0006)
    visible = figure.range()
    assert visible[0] < start < end < visible[1]
    assert "before the first data" in [reason for _, _, reason in told]
    # All panels are shaded there.
    top, _ = figure.top("figure.sent")
    alpha = "{ const at = figure.time.x((figure.kept.start + figure.kept.end) / 2) + 96; const { data } ="
    alpha += " figure.overlay.getContext('2d').getImageData(at, figure.sent.top + 20, 1, 1); return data[3]; }"
    assert 20 < figure.value(alpha) < 60 and top > 0


def stalls_of(chromium: Browser, folder: Path, server: list[Any], client: list[Any]) -> list[list[str]]:
    folder.mkdir()
    write_sequence(folder / "hand-server.sqlog", header("server"), sorted(server, key=lambda event: event[0]))
    write_sequence(folder / "hand-client.sqlog", header("client"), sorted(client, key=lambda event: event[0]))
    return rows(opened(chromium, view.write(folder).view), "#stalls")


def test_a_stall_names_the_missing_packet_credit_timeouts_or_the_application(chromium: Browser, tmp_path: Path) -> None:
    # Packet 1 is missing from 14 to 35 ms.
    server, client = two_streams()
    assert stalls_of(chromium, tmp_path / "missing", server, client) == [
        ["14.000", "21.000", "stream 4 waited for packet 1, lost, retransmitted as 5"]
    ]

    def run(name: str, more_server: list[Any], more_client: list[Any]) -> str:
        """Stream 0 gets 100 bytes every millisecond, then nothing from 15 to 100 ms; the reason."""
        server = [(float(at), "packet_sent", packet(at, stream(0, 100 * at, 100))) for at in range(6)]
        client = [(at + 10.0, "packet_received", packet(at, stream(0, 100 * at, 100))) for at in range(6)]
        acked: list[Any] = [(25.0, "packet_received", packet(0, ack([0, 5])))]
        server += [*acked, (90.0, "packet_sent", packet(9, stream(0, 600, 100))), *more_server]
        client += [(100.0, "packet_received", packet(9, stream(0, 600, 100))), *more_client]
        ((start, lasted, reason),) = stalls_of(chromium, tmp_path / name, server, client)
        assert (start, lasted) == ("15.000", "85.000")
        return reason

    blocked = {"frame_type": "stream_data_blocked", "stream_id": 0, "limit": 600}
    more = {"frame_type": "max_stream_data", "stream_id": 0, "maximum": 900}
    credit = [(5.5, "packet_sent", packet(6, blocked)), (90.0, "packet_received", packet(1, more))]
    assert run("credit", credit, []).startswith("no flow-control credit for stream 0")

    written = {"stream_id": 0, "from": "application", "to": "transport"}
    wrote = [
        (0.0, "stream_data_moved", {**written, "offset": 0, "raw": {"length": 600}}),
        (90.0, "stream_data_moved", {**written, "offset": 600, "raw": {"length": 100}}),
    ]
    assert "the application had written nothing" not in run("unknown", [], [])
    server = [(float(at), "packet_sent", packet(at, stream(0, 100 * at, 100))) for at in range(6)]
    client = [(at + 10.0, "packet_received", packet(at, stream(0, 100 * at, 100))) for at in range(6)]
    late = [(200.0, "packet_sent", packet(9, stream(0, 600, 100)))]
    late_wrote = [wrote[0], (200.0, "stream_data_moved", wrote[1][2])]
    acked: list[Any] = [(25.0, "packet_received", packet(0, ack([0, 5])))]
    told = stalls_of(
        chromium,
        tmp_path / "application",
        [*server, *acked, *late, *late_wrote],
        [*client, (210.0, "packet_received", packet(9, stream(0, 600, 100)))],
    )
    assert told == [["15.000", "195.000", "the application had written nothing"]]

    # Two probes without an answer, then one that comes through.
    probes = [
        (at, "packet_sent", packet(number, stream(0, 600, 100))) for at, number in ((6.0, 6), (35.0, 7), (62.0, 8))
    ]
    lost = [
        (99.0, "packet_lost", {"header": {"packet_type": "1RTT", "packet_number": number}, "trigger": "time_threshold"})
        for number in (6, 7, 8)
    ]
    assert "the sender waited for 2 timeouts" in run("timeouts", [*probes, *lost], [])


def test_where_the_time_went_is_what_why_answers(chromium: Browser, outage: tuple[quiclab.Run, Path]) -> None:
    run, path = outage
    (answer,) = run.why("get", tries=False)
    figure = opened(chromium, path)
    told = rows(figure, "#why")
    all_causes = [*answer.causes, *answer.beside]
    assert [row[0].removeprefix("at the same time: ") for row in told] == [cause.name for cause in all_causes]
    assert [row[1] for row in told] == [f"{100 * cause.share:.1f} %" for cause in all_causes]
    assert [row[2] for row in told] == [f"{cause.seconds:.3f}" for cause in all_causes]
    for row, cause in zip(told, all_causes, strict=True):
        plain = cause.advice.replace("`", "")
        assert " ".join(row[4].split()) == plain
        start, end = cause.longest
        assert row[3] == (f"{start:.3f} to {end:.3f}" if end > start else "-")
    assert figure.page.value("document.querySelectorAll('#why code').length") > 0
    paragraph = figure.page.value("document.querySelector('#why p').innerText")
    assert answer.unfinished is not None
    assert paragraph == f"4.00 s, not completed: {answer.unfinished.replace('`', '')}"
    at = [cause.name for cause in all_causes].index("outage")
    assert leads(figure, "#why", at) == pytest.approx([time * 1e9 for time in all_causes[at].longest], abs=1)
    assert "carried nothing" in figure.page.value("document.querySelector('#marked').innerText")


def test_the_band_of_causes_covers_the_time_of_the_flow(chromium: Browser, outage: tuple[quiclab.Run, Path]) -> None:
    run, path = outage
    (answer,) = run.why("second", tries=False)
    figure = opened(chromium, path)
    figure.page.value(
        "(() => { const choice = document.querySelector('#connection'); choice.value = '1';"
        " choice.dispatchEvent(new Event('change')); })()"
    )
    figure.page.settle()
    start, end, names = figure.value(
        "{ const { spans, names } = figure.track.why; return [[...spans.start], [...spans.end],"
        " [...spans.cause].map((at) => names[at])]; }"
    )
    # Times are those of the flow, which starts at 0.5 s.
    assert (start[0], end[-1]) == pytest.approx((0, (answer.end_s - 0.5) * 1e9), abs=2)
    assert start[1:] == pytest.approx(end[:-1], abs=1)
    assert all(one != other for one, other in itertools.pairwise(names))
    out = names.index("outage")
    top, height = figure.top("figure.panels[3]")
    y = top + height - 2
    colour = figure.value("figure.panels[3].colour('outage')")
    # Below the shade of the outage itself.
    seen = figure.pixel(figure.x((start[out] + end[out]) / 2), y)
    assert seen not in (figure.value("figure.colours.panel"), figure.value("figure.panels[3].colour('recovery')"))
    assert abs(int(seen[1:3], 16) - int(colour[1:3], 16)) < 60
    said = figure.hover(figure.x((start[out] + end[out]) / 2), y)
    assert said.startswith("outage: cell forward carried nothing")


def test_text_from_outside_stays_text(chromium: Browser, tmp_path: Path) -> None:
    logs = [log for path in write_two_streams(tmp_path / "run").iterdir() for log in qlog.read(path)]
    (connection,) = model.connections(logs)
    evil = '<img src=x onerror="document.title=1"></script>'
    connection.name = evil
    link = bottleneck.Bottleneck(evil, {"time": np.array([0, MS]), "delivered": np.array([1, 2])}, {}, [(0, 40 * MS)])
    cause = Cause(evil, 0.01, 0.5, (0.0, 0.01), evil, f"`{evil}`")
    answer = Answer(evil, 0.0, 0.045, False, (cause,), (), evil)
    connection.recorded = records.Recorded("server", link, causes.Causes(answer, [(0, 45 * MS, evil)]))
    path = tmp_path / "evil.html"
    path.write_text(build(evil, [connection, connection], [evil], "1"), encoding="utf-8")
    figure = opened(chromium, path)
    figure.page.value("document.querySelector('#why button').click()")
    figure.page.value("document.querySelector('#several').open = true")
    figure.page.settle()
    assert figure.page.value("document.querySelectorAll('img').length") == 0
    for place in ("#why tbody", "#why p", "#stalls tbody", "#marked", "h1", "#notes", "#connection"):
        assert evil in figure.page.value(f"document.querySelector('{place}').textContent"), place
    assert figure.page.complaints == []


def test_integers_are_packed_as_the_crate_packs_them() -> None:
    """Zigzag and seven bits in a byte, by the definition."""
    values = [0, 1, -1, 63, 64, -64, -65, 127, 128, 2**40, -(2**40), 2**61, -(2**61)]

    def one(value: int) -> bytes:
        rest = 2 * value if value >= 0 else -2 * value - 1
        octets = []
        while rest > 127:
            octets.append(rest & 127 | 128)
            rest >>= 7
        return bytes([*octets, rest])

    assert integers(np.array(values)) == b"".join(one(value) for value in values)
    assert integers(np.array([], dtype=np.int64)) == b""
    columns = Columns()
    columns.differences("x", np.array([5, 3, 3]))
    assert columns.index == {"x": (3, 3)}


def test_a_long_queue_keeps_its_extremes(outage: tuple[quiclab.Run, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    run, path = outage
    run = quiclab.load(path.parent)
    table = run.table("queue").to_pylist()
    monkeypatch.setattr(bottleneck, "_LONGEST", 100)
    found = bottleneck._queue(run, "cell forward")
    bins = {row["time_s"] // (run.summary["duration_s"] / 50) for row in table}
    assert 50 <= len(found["time"]) <= 2 * len(bins) < len(table)
    assert (np.diff(found["time"]) >= 0).all()
    for key in ("bytes", "packets"):
        assert found[key].max() == max(row[key] for row in table)
    assert found["bytes"].min() == min(row["bytes"] for row in table)
