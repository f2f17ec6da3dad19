"""RFC 9002 with NewReno, replayed from the packets of a log: what the table `connection` must say."""

from dataclasses import dataclass, field
from typing import Any

from recomputed.sources import End, Packet

SPACES = {"initial": 0, "handshake": 1, "0RTT": 2, "1RTT": 2}
GRANULARITY = 1e-3
"""RFC 9002 section 6.1.2."""
THRESHOLD = 3
"""RFC 9002 section 6.1.1."""


@dataclass
class Flight:
    """A packet that is neither acknowledged nor declared lost."""

    packet: Packet
    delivered: int
    delivered_at: float
    first_sent: float
    is_app_limited: bool
    order: int


@dataclass
class Replay:
    """One end of a connection. `rows` and `lost` are what the tables `connection` and `loss` must say."""

    end: End
    datagram: int
    """The largest datagram, in bytes of UDP payload."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    lost: list[tuple[float, str, int, str]] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)
    spurious: int = 0
    samples: list[float] = field(default_factory=list)
    total: int = 0
    """The bytes that the end has to send on its stream; 0: their number does not matter."""
    waits: list[tuple[float, str]] = field(default_factory=list)
    """What the end waits for from a time on; of several at one time the last counts."""

    def __post_init__(self) -> None:
        """The state before the first packet."""
        self.flights: list[dict[int, Flight]] = [{}, {}, {}]
        self.waiting: list[dict[int, Packet]] = [{}, {}, {}]
        self.largest: list[int | None] = [None, None, None]
        self.loss_times: list[float | None] = [None, None, None]
        self.latest: float | None = None
        self.smoothed, self.variance = 0.333, 0.1665
        self.minimum: float | None = None
        self.in_flight = 0
        self.window = float(10 * self.datagram)
        self.threshold: float | None = None
        self.recovery_start: float | None = None
        self.pto_count, self.counted = 0, 0
        self.delivered, self.delivered_at, self.first_sent = 0, 0.0, 0.0
        self.rate: float | None = None
        self.sent_so_far = 0
        self.gone: list[set[int]] = [set(), set(), set()]
        self.is_confirmed = False
        self.peer_delay = 0.025
        self.is_limited = False
        self.is_validated, self.has_data_keys, self.in_recovery = False, False, False
        self.bytes_in, self.bytes_out = 0, 0
        self.top = 0
        self.missing: list[tuple[int, int]] = []
        for packet in self.end.packets:
            # What a timer sends is sent when it fires.
            self._advance(packet.time + (1e-7 if packet.is_sent else -1e-7))
            (self._sent if packet.is_sent else self._received)(packet)
            self.waits.append((packet.time, self._wait()))
        self._advance(self.end.events[-1][0])

    def _row(self, time: float) -> None:
        self.rows.append(
            {
                "time_s": time,
                "cwnd_bytes": int(self.window + 1e-6),
                "bytes_in_flight": self.in_flight,
                "ssthresh_bytes": None if self.threshold is None else int(self.threshold),
                "latest_rtt_ms": None if self.latest is None else self.latest * 1e3,
                "smoothed_rtt_ms": self.smoothed * 1e3,
                "min_rtt_ms": None if self.minimum is None else self.minimum * 1e3,
                "rtt_variance_ms": self.variance * 1e3,
                "delivery_rate_mbps": self.rate,
                "pto_count": self.pto_count,
            }
        )

    # Sending.

    def _sent(self, packet: Packet) -> None:
        self.bytes_out += packet.length
        if packet.number is None:
            return
        self._count_data(packet)
        self.waiting[SPACES[packet.kind]][packet.number] = packet
        if packet.is_in_flight:
            self._fly(packet, packet.number)
        self.has_data_keys = self.has_data_keys or packet.kind == "1RTT"
        if packet.kind == "handshake" and self.end.side == "client":
            self._discard(0)

    def _fly(self, packet: Packet, number: int) -> None:
        space = SPACES[packet.kind]
        if self.in_flight == 0:
            self.first_sent = self.delivered_at = packet.time
        self.sent_so_far += 1
        self.flights[space][number] = Flight(
            packet, self.delivered, self.delivered_at, self.first_sent, False, self.sent_so_far
        )
        self.in_flight += packet.length
        # What is in flight at the end of a burst says whether the window held it back, if nothing is paced.
        self.is_limited = self.in_flight + self.datagram > self.window

    # Receiving.

    def _received(self, packet: Packet) -> None:
        self.bytes_in += packet.length
        if packet.kind == "handshake":
            self.is_validated = True
            self.has_data_keys = self.has_data_keys or (self.end.side == "server" and bool(packet.of_type("crypto")))
            if self.end.side == "server":
                self._discard(0)
        if packet.kind not in SPACES:
            return
        space = SPACES[packet.kind]
        for frame in packet.of_type("ack"):
            self._acknowledged(space, frame, packet.time)
        if self.end.side == "client" and packet.of_type("handshake_done"):
            self.is_confirmed = True
            self._discard(1)
        if self.end.side == "server" and packet.kind == "handshake" and packet.of_type("crypto"):
            self.is_confirmed = True
            self._discard(1)

    def _acknowledged(self, space: int, frame: dict[str, Any], now: float) -> None:
        numbers = [range(part[0], part[-1] + 1) for part in frame["acked_ranges"]]
        top = max(part[-1] for part in numbers)
        self.largest[space] = max(self.largest[space] or 0, top)
        self.spurious += len({number for part in numbers for number in part} & self.gone[space])
        self.gone[space] -= {number for part in numbers for number in part}
        news = [self.waiting[space].pop(number) for part in numbers for number in part if number in self.waiting[space]]
        found = [self.flights[space][number] for part in numbers for number in part if number in self.flights[space]]
        newest = next((one for one in news if one.number == top), None)
        if newest is not None and any(one.is_eliciting for one in news):
            self._measure(now - newest.time, frame.get("ack_delay", 0.0) / 1e3, space)
        if not found:
            return
        for flight in found:
            del self.flights[space][flight.packet.number or 0]
        was_limited = self.is_limited
        acked = sum(flight.packet.length for flight in found)
        self.in_flight -= acked
        self._sample(found, now)
        self._detect(space, now)
        if was_limited:
            self._grow(found)
        if self.end.side == "server" or self.is_confirmed or space == 1 or self._peer_is_validated():
            self.pto_count = 0
        self._row(now)

    def _peer_is_validated(self) -> bool:
        return self.largest[1] is not None

    def _measure(self, latest: float, delay: float, space: int) -> None:
        """RFC 9002 section 5.3."""
        first, self.latest = self.minimum is None, latest
        self.samples.append(latest)
        if first:
            self.minimum, self.smoothed, self.variance = latest, latest, latest / 2
            return
        assert self.minimum is not None
        self.minimum = min(self.minimum, latest)
        if space == 0:
            delay = 0.0
        if self.is_confirmed:
            delay = min(delay, self.peer_delay)
        adjusted = latest - delay if latest >= self.minimum + delay else latest
        self.variance = 0.75 * self.variance + 0.25 * abs(self.smoothed - adjusted)
        self.smoothed = 0.875 * self.smoothed + 0.125 * adjusted

    def _sample(self, found: list[Flight], now: float) -> None:
        """draft-ietf-ccwg-bbr-05 section 4.1.2.3: the delivery rate, over the flight of the newest packet."""
        self.delivered += sum(flight.packet.length for flight in found)
        self.delivered_at = now
        last = max(found, key=lambda flight: flight.order)
        span = max(last.packet.time - last.first_sent, now - last.delivered_at)
        self.first_sent = last.packet.time
        if span > 0 and (self.minimum is None or span >= self.minimum - 1e-12):
            self.rate = (self.delivered - last.delivered) * 8e-6 / span

    # Losses.

    def _detect(self, space: int, now: float) -> None:
        """RFC 9002 section 6.1, appendix A.10."""
        largest = self.largest[space]
        assert largest is not None
        delay = max(9 / 8 * max(self.latest or 0.0, self.smoothed), GRANULARITY)
        self.loss_times[space] = None
        lost = []
        for number, flight in sorted(self.flights[space].items()):
            if number > largest:
                continue
            if number <= largest - THRESHOLD:
                lost.append((flight, "reordering_threshold"))
            elif flight.packet.time <= now - delay + 1e-9:
                lost.append((flight, "time_threshold"))
            else:
                due = flight.packet.time + delay
                self.loss_times[space] = min(due, self.loss_times[space] or due)
        for flight, trigger in lost:
            number = flight.packet.number or 0
            del self.flights[space][number]
            self.gone[space].add(number)
            self.in_flight -= flight.packet.length
            self.lost.append((now, flight.packet.kind, number, trigger))
            data = flight.packet.of_type("stream")
            self.missing += [(one["offset"], one["offset"] + one["raw"]["length"]) for one in data]
        if lost:
            self._reduce(max(flight.packet.time for flight, _ in lost), now)

    def _reduce(self, sent: float, now: float) -> None:
        """RFC 9002 section 7.3.2."""
        if self.recovery_start is not None and sent <= self.recovery_start:
            return
        self.recovery_start, self.in_recovery = now, True
        self.threshold = float(max(int(self.window / 2), 2 * self.datagram))
        self.window = self.threshold
        self.counted = 0

    def _grow(self, found: list[Flight]) -> None:
        """RFC 9002 sections 7.3.1 and 7.3.3; a datagram for each window of bytes (RFC 5681 section 3.1)."""
        # Section 7.3.2: recovery ends when a packet that was sent in it is acknowledged.
        start = self.recovery_start
        if start is not None and max(flight.packet.time for flight in found) <= start:
            return
        self.in_recovery = False
        for flight in found:
            if self.threshold is None or self.window < self.threshold:
                self.window += flight.packet.length
                continue
            self.counted += flight.packet.length
            if self.counted >= self.window:
                self.counted -= int(self.window)
                self.window += self.datagram

    def _discard(self, space: int) -> None:
        """RFC 9002 section 6.4."""
        if not self.flights[space] and self.loss_times[space] is None:
            return
        self.in_flight -= sum(flight.packet.length for flight in self.flights[space].values())
        self.flights[space].clear()
        self.loss_times[space] = None
        self.pto_count = 0

    # Timers.

    def _advance(self, until: float) -> None:
        """Has the timers fire that are due before this time."""
        while True:
            times = [time for time in self.loss_times if time is not None]
            probe = self._probe_time()
            due = min([*times, *([probe] if probe is not None and not times else [])], default=None)
            if due is None or due >= until:
                return
            if times:
                space = self.loss_times.index(due)
                self._detect(space, due)
            else:
                self.pto_count += 1
                self.probes.append(due)
            self._row(due)
            self.waits.append((due, self._wait()))

    def _probe_time(self) -> float | None:
        """RFC 9002 section 6.2.1, appendix A.8."""
        span = (self.smoothed + max(4 * self.variance, GRANULARITY)) * 2**self.pto_count
        found = []
        for space, flights in enumerate(self.flights):
            sent = [flight.packet.time for flight in flights.values() if flight.packet.is_eliciting]
            if sent and not (space == 2 and not self.is_confirmed):
                extra = self.peer_delay * 2**self.pto_count if space == 2 else 0.0
                found.append(max(sent) + span + extra)
        return min(found, default=None)

    # What it waits for.

    def _count_data(self, packet: Packet) -> None:
        for frame in packet.of_type("stream"):
            start, end = frame["offset"], frame["offset"] + frame["raw"]["length"]
            self.top = max(self.top, end)
            cut = [(low, min(high, start)) for low, high in self.missing] + [
                (max(low, end), high) for low, high in self.missing
            ]
            self.missing = [(low, high) for low, high in cut if low < high]

    def _wait(self) -> str:
        """The handshake; the window, while it is full or there is something to send; the delivery of all."""
        if self.end.side == "server" and not self.is_validated and 3 * self.bytes_in - self.bytes_out < self.datagram:
            # RFC 9000 section 8.1.
            return "validation"
        if not self.has_data_keys:
            return "handshake"
        is_full = self.in_flight > 0 and self.in_flight + self.datagram > self.window
        if self.top >= self.total and not self.missing and not is_full:
            if self.in_flight == 0:
                return "application"
            return "timeout" if self.pto_count else "delivery"
        if self.pto_count:
            return "timeout"
        if self.in_recovery:
            return "recovery"
        return "slow_start" if self.threshold is None or self.window < self.threshold else "window"
