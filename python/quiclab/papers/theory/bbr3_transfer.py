"""A transfer by the independent reading of BBRv3: loss detection, receiver and link, which share nothing with the lab.

The link is a sum of times. Losses are detected as in RFC 9002 section 6.1; the receiver acknowledges as in RFC 9000
section 13.2. Sizes are in packets, rates in packets per second, times in seconds.
"""

import math
from collections import deque
from random import Random

from quiclab.papers.theory.bbr3_draft import Packet, Sender

_INFINITY = math.inf
PACKET_THRESHOLD, TIME_THRESHOLD, _GRANULARITY = 3, 9 / 8, 1e-3
"""RFC 9002 section 6.1: kPacketThreshold, kTimeThreshold and kGranularity in s."""
MAX_ACK_DELAY = 0.025
"""RFC 9000 section 18.2."""


class _Detection:
    """Which packets are lost (RFC 9002 section 6.1)."""

    def __init__(self, time_threshold: float) -> None:
        self.time_threshold = time_threshold
        self.missing: deque[Packet] = deque()
        self.largest, self.smoothed, self.after = -1, 0.0, _INFINITY

    def acknowledge(self, packet: Packet, now: float, ack_delay: float) -> None:
        """The newest packet of an acknowledgement, held back so long by the receiver."""
        self.largest = packet.number
        latest = now - packet.sent
        # Section 5.3.
        sample = latest - ack_delay
        self.smoothed = self.smoothed + (sample - self.smoothed) / 8 if self.smoothed else latest
        self.after = max(self.time_threshold * max(self.smoothed, latest), _GRANULARITY)

    def losses(self, now: float) -> list[Packet]:
        """The packets that are known to be lost by now."""
        found = []
        while self.missing and self.missing[0].number < self.largest:
            packet = self.missing[0]
            if packet.number + PACKET_THRESHOLD > self.largest and packet.sent + self.after > now:
                break
            found.append(self.missing.popleft())
        return found

    def timer(self) -> float:
        """When the next loss is known without a further acknowledgement."""
        if not self.missing or self.missing[0].number > self.largest:
            return _INFINITY
        return self.missing[0].sent + self.after


class _Receiver:
    """Which packets are acknowledged together (RFC 9000 section 13.2)."""

    def __init__(self, ratio: int, delay: float) -> None:
        self.ratio, self.delay = ratio, delay
        self.held: list[Packet] = []
        self.due, self.expected = _INFINITY, 0

    def receive(self, packet: Packet, now: float) -> bool:
        """Whether an acknowledgement is due: each `ratio` packets, and behind a gap."""
        is_behind_gap = packet.number != self.expected
        self.expected = packet.number + 1
        if not self.held:
            self.due = now + self.delay
        self.held.append(packet)
        return is_behind_gap or len(self.held) >= self.ratio

    def take(self) -> list[Packet]:
        """The packets of the acknowledgement."""
        taken, self.held, self.due = self.held, [], _INFINITY
        return taken


def transfer(
    rate: float,
    rtt: float,
    loss: float,
    seconds: float,
    seed: int = 1,
    *,
    queue: float = 4.0,
    ratio: int = 1,
    max_ack_delay: float = MAX_ACK_DELAY,
    time_threshold: float = TIME_THRESHOLD,
) -> float:
    """The share of a link of `rate` packets per second that carries what arrives, with a queue of so many BDPs.

    An acknowledgement covers `ratio` packets. The way back has the whole delay, so the receiver stands at its end.
    """
    random = Random(seed)
    sender, detection, receiver = Sender(random, 10.0), _Detection(time_threshold), _Receiver(ratio, max_ack_delay)
    arriving: deque[tuple[float, Packet]] = deque()
    free_at = next_send = now = 0.0
    number = arrived = together = 0
    while now < seconds:
        may_send = math.floor(sender.cwnd + 1e-9) >= sender.in_flight + 1
        sender.window_full[1] |= not may_send
        # What is left of a quantum leaves at once (5.6.3).
        send_at = _INFINITY if not may_send else now if together else max(now, next_send)
        arrive_at = arriving[0][0] if arriving else _INFINITY
        known_at = max(now, detection.timer())
        ack_at = receiver.due
        if send_at == arrive_at == known_at == ack_at == _INFINITY:
            # Everything in flight is lost: a probe.
            send_at = now + 3 * rtt
        now = min(send_at, arrive_at, known_at, ack_at)
        if now == known_at:
            for packet in detection.losses(now):
                sender.lose(packet, now)
        elif now == send_at:
            packet = sender.send(number, now)
            number += 1
            if random.random() < loss or free_at - now > queue * rtt:
                detection.missing.append(packet)
            else:
                free_at = max(free_at, now) + 1 / rate
                arriving.append((free_at + rtt, packet))
            if together == 0:
                next_send, together = max(next_send, now), int(sender.quantum())
            together -= 1
            next_send += 1 / sender.pacing_rate
        else:
            ack_delay = max_ack_delay
            if now == arrive_at:
                arrived += 1
                if not receiver.receive(arriving.popleft()[1], now):
                    continue
                ack_delay = 0.0
            packets = receiver.take()
            detection.acknowledge(packets[-1], now, ack_delay)
            sender.acknowledge(packets, now, detection.losses(now))
    return arrived / (rate * seconds)
