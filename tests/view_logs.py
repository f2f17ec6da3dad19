"""Handwritten qlog files for the tests of `quiclab view`: two streams and one lost packet."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Event = tuple[float, str, dict[str, Any]]

SENT = {0: (0, 0, 1000), 1: (4, 0, 1000), 2: (0, 1000, 1000), 3: (4, 1000, 1000), 4: (0, 2000, 1000), 5: (4, 0, 1000)}
"""Stream, offset and length by packet number. Packet 1 is lost, and packet 5 retransmits its bytes."""

TIMES = {0: 0.0, 1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0, 5: 25.0}
"""The time at which each packet is sent, in milliseconds. It arrives 10 ms later."""


def stream(number: int, offset: int, length: int, fin: bool = False) -> dict[str, Any]:
    """Return a STREAM frame of the current schema."""
    return {
        "frame_type": "stream",
        "stream_id": number,
        "offset": offset,
        "raw": {"length": length},
        **({"fin": True} if fin else {}),
    }


def packet(number: int, *frames: dict[str, Any], size: int = 1040) -> dict[str, Any]:
    """Return the data of a packet_sent or packet_received event."""
    return {
        "header": {"packet_type": "1RTT", "packet_number": number},
        "raw": {"length": size},
        "frames": list(frames),
    }


def ack(*ranges: list[int]) -> dict[str, Any]:
    """Return an ACK frame."""
    return {"frame_type": "ack", "ack_delay": 1.5, "acked_ranges": list(ranges)}


def two_streams() -> tuple[list[Event], list[Event]]:
    """Return the events of the server, which sends, and of the client, which receives."""
    data = {number: packet(number, stream(*what, fin=number == 4)) for number, what in SENT.items()}
    server: list[Event] = [(TIMES[number], "packet_sent", data[number]) for number in SENT]
    client: list[Event] = [(TIMES[number] + 10, "packet_received", data[number]) for number in SENT if number != 1]
    client += [
        (14.0, "packet_sent", packet(0, ack([2, 4], [0]), {"frame_type": "max_data", "maximum": 70000}, size=40)),
        (35.0, "packet_sent", packet(1, ack([2, 5], [0]), size=41)),
    ]
    server += [
        (0.0, "recovery_metrics_updated", {"congestion_window": 14000, "bytes_in_flight": 1040}),
        (24.0, "packet_received", packet(0, ack([2, 4], [0]), size=40)),
        (24.0, "recovery_metrics_updated", {"bytes_in_flight": 0, "smoothed_rtt": 20.25, "latest_rtt": 20.25}),
        (
            24.5,
            "packet_lost",
            {"header": {"packet_type": "1RTT", "packet_number": 1}, "trigger": "reordering_threshold"},
        ),
        (24.5, "recovery_metrics_updated", {"congestion_window": 7000, "ssthresh": 7000}),
        (45.0, "packet_received", packet(1, ack([2, 5], [0]), size=41)),
    ]
    return sorted(server, key=lambda event: event[0]), sorted(client, key=lambda event: event[0])


def header(side: str, **trace: Any) -> dict[str, Any]:
    """Return the first record of a file of the current schema."""
    common = {"group_id": "00", "time_format": "relative_to_epoch"}
    common["reference_time"] = {"clock_type": "monotonic", "epoch": "unknown"}  # type: ignore[assignment]
    return {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": "by hand",
        "trace": {"common_fields": common, "vantage_point": {"name": f"hand {side}", "type": side}, **trace},
    }


def write_sequence(path: Path, first: dict[str, Any], events: Iterable[Event], prefix: str = "quic:") -> Path:
    """Write a JSON text sequence and return its path."""
    records = [first, *({"time": time, "name": prefix + name, "data": data} for time, name, data in events)]
    path.write_text("".join(f"\x1e{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def write_two_streams(folder: Path) -> Path:
    """Write the files of both ends to a folder and return the folder."""
    folder.mkdir()
    server, client = two_streams()
    write_sequence(folder / "hand-server.sqlog", header("server"), server)
    write_sequence(folder / "hand-client.sqlog", header("client"), client)
    return folder
