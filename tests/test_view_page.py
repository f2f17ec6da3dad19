"""The page of `quiclab view` in a headless Chromium without a network."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quiclab
from chromium import Browser, Page, browser
from conftest import SCENARIO
from quiclab import view
from quiclab.drawings.view import model
from quiclab.drawings.view.page import page as build
from quiclab.records import qlog
from quiclab.records.qlog import Log, Packet
from test_view import TWO_STREAMS
from view_logs import header, packet, two_streams, write_sequence, write_two_streams

MS = 1_000_000
READY = "window.quiclab"
CHOOSE = """(() => {
    const choice = document.querySelector('#ID');
    choice.value = 'VALUE';
    choice.dispatchEvent(new Event('change'));
})()"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the log by hand: packet 1 of stream 4 is lost, and sent again as packet 5."""
    return view.write(write_two_streams(tmp_path_factory.mktemp("hand") / "run")).view


class Figure:
    """The figure of a page: where things are, and what is there."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def value(self, expression: str) -> Any:
        return self.page.value(f"(({{ figure }}) => {expression})(window.quiclab)")

    def range(self) -> list[float]:
        """The visible range in nanoseconds."""
        found: list[float] = self.value("[figure.time.start, figure.time.end]")
        return found

    def x(self, time: float) -> float:
        """Where a time is in the window."""
        return float(self.value(f"figure.element.getBoundingClientRect().left + 96 + figure.time.x({time})"))

    def top(self, panel: str) -> tuple[float, float]:
        """The top of a panel in the window, and its height."""
        top, height = self.value(
            f"[figure.element.getBoundingClientRect().top + {panel}.top, {panel}.height]".replace("{panel}", panel)
        )
        return top, height

    def pixel(self, x: float, y: float) -> str:
        """The colour of the plot at a place in the window."""
        red, green, blue, _ = self.value(
            "{ const box = figure.element.getBoundingClientRect();"
            f" return [...figure.plot.getContext('2d').getImageData(Math.floor({x} - box.left) * figure.ratio,"
            f" Math.floor({y} - box.top) * figure.ratio, 1, 1).data]; }}"
        )
        return f"#{red:02x}{green:02x}{blue:02x}"

    def hover(self, x: float, y: float) -> str:
        """What the tip says there."""
        self.page.mouse("mouseMoved", x, y)
        return str(
            self.page.value(
                "(() => { const tip = document.querySelector('#tip'); return tip.hidden ? '' : tip.innerText; })()"
            )
        )


@pytest.fixture
def figure(chromium: Browser, hand: Path) -> Figure:
    page = chromium.page()
    page.scheme("light")
    page.load(hand, READY)
    return Figure(page)


def test_it_loads_without_network_and_without_complaint(chromium: Browser, hand: Path) -> None:
    page = chromium.page()
    page.load(hand, READY)
    assert page.complaints == []
    outside = [address for address in page.requests if not address.startswith("data:")]
    assert outside == [hand.as_uri()]


def test_the_numbers_are_those_of_the_run(chromium: Browser, tmp_path: Path) -> None:
    run = quiclab.Scenario.from_text(TWO_STREAMS).run(qlog=True, out=tmp_path / "run")
    (summary,) = run.summary["connections"]
    page = chromium.page()
    page.load(view.write(tmp_path / "run").view, READY)
    told = page.value("document.querySelector('#summary').textContent")
    assert told.startswith(
        f"{summary['packets_sent']} packets from the server · {summary['packets_declared_lost']} declared lost"
    )
    assert "2 streams with 60.0 kB" in told
    assert page.value("document.querySelectorAll('#legend [aria-pressed]').length") == 2
    assert page.value("document.title") == "two-streams, seed 1 - quiclab view"
    # The other direction.
    page.value(
        "(() => { const choice = document.querySelector('#direction'); choice.value = '1';"
        " choice.dispatchEvent(new Event('change')); })()"
    )
    assert "packets from the client" in page.value("document.querySelector('#summary').textContent")
    assert page.complaints == []


def test_all_columns_are_read_back(chromium: Browser, tmp_path: Path) -> None:
    """What the page has is what was packed: packets, times, frames, waits and gauges of a run with losses."""
    text = TWO_STREAMS.replace('{ type = "list", packets = [8], data_only = true }', '"5 %"')
    quiclab.Scenario.from_text(text).run(qlog=True, out=tmp_path / "run")
    logs = [log for path in sorted((tmp_path / "run").glob("*.sqlog")) for log in qlog.read(path)]
    (connection,) = model.connections(logs)
    path = tmp_path / "page.html"
    path.write_text(build("t", [connection], [], "1"), encoding="utf-8")
    page = chromium.page()
    page.load(path, READY)
    for at, direction in enumerate(connection.directions):
        page.value(
            f"(() => {{ const choice = document.querySelector('#direction'); choice.value = '{at}';"
            " choice.dispatchEvent(new Event('change')); })()"
        )
        start = connection.start

        def since(times: list[int], start: int = start) -> list[int | None]:
            return [None if time == model.UNKNOWN else time - start for time in times]

        def column(name: str) -> Any:
            return json.loads(page.value(f"JSON.stringify([...window.quiclab.figure.direction.{name}])"))

        assert column("sent") == [packet.time - start for packet in direction.packets]
        assert column("number") == [packet.number for packet in direction.packets]
        assert column("size") == [packet.size for packet in direction.packets]
        assert column("received") == since(direction.received)
        assert column("acknowledged") == since(direction.acknowledged)
        assert column("lost") == since(direction.lost)
        frames = [frame for packet in direction.packets for frame in packet.streams]
        assert column("frameOffset") == [offset for _, offset, _, _ in frames]
        assert column("frameLength") == [length for _, _, length, _ in frames]
        assert column("frameFin") == [int(fin) for _, _, _, fin in frames]
        ranges = [one for packet in direction.packets for _, ranges in packet.acks for one in ranges]
        assert list(zip(column("rangeFirst"), column("rangeLast"), strict=True)) == ranges
        assert column("ackDelay") == [delay for packet in direction.packets for delay, _ in packet.acks]
        assert list(zip(column("againFrom"), column("againTo"), strict=True)) == direction.again
        for name, found in (("waits", direction.waits), ("one", direction.one_stream)):
            rows = zip(
                found.stream, found.start, found.end, found.missing, found.filled, found.offset, found.held, strict=True
            )
            expected = sorted((row[0], row[1] - start, row[2] - start, *row[3:]) for row in rows)
            names = ("stream", "start", "end", "missing", "filled", "offset", "held")
            assert list(zip(*(column(f"{name}.{part}") for part in names), strict=True)) == expected
        for name, (times, values) in direction.metrics.items():
            assert column(f"metrics.get('{name}').times") == [time - start for time in times]
            factor = MS if name.endswith("rtt") else 1
            assert column(f"metrics.get('{name}').values") == [round(value * factor) for value in values]


def test_hover_gives_the_packet_and_its_frames(figure: Figure) -> None:
    top, height = figure.top("figure.sent")
    said = figure.hover(figure.x(1 * MS) + 2, top + height - 5)
    assert said.splitlines()[0] == "packet 1 (1rtt), lost"
    assert "sent at 1.000 ms, 1,040 B" in said
    assert "declared lost at 24.500 ms (after 23.5 ms)" in said and "because of reordering threshold" in said
    assert "retransmitted as 5" in said and "STREAM 4, offset 0, 1,000 B" in said
    said = figure.hover(figure.x(4 * MS) + 2, top + height - 5)
    assert "packet 4 (1rtt), acknowledged" in said and "STREAM 0, offset 2,000, 1,000 B, FIN" in said
    assert "arrived at 14.000 ms (after 10.0 ms)" in said
    # Where there is nothing there is no tip.
    assert figure.hover(figure.x(15 * MS), top + height - 5) == ""
    # The arrival of packet 5, in the row of its stream.
    top, height = figure.top("figure.rows")
    assert figure.hover(figure.x(35 * MS) + 2, top + height / 2 + 6).startswith("packet 5 (1rtt)")
    # In flight: half of the way is 5 ms after it was sent.
    top, height = figure.top("figure.flight")
    assert figure.hover(figure.x(30 * MS), top + height / 2).startswith("packet 5 (1rtt)")
    assert figure.page.complaints == []


def test_hover_gives_acknowledgements(figure: Figure) -> None:
    figure.page.value(
        "(() => { const choice = document.querySelector('#direction'); choice.value = '1';"
        " choice.dispatchEvent(new Event('change')); })()"
    )
    figure.page.settle()
    top, height = figure.top("figure.sent")
    said = figure.hover(figure.x(14 * MS) + 2, top + height - 2)
    assert "packet 0 (1rtt)" in said and "ACK 2\u20134, 0 (delay 1.50 ms)" in said
    assert "MAX_DATA maximum 70,000" in said


def test_the_wait_is_exactly_where_it_must_be(figure: Figure) -> None:
    """Stream 4 waits from 13 to 35 ms; one byte stream would have held stream 0 back from 12 to 35 ms."""
    colours = "[figure.colours.panel, figure.colours.stream(1), figure.colours.hatch, figure.colours.grid]"
    panel, stream, hatch, grid = figure.value(colours)
    top, height = figure.top("figure.rows")
    y = top + height - height / 8
    left, right = figure.x(13 * MS), figure.x(35 * MS)
    assert [figure.pixel(x, y) for x in (left - 2, left + 3, right - 3, right + 2)] == [panel, stream, stream, panel]
    # Hatched: both colours within a few pixels.
    y = top + height / 2 - height / 8
    left, right = figure.x(12 * MS), figure.x(35 * MS)
    assert {figure.pixel(left + at, y) for at in range(1, 9)} - {grid} == {panel, hatch}
    assert {figure.pixel(right - at, y) for at in range(2, 9)} - {grid} == {panel, hatch}
    assert {figure.pixel(left - at, y) for at in range(2, 9)} - {grid} == {panel}
    assert {figure.pixel(right + at, y) for at in range(1, 9)} - {grid} == {panel}
    figure.page.value("document.querySelector('#one-stream').click()")
    figure.page.settle()
    assert {figure.pixel(left + at, y) for at in range(1, 9)} - {grid} == {panel}

    top, height = figure.top("figure.rows")
    said = figure.hover(figure.x(20 * MS), top + height - 6)
    assert said.splitlines() == [
        "stream 4 waits 22.0 ms",
        "for packet 1, lost, retransmitted as 5",
        "from 13.000 to 35.000 ms",
        "offset 0 is missing; up to 1,000 B held back",
    ]
    row = figure.page.value("[...document.querySelector('#longest tbody tr').cells].map((cell) => cell.textContent)")
    assert row[1:] == ["4", "13.000", "22.000", "1,000", "packet 1, lost, retransmitted as 5"]


def test_what_waits_at_the_sender_is_seen_and_told(chromium: Browser, tmp_path: Path) -> None:
    """Stream 4 has data that waits until 3 ms while stream 0 sends, and no credit from 5 to 20 ms."""
    server, client = two_streams()
    moved = {"from": "application", "to": "transport", "offset": 0}
    blocked = packet(6, {"frame_type": "stream_data_blocked", "stream_id": 4, "limit": 2000}, size=40)
    server += [
        (0.0, "stream_data_moved", {**moved, "stream_id": 0, "raw": {"length": 3000}}),
        (0.0, "stream_data_moved", {**moved, "stream_id": 4, "raw": {"length": 2000}}),
        (5.0, "packet_sent", blocked),
        (
            20.0,
            "packet_received",
            packet(7, {"frame_type": "max_stream_data", "stream_id": 4, "maximum": 9000}, size=40),
        ),
    ]
    server.sort(key=lambda event: event[0])
    run = tmp_path / "run"
    run.mkdir()
    write_sequence(run / "hand-server.sqlog", header("server"), server)
    write_sequence(run / "hand-client.sqlog", header("client"), client)
    page = chromium.page()
    page.scheme("light")
    page.load(view.write(run).view, READY)
    figure = Figure(page)
    panel, ink, grid = figure.value("[figure.colours.panel, figure.colours.ink, figure.colours.grid]")
    top, height = figure.top("figure.rows")
    y = top + height / 2 + 4
    assert {figure.pixel(figure.x(time * MS), y) for time in (0.5, 2.5)}.isdisjoint({panel, ink, grid})
    assert {figure.pixel(figure.x(time * MS), y) for time in (3.6, 4.6, 20.6)} <= {panel, grid}
    assert {figure.pixel(figure.x(time * MS), y) for time in (5.5, 12, 19.5)} == {ink}
    said = figure.hover(figure.x(2 * MS) + 3, y).splitlines()
    assert said[0] == "stream 4 has data that waits to be sent"
    assert said[1:4] == [
        "up to 2.00 kB, from 0.000 to 3.000 ms",
        "its packets around here: 1 and 3, 2.00 ms of waiting",
        "1 packet sent between them:",
    ]
    assert said[4] == "\u2022 stream 0: 1.00 kB"
    assert figure.hover(figure.x(12 * MS), y).splitlines() == [
        "stream 4 has no credit for 15.0 ms",
        "the receiver's limit of 2,000 B is reached (STREAM_DATA_BLOCKED)",
        "from 5.000 ms until MAX_STREAM_DATA arrived at 20.000 ms",
    ]
    assert "without credit 1 time, 15.0 ms" in page.value("document.querySelector('#summary').textContent")
    rows = "[...document.querySelectorAll('#longest tbody tr')].map((row) => row.innerText.replace(/\\t/g, '|'))"
    assert page.value(rows) == [
        "4|13.000|22.000|1,000|packet 1, lost, retransmitted as 5",
        "4|5.000|15.000||credit to send more than 2,000 B",
    ]
    page.value("document.querySelectorAll('#longest tbody tr')[1].click()")
    page.settle()
    assert figure.value("[figure.kept.kind, figure.time.start > 0]") == ["blocked", True]


def test_fine_screens_are_drawn_and_hit_as_well(figure: Figure) -> None:
    """Two device pixels for each pixel."""
    figure.page.resize(1000, 800, ratio=2)
    figure.page.settle()
    assert figure.value("[figure.ratio, figure.plot.width]") == [2, 2 * figure.value("figure.width")]
    panel, stream = figure.value("[figure.colours.panel, figure.colours.stream(1)]")
    top, height = figure.top("figure.rows")
    y = top + height - height / 8
    left, right = figure.x(13 * MS), figure.x(35 * MS)
    assert [figure.pixel(x, y) for x in (left - 2, left + 3, right - 3, right + 2)] == [panel, stream, stream, panel]
    top, height = figure.top("figure.sent")
    assert figure.hover(figure.x(1 * MS) + 2, top + height - 5).startswith("packet 1 (1rtt), lost")


def test_zoom_keeps_the_pointer_and_both_graphs_follow(figure: Figure) -> None:
    def steps() -> tuple[float, float]:
        """Where the wait of stream 4 begins, and where the window falls, as seen in the pixels."""
        y = figure.top("figure.rows")[0] + figure.top("figure.rows")[1] * 7 / 8
        stream = figure.value("figure.colours.stream(1)")
        begin = next(x for x in range(114, 1380) if figure.pixel(x, y) == stream)
        gauge, height = figure.top("figure.panels[4]")
        # The window is drawn at the top until it falls by half.
        high = figure.value("figure.colours.palette[1]")
        rows = [y for y in range(int(gauge) + 18, int(gauge + height)) if figure.pixel(begin + 1, y) == high]
        return begin, max(x for x in range(114, 1380) if figure.pixel(x, rows[0]) == high)

    before = figure.range()
    at = round(figure.x(20 * MS))
    there = f"figure.time.time({at} - 96 - figure.element.getBoundingClientRect().left)"
    time = figure.value(there)
    top, _ = figure.top("figure.rows")
    first = steps()
    assert first == pytest.approx((figure.x(13 * MS), figure.x(24.5 * MS)), abs=2)
    figure.page.mouse("mouseWheel", at, top + 5, deltaX=0, deltaY=-300)
    after = figure.range()
    assert after[1] - after[0] == pytest.approx((before[1] - before[0]) * math.exp(-300 * 0.0016))
    assert figure.value(there) == pytest.approx(time)
    second = steps()
    assert second == pytest.approx((figure.x(13 * MS), figure.x(24.5 * MS)), abs=2)
    assert second[0] < first[0] - 20 and second[1] > first[1] + 20

    # Dragging by 100 pixels to the left moves to later times.
    figure.page.mouse("mousePressed", 700, top + 5, button="left", buttons=1, clickCount=1)
    figure.page.mouse("mouseMoved", 600, top + 5, button="left", buttons=1)
    figure.page.mouse("mouseReleased", 600, top + 5, button="left", clickCount=1)
    moved = figure.range()
    width = figure.value("figure.time.width")
    assert moved[0] - after[0] == pytest.approx(100 / width * (after[1] - after[0]))
    figure.page.click(700, top + 5, count=2)
    assert figure.range() == before


def test_keys_move_and_lead_to_the_waits(figure: Figure) -> None:
    whole = figure.range()
    figure.page.key("+")
    zoomed = figure.range()
    assert zoomed[1] - zoomed[0] == pytest.approx((whole[1] - whole[0]) / 1.6)
    figure.page.key("ArrowRight")
    assert figure.range()[0] == pytest.approx(
        min(zoomed[0] + (zoomed[1] - zoomed[0]) / 5, whole[1] - (zoomed[1] - zoomed[0]))
    )
    figure.page.key("0")
    assert figure.range() == whole
    figure.page.key("n")
    assert figure.value("figure.kept.kind") == "wait"
    assert figure.range()[1] < whole[1]
    figure.page.key("Escape")
    assert figure.value("figure.kept === undefined")


def test_the_overview_moves_the_window(figure: Figure) -> None:
    figure.value("{ figure.time.show(0, 10e6); figure.invalidate(); }")
    figure.page.settle()
    top, height = figure.top("figure.overview")
    least, most = figure.value("[figure.time.least, figure.time.most]")
    left, width = figure.value("[figure.element.getBoundingClientRect().left + 96, figure.time.width]")
    x = round(left + width / 2)
    figure.page.click(x, top + height / 2)
    start, end = figure.range()
    assert end - start == pytest.approx(10 * MS)
    assert (start + end) / 2 == pytest.approx(least + (x - left) / width * (most - least))


def test_two_fingers_zoom(figure: Figure) -> None:
    top, _ = figure.top("figure.sent")
    left = figure.value("figure.element.getBoundingClientRect().left + 96")
    there = [figure.value(f"figure.time.time({x - left})") for x in (500, 600)]

    def touch(kind: str, *places: float) -> None:
        points = [{"x": x, "y": top + 50, "id": at} for at, x in enumerate(places)]
        figure.page.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    touch("touchStart", 500)
    touch("touchStart", 500, 600)
    touch("touchMove", 500, 700)
    touch("touchMove", 400, 700)
    touch("touchEnd")
    figure.page.settle()
    # What was below each finger is there still.
    assert [figure.value(f"figure.time.time({x - left})") for x in (400, 700)] == pytest.approx(there)


def test_connections_are_chosen(chromium: Browser, tmp_path: Path) -> None:
    logs = [log for path in write_two_streams(tmp_path / "run").iterdir() for log in qlog.read(path)]
    (one,) = model.connections(logs, has_one_clock=True)
    other = many(300, 5)
    other.name = "other"
    path = tmp_path / "two.html"
    path.write_text(build("two", [one, other], ["a note"], "1"), encoding="utf-8")
    page = chromium.page()
    page.load(path, READY)
    assert page.value("[...document.querySelector('#connection').options].map((option) => option.text)") == [
        "hand",
        "other",
    ]
    assert page.value("document.querySelector('#notes').textContent") == "a note"
    page.value(CHOOSE.replace("ID", "connection").replace("VALUE", "1"))
    page.settle()
    assert page.value("document.querySelector('#summary').textContent").startswith("300 packets from the server")
    assert page.value("window.quiclab.figure.rows.rows.length") == 5
    assert page.complaints == []


def test_streams_are_switched_off_and_on(figure: Figure) -> None:
    top, height = figure.top("figure.sent")
    x = figure.x(25 * MS) + 2
    colour = figure.value("figure.colours.stream(1)")
    assert figure.pixel(x, top + height - 5) == colour
    figure.page.value("document.querySelectorAll('#legend [aria-pressed]')[1].click()")
    figure.page.settle()
    assert figure.value("figure.rows.rows.map((row) => row.id)") == [0]
    top, height = figure.top("figure.sent")
    assert figure.pixel(x, top + height - 5) == figure.value("figure.colours.other")
    figure.page.value("document.querySelector('#legend button').click()")
    figure.page.settle()
    assert figure.value("figure.rows.rows.map((row) => row.id)") == [0, 4]


def test_a_connection_over_tcp_has_its_congestion_graph(chromium: Browser, tmp_path: Path) -> None:
    text = SCENARIO.replace("[flow.transport]", "[flow.tcp]").replace(
        'name = "download"', 'name = "get"\nprotocol = "tcp"'
    )
    quiclab.Scenario.from_text(text).run(out=tmp_path / "run")
    page = chromium.page()
    page.load(view.write(tmp_path / "run").view, READY)
    assert "no packets" in page.value("document.querySelector('#summary').textContent")
    assert "over TCP" in page.value("document.querySelector('#notes').textContent")
    figure = Figure(page)
    titles = ["waits for", "rate (Mbit/s)", "queue (kB)", "window (kB)", "RTT (ms)"]
    assert figure.value("figure.panels.map((panel) => panel.title)") == titles
    top, height = figure.top("figure.panels[3]")
    said = figure.hover(figure.x(figure.value("figure.direction.duration") / 2), top + height / 2)
    assert "congestion window" in said and "smoothed RTT" in said
    assert page.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_both_themes(chromium: Browser, hand: Path, scheme: str) -> None:
    """WCAG 2.2: 4.5 for text, 3 for what is to be told apart."""
    page = chromium.page()
    page.scheme(scheme)
    page.load(hand, READY)
    colours = page.value(
        "(({ colours }) => ({ ground: colours.ground, panel: colours.panel, ink: colours.ink, soft: colours.soft,"
        " streams: [...Array(18).keys()].map((at) => colours.stream(at)) }))(window.quiclab.figure)"
    )
    for ground in (colours["ground"], colours["panel"]):
        assert _contrast(colours["ink"], ground) > 7
        assert _contrast(colours["soft"], ground) > 4.5
    assert len(set(colours["streams"])) == 18
    page.value("document.querySelector('#theme').click()")
    assert page.value("window.quiclab.figure.colours.ground") != colours["ground"]


def _contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lights = sorted((light(one), light(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def many(packets: int, streams: int) -> model.Connection:
    """Packets, 50 microseconds apart, that take turns with the streams; each hundredth is lost."""
    server, client = Log("many server", "server", "00", ""), Log("many client", "client", "00", "")
    offsets = [0] * streams
    again: list[tuple[int, tuple[int, int, int, bool]]] = []
    for number in range(packets):
        time = number * 50_000
        if again and again[0][0] <= time:
            frame = again.pop(0)[1]
        else:
            stream = number % streams
            frame = (4 * stream, offsets[stream], 1200, False)
            offsets[stream] += 1200
            # Written 5 ms before it is sent, so that each stream waits now and then.
            server.events.write(max(0, time - 5 * MS), 4 * stream, offsets[stream])
        server.sent.append(Packet(time, "1rtt", number, 1240, [frame], [], [], []))
        for gauge in ("congestion_window", "bytes_in_flight"):
            server.events.gauge(gauge, time, 20_000 + (number * 7919) % 50_000)
        if number % 100 == 99:
            # Not a multiple of what the losses are apart: else every copy were lost too.
            known = time + 30 * MS + 50_000 * (number % 7)
            server.events.lose(known, "1rtt", number, "time_threshold")
            again.append((known, frame))
        else:
            client.received.append(Packet(time + 20 * MS, "1rtt", number, 1240, [frame], [], [], []))
            if number % 2:
                acks = [(0, [(max(0, number - 50), number)])]
                client.sent.append(Packet(time + 20 * MS, "1rtt", number // 2, 45, [], acks, [], []))
                server.received.append(Packet(time + 40 * MS, "1rtt", number // 2, 45, [], acks, [], []))
    (connection,) = model.connections([server, client])
    return connection


@pytest.mark.parametrize("streams", [3, 1000])
def test_200_000_packets_are_drawn_within_the_pixels_there_are(chromium: Browser, tmp_path: Path, streams: int) -> None:
    text = build("many", [many(200_000, streams)], [], "1")
    assert len(text) < 6_000_000
    path = tmp_path / "many.html"
    path.write_text(text, encoding="utf-8")
    page = chromium.page()
    page.load(path, READY)
    figure = Figure(page)
    width = figure.value("figure.time.width")
    rows = figure.value("Math.ceil(figure.rows.height / figure.rows.row) + 1")
    # In each column of pixels: the bar of the strip, in its pixels at most; of each visible row what waits at the
    # sender, an arrival and a wait of each kind; a few lines, marks and values.
    bound = width * (70 + 4 * rows + 20)

    def drawn() -> dict[str, float]:
        found: dict[str, float] = figure.value("figure.drawings.at(-1)")
        return found

    whole = drawn()
    assert whole["primitives"] < bound
    # A pixel that stands for many packets looks at blocks of them; blocks of many streams have more parts.
    assert whole["visited"] < (200_000 if streams == 3 else 1_000_000)
    # A thousandth of the time: what is looked at is what is visible, and a little more.
    figure.value("{ figure.time.show(5e9, 5.01e9); figure.invalidate(); }")
    page.settle()
    near = drawn()
    assert near["primitives"] < bound / 10
    # 200 packets are sent in this time, and 400 more are on their way.
    assert near["visited"] < 12 * 600
    top, height = figure.top("figure.sent")
    said = figure.hover(figure.x(5.0051e9) + 1, top + height - 5)
    number = round(5.0051e9 / 50_000)
    assert said.startswith(f"packet {number} (1rtt)")
    # The rows of many streams are scrolled over their names.
    top, height = figure.top("figure.rows")
    page.mouse("mouseWheel", 60, top + height / 2, deltaX=0, deltaY=1000)
    hidden = figure.value("Math.max(0, figure.rows.rows.length * figure.rows.row - figure.rows.height)")
    assert (hidden > 0) == (streams == 1000)
    assert figure.value("figure.rows.scroll") == min(1000, hidden)
    assert page.complaints == []


NAIVE = """({ figure }) => {
    const { direction, time, sent, plot } = figure, { values, extremes } = direction.metrics.get('congestion_window');
    const wrong = [];
    for (const [from, to] of [[0, direction.count], [63, 64], [1, 4097], [64, 128], [4095, 8193], [777, 19999]]) {
        const part = values.slice(from, to), [least, most] = extremes.of(from, to);
        if (least !== Math.min(...part) || most !== Math.max(...part)) wrong.push(['extremes', from, to]);
        const [found, expected] = [new Map(), new Map()];
        const into = (sums) => (at, bytes) => sums.set(at, (sums.get(at) ?? 0) + bytes);
        direction.shares.of(from, to, into(found));
        const add = into(expected);
        for (let packet = from; packet < to; packet++) direction.parts(packet, (at, bytes) => add(at + 1, bytes));
        if ([...expected].some(([at, bytes]) => found.get(at) !== bytes)) wrong.push(['shares', from, to]);
    }
    for (const [start, end] of [[0, 1e9], [0.2e9, 0.3e9], [0.5e9, 0.5001e9], [-1e9, 2e9]]) {
        time.show(start, end);
        figure.draw();
        const factor = Math.round(time.width * figure.ratio) / time.span, bars = new Map();
        direction.sent.forEach((at, packet) => {
            const left = Math.floor((at - time.start) * factor);
            if (at < time.start || at > time.end) return;
            bars.set(left, [left, bars.get(left)?.[1] ?? packet, packet + 1]);
        });
        const found = sent.bars.left.map((left, at) => [left, sent.bars.from[at], sent.bars.to[at]]);
        if (JSON.stringify(found) !== JSON.stringify([...bars.values()])) wrong.push(['bars', start, end]);
    }
    return wrong;
}"""
"""What blocks say of parts of columns, and which packets share a pixel, against a look at each; what is wrong."""


def test_what_is_summed_by_blocks_is_what_is_there(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    path.write_text(build("many", [many(20_000, 7)], [], "1"), encoding="utf-8")
    page = chromium.page()
    page.load(path, READY)
    assert page.value("window.quiclab.figure.direction.shares.levels.length") == 3
    assert page.value(f"({NAIVE})(window.quiclab)") == []
