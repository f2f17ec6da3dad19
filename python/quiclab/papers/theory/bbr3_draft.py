"""An independent reading of draft-ietf-ccwg-bbr-06 under random loss: one sender, one link, each packet acknowledged.

It shares nothing with the endpoints: packets are numbers, the link is a sum of times, and a packet is lost when one
that was sent three later is acknowledged (RFC 9002 section 6.1.1). Sizes are in packets, rates in packets per second,
times in seconds.
"""

import math
from collections import deque
from dataclasses import dataclass
from random import Random

_INFINITY = math.inf
_THRESHOLD, _BETA, _HEADROOM, _LEAST = 0.02, 0.7, 0.15, 4.0
_PACING_GAIN = {
    "startup": 4 * math.log(2),
    "drain": 0.5,
    "down": 0.9,
    "cruise": 1.0,
    "refill": 1.0,
    "up": 1.25,
    "rtt": 1.0,
}
_WINDOW_GAIN = {"startup": 2.0, "drain": 2.0, "down": 2.0, "cruise": 2.0, "refill": 2.0, "up": 2.25, "rtt": 0.5}
_PROBE_BW = ("down", "cruise", "refill", "up")


@dataclass
class _Packet:
    """What is noted when it is sent (4.1.2.2)."""

    number: int
    sent: float
    first_sent: float
    delivered: float
    delivered_at: float
    in_flight: float
    lost: float
    limited: bool


@dataclass
class _Sample:
    """A rate sample (4.1.2.3)."""

    rate: float
    delivered: float
    prior_delivered: float
    in_flight: float
    lost: float
    limited: bool
    newly: float
    rtt: float


