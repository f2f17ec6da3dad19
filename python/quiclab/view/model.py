"""The model of the view: the connections of a run, and for each direction its packets, streams, waits and gauges."""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePath

from quiclab.view import sending
from quiclab.view.players import Player
from quiclab.view.qlog import SPACES, Log, Packet
from quiclab.view.ranges import Owners, Ranges
from quiclab.view.waiting import ConnectionWaits, First, Spans, StreamsWait

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
class Direction:
    """What one end sent and the other received, packets in the order in which they were sent."""

    sender: str
    """"client" or "server"."""
    has_sender: bool
    """Whether the sender's log is there; else a packet is shown as sent when it arrived."""
    has_receiver: bool
    """Whether the receiver's log is there; else a packet is shown as arrived when its acknowledgement was."""
    packets: list[Packet] = field(default_factory=list)
    """As the sender wrote them down."""
    received: list[int] = field(default_factory=list)
    """When each arrived, in nanoseconds; `UNKNOWN` if it did not."""
    acknowledged: list[int] = field(default_factory=list)
    """When the sender learned that each arrived; `UNKNOWN` if it did not."""
    lost: list[int] = field(default_factory=list)
    """When each was declared lost; `UNKNOWN` if it was not."""
    triggers: list[str] = field(default_factory=list)
    """Why: a trigger for each packet, empty if it was not declared lost."""
    streams: list[Stream] = field(default_factory=list)
    """In the order in which they begin."""
    again: list[tuple[int, int]] = field(default_factory=list)
    """A packet, and one that carries some of its bytes again; sorted."""
    waits: Spans = field(default_factory=Spans)
    """Head-of-line blocking as it was."""
    one_stream: Spans = field(default_factory=Spans)
    """As it would have been with one byte stream for the connection."""
    queued: Spans = field(default_factory=Spans)
    """Streams with data that waits to be sent."""
    blocked: Spans = field(default_factory=Spans)
    """Streams without credit; `sending.CONNECTION` for the connection's."""
    has_written: bool = False
    """Whether the sender's log says what the application wrote."""
    metrics: dict[str, tuple[list[int], list[float]]] = field(default_factory=dict)
    """Of the sender's congestion control."""
    notes: list[str] = field(default_factory=list)


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


def connections(logs: list[Log]) -> list[Connection]:
    """Puts the logs of both ends together, and finds out what waited for what."""
    return [_connection(name, client, server) for name, client, server in _pairs(logs)]


def _pairs(logs: list[Log]) -> list[tuple[str, Log | None, Log | None]]:
    """Logs of one connection: by what both have in common, else by their names without the side."""
    groups: dict[str, list[Log]] = defaultdict(list)
    for log in logs:
        groups[log.group or _stem(log)].append(log)
    if len(logs) == 2 and {log.side for log in logs} == {"client", "server"}:
        groups = {"": logs}
    pairs = []
    for group in groups.values():
        clients = [log for log in group if log.side == "client"]
        servers = [log for log in group if log.side == "server"]
        for index in range(max(len(clients), len(servers))):
            client = clients[index] if index < len(clients) else None
            server = servers[index] if index < len(servers) else None
            pairs.append((_stem(client or server), client, server))
    return pairs


def _stem(log: Log | None) -> str:
    assert log is not None, "a pair has a log"
    name = PurePath(log.name).name
    for side in ("client", "server"):
        name = name.removesuffix(side).rstrip(" -_.") or name
    return name


def _connection(name: str, client: Log | None, server: Log | None) -> Connection:
    logs = [log for log in (client, server) if log is not None]
    notes = [note for log in logs for note in log.notes]
    if len(logs) == 1:
        notes.append(f"only the {logs[0].side}'s log is there: what happened at the other end is as it was told")
    elif (off := _clocks(client, server)) != 0:
        notes.append(
            f"the server's clock is {off / 1e6:.3f} ms ahead of the client's: "
            "shown as if the shortest way took as long in both directions"
        )
        _shift(server, -off)
    times = [time for log in logs for time in _times(log)]
    start, end = min(times), max(times)
    directions = [_direction(client, server, "client", end), _direction(server, client, "server", end)]
    directions = [direction for direction in directions if direction.packets or direction.metrics]
    directions.sort(key=_weight)
    return Connection(name, directions, start, end, notes)


