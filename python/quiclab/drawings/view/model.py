"""The model of the view: the connections of a run, and for each direction its packets, streams, waits and gauges.

Both ends' logs are put together here; what became of each packet, and what waited for what, the crate `view` finds out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from quiclab._quiclab import ViewDirection
from quiclab.drawings.view import clocks
from quiclab.drawings.view.pairs import Pair, pairs
from quiclab.drawings.view.players import Player
from quiclab.drawings.view.records import Recorded
from quiclab.records.qlog import Log, Packet, packet

DATAGRAMS = -1
"""The id under which DATAGRAM frames (RFC 9221) are shown beside the streams."""

UNKNOWN = -1
"""A time that the logs do not say."""


@dataclass
class Stream:
    """What one direction of a stream sent, in bytes."""

    id: int
    """RFC 9000 section 2.1; `DATAGRAMS` for all DATAGRAM frames."""
    bytes: int = 0
    """Sent, each byte once."""
    retransmitted: int = 0
    """Sent again."""


@dataclass
class Spans:
    """Spans of waiting as columns."""

    stream: list[int]
    """The stream's place in the list of streams; -1 for the credit of the connection."""
    start: list[int]
    """When the first byte arrived that could not be delivered, or the hole before it was the next one; nanoseconds."""
    end: list[int]
    """When the missing bytes arrived, or the end of the log; nanoseconds."""
    missing: list[int]
    """The packet that was to bring the first missing byte; -1 if none is known."""
    filled: list[int]
    """The packet with which the wait ended; -1 if it did not."""
    offset: list[int]
    """The first missing byte: its offset in the stream, or its place in the one sequence."""
    held: list[int]
    """The most bytes that waited."""


class SentPackets(Sequence[Packet]):
    """The packets of a direction, in the order in which they were sent."""

    def __init__(self, found: ViewDirection) -> None:
        self._found = found

    def __len__(self) -> int:
        return self._found.count

    @overload
    def __getitem__(self, at: int) -> Packet: ...
    @overload
    def __getitem__(self, at: slice) -> list[Packet]: ...
    def __getitem__(self, at: int | slice) -> Packet | list[Packet]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        return packet(self._found.packet(at if at >= 0 else at + len(self)))


@dataclass
class Direction:
    """What one end sent and the other received. Lists are made when they are asked for."""

    sender: str
    """"client" or "server"."""
    has_sender: bool
    """Whether the sender's log is there; else a packet is shown as sent when it arrived."""
    has_receiver: bool
    """Whether the receiver's log is there; else a packet is shown as arrived when its acknowledgement was."""
    found: ViewDirection
    """All of it in columns."""
    log: Log | None
    """The sender's log."""
    notes: list[str] = field(default_factory=list)

    @property
    def packets(self) -> SentPackets:
        """As the sender wrote them down."""
        return SentPackets(self.found)

    @property
    def received(self) -> list[int]:
        """When each arrived, in nanoseconds; `UNKNOWN` if it did not."""
        return self.found.times()[0]

    @property
    def acknowledged(self) -> list[int]:
        """When the sender learned that each arrived; `UNKNOWN` if it did not."""
        return self.found.times()[1]

    @property
    def lost(self) -> list[int]:
        """When each was declared lost; `UNKNOWN` if it was not."""
        return self.found.times()[2]

    @property
    def triggers(self) -> list[str]:
        """Why: a trigger for each packet, empty if it was not declared lost."""
        return self.found.triggers()

    @property
    def streams(self) -> list[Stream]:
        """In the order in which they begin."""
        return [Stream(*values) for values in self.found.streams()]

    @property
    def again(self) -> list[tuple[int, int]]:
        """A packet, and one that carries some of its bytes again; sorted."""
        return self.found.again()

    @property
    def waits(self) -> Spans:
        """Head-of-line blocking as it was."""
        return Spans(*self.found.waits())

    @property
    def one_stream(self) -> Spans:
        """As it would have been with one byte stream for the connection."""
        return Spans(*self.found.one_stream())

    @property
    def queued(self) -> Spans:
        """Streams with data that waits to be sent."""
        return Spans(*self.found.queued())

    @property
    def blocked(self) -> Spans:
        """Streams without credit."""
        return Spans(*self.found.blocked())

    @property
    def has_written(self) -> bool:
        """Whether the sender's log says what the application wrote."""
        return self.found.has_written

    @property
    def gauges(self) -> list[str]:
        """The names of what is known of the sender's congestion control."""
        return self.log.events.gauges() if self.log is not None else []

    @property
    def metrics(self) -> dict[str, tuple[list[int], list[float]]]:
        """Of the sender's congestion control."""
        return self.log.metrics if self.log is not None else {}


@dataclass
class Connection:
    """Both directions of a connection."""

    name: str
    directions: list[Direction]
    """The one with more stream bytes first."""
    start: int
    """The time of its first event, in nanoseconds."""
    end: int
    """The time of its last one."""
    notes: list[str]
    player: Player | None = None
    """What its player did, if it plays a video and the folder has the tables of that."""
    recorded: Recorded | None = None
    """What else is known of it, if it is of a run."""


def connections(
    logs: list[Log], ends: Mapping[str, int] | None = None, *, has_one_clock: bool = False
) -> list[Connection]:
    """Puts the logs of both ends together, and finds out what waited for what.

    :param ends: when connections ended, by their names, in nanoseconds. Default: with the last event of their logs.
    :param has_one_clock: whether all logs are known to tell the time of one clock, as those of a simulation do.
    """
    ends = ends or {}
    return [_connection(pair, ends.get(pair.name, 0), has_one_clock) for pair in pairs(logs)]


def _connection(pair: Pair, end: int, has_one_clock: bool) -> Connection:
    client, server = pair.client, pair.server
    logs = [log for log in (client, server) if log is not None]
    notes = [note for log in logs for note in log.notes]
    if client is None or server is None:
        notes.append(f"only the {logs[0].side}'s log exists: what happened at the other end is inferred from it")
    else:
        notes += clocks.set_alike(client, server, has_one_clock)
    notes += pair.notes
    spans = [span for log in logs if (span := log.events.span()) is not None]
    start, end = min((start for start, _ in spans), default=0), max([end, *(last for _, last in spans)])
    directions = [_direction(client, server, "client", end), _direction(server, client, "server", end)]
    directions = [direction for direction in directions if direction.packets or direction.gauges]
    directions.sort(key=_weight)
    return Connection(pair.name, directions, start, end, notes)


def _weight(direction: Direction) -> tuple[int, int]:
    """What carries more data comes first; of connections without packets what has more to say."""
    gauges = direction.log.events.gauge_values if direction.log is not None else 0
    return -sum(stream.bytes for stream in direction.streams), -gauges


def _direction(sender: Log | None, receiver: Log | None, side: str, end: int) -> Direction:
    sent, received = (None if log is None else log.events for log in (sender, receiver))
    found = ViewDirection(sent, received, end)
    direction = Direction(side, sender is not None, receiver is not None, found, sender)
    if found.strangers:
        packets = "packet" if found.strangers == 1 else "packets"
        direction.notes.append(f"{found.strangers} {packets} arrived that the sender's log does not have")
    if found.repeated:
        words = "packet has" if found.repeated == 1 else "packets have"
        direction.notes.append(
            f"{found.repeated} {words} the number of a later one in the sender's log, which may have records twice or "
            "several paths: all are counted, and what became of a number is told of the last"
        )
    return direction
