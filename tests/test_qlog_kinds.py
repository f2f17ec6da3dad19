"""qlog files as other stacks write them: old drafts, other units, rows, gzip, files that are cut off, folders."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import Command
from quiclab import view
from quiclab.drawings.view import model
from quiclab.records import qlog
from view_logs import header, two_streams, write_sequence, write_two_streams

CASES = Path(__file__).parent / "qlog"
"""Small files after public reports."""


def only(path: Path) -> qlog.Log:
    """The log of a file with one trace."""
    (log,) = qlog.read(path)
    return log


def truth(logs: list[qlog.Log]) -> list[Any]:
    """What the page says of a connection, without the clock's zero."""
    (connection,) = model.connections(logs)
    direction = connection.directions[0]
    start = connection.start
    return [
        [
            (packet.time - start, packet.kind, packet.number, packet.size, packet.streams)
            for packet in direction.packets
        ],
        [time - start if time >= 0 else time for time in direction.lost],
        [(stream.id, stream.bytes, stream.retransmitted) for stream in direction.streams],
        direction.metrics["smoothed_rtt"][1],
        direction.metrics["congestion_window"][1],
    ]


# The same events in the words and forms of other stacks.

Row = dict[str, Any]


def renamed(data: dict[str, Any], old: bool, scale: float) -> dict[str, Any]:
    """The data of an event in the words of draft-00 and draft-01, and with RTTs and delays in another unit."""
    data = json.loads(json.dumps(data))
    for frame in data.get("frames", ()):
        if old and "stream_id" in frame:
            frame["id"] = str(frame.pop("stream_id"))
        if old and "raw" in frame:
            frame["length"] = frame.pop("raw")["length"]
        if "ack_delay" in frame:
            frame["ack_delay"] *= scale
    if old and "raw" in data:
        data["packet_type"] = data["header"].pop("packet_type")
        data["header"]["packet_size"] = data.pop("raw")["length"]
    if old and "congestion_window" in data:
        data["cwnd"] = data.pop("congestion_window")
    for key in ("smoothed_rtt", "latest_rtt"):
        if key in data:
            data[key] *= scale
    return data


def rows(fields: list[str], scale: float = 1.0, capitals: bool = False, text: bool = False) -> list[list[Any]]:
    """The events of the server as rows with these fields."""
    out, last = [], 0.0
    for time, name, data in two_streams()[0]:
        named = name.removeprefix("recovery_")
        told = (time - last if "delta_time" in fields else time) * scale
        values: Row = {"category": "transport", "event": named, "event_type": named, "data": renamed(data, True, scale)}
        values |= dict.fromkeys(("time", "relative_time", "delta_time"), str(told) if text else told)
        values |= {"trigger": "", "path_id": 0}
        row = [values[field.lower()] for field in fields]
        out.append([value.upper() if capitals and isinstance(value, str) else value for value in row])
        last = time
    return out


def old(version: str, fields: list[str], configuration: Row | None = None, **options: Any) -> Row:
    """A document of draft-00 or draft-01."""
    trace: Row = {"vantage_point": {"name": "x", "type": "server"}, "event_fields": fields}
    trace |= {"common_fields": {"reference_time": "5", "protocol_type": "QUIC"}, "events": rows(fields, **options)}
    if configuration is not None:
        trace["configuration"] = configuration
    return {"qlog_version": version, "title": "x", "traces": [trace]}


