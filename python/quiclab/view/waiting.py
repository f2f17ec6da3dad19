"""What waits for what at the receiver: head-of-line blocking of QUIC, and what one byte stream would have held back.

A stream waits while it has received bytes that it cannot deliver because an earlier offset of the same stream is
missing (RFC 9000 section 2.2: data are delivered in order on a stream, without an order between streams). For
comparison the same bytes, arriving at the same times, are put into one sequence for the whole connection, in the order
in which they were first sent, as TCP would have had to (RFC 9293): there a stream waits also for what others miss.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from heapq import heappop, heappush

from quiclab.view.ranges import Owners, Ranges

NOBODY = -1
"""No packet: the missing bytes were never seen to be sent, or have not arrived until the end."""


@dataclass
class Spans:
    """Spans of waiting as columns, in the order in which they end."""

    stream: list[int] = field(default_factory=list)
    """The stream's place in the list of streams."""
    start: list[int] = field(default_factory=list)
    """When the first byte arrived that could not be delivered, or the hole before it was the next one; nanoseconds."""
    end: list[int] = field(default_factory=list)
    """When the missing bytes arrived, or the end of the log; nanoseconds."""
    missing: list[int] = field(default_factory=list)
    """The packet that was to bring the first missing byte; `NOBODY` if none is known."""
    filled: list[int] = field(default_factory=list)
    """The packet with which the wait ended; `NOBODY` if it did not."""
    offset: list[int] = field(default_factory=list)
    """The first missing byte: its offset in the stream, or its place in the one sequence."""
    held: list[int] = field(default_factory=list)
    """The most bytes that waited."""

    def add(self, stream: int, wait: "_Wait", end: int, filled: int) -> None:
        """Closes a wait."""
        if end <= wait.start:
            # Packets of one datagram arrive together: what is over at once was no wait.
            return
        self.stream.append(stream)
        self.start.append(wait.start)
        self.end.append(end)
        self.missing.append(wait.missing)
        self.filled.append(filled)
        self.offset.append(wait.offset)
        self.held.append(wait.held)


@dataclass(slots=True)
class _Wait:
    """A wait that is not over."""

    start: int
    missing: int
    offset: int
    held: int


class First:
    """What was sent first: which packet was the first to carry a byte, and the byte's place in the one sequence."""

    def __init__(self) -> None:
        self._seen: dict[int, Ranges] = {}
        self._pieces: dict[int, Owners] = {}
        # Of each piece, in the order of the sequence: its offset in its stream, its place, its packet.
        self._offsets: list[int] = []
        self._places: list[int] = []
        self._packets: list[int] = []
        self.total = 0
        """The length of the one sequence: all bytes that were sent, each once."""

    def sent(self, stream: int, start: int, end: int, packet: int) -> None:
        """A packet carries bytes of a stream."""
        for first, last in self._seen.setdefault(stream, Ranges()).add(start, end):
            self._pieces.setdefault(stream, Owners()).set(first, last, len(self._places))
            self._offsets.append(first)
            self._places.append(self.total)
            self._packets.append(packet)
            self.total += last - first

    def carrier(self, stream: int, offset: int) -> int:
        """The packet that was the first to carry a byte of a stream; `NOBODY` if none did."""
        pieces = self._pieces.get(stream)
        piece = pieces.at(offset) if pieces else None
        return NOBODY if piece is None else self._packets[piece]

    def carrier_at(self, place: int) -> int:
        """The packet that was the first to carry the byte at a place of the one sequence."""
        return self._packets[bisect_right(self._places, place) - 1] if place < self.total else NOBODY

    def places(self, stream: int, start: int, end: int) -> list[tuple[int, int]]:
        """Where bytes of a stream are in the one sequence."""
        pieces = self._pieces.get(stream)
        if pieces is None:
            return []
        shifts = (
            (first, last, self._places[piece] - self._offsets[piece])
            for first, last, piece in pieces.pieces(start, end)
        )
        return [(first + shift, last + shift) for first, last, shift in shifts]


