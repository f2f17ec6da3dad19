"""A model of CUBIC's Reno-friendly window under random losses: in fractions, and in whole packets as the kernel.

It has round trips and losses and nothing else, so that what it shows comes from the arithmetic alone.
"""

import random
from dataclasses import dataclass
from functools import cache

ALPHA = 3 * (1 - 0.7) / (1 + 0.7)
"""Packets per round trip (RFC 8312 section 4.2)."""
BETA = 0.7
ROUNDS = 50_000


@dataclass
class Fractions:
    """The window as RFC 8312 has it; it is the estimate."""

    window: float = 10.0

    def acknowledge(self) -> None:
        """One packet has arrived."""
        self.window += ALPHA / self.window

    def lose(self) -> None:
        """A round trip has lost packets."""
        self.window = max(BETA * self.window, 2.0)


@dataclass
class WholePackets:
    """The kernel's: the estimate rises by one after 15/8 windows of packets, and the window follows within one."""

    window: int = 10
    estimate: int = 10
    towards_estimate: int = 0
    towards_window: int = 0

    def acknowledge(self) -> None:
        """One packet has arrived."""
        self.towards_estimate += 1
        if self.towards_estimate > self.window * 15 // 8:
            self.towards_estimate -= self.window * 15 // 8
            self.estimate += 1
        self.towards_window += 1
        ahead = self.estimate - self.window
        if self.towards_window >= (max(self.window // ahead, 2) if ahead else 100 * self.window):
            self.towards_window, self.window = 0, self.window + 1

    def lose(self) -> None:
        """A round trip has lost packets."""
        self.window = self.estimate = max(self.window * 717 // 1024, 2)
        self.towards_estimate = self.towards_window = 0


def packets_per_round(model: Fractions | WholePackets, loss: float) -> float:
    """The mean number of packets that arrive in a round trip. The one after a loss repairs it and lets nothing grow."""
    draw, arrived, rounds = random.Random(1), 0, 0
    while rounds < ROUNDS:
        sent = int(model.window)
        lost = sum(draw.random() < loss for _ in range(sent))
        for _ in range(sent - lost):
            model.acknowledge()
        arrived, rounds = arrived + sent - lost, rounds + 1
        if lost:
            model.lose()
            arrived, rounds = arrived + int(model.window), rounds + 1
    return arrived / rounds


@cache
def difference(loss: float) -> float:
    """How much more whole packets carry than fractions, as a share; negative if less."""
    return packets_per_round(WholePackets(), loss) / packets_per_round(Fractions(), loss) - 1