class _Sender:
    """The sender of the draft, with its names as far as they fit; sections in the comments."""

    def __init__(self, random: Random, window: float, quantum_s: float = 1e-3) -> None:
        self.random, self.initial, self.quantum_s = random, window, quantum_s
        self.state, self.cwnd, self.prior_cwnd = "startup", window, 0.0
        self.now = self.delivered = self.lost = self.in_flight = 0.0
        self.first_sent = self.delivered_at = self.limited_until = 0.0
        self.min_rtt = self.probe_delay = _INFINITY
        self.min_rtt_at = self.probe_at = 0.0
        self.max_bw = [0.0, 0.0]
        self.bw = 0.0
        self.pacing_rate = _PACING_GAIN["startup"] * window / 1e-3
        self.rounds, self.round_end, self.round_start = 0, 0.0, False
        self.bw_short = self.inflight_short = self.inflight_long = _INFINITY
        self.bw_latest = self.inflight_latest = 0.0
        self.loss_in_round, self.loss_round_end, self.loss_round_start = False, 0.0, False
        self.full_bw, self.full_count, self.full_now, self.full_reached = 0.0, 0, False, False
        self.extra_at, self.extra_delivered = 0.0, 0.0
        self.extra: deque[tuple[int, float]] = deque()
        self.phase, self.is_sample, self.too_high, self.precautionary = "init", False, False, False
        self.up_rounds, self.up_acked, self.per_increase = 0, 0.0, _INFINITY
        self.since_up, self.wait, self.cycle_at, self.drain_round = 0, 0.0, 0.0, 0
        self.done_at, self.round_done, self.expired = 0.0, False, False
        self.window_full = [False, False]
        self.recovery: float | None = None
        self.gaps, self.last_gap = 0, -1

    # 4.1.2: sent, acknowledged and lost packets.

    def send(self, number: int, now: float) -> _Packet:
        if self.in_flight == 0:
            self.first_sent = self.delivered_at = now
        self.in_flight += 1
        limited = self.limited_until > 0
        return _Packet(
            number, now, self.first_sent, self.delivered, self.delivered_at, self.in_flight, self.lost, limited
        )

    def lose(self, packet: _Packet, now: float) -> None:
        self.now = now
        self.in_flight -= 1
        self.lost += 1
        if self.recovery is None or packet.sent > self.recovery:
            self.save_cwnd()
            self.recovery = now
        if packet.number != self.last_gap + 1:
            self.gaps += 1
        self.last_gap = packet.number
        # 5.5.10.2: NoteLoss, HandleLostPacket.
        if not self.loss_in_round:
            self.loss_round_end = self.delivered
        self.loss_in_round = True
        lost = self.lost - packet.lost
        if self.is_sample and lost > packet.in_flight * _THRESHOLD:
            before, lost_before = packet.in_flight - 1, lost - 1
            prefix = (_THRESHOLD * before - lost_before) / (1 - _THRESHOLD)
            self.inflight_too_high(before + prefix, packet.limited)

    def inflight_too_high(self, in_flight: float, limited: bool) -> None:
        self.too_high, self.is_sample = True, False
        if not limited:
            self.inflight_long = max(in_flight, _BETA * self.target())
        if self.state == "up":
            self.start_down()

    def acknowledge(self, packet: _Packet, now: float, losses: list[_Packet]) -> None:
        self.now = now
        self.in_flight -= 1
        self.delivered += 1
        self.delivered_at = now
        for lost in losses:
            self.lose(lost, now)
        elapsed = max(packet.sent - packet.first_sent, now - packet.delivered_at)
        self.first_sent = packet.sent
        if self.limited_until and self.delivered > self.limited_until:
            self.limited_until = 0.0
        rtt = now - packet.sent
        least = min(self.min_rtt, rtt)
        delivered = self.delivered - packet.delivered
        # The clock is a float: an interval of the least RTT may be below it by rounding.
        rate = delivered / elapsed if elapsed >= least - 1e-9 else 0.0
        sample = _Sample(
            rate, delivered, packet.delivered, packet.in_flight, self.lost - packet.lost, packet.limited, 1.0, rtt
        )
        if self.recovery is not None and packet.sent > self.recovery:
            self.recovery = None
            self.cwnd = max(self.cwnd, self.prior_cwnd)
        self.update(sample)

    # 5.2.3.

    def update(self, sample: _Sample) -> None:
        # UpdateLatestDeliverySignals.
        self.loss_round_start = False
        self.bw_latest = max(self.bw_latest, sample.rate)
        self.inflight_latest = max(self.inflight_latest, sample.delivered)
        if sample.prior_delivered >= self.loss_round_end:
            self.loss_round_end, self.loss_round_start = self.delivered, True
        # UpdateMaxBw, UpdateRound.
        self.round_start = sample.prior_delivered >= self.round_end
        if self.round_start:
            self.round_end = self.delivered
            self.rounds += 1
            self.since_up += 1
            self.window_full = [self.window_full[1], False]
        if sample.rate > 0 and (sample.rate >= max(self.max_bw) or not sample.limited):
            self.max_bw[1] = max(self.max_bw[1], sample.rate)
        had_losses = False
        if self.loss_round_start:
            if self.state not in ("startup", "refill", "up") and self.loss_in_round:
                if self.bw_short == _INFINITY:
                    self.bw_short = max(self.max_bw)
                if self.inflight_short == _INFINITY:
                    self.inflight_short = self.cwnd
                self.bw_short = max(self.bw_latest, _BETA * self.bw_short)
                self.inflight_short = max(self.inflight_latest, _BETA * self.inflight_short)
            had_losses, self.loss_in_round = self.loss_in_round, False
        self.aggregation(sample)
        self.check_full(sample)
        self.check_startup(sample, had_losses)
        if self.state == "drain" and (
            self.in_flight <= self.inflight(self.bw, 1.0) or self.rounds > self.drain_round + 3
        ):
            self.start_down()
        self.cycle(sample)
        self.update_min_rtt(sample)
        self.check_probe_rtt()
        if self.loss_round_start:
            self.bw_latest, self.inflight_latest, self.gaps = sample.rate, sample.delivered, 0
        self.bw = min(max(self.max_bw), self.bw_short)
        rate = _PACING_GAIN[self.state] * self.bw * 0.99
        if rate > 0 and (self.full_reached or rate > self.pacing_rate):
            self.pacing_rate = rate
        self.set_cwnd(sample)

    def aggregation(self, sample: _Sample) -> None:
        expected = self.bw * (self.now - self.extra_at)
        if self.extra_delivered <= expected:
            self.extra_delivered, self.extra_at, expected = 0.0, self.now, 0.0
        self.extra_delivered += sample.newly
        extra = min(self.extra_delivered - expected, self.cwnd)
        length = 10 if self.full_reached else 1
        while self.extra and self.extra[-1][1] <= extra:
            self.extra.pop()
        self.extra.append((self.rounds, extra))
        while self.extra[0][0] < self.rounds - length:
            self.extra.popleft()

    def reset_full(self, rate: float) -> None:
        self.full_bw, self.full_count, self.full_now = rate, 0, False

    def check_full(self, sample: _Sample) -> None:
        if self.full_now or not self.round_start or sample.limited:
            return
        if sample.rate >= 1.25 * self.full_bw:
            self.reset_full(sample.rate)
            return
        self.full_count += 1
        self.full_now = self.full_count >= 3
        self.full_reached |= self.full_now

    def check_startup(self, sample: _Sample, had_losses: bool) -> None:
        if self.state != "startup":
            return
        # 5.3.1.3: a round trip with losses in six places, and more than 2 % of it.
        if had_losses and self.gaps >= 6 and sample.lost > _THRESHOLD * sample.in_flight:
            self.full_reached = self.full_now = True
            self.inflight_long = max(self.bdp(self.bw), self.inflight_latest)
        if self.full_reached:
            self.state, self.drain_round = "drain", self.rounds

    # 5.3.3.

    def start_down(self) -> None:
        self.loss_in_round, self.bw_latest, self.inflight_latest = False, 0.0, 0.0
        self.per_increase = _INFINITY
        self.since_up = self.random.randrange(2)
        self.wait = 2 + self.random.random()
        self.cycle_at, self.phase, self.round_end, self.state = self.now, "stopping", self.delivered, "down"

    def start_refill(self) -> None:
        self.bw_short = self.inflight_short = _INFINITY
        self.up_rounds, self.up_acked, self.precautionary = 0, 0.0, False
        self.phase, self.round_end, self.state = "refilling", self.delivered, "refill"

    def raise_slope(self) -> None:
        growth = 1 << self.up_rounds
        self.up_rounds = min(self.up_rounds + 1, 30)
        self.per_increase = max(self.cwnd / growth, 1.0)

    def is_window_full(self) -> bool:
        return any(self.window_full)

    def cycle(self, sample: _Sample) -> None:
        if not self.full_reached or self.adapt_long_term(sample):
            return
        if self.state in ("down", "cruise"):
            # T_reno is in round trips, as many as the target has packets.
            if self.now > self.cycle_at + self.wait or self.since_up >= min(self.target(), 63):
                self.start_refill()
            elif self.state == "down" and self.in_flight <= min(self.headroom(), self.inflight(max(self.max_bw), 1.0)):
                self.state = "cruise"
        elif self.state == "refill" and self.round_start:
            self.is_sample = True
            self.phase, self.round_end = "starting", self.delivered
            self.reset_full(sample.rate)
            self.state = "up"
            self.raise_slope()
        elif self.state == "up" and self.is_time_to_go_down(sample):
            self.too_high = False
            self.start_down()

    def is_time_to_go_down(self, sample: _Sample) -> bool:
        # The acknowledged packet was in flight until now.
        if self.too_high and self.in_flight + 1 >= math.floor(self.inflight_long):
            self.precautionary = True
            return True
        if self.is_window_full() and self.cwnd >= self.inflight_long:
            self.reset_full(sample.rate)
            return False
        return self.full_now

    def adapt_long_term(self, sample: _Sample) -> bool:
        if self.phase == "starting" and self.round_start:
            self.phase = "feedback"
        if self.phase == "stopping" and self.round_start:
            self.is_sample, self.phase = False, "init"
            if self.state in _PROBE_BW and not sample.limited and self.max_bw[1] > 0:
                self.max_bw = [self.max_bw[1], 0.0]
            if self.state in _PROBE_BW and self.precautionary and not self.too_high:
                self.start_refill()
                return True
        if sample.lost > _THRESHOLD * sample.in_flight or self.inflight_long == _INFINITY:
            return False
        self.inflight_long = max(self.inflight_long, sample.in_flight)
        if self.state == "up" and self.is_window_full() and self.cwnd >= self.inflight_long:
            self.up_acked += sample.newly
            delta = self.up_acked // self.per_increase
            self.up_acked -= delta * self.per_increase
            self.inflight_long += delta
            if self.round_start:
                self.raise_slope()
        return False

    # 5.3.4.

    def update_min_rtt(self, sample: _Sample) -> None:
        if self.min_rtt == _INFINITY:
            self.min_rtt = self.probe_delay = sample.rtt
            self.min_rtt_at = self.probe_at = self.now
            self.pacing_rate = _PACING_GAIN["startup"] * self.initial / sample.rtt
            return
        self.expired = self.now > self.probe_at + 5
        if sample.rtt < self.probe_delay or self.expired:
            self.probe_delay, self.probe_at = sample.rtt, self.now
        if self.probe_delay < self.min_rtt or self.now > self.min_rtt_at + 10:
            self.min_rtt, self.min_rtt_at = self.probe_delay, self.probe_at

    def check_probe_rtt(self) -> None:
        if self.state != "rtt" and self.expired:
            self.state = "rtt"
            self.save_cwnd()
            self.done_at, self.phase, self.round_end = 0.0, "stopping", self.delivered
        if self.state != "rtt":
            return
        self.limited_until = self.delivered + self.in_flight
        if self.done_at == 0:
            if self.in_flight <= self.probe_rtt_cwnd():
                self.done_at, self.round_done, self.round_end = self.now + 0.2, False, self.delivered
            return
        self.round_done |= self.round_start
        if self.round_done and self.now > self.done_at:
            self.probe_at = self.now
            self.cwnd = max(self.cwnd, self.prior_cwnd)
            self.bw_short = self.inflight_short = _INFINITY
            if self.full_reached:
                self.start_down()
                self.state = "cruise"
            else:
                self.state = "startup"

    # 5.6.4.

    def save_cwnd(self) -> None:
        kept = self.recovery is not None or self.state == "rtt"
        self.prior_cwnd = max(self.prior_cwnd, self.cwnd) if kept else self.cwnd

    def bdp(self, bw: float) -> float:
        return self.initial if self.min_rtt == _INFINITY else bw * self.min_rtt

    def target(self) -> float:
        return min(self.bdp(self.bw), self.cwnd)

    def quantum(self) -> float:
        return max(2.0, self.pacing_rate * self.quantum_s)

    def inflight(self, bw: float, gain: float, more: float = 0.0) -> float:
        cap = max(gain * self.bdp(bw) + more, self.quantum(), _LEAST)
        return cap + 2 if self.state == "up" else cap

    def headroom(self) -> float:
        if self.inflight_long == _INFINITY:
            return _INFINITY
        return max(self.inflight_long - max(1.0, _HEADROOM * self.inflight_long), _LEAST)

    def probe_rtt_cwnd(self) -> float:
        return max(0.5 * self.bdp(self.bw), _LEAST)

    def set_cwnd(self, sample: _Sample) -> None:
        most = self.inflight(self.bw, _WINDOW_GAIN[self.state], self.extra[0][1])
        if self.full_reached:
            self.cwnd = min(self.cwnd + sample.newly, most)
        elif self.cwnd < most or self.delivered < self.initial:
            self.cwnd += sample.newly
        self.cwnd = max(self.cwnd, _LEAST)
        if self.state == "rtt":
            self.cwnd = min(self.cwnd, self.probe_rtt_cwnd())
        cap = _INFINITY
        if self.state in ("down", "refill", "up"):
            cap = self.inflight_long
        elif self.state in ("rtt", "cruise"):
            cap = self.headroom()
        self.cwnd = min(self.cwnd, max(min(cap, self.inflight_short), _LEAST))


