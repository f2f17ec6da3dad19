"""What qlog files say about their times, wherever it stands; logs that are there twice, and folders of folders."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import quiclab
from quiclab import view
from quiclab.records import qlog
from view_logs import two_streams

Record = dict[str, Any]

SERVER: list[Record] = [{"time": time, "name": f"quic:{name}", "data": data} for time, name, data in two_streams()[0]]
"""The events of a server that waits for a lost packet."""


def changed(unit: int = 1, *, delta: bool = False, key: str = "time", events: list[Record] = SERVER) -> list[Record]:
    """Events in another unit, as differences, or with another name of their time."""
    found, before = [], 0.0
    for event in copy.deepcopy(events):
        time = event.pop("time")
        found.append({key: (time - before if delta else time) * unit, **event})
        before = time
    return found


def document(events: list[Record], trace: Record | None = None, **around: Any) -> str:
    """A document with one trace, which says what `trace` says."""
    trace = {"vantage_point": {"type": "server"}, "common_fields": {"ODCID": "ab"}, **(trace or {})}
    return json.dumps({"qlog_version": "0.3", **around, "traces": [{**trace, "events": events}]})


def read(folder: Path, text: str) -> qlog.Log:
    """The only log of a file with this text."""
    path = folder / "x.qlog"
    path.write_text(text, encoding="utf-8")
    (log,) = qlog.read(path)
    return log


def times(log: qlog.Log) -> list[float]:
    """When its packets were sent, in milliseconds."""
    return [packet.time / 1e6 for packet in log.sent]


def places(**said: Any) -> list[tuple[Record, Record]]:
    """A statement in each of the places where stacks write it: in the trace, and in the document."""
    point = {"type": "server"}
    return [
        (said, {}),
        ({"configuration": said}, {}),
        ({"configuration": [said]}, {}),
        ({"common_fields": said}, {}),
        ({"common_fields": {"reference_time": {"epoch": "unknown", **said}}}, {}),
        ({"vantage_point": {**point, **said}}, {}),
        ({"summary": said}, {}),
        ({"configuration": {"custom_fields": said}}, {}),
        ({}, said),
        ({}, {"configuration": said}),
        ({}, {"summary": said}),
        ({}, {"common_fields": said}),
    ]


@pytest.mark.parametrize("word", ["time_units", "timeUnits", "time_unit", "TIME_UNITS", "Time-Unit"])
def test_a_unit_is_found_wherever_it_stands(tmp_path: Path, word: str) -> None:
    right = times(read(tmp_path, document(SERVER)))
    for trace, around in places(**{word: "us"}):
        log = read(tmp_path, document(changed(1000), trace, **around))
        assert times(log) == pytest.approx(right), (trace, around)
        assert not any("unit" in note for note in log.notes)


@pytest.mark.parametrize(
    ("word", "value"),
    [("time_format", "delta"), ("timeFormat", "DELTA"), ("time_format", "relative-to-previous-event")],
)
def test_a_format_is_found_wherever_it_stands(tmp_path: Path, word: str, value: str) -> None:
    right = times(read(tmp_path, document(SERVER)))
    for trace, around in places(**{word: value}):
        assert times(read(tmp_path, document(changed(delta=True), trace, **around))) == pytest.approx(right)


def test_units_in_general_are_those_of_times_if_they_are_some(tmp_path: Path) -> None:
    right = times(read(tmp_path, document(SERVER)))
    assert times(read(tmp_path, document(changed(1000), {"common_fields": {"units": "us"}}))) == pytest.approx(right)
    assert times(read(tmp_path, document(SERVER, {"common_fields": {"units": "bytes"}}))) == right


def test_statements_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    for said, what in (
        ({"common_fields": {"time_units": "us"}, "configuration": {"timeUnits": "ms"}}, "units of time differ between"),
        ({"common_fields": {"time_format": "delta"}, "timeFormat": "relative"}, "formats of time differ between"),
    ):
        with pytest.raises(quiclab.Error, match=what):
            read(tmp_path, document(SERVER, said))
    row = {"event_fields": ["delta_time", "event", "data"], "common_fields": {"time_format": "relative"}}
    with pytest.raises(quiclab.Error, match="time_format is 'relative', and event_fields has delta_time"):
        read(tmp_path, document([], row))


@pytest.mark.parametrize("value", [None, ""])
def test_a_statement_without_a_value_is_told(tmp_path: Path, value: str | None) -> None:
    log = read(tmp_path, document(SERVER, {"configuration": {"time_units": value}}))
    (note,) = [note for note in log.notes if "time_units" in note]
    assert "configuration.time_units is" in note and "read as milliseconds" in note
    assert times(log) == times(read(tmp_path, document(SERVER)))


@pytest.mark.parametrize("key", ["delta_time", "deltaTime", "DELTA_TIME"])
def test_objects_with_differences_are_read_as_such(tmp_path: Path, key: str) -> None:
    right = times(read(tmp_path, document(SERVER)))
    assert times(read(tmp_path, document(changed(delta=True, key=key)))) == pytest.approx(right)
    # Some with differences behind others, which the crate has read.
    half = len(SERVER) // 2
    mixed = SERVER[:half] + changed(delta=True, key=key)[half:]
    assert times(read(tmp_path, document(mixed))) == pytest.approx(right)
    broken = changed(delta=True, key=key)
    broken[3][key] = "soon"
    with pytest.raises(quiclab.Error, match="all times behind it depend on it"):
        read(tmp_path, document(broken))


def test_events_with_a_unit_of_their_own_are_read_by_it(tmp_path: Path) -> None:
    right = times(read(tmp_path, document(SERVER)))
    for said in ({"time_units": "us"}, {"timeUnit": "us"}, {"units": "microseconds"}):
        log = read(tmp_path, document([{**event, **said} for event in changed(1000)]))
        assert times(log) == pytest.approx(right)
        assert sum("a unit of their own" in note for note in log.notes) == 1
    deltas = [{**event, "time_format": "delta"} for event in changed(delta=True)]
    assert times(read(tmp_path, document(deltas))) == pytest.approx(right)


def test_a_packet_of_unknown_type_with_data_is_counted(tmp_path: Path) -> None:
    events = copy.deepcopy(SERVER)
    (index, event) = next(
        (at, event)
        for at, event in enumerate(events)
        if event["name"] == "quic:packet_sent" and "stream" in json.dumps(event)
    )
    event["data"]["header"]["packet_type"] = "unknown"
    log = read(tmp_path, document(events))
    assert any(f"1 record was skipped; the first, x.qlog:1: event {index}" in note for note in log.notes)
    assert len(log.sent) == len(read(tmp_path, document(SERVER)).sent) - 1


def test_zeros_in_a_file_are_passed_over_and_told(tmp_path: Path) -> None:
    head = {"qlog_version": "0.3", "trace": {"vantage_point": {"type": "server"}}}
    text = "".join(f"\x1e{json.dumps(record)}\n" for record in [head, *SERVER])
    path = tmp_path / "x.sqlog"
    path.write_bytes(text.encode().replace(b"\x1e", b"\0\x1e", 3))
    (log,) = qlog.read(path)
    assert len(log.sent) == len(read(tmp_path, document(SERVER)).sent)
    assert "x.sqlog: 3 bytes of 0 passed over" in log.notes


def test_the_same_log_twice_is_taken_once_and_told(tmp_path: Path) -> None:
    text = document(SERVER)
    (tmp_path / "a.qlog").write_text(text, encoding="utf-8")
    (tmp_path / "a.qlog.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "b.qlog").write_text(json.dumps(json.loads(text), indent=1), encoding="utf-8")
    (tmp_path / "c.qlog").write_text(document([{**one, "time": one["time"] + 1} for one in SERVER]), encoding="utf-8")
    shown = view.write(tmp_path)
    assert len(shown.connections) == 2
    copies = [note for note in shown.notes if note.endswith("a copy")]
    assert [note.split(" has ")[0] for note in copies] == ["left out: a.qlog.gz", "left out: b.qlog"]


@pytest.mark.parametrize("levels", ["", "qlog"])
def test_logs_of_folders_below_are_read(tmp_path: Path, levels: str) -> None:
    client = document([*SERVER], {"vantage_point": {"type": "client"}})
    for end, text in (("client", client), ("server", document(SERVER))):
        folder = tmp_path / end / levels
        folder.mkdir(parents=True)
        (folder / "ab.qlog").write_text(text, encoding="utf-8")
    shown = view.write(tmp_path)
    assert len(shown.connections) == 1
    assert any(note.startswith("qlogs of folders below are read: client") for note in shown.notes)
    (tmp_path / "top.qlog").write_text(document(SERVER), encoding="utf-8")
    shown = view.write(tmp_path)
    assert any(note.startswith("qlogs of folders below are not read") for note in shown.notes)


def test_runs_in_a_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "summary.json").write_text("{}", encoding="utf-8")
    (tmp_path / "one" / "x.sqlog").write_text(document(SERVER), encoding="utf-8")
    with pytest.raises(quiclab.Error, match="has no qlog itself, but runs: choose one of one"):
        view.write(tmp_path)


def test_all_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.qlog").write_text("[]", encoding="utf-8")
    with pytest.raises(quiclab.Error, match=r"none of its 3 qlogs can be read: a.qlog: .*; b.qlog: .*; c.qlog: "):
        view.write(tmp_path)


@pytest.mark.parametrize("word", ["fa", "fals", "t", "nul"])
def test_a_word_that_is_cut_is_the_end_of_the_file(tmp_path: Path, word: str) -> None:
    last = json.dumps(SERVER[-1])[:-1] + f', "x": {word}'
    log = read(tmp_path, document(SERVER)[: -len("]}]}")] + ", " + last)
    assert any("is cut off in line 1" in note for note in log.notes), log.notes
    assert not any("not JSON" in note for note in log.notes)
