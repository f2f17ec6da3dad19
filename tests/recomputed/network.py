"""A link with a first-in, first-out queue, replayed from the datagrams that its ends sent and received."""

from collections import deque
from dataclasses import dataclass, field

from recomputed.sources import Case

NS = 1_000_000_000


def ns(time: float) -> int:
    """Whole nanoseconds."""
    return round(time * NS)


@dataclass
class Passed:
    """A packet that a link took: when it came, when its transmission began and ended."""

    came: int
    begins: int
    ends: int
    size: int


@dataclass
class Line:
    """One direction of a link, replayed up to the end of the run."""

    rate: float
    """In Mbit/s."""
    limit: int
    """Of the queue, in bytes, without the packet in transmission."""
    delay: int
    end: int
    passed: list[Passed] = field(default_factory=list)
    rows: list[tuple[int, int, int]] = field(default_factory=list)
    """The table `queue`: time, packets, bytes."""
    refused: list[tuple[int, int]] = field(default_factory=list)
    lost: list[tuple[int, int]] = field(default_factory=list)
    delivered: list[tuple[int, int]] = field(default_factory=list)

    def replay(
        self, arrivals: list[tuple[int, int]], received: list[tuple[int, int]], open_losses: set[tuple[int, int]]
    ) -> None:
        """Pass packets (time, bytes on the wire). What was transmitted and not received was lost.

        Of packets that could not arrive before the end nobody knows that; `open_losses` are the known ones.
        """
        waiting: deque[tuple[int, int]] = deque()
        held, free = 0, 0

        def serve(until: int) -> None:
            nonlocal held, free
            while waiting and free <= until:
                came, size = waiting.popleft()
                held -= size
                begins = free
                free = begins + self.span(size)
                self.passed.append(Passed(came, begins, free, size))
                self.rows.append((begins, len(waiting), held))

        for came, size in arrivals:
            serve(came)
            if not waiting and free <= came:
                free = came + self.span(size)
                self.passed.append(Passed(came, came, free, size))
            elif held + size > self.limit:
                self.refused.append((came, size))
            else:
                waiting.append((came, size))
                held += size
                self.rows.append((came, len(waiting), held))
        serve(self.end)
        arrived = deque(received)
        for packet in self.passed:
            at = packet.ends + self.delay
            if arrived and arrived[0] == (at, packet.size):
                self.delivered.append(arrived.popleft())
            elif at <= self.end or (packet.ends, packet.size) in open_losses:
                self.lost.append((packet.ends, packet.size))
        assert not arrived, f"a packet was received at {arrived[0]} that the link did not deliver"

    def span(self, size: int) -> int:
        """The transmission time of a packet."""
        return round(size * 8e3 / self.rate)


def sent(case: Case, side: str, flow: str = "get") -> list[tuple[int, int]]:
    """The IP packets that an end sent, by its log."""
    return [(ns(time), length + 28) for time, length in case.ends[flow, side].datagrams()]


def received(case: Case, side: str, flow: str = "get") -> list[tuple[int, int]]:
    """The IP packets that an end received, undecipherable ones too: a client by the capture, a server by its log."""
    if side == "client":
        client = sent_by_client(case)
        return [(ns(packet.time), packet.length) for packet in case.capture if packet.source != client]
    end = case.ends[flow, side]
    found = [(ns(time), length + 28) for time, length in end.datagrams(is_sent=False)]
    dropped = [(ns(time), data["raw"]["length"] + 28) for time, name, data in end.events if name == "packet_dropped"]
    times = {time for time, _ in found}
    return sorted(found + [packet for packet in dropped if packet[0] not in times])


def sent_by_client(case: Case) -> bytes:
    """The address of the client: it sends the first packet."""
    return case.capture[0].source


def line(case: Case, direction: str) -> Line:
    """A direction of the one link between a client and a server."""
    link = case.document["link"][0][direction]
    rate = float(link["rate"]["rate"].split()[0])
    limit = int(float(link["queue"]["limit"].removesuffix(" kB")) * 1000)
    sender, receiver = ("server", "client") if direction == "forward" else ("client", "server")
    last = max(ns(time) for end in case.ends.values() for time, *_ in end.events[-1:])
    made = Line(rate, limit, ns(0.01), last)
    dropped = case.by("drop", "link").get(f"cell {direction}", [])
    known = {(ns(row["time_s"]), row["length_bytes"]) for row in dropped if ns(row["time_s"]) + made.delay > made.end}
    made.replay(sent(case, sender), received(case, receiver), known)
    return made