def transfer(rate: float, rtt: float, loss: float, seconds: float, seed: int = 1, queue: float = 4.0) -> float:
    """The share of a link of `rate` packets per second that carries what arrives, with a queue of so many BDPs."""
    random = Random(seed)
    sender = _Sender(random, 10.0)
    arriving: deque[tuple[float, _Packet]] = deque()
    dropped: deque[_Packet] = deque()
    free_at = next_send = now = 0.0
    number = arrived = together = 0
    while now < seconds:
        may_send = math.floor(sender.cwnd + 1e-9) >= sender.in_flight + 1
        sender.window_full[1] |= not may_send
        # What is left of a quantum leaves at once (5.6.3).
        send_at = _INFINITY if not may_send else now if together else max(now, next_send)
        ack_at = arriving[0][0] if arriving else _INFINITY
        if send_at == ack_at == _INFINITY:
            # Everything in flight is lost: a probe.
            send_at = now + 3 * rtt
        if send_at <= ack_at:
            now = send_at
            packet = sender.send(number, now)
            number += 1
            is_lost = random.random() < loss or free_at - now > queue * rtt
            if is_lost:
                dropped.append(packet)
            else:
                free_at = max(free_at, now) + 1 / rate
                arriving.append((free_at + rtt, packet))
            if together == 0:
                next_send, together = max(next_send, now), int(sender.quantum())
            together -= 1
            next_send += 1 / sender.pacing_rate
        else:
            now, acked = arriving.popleft()
            losses = []
            while dropped and dropped[0].number + 3 <= acked.number:
                losses.append(dropped.popleft())
            sender.acknowledge(acked, now, losses)
            arrived += 1
    return arrived / (rate * seconds)