class Reordering:
    """What has arrived of one sequence, and what of it is held back because an earlier part is missing."""

    def __init__(self) -> None:
        self.next = 0
        self._waiting: list[tuple[int, int, int]] = []

    def arrive(self, start: int, end: int, stream: int) -> list[tuple[int, int]]:
        """A part arrives that had not before: returns the streams and numbers of bytes that become free by it."""
        if start > self.next:
            heappush(self._waiting, (start, end, stream))
            return []
        free = [(stream, end - start)]
        self.next = max(self.next, end)
        while self._waiting and self._waiting[0][0] <= self.next:
            start, end, stream = heappop(self._waiting)
            self.next = max(self.next, end)
            free.append((stream, end - start))
        return free


class StreamsWait:
    """Head-of-line blocking of QUIC: each stream waits for itself."""

    def __init__(self, first: First) -> None:
        self.spans = Spans()
        self._first = first
        self._order: dict[int, Reordering] = {}
        self._held: dict[int, int] = {}
        self._waits: dict[int, _Wait] = {}

    def arrive(self, time: int, packet: int, stream: int, new: list[tuple[int, int]]) -> None:
        """Bytes of a stream arrive, of which these parts had not before."""
        order = self._order.setdefault(stream, Reordering())
        before = order.next
        for start, end in new:
            held = self._held.get(stream, 0) + end - start
            self._held[stream] = held - sum(length for _, length in order.arrive(start, end, stream))
        held = self._held.get(stream, 0)
        wait = self._waits.get(stream)
        if wait is not None and order.next != before:
            self.spans.add(stream, self._waits.pop(stream), time, packet)
            wait = None
        if held and wait is None:
            self._waits[stream] = _Wait(time, self._first.carrier(stream, order.next), order.next, held)
        elif wait is not None:
            wait.held = max(wait.held, held)

    def reset(self, time: int, packet: int, stream: int) -> None:
        """The stream is reset: nobody waits for its data any more (RFC 9000 section 3.2)."""
        if stream in self._waits:
            self.spans.add(stream, self._waits.pop(stream), time, packet)
        self._held[stream] = 0
        self._order[stream] = order = Reordering()
        order.next = 1 << 62

    def end(self, time: int) -> Spans:
        """The log ends."""
        for stream, wait in self._waits.items():
            self.spans.add(stream, wait, time, NOBODY)
        self._waits.clear()
        return self.spans


class ConnectionWaits:
    """What one byte stream for the whole connection would have held back."""

    def __init__(self, first: First) -> None:
        self.spans = Spans()
        self._first = first
        self._order = Reordering()
        self._seen = Ranges()
        self._held: dict[int, int] = {}
        self._waits: dict[int, _Wait] = {}

    def arrive(self, time: int, packet: int, stream: int, new: list[tuple[int, int]]) -> None:
        """Bytes of a stream arrive, of which these parts had not before."""
        touched = {stream}
        for start, end in new:
            for place, last in self._first.places(stream, start, end):
                touched |= self._place(place, last, stream)
        self._settle(time, packet, touched)

    def reset(self, time: int, packet: int, stream: int, final_size: int) -> None:
        """The stream is reset: what of it is missing is not waited for, though TCP itself could not say so."""
        touched = {stream}
        for place, last in self._first.places(stream, 0, final_size):
            touched |= self._place(place, last, stream)
        self._settle(time, packet, touched)

    def _place(self, place: int, last: int, stream: int) -> set[int]:
        touched = set()
        for start, end in self._seen.add(place, last):
            self._held[stream] = self._held.get(stream, 0) + end - start
            for other, length in self._order.arrive(start, end, stream):
                self._held[other] -= length
                touched.add(other)
        return touched

    def _settle(self, time: int, packet: int, touched: set[int]) -> None:
        for stream in sorted(touched):
            held, wait = self._held.get(stream, 0), self._waits.get(stream)
            if wait is None and held:
                missing = self._first.carrier_at(self._order.next)
                self._waits[stream] = _Wait(time, missing, self._order.next, held)
            elif wait is not None and not held:
                self.spans.add(stream, self._waits.pop(stream), time, packet)
            elif wait is not None:
                wait.held = max(wait.held, held)

    def end(self, time: int) -> Spans:
        """The log ends."""
        for stream, wait in self._waits.items():
            self.spans.add(stream, wait, time, NOBODY)
        self._waits.clear()
        return self.spans
