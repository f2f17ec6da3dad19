"""`quiclab view`: reading qlog, putting both ends together, and what waits for what."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import SCENARIO, Command
from quiclab import view
from quiclab.drawings.view import model, tables
from quiclab.drawings.view.model import Spans
from quiclab.drawings.view.page import bundle, page
from quiclab.records import qlog
from view_logs import Event, ack, header, packet, stream, two_streams, write_sequence, write_two_streams

TWO_STREAMS = (
    SCENARIO.replace('loss = "1 %"', 'loss = { type = "list", packets = [8], data_only = true }')
    .replace('size = "300 kB"', 'size = "60 kB", streams = 2')
    .replace('name = "bulk"', 'name = "two-streams"')
)
"""Two streams share 60 kB, and one packet with data is lost."""

MS = 1_000_000


def spans(found: Spans) -> list[tuple[int, float, float, int, int, int, int]]:
    """Spans as rows: stream, start and end in milliseconds, missing and filling packet, offset, held bytes."""
    return sorted(
        (stream, start / MS, end / MS, missing, filled, offset, held)
        for stream, start, end, missing, filled, offset, held in zip(
            found.stream, found.start, found.end, found.missing, found.filled, found.offset, found.held, strict=True
        )
    )


def read(folder: Path) -> list[model.Connection]:
    """The connections of a folder."""
    return model.connections([log for path in qlog.records(folder) for log in qlog.read(path)])


def logs(tmp_path: Path, server: list[Event], client: list[Event]) -> model.Direction:
    """What the server sent, from events by hand."""
    write_sequence(tmp_path / "a-server.sqlog", header("server"), sorted(server, key=lambda event: event[0]))
    write_sequence(tmp_path / "a-client.sqlog", header("client"), sorted(client, key=lambda event: event[0]))
    (connection,) = read(tmp_path)
    return connection.directions[0]


# What waits for what.


def test_a_stream_waits_for_its_own_bytes_and_one_byte_stream_for_all(tmp_path: Path) -> None:
    (connection,) = read(write_two_streams(tmp_path / "run"))
    direction = connection.directions[0]
    assert (connection.name, direction.sender, connection.end) == ("hand", "server", 45 * MS)
    assert [(entry.id, entry.bytes, entry.retransmitted) for entry in direction.streams] == [
        (0, 3000, 0),
        (4, 2000, 1000),
    ]
    # Stream 4 has its second 1000 bytes at 13 ms and its first at 35 ms: packet 1, sent again as packet 5.
    assert spans(direction.waits) == [(1, 13.0, 35.0, 1, 5, 0, 1000)]
    # In one sequence packets 2 and 4 of stream 0 would have waited behind packet 1 too.
    assert spans(direction.one_stream) == [(0, 12.0, 35.0, 1, 5, 1000, 2000), (1, 13.0, 35.0, 1, 5, 1000, 1000)]
    assert direction.again == [(1, 5)]
    assert [time // MS for time in direction.received] == [10, -1, 12, 13, 14, 35]
    assert [time // MS for time in direction.acknowledged] == [24, -1, 24, 24, 24, 45]
    assert direction.lost == [-1, 24_500_000, -1, -1, -1, -1]
    assert direction.triggers[1] == "reordering_threshold"


def test_reordering_is_a_wait_without_a_loss(tmp_path: Path) -> None:
    frames = [stream(0, at * 100, 100) for at in range(4)]
    server: list[Event] = [(at, "packet_sent", packet(at, frames[at])) for at in range(4)]
    client: list[Event] = [
        (time, "packet_received", packet(at, frames[at])) for at, time in ((0, 10), (2, 12), (3, 13), (1, 15))
    ]
    direction = logs(tmp_path, server, client)
    assert spans(direction.waits) == [(0, 12.0, 15.0, 1, 1, 100, 200)] == spans(direction.one_stream)
    assert direction.again == []


def test_each_hole_is_a_wait_of_its_own(tmp_path: Path) -> None:
    frames = [stream(0, at * 100, 100) for at in range(5)]
    server: list[Event] = [(at, "packet_sent", packet(at, frames[at])) for at in range(5)]
    server += [(20, "packet_sent", packet(5, frames[1])), (22, "packet_sent", packet(6, frames[3]))]
    arrivals = [(0, 10, 0), (2, 12, 2), (4, 14, 4), (5, 30, 1), (6, 32, 3)]
    client: list[Event] = [(time, "packet_received", packet(number, frames[what])) for number, time, what in arrivals]
    direction = logs(tmp_path, server, client)
    assert spans(direction.waits) == [(0, 12.0, 30.0, 1, 5, 100, 200), (0, 30.0, 32.0, 3, 6, 300, 100)]
    assert spans(direction.one_stream) == [(0, 12.0, 32.0, 1, 6, 100, 200)]


def test_a_reset_ends_the_wait(tmp_path: Path) -> None:
    """RFC 9000 section 3.2: what was missing is not delivered any more."""
    server: list[Event] = [(at, "packet_sent", packet(at, stream(0, at * 100, 100))) for at in range(3)]
    reset = packet(3, {"frame_type": "reset_stream", "stream_id": 0, "error_code": 7, "final_size": 300})
    server.append((5, "packet_sent", reset))
    client: list[Event] = [
        (10, "packet_received", packet(0, stream(0, 0, 100))),
        (12, "packet_received", packet(2, stream(0, 200, 100))),
        (15, "packet_received", reset),
        (20, "packet_received", packet(1, stream(0, 100, 100))),
    ]
    direction = logs(tmp_path, server, client)
    assert spans(direction.waits) == [(0, 12.0, 15.0, 1, 3, 100, 100)] == spans(direction.one_stream)


def test_a_wait_that_does_not_end_lasts_until_the_end(tmp_path: Path) -> None:
    server: list[Event] = [(at, "packet_sent", packet(at, stream(0, at * 100, 100))) for at in range(2)]
    server.append((50, "packet_received", packet(0, ack([1]))))
    direction = logs(tmp_path, server, [(11, "packet_received", packet(1, stream(0, 100, 100)))])
    assert spans(direction.waits) == [(0, 11.0, 50.0, 0, -1, 0, 100)]


def moved(stream_id: int, offset: int, length: int) -> dict[str, Any]:
    """An event stream_data_moved: the application wrote."""
    return {
        "stream_id": stream_id,
        "offset": offset,
        "from": "application",
        "to": "transport",
        "raw": {"length": length},
    }


def test_what_is_written_waits_until_it_is_sent(tmp_path: Path) -> None:
    server: list[Event] = [(0, "stream_data_moved", moved(0, 0, 300)), (0, "stream_data_moved", moved(4, 0, 100))]
    server += [(at, "packet_sent", packet(at, stream(0, at * 100, 100))) for at in range(3)]
    # Stream 0 sends its last bytes at 2 ms, stream 4 its only ones at 7 ms; retransmissions count for nothing.
    server += [(5, "packet_sent", packet(5, stream(0, 0, 100))), (7, "packet_sent", packet(7, stream(4, 0, 100)))]
    # What is sent as it is written does not wait; what is never sent waits until the end.
    server += [(8, "stream_data_moved", moved(0, 300, 50)), (8, "packet_sent", packet(8, stream(0, 300, 50)))]
    server += [(9, "stream_data_moved", moved(4, 100, 10)), (12, "packet_received", packet(0, ack([0, 2])))]
    # Who reads, or does not say where, tells nothing of this.
    server += [
        (9, "stream_data_moved", {**moved(4, 0, 900), "from": "network", "to": "application"}),
        (9, "stream_data_moved", {"stream_id": 4, "from": "application", "to": "transport"}),
    ]
    direction = logs(tmp_path, server, [(10, "packet_received", packet(0, stream(0, 0, 100)))])
    assert direction.has_written
    assert spans(direction.queued) == [
        (0, 0.0, 2.0, -1, 2, 0, 300),
        (1, 0.0, 7.0, -1, 4, 0, 100),
        (1, 9.0, 12.0, -1, -1, 100, 10),
    ]


def test_without_credit_from_the_frame_until_more_comes(tmp_path: Path) -> None:
    """RFC 9000 sections 19.9, 19.10, 19.12, 19.13."""
    blocked = {"frame_type": "stream_data_blocked", "stream_id": 0, "limit": 100}
    server: list[Event] = [
        (0, "packet_sent", packet(0, stream(0, 0, 100), blocked)),
        (1, "packet_sent", packet(1, stream(4, 0, 100), {"frame_type": "data_blocked", "limit": 200})),
        # Sent again, as it was lost: the same wait.
        (3, "packet_sent", packet(2, blocked)),
        (5, "packet_received", packet(0, {"frame_type": "max_stream_data", "stream_id": 0, "maximum": 100})),
        (8, "packet_received", packet(1, {"frame_type": "max_stream_data", "stream_id": 0, "maximum": 500})),
        (9, "packet_sent", packet(3, blocked)),
        (11, "packet_received", packet(2, {"frame_type": "max_data", "maximum": 900})),
        (20, "packet_sent", packet(4, {**blocked, "stream_id": 4})),
        (30, "packet_received", packet(3, ack([0, 4]))),
    ]
    direction = logs(tmp_path, server, [(10, "packet_received", packet(0, stream(0, 0, 100)))])
    assert spans(direction.blocked) == [
        (-1, 1.0, 11.0, -1, -1, 200, 0),
        (0, 0.0, 8.0, -1, -1, 100, 0),
        (1, 20.0, 30.0, -1, -1, 100, 0),
    ]


def test_a_run_tells_what_was_written_and_who_lacked_credit(tmp_path: Path) -> None:
    """The server writes both halves at once; with `fifo` the second stream waits until the first is sent."""
    text = TWO_STREAMS.replace('{ type = "list", packets = [8], data_only = true }', "0.0")
    scenario = quiclab.Scenario.from_text(text).with_(
        {"transport.scheduler": "fifo", "transport.initial_max_data": "20 kB"}
    )
    scenario.run(qlog=True, out=tmp_path / "run")
    (connection,) = read(tmp_path / "run")
    direction = connection.directions[0]
    by_stream = {direction.streams[found[0]].id: found for found in spans(direction.queued)}
    assert by_stream.keys() == {0, 4}
    assert by_stream[0][6] == by_stream[4][6] == 30_000
    assert by_stream[0][1] == by_stream[4][1] and by_stream[0][2] < by_stream[4][2]
    limits = [found[5] for found in spans(direction.blocked) if found[0] == -1]
    assert limits[0] == 20_000 and limits == sorted(limits)


def test_frames_of_other_stacks_without_a_limit_say_nothing_of_credit(tmp_path: Path) -> None:
    server: list[Event] = [(0, "packet_sent", packet(0, stream(0, 0, 100), {"frame_type": "data_blocked"}))]
    assert spans(logs(tmp_path, server, [(5, "packet_received", packet(0, stream(0, 0, 100)))]).blocked) == []


def test_datagrams_wait_for_nobody(tmp_path: Path) -> None:
    """RFC 9221 section 5: they are neither ordered nor sent again."""
    datagram = {"frame_type": "datagram", "raw": {"length": 50}}
    server: list[Event] = [(at, "packet_sent", packet(at, datagram)) for at in range(3)]
    client: list[Event] = [(at + 10, "packet_received", packet(at, datagram)) for at in (0, 2)]
    direction = logs(tmp_path, server, client)
    assert [(entry.id, entry.bytes) for entry in direction.streams] == [(model.DATAGRAMS, 150)]
    assert spans(direction.waits) == [] == spans(direction.one_stream)


def test_a_packet_that_comes_twice_counts_once(tmp_path: Path) -> None:
    frame = stream(0, 0, 100)
    client: list[Event] = [(time, "packet_received", packet(0, frame)) for time in (10, 11)]
    direction = logs(tmp_path, [(0, "packet_sent", packet(0, frame))], client)
    assert [time // MS for time in direction.received] == [10]


def test_without_the_sender_nobody_is_blamed(tmp_path: Path) -> None:
    _, client = two_streams()
    write_sequence(tmp_path / "client.sqlog", header("client"), client)
    (connection,) = read(tmp_path)
    direction = next(direction for direction in connection.directions if direction.sender == "server")
    assert not direction.has_sender and direction.has_receiver
    assert spans(direction.waits) == [(1, 13.0, 35.0, -1, 4, 0, 1000)]
    assert spans(direction.one_stream) == []
    assert "only the client's log exists" in connection.notes[0]


def test_without_the_receiver_arrival_is_when_the_sender_learned_of_it(tmp_path: Path) -> None:
    server, _ = two_streams()
    write_sequence(tmp_path / "server.sqlog", header("server"), server)
    (connection,) = read(tmp_path)
    direction = connection.directions[0]
    assert direction.has_sender and not direction.has_receiver
    assert spans(direction.waits) == [(1, 24.0, 45.0, 1, 5, 0, 1000)]


# Other stacks' files.


@pytest.mark.parametrize("ahead", [-5000, 3, 15, 5000])
def test_clocks_that_cannot_be_one_are_set(tmp_path: Path, ahead: int) -> None:
    """The way takes 10 ms: 3 ms more in one direction could be true, 15 ms could not."""
    server, client = two_streams()
    server = [(time + 100 + ahead, name, data) for time, name, data in server]
    client = [(time + 100, name, data) for time, name, data in client]
    write_sequence(tmp_path / "server.sqlog", header("server"), server)
    write_sequence(tmp_path / "client.sqlog", header("client"), client)
    (connection,) = read(tmp_path)
    ways = [
        time - packet.time
        for direction in connection.directions
        for packet, time in zip(direction.packets, direction.received, strict=True)
        if time != model.UNKNOWN
    ]
    if ahead == 3:
        assert set(ways) == {7 * MS, 13 * MS}
        (note,) = connection.notes
        assert "of the delays in both directions only the sum is known, at least 20.000 ms" in note
    else:
        assert set(ways) == {10 * MS}
        words = "ahead of" if ahead > 0 else "behind"
        assert f"the server's clock is {abs(ahead)}.000 ms {words} the client's" in connection.notes[0]


def _as_03(events: list[Event]) -> list[Event]:
    """As stacks with qlog_version 0.3 write them: lengths in the frame, numbers as text, words of aioquic."""
    renamed: list[Event] = []
    for time, name, data in events:
        data = json.loads(json.dumps(data))
        for frame in data.get("frames", ()):
            if "raw" in frame:
                frame["length"] = str(frame.pop("raw")["length"])
        if name == "packet_lost":
            data = {"type": "1RTT", "packet_number": str(data["header"]["packet_number"])}
        if "congestion_window" in data:
            data["cwnd"] = data.pop("congestion_window")
        kind = "recovery" if name in ("packet_lost", "recovery_metrics_updated") else "transport"
        renamed.append((time, f"{kind}:{name.removeprefix('recovery_')}", data))
    return renamed


@pytest.mark.parametrize("clock", ["relative", "delta", "absolute"])
def test_plain_json_of_version_03_says_the_same(tmp_path: Path, clock: str) -> None:
    start = 1_700_000_000_000.0
    traces = []
    for side, events in zip(("server", "client"), two_streams(), strict=True):
        rows, last = [], 0.0
        for time, name, data in _as_03(events):
            told = {"relative": time, "delta": time - last, "absolute": start + time}[clock]
            rows.append({"time": told, "name": name, "data": data})
            last = time
        common = {"ODCID": "ab", "time_format": clock, "reference_time": 0 if clock == "absolute" else start}
        traces.append({"common_fields": common, "vantage_point": {"name": side, "type": side}, "events": rows})
    document = {"qlog_version": "0.3", "qlog_format": "JSON", "traces": traces}
    (tmp_path / "both.qlog").write_text(json.dumps(document), encoding="utf-8")
    (connection,) = read(tmp_path)
    direction = connection.directions[0]
    waits = direction.waits
    # A double has quarters of a microsecond left for milliseconds since 1970.
    assert waits.stream == [1]
    assert (waits.start[0] - connection.start, waits.end[0] - connection.start) == pytest.approx(
        (13 * MS, 35 * MS), abs=500
    )
    assert [entry.bytes for entry in direction.streams] == [3000, 2000]
    assert [time != model.UNKNOWN for time in direction.lost] == [False, True, False, False, False, False]
    assert direction.metrics["congestion_window"][1] == [14000, 7000]


@pytest.mark.parametrize("how", ["behind", "escaped", "twice", "trailing comma", "no commas"])
def test_plain_json_is_read_event_by_event(tmp_path: Path, how: str) -> None:
    """Also if what the times mean stands behind the events, and with keys that are not found on the way."""
    rows = json.dumps([{"time": 1, "name": f"quic:{name}", "data": data} for _, name, data in two_streams()[0]])
    clock = "relative" if how in ("trailing comma", "no commas") else "delta"
    common = (
        f'"vantage_point": {{"type": "server"}}, "common_fields": {{"time_format": "{clock}", "reference_time": 0}}'
    )
    events = {
        "behind": f'"events": {rows}',
        "escaped": f'"ev\\u0065nts": {rows}',
        "twice": f'"events": [{{"time": 5}}], "events": {rows}',
        "trailing comma": f'"events": {rows[:-1]}, ]',
        "no commas": f'"events": {rows.replace("}}, {", "}} {", 1)}',
    }[how]
    path = tmp_path / "x.qlog"
    path.write_text(f'{{"qlog_version": "0.3", "traces": [{{{events}, {common}}}]}}', encoding="utf-8")
    if how in ("trailing comma", "no commas"):
        (log,) = qlog.read(path)
        assert re.search(r"1 record was skipped; the first, x\.qlog:1: event \d+: not JSON", log.notes[0])
        return
    (log,) = qlog.read(path)
    places = [at for at, (_, name, _) in enumerate(two_streams()[0], 1) if name == "packet_sent"]
    assert [packet.time for packet in log.sent] == [at * MS for at in places]


def test_a_file_that_is_cut_off_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    """RFC 7464 section 2.3."""
    folder = write_two_streams(tmp_path / "run")
    path = folder / "hand-client.sqlog"
    path.write_text(path.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    (connection,) = read(folder)
    assert any("is cut off in line" in note for note in connection.notes)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda text: "", "x.sqlog: is empty"),
        (lambda text: "no JSON\n" + text, "x.sqlog:1: not JSON"),
        (lambda text: text.replace("relative_to_epoch", "lunar"), "x.sqlog:1: common_fields.time_format is 'lunar'"),
        (
            lambda text: text.replace('"trace": {', '"trace": {"configuration": {"time_units": "days"}, '),
            "x.sqlog:1: configuration.time_units is 'days'; expected one of s, ms, us, ns",
        ),
        (lambda text: text.replace('"trace": ', '"track": '), "x.sqlog:1: not a qlog: its first record has no trace"),
        (lambda text: text.replace("quic:packet", "quic:parcel"), "x.sqlog: has neither packet_sent"),
        (
            lambda text: text.replace('"packet_number"', '"number"'),
            "no packet to show; 9 records were skipped; the first, x.sqlog:2: 'packet_number' is missing",
        ),
        # Of times since the event before all depend on each.
        (
            lambda text: text.replace("relative_to_epoch", "delta").replace('"time": 2.0', '"time": "soon"'),
            "x.sqlog:5: time is 'soon': expected a number of ms; all times behind it depend on it",
        ),
    ],
)
def test_what_changes_the_rest_is_refused_at_its_place(tmp_path: Path, change: Any, what: str) -> None:
    path = write_sequence(tmp_path / "x.sqlog", header("server"), two_streams()[0])
    text = path.read_text(encoding="utf-8")
    changed = change(text)
    assert changed != text
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(quiclab.Error, match=re.escape(what)) as raised:
        qlog.read(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (('"packet_number": 2', '"packet_number": -2'), "1 record was skipped; the first, x.sqlog:5: -2 is not a QUIC"),
        (
            ('"packet_number": 2', '"number": 2'),
            "1 record was skipped; the first, x.sqlog:5: 'packet_number' is missing",
        ),
        (
            ('"raw": {"length": 1000}', '"raw": {}'),
            "6 frames were skipped; the first, x.sqlog:2: a frame stream has no",
        ),
        (('"time": 2.0', '"time": "soon"'), "1 record was skipped; the first, x.sqlog:5: time is 'soon'"),
        (
            ('"time": 2.0', '"time": null'),
            "1 record was skipped; the first, x.sqlog:5: time is None: expected a number",
        ),
        (
            ("[2, 4]", "[4, 2]"),
            "1 frame was skipped; the first, x.sqlog:8: an acknowledged range ends before it begins",
        ),
        (('"type": "server"', '"type": "tap"'), "x.sqlog: vantage_point names no end; taken for the client"),
        (("urn:ietf:params:qlog:file:sequential", "mine"), "no qlog_version and no file_schema: read by its form"),
        (('{"time": 2.0', '{"time" 2.0'), "1 record was skipped; the first, x.sqlog:5: not JSON: a colon is missing"),
        (('"frames": [', '"frames": [3, '), "8 frames were skipped; the first, x.sqlog:2: a frame is"),
        (('"type": "server"', '"type": "network", "flow": "server"'), ""),
    ],
)
def test_what_nobody_needs_is_skipped_and_counted(tmp_path: Path, change: tuple[str, str], note: str) -> None:
    path = write_sequence(tmp_path / "x.sqlog", header("server"), two_streams()[0])
    text = path.read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change), encoding="utf-8")
    (log,) = qlog.read(path)
    assert len(log.sent) in (5, 6), "all packets, or all but one"
    assert (note in log.notes[0]) if note else log.notes == []


WEIRD: list[Any] = [
    None,
    True,
    -1,
    1e300,
    2**62 - 1,
    2**64,
    1.5,
    "",
    "\ud800</script>",
    "9" * 40,
    [],
    [[]],
    {},
    {"a": None},
]


def test_whatever_stands_in_a_file_is_shown_or_named(tmp_path: Path) -> None:
    """Each value of each record in turn is something that nobody expects."""
    path = tmp_path / "x.sqlog"
    records = [
        header("server"),
        *({"time": time, "name": f"quic:{name}", "data": data} for time, name, data in two_streams()[0]),
    ]
    shown = 0
    for at, place in [(at, place) for at, record in enumerate(records) for place in _places(record)]:
        for weird in WEIRD:
            changed = json.loads(json.dumps(records))
            _put(changed[at], place, weird)
            path.write_text("".join(f"\x1e{json.dumps(record)}\n" for record in changed), encoding="utf-8")
            try:
                found = model.connections(qlog.read(path))
            except quiclab.Error as error:
                assert "x.sqlog" in str(error) and "\n" not in str(error)
                continue
            page(found[0].name, found, [], "1").encode("utf-8")
            shown += 1
    assert shown > 300, "not everything that is odd is wrong"


def _places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [place for key in keys for place in [(*above, key), *_places(value[key], (*above, key))]]


def _put(record: Any, place: tuple[Any, ...], value: Any) -> None:
    for key in place[:-1]:
        record = record[key]
    record[place[-1]] = value


# The page.


def test_the_page_is_safe_against_what_stands_in_names(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><!-- {{script}}"
    (connection,) = read(write_two_streams(tmp_path / "run"))
    connection.name = evil
    text = page(evil, [connection], [evil], "1")
    assert text.count("</script>") == text.count("<script") == 3
    assert "<script>alert" not in text and "<!--" not in text
    facts = re.search(r'id="facts">(.*?)</script>', text, re.DOTALL)
    assert facts is not None
    assert json.loads(facts[1])["connections"][0]["name"] == evil


def test_the_page_needs_nothing_from_outside() -> None:
    script = bundle("main.js")
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    for word in ("fetch(", "XMLHttpRequest", "http://", "https://", "import(", "eval(", "innerHTML"):
        assert word not in script


# The command.


def test_the_numbers_are_those_of_the_run(command: Command) -> None:
    (command.folder / "two.toml").write_text(TWO_STREAMS, encoding="utf-8")
    done = command("run", "two.toml", "--qlog", "--json", "--out", "two")
    assert done.returncode == 0, done.stderr
    (summary,) = json.loads(done.stdout)["connections"]
    shown = command("view", "two", "--json")
    assert shown.returncode == 0, shown.stderr
    told = json.loads(shown.stdout)
    assert told["view"] == str(Path("two") / "view.html") and (command.folder / told["view"]).exists()
    assert told["size_bytes"] == (command.folder / told["view"]).stat().st_size
    numbers = told["connections"][0]["directions"][0]
    for name in ("packets_sent", "packets_declared_lost", "retransmitted_bytes"):
        assert numbers[name] == summary[name], name
    assert (numbers["sender"], numbers["streams"], numbers["stream_bytes"]) == ("server", 2, 60_000)
    assert 0 < numbers["waited_s"] < numbers["waited_one_stream_s"]
    # Only the sender's log knows the order of the bytes.
    (log,) = (command.folder / "two").glob("*-client.sqlog")
    (alone,) = json.loads(command("view", str(log), "--out", "alone.html", "--json").stdout)["connections"]
    of = {numbers["sender"]: numbers["waited_one_stream_s"] for numbers in alone["directions"]}
    assert of["server"] is None and of["client"] is not None
    lines = command("view", str(log), "--out", "alone.html").stdout.splitlines()
    assert ["as one byte stream" in line for line in lines if "from the" in line] == [
        numbers["waited_one_stream_s"] is not None for numbers in alone["directions"]
    ]


def test_a_page_of_a_run_is_that_of_its_folder(tmp_path: Path) -> None:
    scenario = quiclab.Scenario.from_text(TWO_STREAMS)
    run = scenario.run(out=tmp_path / "run", qlog=True, figure=False)
    assert view.write(run).view == tmp_path / "run" / "view.html"
    with pytest.raises(quiclab.Error, match="the run has no folder"):
        view.write(scenario.run())


def test_a_run_without_qlog_says_how_to_make_one(command: Command) -> None:
    assert command("run", "bulk.toml", "--out", "plain").returncode == 0
    done = command("view", "plain")
    assert done.returncode != 0
    assert "plain: has no qlog (*.sqlog): runs with `--qlog` have one for each simulated connection" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "there is no such run folder" in command("view", "nowhere").stderr


def test_connections_are_chosen_by_name(command: Command) -> None:
    write_two_streams(command.folder / "run")
    assert "no connection 'other' with a qlog: there are hand" in command("view", "run", "--connection", "other").stderr
    done = command("view", "run", "--connection", "hand", "--out", "chosen.html")
    assert done.returncode == 0, done.stderr
    assert "hand, from the server: 6 packets, 1 declared lost; 2 streams" in done.stdout
    assert (command.folder / "chosen.html").exists()


def test_of_flows_over_tcp_congestion_control_is_shown(tmp_path: Path) -> None:
    text = SCENARIO.replace("[flow.transport]", "[flow.tcp]")
    over_tcp = text[text.index("[[flow]]") :].replace('name = "download"', 'name = "over-tcp"\nprotocol = "tcp"')
    both = quiclab.Scenario.from_text(SCENARIO + over_tcp).run(qlog=True, out=tmp_path / "both")
    shown = view.write(tmp_path / "both")
    assert [entry["connection"] for entry in shown.connections] == ["download", "over-tcp"]
    assert shown.connections[1]["notes"] == [tables.NOTE] and shown.notes == []
    assert [entry["packets_sent"] for entry in shown.connections[1]["directions"]] == [0, 0]
    (log,) = [log for log in tables.logs(tmp_path / "both") if log.side == "server"]
    table = both.table("connection").to_pandas()
    rows = table[(table.connection == "over-tcp") & (table.side == "server")]
    assert log.metrics["congestion_window"][1] == rows.cwnd_bytes.tolist()
    assert log.metrics["smoothed_rtt"][1] == rows.smoothed_rtt_ms.tolist()
    # A run over TCP alone has no qlog, and needs none.
    alone = text[: text.index("[[flow]]")] + over_tcp
    quiclab.Scenario.from_text(alone).run(out=tmp_path / "alone")
    assert [entry["connection"] for entry in view.write(tmp_path / "alone").connections] == ["over-tcp"]


def test_connections_of_which_nothing_is_known_are_named(tmp_path: Path) -> None:
    folder = write_two_streams(tmp_path / "run")
    connections = [{"name": "hand"}, {"name": "other"}]
    summary = {"scenario": "mixed", "seed": 3, "duration_s": 1.0, "connections": connections}
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    shown = view.write(folder)
    assert shown.notes == ["not shown, because it has no qlog: other"]
    assert "<title>mixed, seed 3 - quiclab view</title>" in shown.view.read_text(encoding="utf-8")


def test_connections_of_a_proxy_are_shown(tmp_path: Path) -> None:
    example = Path(__file__).parents[1] / "examples" / "pep.toml"
    quiclab.Scenario.from_file(example).run(qlog=True, out=tmp_path / "run")
    names = {entry["connection"] for entry in view.write(tmp_path / "run").connections}
    assert names == {"quic", "tcp", "tcp at terminal", "tcp at gateway"}


def test_the_progress_of_a_page_is_told(tmp_path: Path) -> None:
    steps: list[tuple[str, float]] = []
    run = quiclab.Scenario.from_text(SCENARIO).run(qlog=True, out=tmp_path / "run")
    quiclab.view.write(run, tmp_path / "a.html", progress=lambda step, part: steps.append((step, part)))
    assert steps[0] == ("reading the tables", 0.0) and steps[-1] == ("writing the page", 1.0)
    before = len(steps)
    with pytest.warns(DeprecationWarning, match="told is called progress now"):
        quiclab.view.write(run, tmp_path / "b.html", told=lambda step, part: steps.append((step, part)))
    assert len(steps) == 2 * before
