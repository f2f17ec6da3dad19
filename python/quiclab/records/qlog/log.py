"""A log: what one end of a connection wrote down, with its packets, as columns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from quiclab._quiclab import ViewLog

SPACES = {"initial": 0, "handshake": 1, "0rtt": 2, "1rtt": 2}
"""The packet number space of a packet type (RFC 9000 section 12.3)."""

METRICS = (
    "congestion_window",
    "bytes_in_flight",
    "ssthresh",
    "smoothed_rtt",
    "latest_rtt",
    "min_rtt",
    "pacing_rate",
)
"""The gauges of recovery that are kept: bytes, milliseconds, bit/s."""


@dataclass(slots=True)
class Packet:
    """One packet as one end wrote it down."""

    time: int
    """In nanoseconds since the start of the log."""
    kind: str
    """Its type in lower case: "initial", "1rtt"."""
    number: int
    """Its packet number; -1 for types without one."""
    size: int
    """In bytes; -1 if the log does not say."""
    streams: list[tuple[int, int, int, bool]]
    """Its STREAM frames: stream, offset, length, FIN. DATAGRAM frames are of stream -1, with offset 0."""
    acks: list[tuple[int, list[tuple[int, int]]]]
    """Its ACK frames: delay in nanoseconds, and the ranges, both ends included."""
    resets: list[int]
    """The streams of its RESET_STREAM frames."""
    others: list[tuple[str, tuple[int, ...]]]
    """All other frames: a text with {} for each of the numbers."""
    credit: tuple[tuple[str, int, int], ...] = ()
    """Of those the ones of flow control: "max" or "blocked", the stream (-1 for the connection), and the limit."""


class Packets(Sequence[Packet]):
    """The packets that one end sent, or received, as they stand in the columns of a log."""

    def __init__(self, events: ViewLog, is_sent: bool) -> None:
        self._events = events
        self._is_sent = is_sent

    def __len__(self) -> int:
        return self._events.count(self._is_sent)

    @overload
    def __getitem__(self, at: int) -> Packet: ...
    @overload
    def __getitem__(self, at: slice) -> list[Packet]: ...
    def __getitem__(self, at: int | slice) -> Packet | list[Packet]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        return packet(self._events.packet(self._is_sent, at if at >= 0 else at + len(self)))

    def append(self, packet: Packet) -> None:
        """Adds a packet."""
        self._events.add(
            self._is_sent,
            (
                packet.time,
                packet.kind,
                packet.number,
                packet.size,
                packet.streams,
                packet.acks,
                packet.resets,
                [(text, list(values)) for text, values in packet.others],
                list(packet.credit),
            ),
        )


def packet(values: tuple[Any, ...]) -> Packet:
    """A packet from the values that stand for it in columns."""
    time, kind, number, size, streams, acks, resets, others, credit = values
    texts = [(text, tuple(numbers)) for text, numbers in others]
    return Packet(time, kind, number, size, streams, acks, resets, texts, tuple(credit))


@dataclass
class Log:
    """One trace: what one end of a connection wrote down."""

    name: str
    """How the trace calls itself, or its file is called."""
    side: str
    """"client" or "server"."""
    group: str
    """What both ends' traces have in common; empty if not said."""
    title: str
    original: str = ""
    """The first connection ID that the client chose for the server (ODCID); empty if not said."""
    file: str = ""
    """The name of its file without the ending; empty if it has none."""
    is_by_wall: bool = False
    """Whether its times have dates by an approximate wall clock."""
    events: ViewLog = field(default_factory=ViewLog)
    """Packets, losses, what the application wrote, and the gauges, in columns."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know about the file."""

    @property
    def sent(self) -> Packets:
        """The packets that it sent."""
        return Packets(self.events, True)

    @property
    def received(self) -> Packets:
        """The packets that it received."""
        return Packets(self.events, False)

    @property
    def metrics(self) -> dict[str, tuple[list[int], list[float]]]:
        """Times and values by the names in `METRICS`."""
        return {name: self.events.series(name) for name in self.events.gauges()}
