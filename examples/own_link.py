"""Parts of a link in Python: a loss model, a jitter and a rate.

quiclab run examples/dumbbell.toml --set link.bottleneck.loss=examples/own_link.py:Pairs
"""

import math

import quiclab


class Pairs(quiclab.Loss):
    """Two packets in a row are lost, with a probability."""

    options = {"probability": 0.005}
    probability: float

    def start(self) -> None:
        self.again = False

    def loses(self, packet: quiclab.Packet, end_s: float) -> bool:
        first = not self.again and self.random.random() < self.probability
        lost, self.again = first or self.again, first
        return lost


class Sine(quiclab.Jitter):
    """The delay rises and falls within a period."""

    options = {"height_s": 0.005, "period_s": 2.0}
    height_s: float
    period_s: float

    def shift(self, end_s: float) -> float:
        return self.height_s * (1 - math.cos(2 * math.pi * end_s / self.period_s)) / 2


class Halves(quiclab.Rate):
    """Full speed for a second, then half of it for a second, and so on; between them nothing is sent for a while."""

    options = {"full_bps": 10e6, "gap_s": 0.05}
    full_bps: float
    gap_s: float

    def start(self) -> None:
        self.mean_bps = 0.75 * (1 - self.gap_s) * self.full_bps

    def ready(self, at_s: float) -> float:
        second = math.floor(at_s)
        return max(at_s, second + self.gap_s) if second else at_s

    def serve(self, start_s: float, size_bytes: int) -> float:
        return start_s + 8 * size_bytes * (1 + int(start_s) % 2) / self.full_bps
