"""qlog files with other spellings, lists of packets, something behind them, and values of other types."""

import json
from pathlib import Path
from typing import Any

import pytest

from quiclab._quiclab import Error
from quiclab.drawings.view import model
from quiclab.records import qlog
from quiclab.records.qlog import events
from view_logs import header, two_streams

SPELLINGS = {
    "1rtt": [
        "1RTT",
        "1rtt",
        "OneRtt",
        "onertt",
        "ONE_RTT",
        "one-rtt",
        "1-RTT",
        "1-RTT Protected",
        "short",
        "Short_Header",
    ],
    "0rtt": ["0RTT", "ZeroRtt", "zerortt", "ZERO_RTT", "0-rtt", "0rtt-protected"],
    "initial": ["initial", "Initial", "INITIAL"],
    "handshake": ["handshake", "Handshake", "HANDSHAKE"],
    "retry": ["retry", "RETRY"],
    "version_negotiation": ["version_negotiation", "VersionNegotiation", "version negotiation", "VERSION-NEGOTIATION"],
}
PYTHON = (
    "' object ",
    "NoneType",
    "subscriptable",
    "Expecting",
    "convert",
    "recursion",
    "codec",
    "iterable",
    "could not",
)
"""Words of Python's own errors, which say nothing to people."""

Records = list[dict[str, Any]]


def records() -> Records:
    """The records of the server of a connection with one loss."""
    found = [{"time": time, "name": f"quic:{name}", "data": data} for time, name, data in two_streams()[0]]
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def written(path: Path, found: Records, prefix: str = "\x1e") -> Path:
    path.write_text(
        "".join(f"{prefix}{json.dumps(record)}\n" for record in [header("server"), *found]), encoding="utf-8"
    )
    return path


def document(path: Path, found: Records, behind: str = "") -> Path:
    trace = {"vantage_point": {"type": "server"}, "events": found}
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace]}) + behind, encoding="utf-8")
    return path


def only(path: Path) -> qlog.Log:
    (log,) = qlog.read(path)
    return log


def seen(log: qlog.Log) -> Any:
    """What a log has of packets and losses."""
    sent = [(packet.time, packet.kind, packet.number, packet.size, packet.streams) for packet in log.sent]
    received = [(packet.kind, packet.number) for packet in log.received]
    (connection,) = model.connections([log])
    return sent, received, [lost - connection.start for lost in connection.directions[0].lost]


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("kind", SPELLINGS)
def test_every_spelling_of_a_type_of_packets_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, fast: bool
) -> None:
    monkeypatch.setattr(events, "FAST", fast)
    for word in SPELLINGS[kind]:
        found = records()
        for record in found:
            if "header" in record["data"]:
                record["data"]["header"]["packet_type"] = word
        log = only(written(tmp_path / "a.sqlog", found))
        assert {packet.kind for packet in (*log.sent, *log.received)} == {kind}, word
        if kind not in ("retry", "version_negotiation"):
            assert [packet.number for packet in log.sent] == [0, 1, 2, 3, 4, 5], word
        assert not log.notes, log.notes


def test_a_type_that_nobody_knows_is_skipped_and_told(tmp_path: Path) -> None:
    for word in ("2RTT", "", None, 7, "tworrt"):
        found = records()
        found[0]["data"]["header"]["packet_type"] = word
        log = only(written(tmp_path / "a.sqlog", found))
        assert len(log.sent) == 5
        (note,) = log.notes
        assert (
            note.startswith("1 record was skipped; the first, a.sqlog:2: packet_type is") and "expected one of" in note
        )


LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "numbers": ("packets_lost", {"packet_numbers": [1, 3], "packet_type": "1RTT"}),
    "space": ("packets_lost", {"packet_numbers": [1, 3], "packet_number_space": "application_data"}),
    "packets": ("packets_lost", {"packets": [{"packet_type": "OneRtt", "packet_number": n} for n in (1, 3)]}),
    "headers": ("packets_lost", {"packets": [{"header": {"packet_type": "1RTT", "packet_number": n}} for n in (1, 3)]}),
    "lost_packets": ("packets_lost", {"lost_packets": [1, "3"], "packet_type": "1rtt"}),
    "one name": ("packet_lost", {"packet_numbers": [1, 3], "packet_type": "1RTT"}),
    "header": ("packet_lost", {"header": {"packet_numbers": [1, 3], "packet_type": "1RTT"}}),
    "capitals": ("PACKETS_LOST", {"packet_numbers": [1, 3], "packet_type": "1RTT"}),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("form", ["sequence", "document"])
