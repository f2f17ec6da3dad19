"""What the network did with the packets of a cell, from the capture at its gates."""

import hashlib
import ipaddress
import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quiclab._quiclab import OutputError

DATA = 100
"""UDP payloads from this size on are data; what is smaller may be a late acknowledgement or the close."""
_INTERFACE, _PACKET = 1, 6
_LONGEST = 1 << 20
"""Bytes of a block."""
_UDP = 17


@dataclass
class Way:
    """The UDP datagrams from one end to the other."""

    packets: int = 0
    """Those that entered the network, without those that were under way at the end."""
    lost: int = 0
    sent_bytes: int = 0
    """Of IP packets that entered."""
    delays_s: tuple[float, ...] = ()
    """From entering to leaving, of each that arrived."""
    first_s: float | None = None
    """When the first one entered."""
    last_data_s: float | None = None
    """When the last one with data arrived."""


@dataclass
class Traffic:
    """Both ways of a cell."""

    down: Way
    """From the server to the client."""
    up: Way

    @property
    def duration_s(self) -> float | None:
        """From the client's first datagram to the arrival of the last data of the server."""
        if self.up.first_s is None or self.down.last_data_s is None:
            return None
        return self.down.last_data_s - self.up.first_s

    @property
    def rtt_mean_ms(self) -> float | None:
        """The mean delay of both ways together: propagation, transmission, queues and the link layer."""
        if not self.up.delays_s or not self.down.delays_s:
            return None
        return 1e3 * sum(sum(way.delays_s) / len(way.delays_s) for way in (self.up, self.down))

    @property
    def rtt_min_ms(self) -> float | None:
        """The least delay of both ways together."""
        if not self.up.delays_s or not self.down.delays_s:
            return None
        return 1e3 * (min(self.up.delays_s) + min(self.down.delays_s))


@dataclass(frozen=True)
class _Seen:
    gate: str
    time_s: float
    source: str
    length: int
    size: int
    """Of the UDP payload."""
    key: bytes
    """A hash of it."""


def read(path: Path, client: tuple[str, Sequence[str]], server: tuple[str, Sequence[str]]) -> Traffic:
    """Reads a capture of gates. Each end is its gate and its addresses.

    A datagram is found again at the other gate by its bytes. Raises `OutputError` if the file is no such capture.
    """
    seen = list(_datagrams(path))
    return Traffic(_way(seen, server, client), _way(seen, client, server))


def _way(seen: Sequence[_Seen], source: tuple[str, Sequence[str]], sink: tuple[str, Sequence[str]]) -> Way:
    under_way: dict[bytes, list[float]] = defaultdict(list)
    way, delays, overtaken_s = Way(), [], 0.0
    end = max((one.time_s for one in seen), default=0.0)
    for one in seen:
        if one.source not in source[1]:
            continue
        if one.gate == source[0]:
            under_way[one.key].append(one.time_s)
            way.packets += 1
            way.sent_bytes += one.length
            way.first_s = one.time_s if way.first_s is None else way.first_s
        elif one.gate == sink[0] and under_way.get(one.key):
            # Of equal ones, those that were lost are the first: a stack sends them again after a while.
            entered_s = under_way[one.key].pop()
            delays.append(one.time_s - entered_s)
            overtaken_s = max(overtaken_s, entered_s)
            if one.size >= DATA:
                way.last_data_s = one.time_s
    # What entered shortly before the end, behind all that arrived, may still be under way: neither lost nor arrived.
    horizon_s = max(overtaken_s, end - 2 * max(delays, default=0.0))
    missing = [time for times in under_way.values() for time in times]
    way.lost = sum(time <= horizon_s for time in missing)
    way.packets -= len(missing) - way.lost
    way.delays_s = tuple(delays)
    return way


def _datagrams(path: Path) -> Iterator[_Seen]:
    gates: list[str] = []
    for kind, block in _blocks(path):
        if kind == _INTERFACE:
            gates.append(_interface(block[8:-4]))
        elif kind == _PACKET and len(block) >= 24:
            number, high, low, captured = struct.unpack_from("<IIII", block)
            packet = block[20 : 20 + captured]
            found = _udp(packet)
            if found is not None and number < len(gates):
                source, payload = found
                key = hashlib.blake2b(payload, digest_size=16).digest()
                yield _Seen(gates[number], ((high << 32) | low) / 1e9, source, len(packet), len(payload), key)


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """The blocks of a capture: their kinds, and what follows the length."""
    try:
        with path.open("rb") as file:
            while head := file.read(8):
                kind, length = struct.unpack("<II", head) if len(head) == 8 else (0, 0)
                block = file.read(length - 8) if 12 <= length <= _LONGEST else b""
                if not block or len(block) != length - 8:
                    raise OutputError(f"{path}: cannot be read: it is not a capture of gates, or it is cut off")
                yield kind, block
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror}") from error


def _interface(options: bytes) -> str:
    """The name of an interface, from its options."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("<HH", options, at)
        if code == 2:
            return options[at + 4 : at + 4 + length].decode(errors="replace")
        if code == 0:
            break
        at += 4 + (length + 3) // 4 * 4
    return ""


def _udp(packet: bytes) -> tuple[str, bytes] | None:
    """The source address and the payload of a UDP datagram; None if the packet is none."""
    if not packet:
        return None
    if packet[0] >> 4 == 4 and len(packet) >= 28 and packet[9] == _UDP:
        head = 4 * (packet[0] & 15)
        return str(ipaddress.IPv4Address(packet[12:16])), packet[head + 8 :]
    if packet[0] >> 4 == 6 and len(packet) >= 48 and packet[6] == _UDP:
        return str(ipaddress.IPv6Address(packet[8:24])), packet[48:]
    return None
