"""qlog files with several connections in a trace, out of order, in other codes of letters, and cut inside of gzip."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

import quiclab
from quiclab import view
from quiclab.drawings.view import model
from quiclab.records import qlog
from quiclab.records.qlog import events as reading
from view_logs import two_streams

Record = dict[str, Any]

SERVER: list[Record] = [{"time": time, "name": f"quic:{name}", "data": data} for time, name, data in two_streams()[0]]
"""The events of a server that waits for a lost packet."""


def document(events: list[Any], **keys: Any) -> str:
    """A document with one trace."""
    trace = {"vantage_point": {"type": "server"}, "events": events, **keys}
    trace["common_fields"] = {"time_format": "relative", **keys.get("common_fields", {})}
    return json.dumps({"qlog_version": "0.3", "traces": [trace]}, indent=1)


def sequence(events: list[Record], **common: Any) -> str:
    """A JSON text sequence."""
    trace = {"vantage_point": {"type": "server"}, "common_fields": {"time_format": "relative", **common}}
    first = {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": trace}
    return "".join(f"\x1e{json.dumps(record)}\n" for record in [first, *events])


def read(folder: Path, text: str | bytes) -> list[qlog.Log]:
    """The logs of a file with this text."""
    path = folder / "x.qlog"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return qlog.read(path)


def truth(log: qlog.Log) -> list[Any]:
    """What the page says of a log alone."""
    (connection,) = model.connections([log])
    direction = connection.directions[0]
    return [
        [(packet.time, packet.kind, packet.number, packet.size, packet.streams) for packet in direction.packets],
        direction.lost,
        [(stream.id, stream.bytes, stream.retransmitted) for stream in direction.streams],
        {name: values for name, (_, values) in log.metrics.items()},
    ]


def grouped(events: list[Record], key: str = "group_id", **groups: float) -> list[Record]:
    """The events of several connections in turn, each later by some milliseconds."""
    every = [{**event, "time": event["time"] + by, key: group} for group, by in groups.items() for event in events]
    return sorted(every, key=lambda event: event["time"])


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "slow"])
@pytest.mark.parametrize("form", [document, sequence])
def test_connections_in_one_trace_are_not_mixed(
    tmp_path: Path, form: Any, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "FAST", fast)
    expected = [truth(log) for log in read(tmp_path, form(SERVER))]
    logs = read(tmp_path, form(grouped(SERVER, A=0, B=0, C=0)))
    assert [truth(log) for log in logs] == expected * 3
    assert [(log.group, log.name) for log in logs] == [("A", "x, A"), ("B", "x, B"), ("C", "x, C")]
    note = "x.qlog: its events are those of 3 connections (group_id), which are shown one by one"
    assert [log.notes for log in logs] == [[note], [], []]
    logs = read(tmp_path, form(grouped(SERVER, "ODCID", A=0, B=0)))
    assert ([truth(log) for log in logs], [log.group for log in logs]) == (expected * 2, ["A", "B"])
    # One group is one connection, whatever stands in the common fields.
    for common in ({}, {"group_id": "A"}, {"ODCID": "A"}):
        extra = {"common_fields": common} if form is document else common
        (log,) = read(tmp_path, form(grouped(SERVER, A=0), **extra))
        assert (truth(log), log.group, log.name, log.notes) == (expected[0], "A", "x", [])


def test_rows_of_old_drafts_have_groups(tmp_path: Path) -> None:
    """draft-01: the group is a column."""
    fields = ["relative_time", "group_id", "category", "event", "data"]
    events = [
        [event["time"], event["group_id"], "transport", event["name"].removeprefix("quic:"), event["data"]]
        for event in grouped(SERVER, A=0, B=0)
    ]
    one, two = read(tmp_path, document(events, event_fields=fields))
    assert truth(one) == truth(two) and (one.group, two.group) == ("A", "B")


def test_events_without_a_group_belong_to_the_trace(tmp_path: Path) -> None:
    events = [*SERVER, *grouped(SERVER, A=1000)]
    one, two = read(tmp_path, sequence(events, group_id="own"))
    assert (one.group, two.group) == ("own", "A") and len(one.sent) == len(two.sent) == len(SERVER_SENT)
    summary = view.write(tmp_path / "x.qlog", out=tmp_path / "x.html")
    assert len(summary.connections) == 2


SERVER_SENT = [event for event in SERVER if event["name"] == "quic:packet_sent"]


def test_the_number_of_connections_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_GROUPS", 2)
    with pytest.raises(quiclab.Error, match=r"x\.qlog: has events of more than 2 connections \(group_id\)"):
        read(tmp_path, sequence(grouped(SERVER, A=0, B=0, C=0)))


@pytest.mark.parametrize("form", [document, sequence])
@pytest.mark.parametrize("seed", range(5))
def test_events_out_of_order_are_put_in_their_places(tmp_path: Path, form: Any, seed: int) -> None:
    """A packet that was written down late seemed to have waited."""
    # Of the same time the order is that of the file.
    events = [{**event, "time": event["time"] + index / 1000} for index, event in enumerate(SERVER)]
    (log,) = read(tmp_path, form(events))
    expected = truth(log)
    assert log.notes == []
    random.Random(seed).shuffle(events)
    (log,) = read(tmp_path, form(events))
    assert truth(log) == expected
    assert log.notes[0].startswith("x.qlog: ") and "behind" in log.notes[0], log.notes
    assert log.notes[0].endswith("put into the order of their times")


@pytest.mark.parametrize("place", ["configuration", "common_fields", "trace"])
@pytest.mark.parametrize(("unit", "scale"), [("us", 1e3), ("s", 1e-3), ("ns", 1e6), ("US", 1e3)])
def test_the_unit_of_times_may_stand_in_three_places(tmp_path: Path, place: str, unit: str, scale: float) -> None:
    (expected,) = read(tmp_path, document(SERVER))
    events = json.loads(json.dumps(SERVER))
    for event in events:
        event["time"] *= scale
    keys = {"time_units": unit} if place == "trace" else {place: {"time_units": unit}}
    (log,) = read(tmp_path, document(events, **keys))
    assert [packet.time for packet in log.sent] == pytest.approx([packet.time for packet in expected.sent])


@pytest.mark.parametrize("place", ["document", "configuration", "common_fields", "vantage_point"])
@pytest.mark.parametrize("word", ["us", "microseconds", "\u00b5s", "\u03bcs", "Microsecond"])
def test_the_unit_may_stand_at_the_document_and_in_words(tmp_path: Path, place: str, word: str) -> None:
    (expected,) = read(tmp_path, document(SERVER))
    events = [{**event, "time": event["time"] * 1e3} for event in SERVER]
    found = json.loads(document(events))
    if place == "vantage_point":
        found["traces"][0][place]["time_units"] = word
    else:
        found |= {"time_units": word} if place == "document" else {place: {"time_units": word}}
    (log,) = read(tmp_path, json.dumps(found))
    assert [packet.time for packet in log.sent] == pytest.approx([packet.time for packet in expected.sent])


def behind(head: Record, unit: str | None, scale: float) -> str:
    """A document whose trace says the unit of its times behind its events, after this head."""
    events = [{**event, "time": event["time"] * scale} for event in SERVER]
    trace = {**head, "events": events, "title": "x"}
    trace |= {} if unit is None else {"configuration": {"time_units": unit}}
    return json.dumps({"qlog_version": "draft-02", "traces": [trace]})


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_a_head_that_was_cut_off_is_missed(tmp_path: Path, scale: float) -> None:
    """A unit that stood behind the events, and behind the cut, was taken for milliseconds: 1000 times too much."""
    text = behind({}, "us", scale)
    at = text.index('"title"')
    read(tmp_path, text)
    for end in (at, at - 40, at - 400):
        with pytest.raises(quiclab.Error, match="it is cut off before common_fields, configuration and all else"):
            read(tmp_path, text[:end])
    told = "the unit of its times may be said behind the cut: they are read as milliseconds"
    for head, has_note in (
        ({"vantage_point": {"type": "server"}}, True),
        ({"common_fields": {"time_format": "relative"}}, True),
        ({"configuration": {"time_offset": 0}}, False),
        ({"common_fields": {"time_units": "ms"}}, False),
    ):
        text = behind(head, None, scale)
        for end in (text.index('"title"') - 2, text.index('"title"') - 400):
            (log,) = read(tmp_path, text[:end])
            assert any(told in note for note in log.notes) == has_note, log.notes
        (log,) = read(tmp_path, text)
        assert not any(told in note for note in log.notes)


def test_units_that_differ_or_are_unknown_are_refused(tmp_path: Path) -> None:
    told = r"the units of time differ between configuration\.time_units and common_fields\.time_units; expected one"
    with pytest.raises(quiclab.Error, match=told):
        read(tmp_path, document(SERVER, configuration={"time_units": "ms"}, common_fields={"time_units": "us"}))
    with pytest.raises(quiclab.Error, match=r"common_fields\.time_units is 'ticks'; expected one of s, ms, us, ns"):
        read(tmp_path, document(SERVER, common_fields={"time_units": "ticks"}))


@pytest.mark.parametrize("form", [document, sequence])
@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_other_codes_are_named(tmp_path: Path, form: Any, code: str, packed: bool) -> None:
    text = form(SERVER).encode(code)
    name = "UTF-32" if code == "utf-32" else "UTF-16"
    with pytest.raises(quiclab.Error, match=rf"x\.qlog: is {name}; expected UTF-8: save it as UTF-8$"):
        read(tmp_path, gzip.compress(text) if packed else text)


@pytest.mark.parametrize("form", [document, sequence])
def test_a_cut_has_one_note(tmp_path: Path, form: Any) -> None:
    """Of the line where the text ends, and of gzip if it was there that the file was cut."""
    text = form(SERVER * 20)
    packed = gzip.compress(text.encode(), compresslevel=0)
    for end in range(len(packed) // 2, len(packed) - 8, len(packed) // 40):
        (log,) = read(tmp_path, packed[:end])
        (note,) = [note for note in log.notes if "is cut off" in note]
        shown = gzip_text(packed[:end])
        line = shown.count("\n") + 1
        assert note.startswith(f"x.qlog is cut off in line {line}") and note.endswith("its gzip data end there"), note


def gzip_text(packed: bytes) -> str:
    """What can be unpacked of a file that was cut."""
    import zlib

    return zlib.decompressobj(wbits=31).decompress(packed).decode(errors="replace")