def _weight(direction: Direction) -> tuple[int, int]:
    """What carries more data comes first; of connections without packets what has more to say."""
    gauges = sum(len(times) for times, _ in direction.metrics.values())
    return -sum(stream.bytes for stream in direction.streams), -gauges


def _times(log: Log) -> list[int]:
    ends = [series[index].time for series in (log.sent, log.received) if series for index in (0, -1)]
    return ends + [times[index] for times, _ in log.metrics.values() for index in (0, -1)]


def _clocks(client: Log | None, server: Log | None) -> int:
    """By how much the server's clock is ahead of the client's, in nanoseconds; 0 if nothing speaks against them.

    Two clocks cannot be one if a packet arrives before it is sent. Then they are set as NTP does (RFC 5905 section 8):
    so that the shortest way takes as long in both directions.
    """
    if client is None or server is None:
        return 0
    there, back = _shortest(client, server), _shortest(server, client)
    if there is None or back is None:
        known = there if back is None else back
        return 0 if known is None or known >= 0 else known if back is None else -known
    return (there - back) // 2 if min(there, back) < 0 else 0


def _shortest(sender: Log, receiver: Log) -> int | None:
    """The shortest time from sending to arrival by both clocks."""
    sent = {(packet.kind, packet.number): packet.time for packet in sender.sent if packet.number >= 0}
    ways = (
        packet.time - sent[packet.kind, packet.number]
        for packet in receiver.received
        if (packet.kind, packet.number) in sent
    )
    return min(ways, default=None)


def _shift(log: Log | None, by: int) -> None:
    """Sets a log's clock."""
    assert log is not None, "two clocks belong to two logs"
    for packet in [*log.sent, *log.received]:
        packet.time += by
    log.written = [(time + by, stream, end) for time, stream, end in log.written]
    log.lost = [(time + by, kind, number, trigger) for time, kind, number, trigger in log.lost]
    log.metrics = {name: ([time + by for time in times], values) for name, (times, values) in log.metrics.items()}


def _direction(sender: Log | None, receiver: Log | None, side: str, end: int) -> Direction:
    direction = Direction(side, sender is not None, receiver is not None)
    if sender is None and receiver is None:
        return direction
    direction.packets = _packets(direction, sender, receiver)
    index = {
        (SPACES[packet.kind], packet.number): at for at, packet in enumerate(direction.packets) if packet.number >= 0
    }
    nothing = [UNKNOWN] * len(direction.packets)
    direction.received, direction.acknowledged, direction.lost = nothing, nothing[:], nothing[:]
    direction.triggers = [""] * len(direction.packets)
    if sender is not None:
        _outcomes(direction, sender, index)
        direction.metrics = sender.metrics
    arrivals = _arrivals(direction, receiver, index)
    _analyse(direction, arrivals, end)
    if sender is not None:
        places = {stream.id: at for at, stream in enumerate(direction.streams)}
        direction.has_written = bool(sender.written)
        direction.queued = sending.queued(direction.packets, sender, places, end)
        direction.blocked = sending.blocked(direction.packets, sender, places, end)
    return direction