US: Row = {"time_units": "us"}
FORMS: dict[str, Row] = {
    "picoquic": old("draft-00", ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"], US, scale=1000),
    "mvfst": old("draft-00", ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"], US, scale=1000, text=True),
    "lsquic": old("draft-00", ["time", "category", "event_type", "trigger", "data"], {"time_units": "ms"}),
    "capitals": old("draft-00", ["TIME", "CATEGORY", "EVENT_TYPE", "DATA"], capitals=True),
    "aioquic": old("draft-01", ["relative_time", "category", "event_type", "data"], US, scale=1000, text=True),
    "quant": old("draft-01", ["time", "category", "event", "trigger", "data"], US, scale=1000),
    "quic-go": old("draft-02-wip", ["relative_time", "category", "event", "data"]),
    "multipath": old("draft-00", ["relative_time", "path_id", "category", "event", "data"], US, scale=1000),
    "delta": old("draft-01", ["delta_time", "category", "event", "data"], US, scale=1000),
    "seconds": old("draft-01", ["time", "category", "event", "data"], {"time_units": "s"}, scale=0.001),
}


def objects(prefix: str, **keys: Any) -> list[Row]:
    """The events of the server as objects."""
    return [
        {"time": time, "name": prefix + name.removeprefix("recovery_"), "data": data, **keys}
        for time, name, data in two_streams()[0]
    ]


def sequence(version: Row, events: list[Row], separator: str = "", indent: int | None = None) -> str:
    """A file whose records follow each other."""
    common = {"ODCID": "ab", "time_format": "relative", "reference_time": 5}
    first = {**version, "title": "x", "trace": {"vantage_point": {"type": "server"}, "common_fields": common}}
    return "".join(f"{separator}{json.dumps(record, indent=indent)}\n" for record in [first, *events])


TEXTS: dict[str, str] = {name: json.dumps(document) for name, document in FORMS.items()}
TEXTS |= {f"{name}, indented": json.dumps(document, indent=1) for name, document in FORMS.items()}
TEXTS |= {
    "NDJSON of draft-02": sequence({"qlog_format": "NDJSON", "qlog_version": "draft-02"}, objects("transport:")),
    "NDJSON with group_id": sequence({"qlog_version": "draft-02"}, objects("transport:", group_id="ab", ODCID="ab")),
    "JSON-SEQ of 0.3": sequence({"qlog_format": "JSON-SEQ", "qlog_version": "0.3"}, objects("transport:"), "\x1e"),
    "JSON-SEQ over many lines": sequence({"qlog_version": "0.3"}, objects("transport:"), "\x1e", indent=2),
    "0.4": sequence({"qlog_format": "JSON-SEQ", "qlog_version": "0.4"}, objects("quic:"), "\x1e"),
    "release candidate": sequence({"qlog_version": "draft-02-RC1"}, objects("transport:")),
    "a byte order mark": "\ufeff" + sequence({"qlog_version": "0.3"}, objects("transport:")),
    "line ends of Windows": sequence({"qlog_version": "0.3"}, objects("transport:")).replace("\n", "\r\n"),
    "empty lines": sequence({"qlog_version": "0.3"}, objects("transport:")).replace("\n", "\n\n"),
    "category and type": sequence(
        {"qlog_version": "draft-02"},
        [{"time": e["time"], "category": "transport", "type": e["name"], "data": e["data"]} for e in objects("")],
    ),
    "contained draft-02": json.dumps(
        {
            "qlog_version": "draft-02",
            "traces": [
                {
                    "vantage_point": {"type": "server"},
                    "common_fields": {"time_format": "relative", "reference_time": 5},
                    "events": objects("transport:"),
                }
            ],
        }
    ),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_the_same_events_are_read_the_same_from_every_form(tmp_path: Path, name: str, packed: bool) -> None:
    expected = truth([only(write_sequence(tmp_path / "expected.sqlog", header("server"), two_streams()[0]))])
    path = tmp_path / "x.qlog"
    text = TEXTS[name].encode()
    # A file may have several members.
    path.write_bytes(gzip.compress(text[:700]) + gzip.compress(text[700:]) if packed else text)
    log = only(path)
    assert log.notes == [] and log.side == "server"
    assert truth([log]) == expected
    (packet,) = [packet for packet in log.received if packet.number == 0]
    assert packet.acks == [(1_500_000, [(2, 4), (0, 0)])]


def test_words_of_mvfst_are_known(tmp_path: Path) -> None:
    stream = {"frame_type": "stream", "stream_id": "4", "offset": 0, "length": 900, "fin": True}
    frames = [
        stream,
        {"frame_type": "max_data", "maximum_data": 5000},
        {"frame_type": "rst_stream", "stream_id": 8, "error_code": 0, "offset": 0},
        {"frame_type": "ack_ecn", "ack_delay": 250, "acked_ranges": [[0, 3]]},
    ]
    events = [
        [
            "100",
            "transport",
            "packet_sent",
            {"packet_type": "ZERORTT", "header": {"packet_number": 1, "packet_size": 9}},
        ],
        ["200", "transport", "packet_sent", {"packet_type": "1RTT", "header": {"packet_number": 2}, "frames": frames}],
        ["300", "metric_update", "congestion_metric_update", {"current_cwnd": 14000, "bytes_in_flight": 7}],
        ["400", "recovery", "metric_update", {"latest_rtt": 20000, "min_rtt": 19000, "smoothed_rtt": 21000}],
        ["500", "loss", "packets_lost", {"largest_lost_packet_num": 2, "lost_bytes": 900, "lost_packets": 1}],
    ]
    document = old("draft-00", ["relative_time", "CATEGORY", "EVENT_TYPE", "TRIGGER", "DATA"], US)
    document["traces"][0]["events"] = events
    path = tmp_path / "x.qlog"
    path.write_text(json.dumps(document), encoding="utf-8")
    log = only(path)
    first, second = log.sent
    assert (first.kind, first.number, second.streams) == ("0rtt", 1, [(4, 0, 900, True)])
    assert (second.resets, second.credit, second.acks) == ([8], (("max", -1, 5000),), [(250_000, [(0, 3)])])
    assert {name: values for name, (_, values) in log.metrics.items()} == {
        "congestion_window": [14000],
        "bytes_in_flight": [7],
        "latest_rtt": [20],
        "min_rtt": [19],
        "smoothed_rtt": [21],
    }
    assert log.notes == [
        "1 record was skipped; the first, x.qlog:1: event 4: a sum of losses, which does not name the packets"
    ]


# Files that end too early.


def contained(sides: tuple[str, ...] = ("server", "client")) -> str:
    """A document with a trace for each side."""
    traces = [
        {
            "common_fields": {"ODCID": "ab", "time_format": "relative", "reference_time": 0},
            "vantage_point": {"type": side},
            "events": [{"time": time, "name": f"quic:{name}", "data": data} for time, name, data in events],
        }
        for side, events in zip(("server", "client"), two_streams(), strict=True)
        if side in sides
    ]
    return json.dumps({"qlog_version": "0.3", "title": "cut", "traces": traces}, indent=1)


def test_a_document_that_is_cut_anywhere_shows_what_is_complete(tmp_path: Path) -> None:
    whole = contained(("server",))
    path = tmp_path / "x.qlog"
    path.write_text(whole, encoding="utf-8")
    everything = [packet.number for packet in only(path).sent]
    counts = set()
    for end in range(1, len(whole) - 1, 7):
        path.write_text(whole[:end], encoding="utf-8")
        try:
            log = only(path)
        except quiclab.Error as error:
            assert "no packet to show" in str(error) or "no traces" in str(error) or "no list of events" in str(error)
            assert whole[:end].count("packet_sent") < 2
            continue
        line = whole.count("\n", 0, end) + 1
        assert any(f"x.qlog is cut off in line {line}, after " in note for note in log.notes)
        assert [packet.number for packet in log.sent] == everything[: len(log.sent)]
        counts.add(len(log.sent))
    assert counts == set(range(1, len(everything) + 1))


def test_the_traces_before_a_cut_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.qlog"
    text = contained()
    path.write_text(text[: text.rindex('"time"')], encoding="utf-8")
    server, client = qlog.read(path)
    assert len(server.sent) == 6 and "is cut off in line" in client.notes[0] and server.notes == []


def test_an_event_that_is_broken_is_the_place_and_not_the_end(tmp_path: Path) -> None:
    lines = contained(("server",)).split("\n")
    at = next(number for number, line in enumerate(lines) if '"packet_number": 3' in line)
    lines[at] = lines[at] + ", {"
    path = tmp_path / "x.qlog"
    path.write_text("\n".join(lines), encoding="utf-8")
    log = only(path)
    (told,) = [note for note in log.notes if "not JSON" in note]
    assert f"x.qlog:{at + 2}: event " in told or f"x.qlog:{at + 1}: event " in told
    assert len(log.sent) == 3


@pytest.mark.parametrize("form", ["sequence", "contained"])
def test_gzip_that_is_cut_or_broken_shows_what_was_unpacked(tmp_path: Path, form: str) -> None:
    text = (
        sequence({"qlog_version": "0.3"}, objects("transport:") * 50) if form == "sequence" else contained(("server",))
    )
    packed = gzip.compress(text.encode(), compresslevel=0)
    path = tmp_path / "x.qlog"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    log = only(path)
    (cut,) = [note for note in log.notes if "cut off in line" in note]
    assert len(log.sent) > 2 and "gzip data end there" in cut
    # The check sum alone is wrong: everything is there.
    path.write_bytes(packed[:-8] + bytes(8))
    log = only(path)
    assert "the checksum of its gzip data is wrong" in " ".join(log.notes) and "cut off" not in " ".join(log.notes)
    # Zeros behind it are padding, and anything else is told.
    for behind, told in ((bytes(512), ""), (b"more", "what stands behind its gzip data is left out")):
        path.write_bytes(packed + behind)
        log = only(path)
        assert told in " ".join(log.notes) and "cut off" not in " ".join(log.notes)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from quiclab.records.qlog import contained as plain
    from quiclab.records.qlog import sequence as lines
    from quiclab.records.qlog import source

    path = tmp_path / "x.qlog"
    path.write_bytes(
        gzip.compress(sequence({"qlog_version": "0.3"}, objects("transport:")).encode() + b" " * 10_000_000)
    )
    monkeypatch.setattr(source, "_MOST", 1 << 20)
    with pytest.raises(quiclab.Error, match="is unpacked more than"):
        qlog.read(path)
    monkeypatch.undo()
    monkeypatch.setattr(lines, "LONGEST", 1 << 22)
    monkeypatch.setattr(plain, "LONGEST", 1 << 16)
    text = sequence({"qlog_version": "0.3"}, []) + '{"time": 1, "name": "' + "x" * (1 << 24)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(quiclab.Error, match=r"x\.qlog:2: a record of more than 4 MiB"):
        qlog.read(path)
    path.write_text(f'{{"qlog_version": "0.3", "traces": [{{"events": [{{"x": "{"x" * (1 << 18)}"', encoding="utf-8")
    with pytest.raises(quiclab.Error, match=r"x\.qlog:1: an event, or all but the events, of more than 0 MiB"):
        qlog.read(path)


# Several traces, and folders.


@pytest.mark.parametrize("end", ["\n", "", "\r"], ids=["lines", "no ends", "carriage returns"])
def test_a_record_ends_at_the_next_separator(tmp_path: Path, end: str) -> None:
    """RFC 7464 section 2.3: what follows a record that was cut off is whole, wherever its lines end."""
    write_sequence(tmp_path / "whole.sqlog", header("server"), two_streams()[0])
    whole = (tmp_path / "whole.sqlog").read_text(encoding="utf-8")
    records = [record.strip() for record in whole.split("\x1e") if record.strip()]
    path = tmp_path / "marked.sqlog"
    for at in range(1, len(records) + 1):
        cut = ['{"time":1,"name":"transport:packet_se'] if at < len(records) else []
        text = [f"\x1e{record}{end}" for record in records[:at]] + [f"\x1e{record}" for record in cut]
        path.write_bytes("".join(text + [f"\x1e{record}{end}" for record in records[at:]]).encode())
        log = only(path)
        assert truth([log]) == truth([only(tmp_path / "whole.sqlog")]), at
        assert len(log.notes) == len(cut), log.notes


DEEP = ["[" * 300_000, '{"a":' * 100_000, '{"traces":[{"a":' + "[" * 100_000 + "]" * 100_000 + "}]}"]


@pytest.mark.parametrize("text", DEEP, ids=["lists", "objects", "a key of a trace"])
def test_values_that_are_nested_too_deeply_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.qlog"
    path.write_text(text)
    with pytest.raises(quiclab.Error, match="nested too deeply"):
        qlog.read(path)


def test_files_that_were_put_together_are_several_traces(tmp_path: Path) -> None:
    folder = write_two_streams(tmp_path / "run")
    both = tmp_path / "both.sqlog"
    both.write_bytes(b"".join(path.read_bytes() for path in sorted(folder.iterdir())))
    assert [log.side for log in qlog.read(both)] == ["client", "server"]


def test_a_trace_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    document = json.loads(contained())
    document["traces"].insert(0, {"error_description": "no such file", "uri": "a"})
    document["traces"].append({**document["traces"][1], "events": []})
    path = tmp_path / "x.qlog"
    path.write_text(json.dumps(document), encoding="utf-8")
    logs = qlog.read(path)
    assert [log.side for log in logs] == ["server", "client"]
    notes = " ".join(note for log in logs for note in log.notes)
    assert "trace 1: error_description is 'no such file'; the trace is left out" in notes
    assert "1 of 3 traces have no packets" in notes


def test_connections_of_picoquic_are_paired_by_their_description(tmp_path: Path) -> None:
    for connection in ("0a1b", "0c2d"):
        for side, events in zip(("server", "client"), two_streams(), strict=True):
            document = old("draft-00", ["relative_time", "category", "event", "data"])
            trace = document["traces"][0]
            trace["vantage_point"] = {"name": "backend-67", "type": side}
            trace["description"] = connection
            trace["events"] = [
                [time, "transport", name.removeprefix("recovery_"), renamed(data, True, 1)]
                for time, name, data in events
            ]
            (tmp_path / f"{connection}.{side}.qlog").write_text(json.dumps(document), encoding="utf-8")
    shown = view.write(tmp_path)
    assert [entry["connection"] for entry in shown.connections] == ["0a1b", "0c2d"]
    assert all(entry["directions"][0]["waits"] == 1 for entry in shown.connections)


def test_one_bad_file_does_not_stop_a_folder(tmp_path: Path, command: Command) -> None:
    folder = write_two_streams(command.folder / "run")
    (folder / "a.qlog").write_text("no JSON", encoding="utf-8")
    (folder / "b.sqlog").write_bytes(gzip.compress(b""))
    packed = folder / "hand-client.sqlog"
    (folder / "hand-client.sqlog.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    done = command("view", "run", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [entry["connection"] for entry in told["connections"]] == ["hand"]
    assert told["notes"] == ["left out: a.qlog:1: not JSON: a value is missing", "left out: b.sqlog: is empty"]
    # Alone it is refused.
    done = command("view", "run/a.qlog")
    assert done.returncode == 2 and "a.qlog:1: not JSON" in done.stderr


@pytest.mark.parametrize(
    ("name", "sent", "lost", "rtt", "note"),
    [
        ("draft00-rows", 3, 1, 40.0, None),
        ("draft02-contained", 3, 1, None, None),
        ("lost-summary", 3, 0, None, "1 record was skipped"),
        ("truncated-contained", 3, 1, None, "is cut off in line"),
    ],
)
def test_the_reported_files_are_read(name: str, sent: int, lost: int, rtt: float | None, note: str | None) -> None:
    log = only(CASES / f"{name}.qlog")
    (connection,) = model.connections([log])
    direction = connection.directions[0]
    assert (len(direction.packets), direction.found.lost_count) == (sent, lost)
    if rtt is not None:
        assert direction.metrics["smoothed_rtt"][1] == [rtt]
    assert any(note in found for found in connection.notes) if note else "skipped" not in " ".join(connection.notes)


def test_whatever_is_unpacked_is_read_or_refused(tmp_path: Path) -> None:
    """Each byte of a packed file in turn is another one."""
    packed = bytearray(gzip.compress(sequence({"qlog_version": "0.3"}, objects("transport:")).encode()))
    path = tmp_path / "x.qlog"
    read = 0
    for at in range(2, len(packed), 5):
        changed = packed.copy()
        changed[at] ^= 0x55
        path.write_bytes(changed)
        try:
            qlog.read(path)
            read += 1
        except quiclab.Error as error:
            assert "x.qlog" in str(error) and "\n" not in str(error)
    assert read > 10