def test_events_with_lists_of_packets_are_read(tmp_path: Path, name: str, form: str) -> None:
    write = written if form == "sequence" else document
    expected = records()
    place = next(at for at, record in enumerate(expected) if record["name"] == "quic:packet_lost")
    time = expected[place]["time"]
    header_of = {"packet_type": "1RTT", "packet_number": 1}
    expected[place : place + 1] = [
        {"time": time, "name": "quic:packet_lost", "data": {"header": {**header_of, "packet_number": number}}}
        for number in (1, 3)
    ]
    event, data = LISTS[name]
    found = records()
    found[place] = {"time": time, "name": f"recovery:{event}", "data": data}
    log = only(write(tmp_path / "a.qlog", found))
    assert seen(log) == seen(only(write(tmp_path / "b.qlog", expected))) and not log.notes


def test_several_packets_sent_in_one_event_are_read(tmp_path: Path) -> None:
    found = records()
    merged = [record for record in found if record["name"] != "quic:packet_sent"]
    sent = [record["data"] for record in found if record["name"] == "quic:packet_sent"]
    merged.insert(0, {"time": 0.0, "name": "quic:packets_sent", "data": {"packets": sent}})
    log = only(written(tmp_path / "a.sqlog", merged))
    assert [packet.number for packet in log.sent] == [0, 1, 2, 3, 4, 5]


def test_a_list_that_names_nothing_is_told(tmp_path: Path) -> None:
    for data, why in (
        ({}, "'packet_number' is missing|packet_type is"),
        ({"packet_numbers": "1,3", "packet_type": "1RTT"}, "'packet_number' is missing"),
        ({"packet_numbers": [[1, 3]], "packet_type": "1RTT"}, "is not a QUIC integer"),
        ({"largest_lost_packet_num": 3, "lost_packets": 2}, "a sum of losses, which does not name the packets"),
    ):
        found = records()
        found.append({"time": 90.0, "name": "recovery:packets_lost", "data": data})
        (note,) = only(written(tmp_path / "a.sqlog", found)).notes
        assert "1 record was skipped" in note and any(words in note for words in why.split("|")), note


@pytest.mark.parametrize(
    "behind", ["\n{}\n", "\ngarbage", "\n\n[1]", "{}", "\n" + json.dumps({"traces": []}), "DOCUMENT"]
)
def test_what_stands_behind_a_document_is_left_out(tmp_path: Path, behind: str) -> None:
    whole = only(document(tmp_path / "a.qlog", records()))
    if behind == "DOCUMENT":
        behind = "\n" + (tmp_path / "a.qlog").read_text()
    log = only(document(tmp_path / "a.qlog", records(), behind))
    assert seen(log) == seen(whole)
    assert log.notes == ["a.qlog: what stands behind its first document is left out"]
    for blank in ("\n", "\r\n \n"):
        assert not only(document(tmp_path / "a.qlog", records(), blank)).notes


VALUES: list[Any] = [None, [], {}, "x", -1, True, 1e400, [[]], {"a": None}, 10**30, "", [None], 0.5]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_reasons_are_in_words_of_qlog(tmp_path: Path, value: Any) -> None:
    """Whatever one value of a file is changed to, what is said of it is said without Python's words."""
    told = 0
    base = records()
    for at in (0, 1, 5, 7, 8, 9):
        for path in _paths(base[at]):
            found = records()
            place: Any = found[at]
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            for write in (written, document):
                try:
                    notes = [note for log in qlog.read(write(tmp_path / "a.qlog", found)) for note in log.notes]
                except Error as error:
                    notes = [str(error)]
                for note in notes:
                    told += 1
                    assert not any(word in note for word in PYTHON), (path, note)
    assert told > 5


def _paths(value: Any) -> list[list[Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [[key, *rest] for key, one in items for rest in ([], *_paths(one))]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"traces": [}', "a value is missing"),
        ('{"traces" []}', "a colon is missing"),
        ('{"traces": [1 2]}', "a comma or a closing bracket is missing"),
        ("{traces: []}", "a name in quotation marks is missing"),
        ('{"traces": ["\x01"]}', "a text has a control character"),
        ('{"traces": ["\\x"]}', "a text has an unknown escape"),
    ],
)
def test_what_is_no_json_is_said_so(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.qlog"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Error, match=f"a.qlog:1: not JSON: {reason}"):
        qlog.read(path)