def _packets(direction: Direction, sender: Log | None, receiver: Log | None) -> list[Packet]:
    """What was sent; and what arrived though the sender's log does not have it."""
    sent = sorted(sender.sent, key=lambda packet: packet.time) if sender else []
    known = {(SPACES[packet.kind], packet.number) for packet in sent if packet.number >= 0}
    strangers = []
    for packet in receiver.received if receiver else ():
        if packet.number >= 0 and (SPACES[packet.kind], packet.number) not in known:
            known.add((SPACES[packet.kind], packet.number))
            strangers.append(packet)
    if strangers and sender is not None:
        direction.notes.append(f"{len(strangers)} packets arrived that the sender's log does not have")
        return sorted([*sent, *strangers], key=lambda packet: packet.time)
    return sent or strangers


def _outcomes(direction: Direction, sender: Log, index: dict[tuple[int, int], int]) -> None:
    """What the sender learned of its packets."""
    for time, kind, number, trigger in sender.lost:
        at = index.get((SPACES.get(kind, -1), number))
        if at is not None and direction.lost[at] == UNKNOWN:
            direction.lost[at], direction.triggers[at] = time, trigger
    acknowledged: dict[int, Ranges] = defaultdict(Ranges)
    for packet in sender.received:
        space = SPACES.get(packet.kind, -1)
        for _, ranges in packet.acks:
            for first, last in ranges:
                for new, after in acknowledged[space].add(first, last + 1):
                    for number in _known(index, space, new, after):
                        direction.acknowledged[index[space, number]] = packet.time


def _known(index: dict[tuple[int, int], int], space: int, first: int, after: int) -> list[int]:
    """The packet numbers of a range that there are: a range from outside may be longer than any log."""
    if after - first <= 2 * len(index):
        return [number for number in range(first, after) if (space, number) in index]
    return [number for known, number in index if known == space and first <= number < after]


def _arrivals(direction: Direction, receiver: Log | None, index: dict[tuple[int, int], int]) -> list[tuple[int, int]]:
    """When packets arrived for the first time, in order: time and place among the packets."""
    arrivals = []
    if receiver is None:
        arrivals = [(time, at) for at, time in enumerate(direction.acknowledged) if time != UNKNOWN]
        arrivals.sort()
        direction.received = direction.acknowledged[:]
        return arrivals
    for packet in receiver.received:
        at = index.get((SPACES.get(packet.kind, -1), packet.number))
        if at is not None and direction.received[at] == UNKNOWN:
            direction.received[at] = packet.time
            arrivals.append((packet.time, at))
    return arrivals


def _analyse(direction: Direction, arrivals: list[tuple[int, int]], end: int) -> None:
    """Streams, retransmissions and waits."""
    places: dict[int, int] = {}
    first = First()
    carriers: dict[int, Owners] = defaultdict(Owners)
    again: set[tuple[int, int]] = set()
    for at, packet in enumerate(direction.packets):
        for stream, offset, length, _ in packet.streams:
            if stream not in places:
                places[stream] = len(direction.streams)
                direction.streams.append(Stream(stream))
            entry = direction.streams[places[stream]]
            if stream == DATAGRAMS:
                entry.bytes += length
                continue
            before = first.total
            first.sent(places[stream], offset, offset + length, at)
            entry.bytes += first.total - before
            entry.retransmitted += length - (first.total - before)
            again.update((old, at) for old in carriers[stream].set(offset, offset + length, at))
    direction.again = sorted(again)
    if not direction.has_sender:
        # In which order bytes were first sent, and by which packets, is known to the sender alone.
        first = First()

    ends: dict[int, Ranges] = defaultdict(Ranges)
    streams, one = StreamsWait(first), ConnectionWaits(first)
    for time, at in arrivals:
        packet = direction.packets[at]
        for stream, offset, length, _ in packet.streams:
            new = ends[stream].add(offset, offset + length) if stream != DATAGRAMS else []
            if new:
                streams.arrive(time, at, places[stream], new)
                one.arrive(time, at, places[stream], new)
        for stream in packet.resets:
            if stream in places:
                streams.reset(time, at, places[stream])
                one.reset(time, at, places[stream], direction.streams[places[stream]].bytes)
    direction.waits, direction.one_stream = streams.end(end), one.end(end)
