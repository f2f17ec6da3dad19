"""What a run left: its tables as columns, the packets of its logs (qlog) and of its capture.

The logs are written by another sink than the tables, and the capture by the network: neither reads the other.
"""

import json
import struct
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import quiclab

SIDES = ("client", "server")
OTHER = {"client": "server", "server": "client"}


@dataclass
class Packet:
    """A QUIC packet at one end."""

    time: float
    """In seconds."""
    is_sent: bool
    kind: str
    number: int | None
    length: int
    frames: list[dict[str, Any]]
    datagram: int

    @property
    def is_eliciting(self) -> bool:
        """Whether the peer must acknowledge it (RFC 9002 section 2)."""
        return any(frame["frame_type"] not in ("ack", "padding", "connection_close") for frame in self.frames)

    @property
    def is_in_flight(self) -> bool:
        """Whether it counts as in flight (RFC 9002 section 2)."""
        return self.is_eliciting or any(frame["frame_type"] == "padding" for frame in self.frames)

    def of_type(self, word: str) -> list[dict[str, Any]]:
        """Its frames of a type."""
        return [frame for frame in self.frames if frame["frame_type"] == word]


@dataclass
class End:
    """One end of a connection by its log."""

    name: str
    side: str
    packets: list[Packet] = field(default_factory=list)
    events: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list)

    @property
    def sent(self) -> list[Packet]:
        """The packets that it sent."""
        return [packet for packet in self.packets if packet.is_sent]

    @property
    def received(self) -> list[Packet]:
        """The packets that it received."""
        return [packet for packet in self.packets if not packet.is_sent]

    def datagrams(self, is_sent: bool = True) -> list[tuple[float, int]]:
        """Time and UDP payload of its datagrams."""
        found: dict[int, tuple[float, int]] = {}
        for packet in self.packets:
            if packet.is_sent == is_sent:
                time, length = found.get(packet.datagram, (packet.time, 0))
                found[packet.datagram] = (time, length + packet.length)
        return list(found.values())

    def first(self, name: str, **data: Any) -> float | None:
        """When the first event of this name with these data happened."""
        for time, word, found in self.events:
            if word == name and all(found.get(key) == value for key, value in data.items()):
                return time
        return None


@dataclass
class Captured:
    """A packet of the capture: the network's own record, at an interface of a client."""

    time: float
    interface: int
    source: bytes
    target: bytes
    length: int
    ecn: int
    protocol: int
    payload: bytes


@dataclass
class TcpSegment:
    """A TCP segment of a capture."""

    time: float
    is_from_client: bool
    sequence: int
    acknowledgement: int
    flags: int
    data: int
    length: int


def read_log(path: Path) -> End:
    """One end of a connection."""
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    head = json.loads(lines[0].lstrip("\x1e"))
    point = head["trace"]["vantage_point"]
    end = End(point["name"].rpartition(" ")[0], point["type"])
    for line in lines[1:]:
        event = json.loads(line.lstrip("\x1e"))
        time, name, data = event["time"] / 1e3, event["name"].rpartition(":")[2], event["data"]
        end.events.append((time, name, data))
        if name in ("packet_sent", "packet_received"):
            head = data["header"]
            number = head.get("packet_number")
            length, frames = data["raw"]["length"], data.get("frames", [])
            kind = head["packet_type"]
            packet = Packet(time, name == "packet_sent", kind, number, length, frames, data["datagram_id"])
            end.packets.append(packet)
    return end


def read_capture(path: Path) -> list[Captured]:
    """The IP packets of a capture of the format pcapng."""
    found, data, at = [], path.read_bytes(), 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            interface, high, low, captured, length = struct.unpack_from("<IIIII", data, at + 8)
            packet = data[at + 28 : at + 28 + captured]
            time = ((high << 32) | low) / 1e9
            if packet[0] >> 4 == 4:
                head = (packet[0] & 15) * 4
                ends, ecn, protocol = (packet[12:16], packet[16:20]), packet[1] & 3, packet[9]
            else:
                head = 40
                ends, ecn, protocol = (packet[8:24], packet[24:40]), packet[1] >> 4 & 3, packet[6]
            found.append(Captured(time, interface, *ends, length, ecn, protocol, packet[head:]))
        at += size
    return found


@dataclass
class Case:
    """A run and all that it left."""

    name: str
    run: quiclab.Run
    document: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    """The files that the scenario names."""

    @cached_property
    def tables(self) -> dict[str, dict[str, list[Any]]]:
        """The tables of the run, by column."""
        return {name: self.run.table(name).to_pydict() for name in self.run.tables}

    @cached_property
    def ends(self) -> dict[tuple[str, str], End]:
        """The ends of QUIC connections that have logs."""
        logs = [read_log(path) for path in self.run.qlogs]
        return {(log.name, log.side): log for log in logs}

    @cached_property
    def capture(self) -> list[Captured]:
        """The packets at the clients."""
        assert self.run.capture is not None
        return read_capture(self.run.capture)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table."""
        columns = self.tables[table]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def by(self, table: str, *keys: str) -> dict[Any, list[dict[str, Any]]]:
        """The rows of a table by what they belong to."""
        found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        for row in self.rows(table):
            found[tuple(row[key] for key in keys) if len(keys) > 1 else row[keys[0]]].append(row)
        return found

    def flow(self, name: str) -> dict[str, Any]:
        """The section of a flow."""
        return next(flow for flow in self.document["flow"] if flow["name"] == name)

    def connection(self, name: str) -> dict[str, Any]:
        """The entry of the summary."""
        return next(entry for entry in self.run.summary["connections"] if entry["name"] == name)
