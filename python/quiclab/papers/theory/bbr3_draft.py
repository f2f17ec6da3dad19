"""An independent reading of draft-ietf-ccwg-bbr-06: its sender. It shares nothing with the endpoints.

Sizes are in packets, which are numbers; rates in packets per second, times in seconds.
"""

import math
from collections import deque
from collections.abc import Sequence
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


@dataclass(slots=True)
class Packet:
    """What is noted when it is sent (4.1.2.2)."""

    number: int
    sent: float
    first_sent: float
    delivered: float
    delivered_at: float
    in_flight: float
    lost: float
    limited: bool


@dataclass(slots=True)
class _Sample:
    """A rate sample (4.1.2.3)."""

    rate: float
    delivered: float
    prior_delivered: float
    in_flight: float
    lost: float
    limited: bool
    newly: float
    prior_in_flight: float
    rtt: float


class Sender:
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

    def send(self, number: int, now: float) -> Packet:
        """Sends the packet of this number."""
        if self.in_flight == 0:
            self.first_sent = self.delivered_at = now
        self.in_flight += 1
        limited = self.limited_until > 0
        return Packet(
            number, now, self.first_sent, self.delivered, self.delivered_at, self.in_flight, self.lost, limited
        )

    def lose(self, packet: Packet, now: float) -> None:
        """The packet is known to be lost."""
        self.now = now
        self.in_flight -= 1
        self.lost += 1
        if self.recovery is None or packet.sent > self.recovery:
            self._save_cwnd()
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
            self._inflight_too_high(before + prefix, packet.limited)

    def _inflight_too_high(self, in_flight: float, limited: bool) -> None:
        self.too_high, self.is_sample = True, False
        if not limited:
            self.inflight_long = max(in_flight, _BETA * self._target())
        if self.state == "up":
            self._start_down()

    def acknowledge(self, packets: Sequence[Packet], now: float, losses: Sequence[Packet]) -> None:
        """An acknowledgement of these packets, in the order of sending, by which the others are known to be lost."""
        self.now = now
        packet, newly, prior_in_flight = packets[-1], len(packets), self.in_flight
        self.in_flight -= newly
        self.delivered += newly
        self.delivered_at = now
        for loss in losses:
            self.lose(loss, now)
        elapsed = max(packet.sent - packet.first_sent, now - packet.delivered_at)
        self.first_sent = packet.sent
        if self.limited_until and self.delivered > self.limited_until:
            self.limited_until = 0.0
        rtt = now - packet.sent
        least = min(self.min_rtt, rtt)
        delivered = self.delivered - packet.delivered
        # The clock is a float: an interval of the least RTT may be below it by rounding.
        rate = delivered / elapsed if elapsed >= least - 1e-9 else 0.0
        lost = self.lost - packet.lost
        sample = _Sample(
            rate, delivered, packet.delivered, packet.in_flight, lost, packet.limited, newly, prior_in_flight, rtt
        )
        if self.recovery is not None and packet.sent > self.recovery:
            self.recovery = None
            self.cwnd = max(self.cwnd, self.prior_cwnd)
        self._update(sample)

    # 5.2.3.

    def _update(self, sample: _Sample) -> None:
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
        self._aggregation(sample)
        self._check_full(sample)
        self._check_startup(sample, had_losses)
        if self.state == "drain" and (
            self.in_flight <= self._inflight(self.bw, 1.0) or self.rounds > self.drain_round + 3
        ):
            self._start_down()
        self._cycle(sample)
        self._update_min_rtt(sample)
        self._check_probe_rtt()
        if self.loss_round_start:
            self.bw_latest, self.inflight_latest, self.gaps = sample.rate, sample.delivered, 0
        self.bw = min(max(self.max_bw), self.bw_short)
        rate = _PACING_GAIN[self.state] * self.bw * 0.99
        if rate > 0 and (self.full_reached or rate > self.pacing_rate):
            self.pacing_rate = rate
        self._set_cwnd(sample)

    def _aggregation(self, sample: _Sample) -> None:
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

    def _reset_full(self, rate: float) -> None:
        self.full_bw, self.full_count, self.full_now = rate, 0, False

    def _check_full(self, sample: _Sample) -> None:
        if self.full_now or not self.round_start or sample.limited:
            return
        if sample.rate >= 1.25 * self.full_bw:
            self._reset_full(sample.rate)
            return
        self.full_count += 1
        self.full_now = self.full_count >= 3
        self.full_reached |= self.full_now

    def _check_startup(self, sample: _Sample, had_losses: bool) -> None:
        if self.state != "startup":
            return
        # 5.3.1.3: a round trip with losses in six places, and more than 2 % of it.
        if had_losses and self.gaps >= 6 and sample.lost > _THRESHOLD * sample.in_flight:
            self.full_reached = self.full_now = True
            self.inflight_long = max(self._bdp(self.bw), self.inflight_latest)
        if self.full_reached:
            self.state, self.drain_round = "drain", self.rounds

    # 5.3.3.

    def _start_down(self) -> None:
        self.loss_in_round, self.bw_latest, self.inflight_latest = False, 0.0, 0.0
        self.per_increase = _INFINITY
        self.since_up = self.random.randrange(2)
        self.wait = 2 + self.random.random()
        self.cycle_at, self.phase, self.round_end, self.state = self.now, "stopping", self.delivered, "down"

    def _start_refill(self) -> None:
        self.bw_short = self.inflight_short = _INFINITY
        self.up_rounds, self.up_acked, self.precautionary = 0, 0.0, False
        self.phase, self.round_end, self.state = "refilling", self.delivered, "refill"

    def _raise_slope(self) -> None:
        growth = 1 << self.up_rounds
        self.up_rounds = min(self.up_rounds + 1, 30)
        self.per_increase = max(self.cwnd / growth, 1.0)

    def _is_window_full(self) -> bool:
        return any(self.window_full)

    def _cycle(self, sample: _Sample) -> None:
        if not self.full_reached or self._adapt_long_term(sample):
            return
        if self.state in ("down", "cruise"):
            # T_reno is in round trips, as many as the target has packets.
            if self.now > self.cycle_at + self.wait or self.since_up >= min(self._target(), 63):
                self._start_refill()
            elif self.state == "down" and self.in_flight <= min(
                self._headroom(), self._inflight(max(self.max_bw), 1.0)
            ):
                self.state = "cruise"
        elif self.state == "refill" and self.round_start:
            self.is_sample = True
            self.phase, self.round_end = "starting", self.delivered
            self._reset_full(sample.rate)
            self.state = "up"
            self._raise_slope()
        elif self.state == "up" and self._is_time_to_go_down(sample):
            self.too_high = False
            self._start_down()

    def _is_time_to_go_down(self, sample: _Sample) -> bool:
        # Afterwards it is below the window, which is at most the bound.
        if self.too_high and sample.prior_in_flight >= math.floor(self.inflight_long):
            self.precautionary = True
            return True
        if self._is_window_full() and self.cwnd >= self.inflight_long:
            self._reset_full(sample.rate)
            return False
        return self.full_now

    def _adapt_long_term(self, sample: _Sample) -> bool:
        if self.phase == "starting" and self.round_start:
            self.phase = "feedback"
        if self.phase == "stopping" and self.round_start:
            self.is_sample, self.phase = False, "init"
            if self.state in _PROBE_BW and not sample.limited and self.max_bw[1] > 0:
                self.max_bw = [self.max_bw[1], 0.0]
            if self.state in _PROBE_BW and self.precautionary and not self.too_high:
                self._start_refill()
                return True
        if sample.lost > _THRESHOLD * sample.in_flight or self.inflight_long == _INFINITY:
            return False
        self.inflight_long = max(self.inflight_long, sample.in_flight)
        if self.state == "up" and self._is_window_full() and self.cwnd >= self.inflight_long:
            self.up_acked += sample.newly
            delta = self.up_acked // self.per_increase
            self.up_acked -= delta * self.per_increase
            self.inflight_long += delta
            if self.round_start:
                self._raise_slope()
        return False

    # 5.3.4.

    def _update_min_rtt(self, sample: _Sample) -> None:
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

    def _check_probe_rtt(self) -> None:
        if self.state != "rtt" and self.expired:
            self.state = "rtt"
            self._save_cwnd()
            self.done_at, self.phase, self.round_end = 0.0, "stopping", self.delivered
        if self.state != "rtt":
            return
        self.limited_until = self.delivered + self.in_flight
        if self.done_at == 0:
            if self.in_flight <= self._probe_rtt_cwnd():
                self.done_at, self.round_done, self.round_end = self.now + 0.2, False, self.delivered
            return
        self.round_done |= self.round_start
        if self.round_done and self.now > self.done_at:
            self.probe_at = self.now
            self.cwnd = max(self.cwnd, self.prior_cwnd)
            self.bw_short = self.inflight_short = _INFINITY
            if self.full_reached:
                self._start_down()
                self.state = "cruise"
            else:
                self.state = "startup"

    # 5.6.4.

    def _save_cwnd(self) -> None:
        kept = self.recovery is not None or self.state == "rtt"
        self.prior_cwnd = max(self.prior_cwnd, self.cwnd) if kept else self.cwnd

    def _bdp(self, bw: float) -> float:
        return self.initial if self.min_rtt == _INFINITY else bw * self.min_rtt

    def _target(self) -> float:
        return min(self._bdp(self.bw), self.cwnd)

    def quantum(self) -> float:
        """How much leaves at once (5.6.3)."""
        return max(2.0, self.pacing_rate * self.quantum_s)

    def _inflight(self, bw: float, gain: float, more: float = 0.0) -> float:
        cap = max(gain * self._bdp(bw) + more, self.quantum(), _LEAST)
        return cap + 2 if self.state == "up" else cap

    def _headroom(self) -> float:
        if self.inflight_long == _INFINITY:
            return _INFINITY
        return max(self.inflight_long - max(1.0, _HEADROOM * self.inflight_long), _LEAST)

    def _probe_rtt_cwnd(self) -> float:
        return max(0.5 * self._bdp(self.bw), _LEAST)

    def _set_cwnd(self, sample: _Sample) -> None:
        most = self._inflight(self.bw, _WINDOW_GAIN[self.state], self.extra[0][1])
        if self.full_reached:
            self.cwnd = min(self.cwnd + sample.newly, most)
        elif self.cwnd < most or self.delivered < self.initial:
            self.cwnd += sample.newly
        self.cwnd = max(self.cwnd, _LEAST)
        if self.state == "rtt":
            self.cwnd = min(self.cwnd, self._probe_rtt_cwnd())
        cap = _INFINITY
        if self.state in ("down", "refill", "up"):
            cap = self.inflight_long
        elif self.state in ("rtt", "cruise"):
            cap = self._headroom()
        self.cwnd = min(self.cwnd, max(min(cap, self.inflight_short), _LEAST))
