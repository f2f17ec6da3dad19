"""Which qlog files are of one connection, and whether their clocks can be compared."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quiclab import view
from quiclab.drawings.view import model
from quiclab.records import qlog
from view_logs import Event, two_streams

MS = 1_000_000
DATE = 1_756_728_000_000.0
"""2025-09-01T12:00:00Z in milliseconds."""


def log(path: Path, side: str, events: list[Event], later: float = 0.0, name: str = "", **common: Any) -> None:
    """Write a log of version 0.3, whose times are later by some milliseconds."""
    point = {"type": side, **({"name": name} if name else {})}
    found = [{"time": time + later, "name": f"transport:{word}", "data": data} for time, word, data in events]
    trace = {"vantage_point": point, "common_fields": {"time_format": "relative", **common}, "events": found}
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace]}), encoding="utf-8")


def shown(folder: Path) -> list[model.Connection]:
    """The connections of a folder."""
    return model.connections([log for path in qlog.records(folder) for log in qlog.read(path)])


def ends(connection: model.Connection) -> int:
    """Of how many ends the logs are."""
    return 1 + all(direction.has_sender for direction in connection.directions)


ONE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "group": ({"group_id": "g"}, {"group_id": "g"}),
    "ODCID": ({"ODCID": "aabb"}, {"ODCID": "aabb"}),
    "capitals": ({"ODCID": "aabb"}, {"ODCID": "AABB"}),
    "prefix": ({"ODCID": "0xaabb"}, {"group_id": "AABB"}),
    "colons": ({"ODCID": "aa:bb"}, {"ODCID": "0xAABB"}),
    "other key": ({"odcid": "aabb"}, {"ODCID": "aabb"}),
    "groups of their own": ({"group_id": "c", "ODCID": "aabb"}, {"group_id": "s", "ODCID": "aabb"}),
    "a group that is the ID": ({"group_id": "aabb"}, {"group_id": "s", "ODCID": "aabb"}),
}


@pytest.mark.parametrize("case", ONE)
def test_logs_with_a_connection_in_common_are_one(tmp_path: Path, case: str) -> None:
    server, client = two_streams()
    log(tmp_path / "x.qlog", "client", client, **ONE[case][0])
    log(tmp_path / "y.qlog", "server", server, **ONE[case][1])
    # Others make no difference.
    log(tmp_path / "z.qlog", "client", client, ODCID="ffff")
    one, other = shown(tmp_path)
    assert (ends(one), ends(other)) == (2, 1)


NAMES = [
    ("client.qlog", "server.qlog"),
    ("a_client.qlog", "a_server.sqlog"),
    ("client-a.qlog", "server-a.qlog"),
    ("a.qlog", "a_server.qlog"),
    ("A.client.qlog", "a.server.qlog"),
]


@pytest.mark.parametrize("names", NAMES)
def test_logs_without_one_are_matched_by_their_names(tmp_path: Path, names: tuple[str, str]) -> None:
    server, client = two_streams()
    log(tmp_path / names[0], "client", client)
    log(tmp_path / names[1], "server", server, group_id="only here")
    (one,) = shown(tmp_path)
    assert ends(one) == 2


def test_names_of_ends_count_if_they_are_two(tmp_path: Path) -> None:
    server, client = two_streams()
    log(tmp_path / "x.qlog", "client", client, name="neqo-client")
    log(tmp_path / "y.qlog", "server", server, name="neqo-server")
    assert [ends(one) for one in shown(tmp_path)] == [2]
    log(tmp_path / "z.qlog", "server", server, name="neqo-server")
    assert [ends(one) for one in shown(tmp_path)] == [1, 1, 1]


OTHERS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "IDs": ("connA.qlog", "connB.qlog", {"ODCID": "aa01"}, {"ODCID": "bb02"}),
    "IDs, though names agree": ("client.qlog", "server.qlog", {"ODCID": "aa01"}, {"ODCID": "bb02"}),
    "IDs, though groups agree": (
        "x.qlog",
        "y.qlog",
        {"group_id": "g", "ODCID": "aa"},
        {"group_id": "g", "ODCID": "bb"},
    ),
    "groups": ("x.qlog", "y.qlog", {"group_id": "g"}, {"group_id": "h"}),
    "names": ("x.qlog", "y.qlog", {}, {}),
    "programs": ("x.qlog", "y.qlog", {"name": "aioquic"}, {"name": "aioquic"}),
    "one with an ID": ("x.qlog", "y.qlog", {"ODCID": "aa"}, {}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_two_logs_of_two_connections_are_not_joined(tmp_path: Path, case: str) -> None:
    """One log of each end in a folder was taken for one connection, whatever they said."""
    server, client = two_streams()
    first, second, of_client, of_server = OTHERS[case]
    log(tmp_path / first, "client", client, **of_client)
    log(tmp_path / second, "server", server, **of_server)
    found = view.write(tmp_path, out=tmp_path / "x.html").connections
    assert len(found) == 2
    for one, other in zip(found, ("server", "client"), strict=True):
        assert any(f"no log of a {other} has its group_id" in note for note in one["notes"]), one["notes"]


def test_logs_of_one_group_are_joined_in_the_order_of_their_times(tmp_path: Path) -> None:
    server, client = two_streams()
    for name, side, events, later in (
        ("c1", "client", client, 0.0),
        ("c2", "client", client, 5000.0),
        ("s_a", "server", server, 5000.0),
        ("s_b", "server", server, 0.0),
    ):
        log(tmp_path / f"{name}.qlog", side, events, later, group_id="g")
    for one in shown(tmp_path):
        assert one.end - one.start < 100 * MS and ends(one) == 2


def ways(connection: model.Connection) -> set[int]:
    """The delays of the packets."""
    return {
        time - packet.time
        for direction in connection.directions
        for packet, time in zip(direction.packets, direction.received, strict=True)
        if time != model.UNKNOWN
    }


def unknown(wall: str | None) -> dict[str, Any]:
    """A reference time of a monotonic clock."""
    return {"clock_type": "monotonic", "epoch": "unknown", **({"wall_clock_time": wall} if wall else {})}


ABSOLUTE = {"time_format": "absolute"}
CLOCKS: dict[str, tuple[Any, Any, float, float, set[int], str]] = {
    "walls": (
        {"reference_time": unknown("2025-09-01T12:00:00.000000001Z")},
        {"reference_time": unknown("2025-09-01T12:00:00.004000001Z")},
        0.0,
        -4.0,
        {10 * MS},
        "the wall_clock_time of each end relates their times",
    ),
    "walls of two zones, without an epoch": (
        {"reference_time": {"wall_clock_time": "2025-09-01T12:00:00.000Z"}},
        {"reference_time": {"wall_clock_time": "2025-09-01T14:00:00.004+02:00"}},
        0.0,
        -4.0,
        {10 * MS},
        "the wall_clock_time of each end relates their times",
    ),
    "dates": (ABSOLUTE, {"reference_time": DATE + 4}, DATE, -4.0, {10 * MS}, ""),
    "zeros of their own": (
        {"reference_time": unknown(None)},
        {"reference_time": unknown(None)},
        0.0,
        -4.0,
        {14 * MS, 6 * MS},
        "only the sum is known, at least 20.000 ms",
    ),
    "one date": (ABSOLUTE, {}, DATE, -4.0, {10 * MS}, "only one of both logs has times since 1970"),
    "seconds for milliseconds": (
        {"reference_time": DATE},
        {"reference_time": DATE / 1000},
        0.0,
        0.0,
        {10 * MS},
        "only one of both logs has times since 1970",
    ),
}


@pytest.mark.parametrize("case", CLOCKS)
def test_clocks_are_compared_where_the_logs_relate_them(tmp_path: Path, case: str) -> None:
    """The wall-clock time was not used beside an unknown epoch, and nothing said that delays were not known."""
    of_client, of_server, client_later, server_later, expected, told = CLOCKS[case]
    server, client = two_streams()
    log(tmp_path / "client.qlog", "client", client, client_later, ODCID="aa", **of_client)
    log(tmp_path / "server.qlog", "server", server, server_later, ODCID="aa", **of_server)
    (one,) = shown(tmp_path)
    # Milliseconds since 1970 have no more digits in a double.
    assert {round(way / MS, 2) for way in ways(one)} == {way / MS for way in expected}
    assert (told in one.notes[0]) if told else one.notes == []


def test_a_run_has_one_clock(tmp_path: Path) -> None:
    server, client = two_streams()
    log(tmp_path / "client.qlog", "client", client, ODCID="aa")
    log(tmp_path / "server.qlog", "server", server, 3.0, ODCID="aa")
    logs = [log for path in qlog.records(tmp_path) for log in qlog.read(path)]
    (one,) = model.connections(logs, has_one_clock=True)
    assert one.notes == []


Change = Callable[[dict[str, Any]], None]


def _capitals(frame: dict[str, Any]) -> None:
    frame["frame_type"] = frame["frame_type"].upper()


def _camel(frame: dict[str, Any]) -> None:
    words = frame["frame_type"].split("_")
    frame["frame_type"] = "".join(word.title() for word in words) + "Frame"
    if "stream_id" in frame:
        frame["streamId"] = frame.pop("stream_id")


NUMBERS = {"stream": 0x0E, "ack": 2, "max_data": 0x10}


def _numbers(frame: dict[str, Any]) -> None:
    frame["frame_type"] = NUMBERS[frame["frame_type"]] | bool(frame.get("fin"))


def _hexadecimal(frame: dict[str, Any]) -> None:
    frame["frame_type"] = hex(NUMBERS[frame["frame_type"]] | bool(frame.pop("fin", False)))


def _old_fields(frame: dict[str, Any]) -> None:
    if "stream_id" in frame:
        frame["id"] = frame.pop("stream_id")
        frame["len"] = frame.pop("raw")["length"]


def _other_key(frame: dict[str, Any]) -> None:
    frame["type"] = frame.pop("frame_type")


def _fractions(frame: dict[str, Any]) -> None:
    for key in ("stream_id", "offset", "maximum"):
        if key in frame:
            frame[key] = float(frame[key])


@pytest.mark.parametrize("change", [_capitals, _camel, _numbers, _hexadecimal, _old_fields, _other_key, _fractions])
@pytest.mark.parametrize("later", [0.0, DATE])
def test_frames_in_the_words_of_stacks_are_read_in_every_form(tmp_path: Path, change: Change, later: float) -> None:
    """Only rows and other units than milliseconds were translated: objects had no stream bytes."""
    server, client = two_streams()
    for name in ("plain", "changed"):
        (tmp_path / name).mkdir()
        for side, events in (("server", server), ("client", client)):
            found: list[Event] = json.loads(json.dumps(events))
            for _, _, data in found:
                for frame in data.get("frames", ()) if name == "changed" else ():
                    change(frame)
                if name == "changed" and change is _fractions and "header" in data:
                    data["header"]["packet_number"] = float(data["header"]["packet_number"])
            log(tmp_path / name / f"{side}.qlog", side, found, later, ODCID="aa", reference_time=DATE)
    (plain,), (changed,) = (shown(tmp_path / name) for name in ("plain", "changed"))
    assert changed.notes == plain.notes == []
    for one, other in zip(plain.directions, changed.directions, strict=True):
        assert list(one.packets) == list(other.packets) and one.streams == other.streams
    assert plain.directions[0].streams


def test_metrics_of_mvfst_are_read_in_milliseconds(tmp_path: Path) -> None:
    server, _ = two_streams()
    server.append((80.0, "metrics_updated", {"current_cwnd": 14720}))
    log(tmp_path / "x.qlog", "server", server)
    (found,) = qlog.read(tmp_path / "x.qlog")
    assert found.metrics["congestion_window"][1][-1] == 14720


def test_a_number_that_is_sent_twice_is_told(tmp_path: Path) -> None:
    """QUIC uses a packet number once: records that stand twice were counted twice without a word."""
    server, client = two_streams()
    at = next(index for index, (_, word, _) in enumerate(server) if word == "packet_sent")
    for extra, words in (
        (1, "1 packet has the number of a later one"),
        (2, "2 packets have the number of a later one"),
    ):
        log(tmp_path / "server.qlog", "server", server[:at] + [server[at]] * extra + server[at:], ODCID="aa")
        log(tmp_path / "client.qlog", "client", client, ODCID="aa")
        (one,) = shown(tmp_path)
        (note,) = [note for direction in one.directions for note in direction.notes]
        assert note.startswith(words)
    # What arrives twice was sent once.
    log(tmp_path / "server.qlog", "server", server, ODCID="aa")
    at = next(index for index, (_, word, _) in enumerate(client) if word == "packet_received")
    log(tmp_path / "client.qlog", "client", client[: at + 1] + client[at:], ODCID="aa")
    (one,) = shown(tmp_path)
    assert [direction.notes for direction in one.directions] == [[], []]
