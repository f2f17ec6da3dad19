"""Traces out of a seed: a mmWave street canyon, LTE from a moving car, a LEO constellation with its hand-overs.

Each is built from stated parts and then fitted to stated numbers: docs/traces.md says from what, and what it does not
claim.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from quiclab._quiclab import Error

_STEP_MS = 10
"""The width of a step of every generated trace."""


class _Wandering:
    """A value around zero whose correlation falls by e in `memory_s` (an autoregression of the first order)."""

    def __init__(self, draws: Random, deviation: float, memory_s: float) -> None:
        self._draws, self._deviation = draws, deviation
        self._keep = math.exp(-_STEP_MS / 1000 / memory_s)
        self._value = draws.gauss(0, deviation)

    def step(self) -> float:
        fresh = self._deviation * math.sqrt(1 - self._keep**2)
        self._value = self._keep * self._value + self._draws.gauss(0, fresh)
        return self._value


def _spans(draws: Random, steps: int, gap_s: float, lasting_s: Callable[[], float]) -> list[bool]:
    """Marks the steps of events that begin after exponential gaps and last so long."""
    marked = [False] * steps
    at = draws.expovariate(1 / gap_s)
    while (first := int(at * 1000 / _STEP_MS)) < steps:
        lasting = lasting_s()
        last = first + max(round(lasting * 1000 / _STEP_MS), 1)
        marked[first:last] = [True] * (min(last, steps) - first)
        at += lasting + draws.expovariate(1 / gap_s)
    return marked


MMWAVE_MEAN, MMWAVE_LOWEST, MMWAVE_HIGHEST = 244.6, 0.94, 3703.79
"""Mean and extremes of 10 ms in Mbit/s: those of the trace of Fernandez et al. 2024, section 4.3."""


def _mmwave(draws: Random, steps: int) -> list[float]:
    # The walk: 1.4 m/s towards a base station from 190 m on, there and back until the trace is over.
    distances = [max(abs(190 - 1.4 * (at * _STEP_MS / 1000) % 380), 15) for at in range(steps)]
    # Buildings between them for seconds, people and cars for hundreds of milliseconds.
    hidden = _spans(draws, steps, 7.0, lambda: draws.uniform(1.0, 5.0))
    blocked = [False]
    while not any(blocked):
        # Not even a minute goes without one, but for one seed in 20,000.
        blocked = _spans(draws, steps, 6.0, lambda: draws.uniform(0.2, 0.9))
    shadow, fading = _Wandering(draws, 4.0, 5.0), _Wandering(draws, 3.0, 0.05)
    quality: list[float | None] = []
    for at in range(steps):
        # 3GPP TR 38.901 table 7.4.1-1, UMi street canyon: 21 dB a decade in sight, 35.3 out of it; the street's walls
        # keep what is out of sight from falling by more than 12 dB.
        seen = 32.4 + 21 * math.log10(distances[at])
        around = 22.4 + 35.3 * math.log10(distances[at])
        loss = min(around, seen + 12) if hidden[at] else seen
        decibel = -loss + shadow.step() * (2.0 if hidden[at] else 1.0) + fading.step()
        quality.append(None if blocked[at] else decibel)
    return _fitted(quality)


def _fitted(quality: list[float | None]) -> list[float]:
    """Rates from decibels: Shannon's law with the gain at which the mean is the paper's, the best moment its most.

    Where the moments are too alike for any gain, what is below the best one is stretched.
    """
    best = max((value for value in quality if value is not None), default=0.0)
    span = MMWAVE_HIGHEST - MMWAVE_LOWEST

    def rates(gain: float, stretched: float = 1.0) -> list[float]:
        top = math.log2(1 + 10 ** (gain / 10))
        below = (None if value is None else stretched * (value - best) for value in quality)
        bits = (0.0 if value is None else math.log2(1 + 10 ** ((value + gain) / 10)) for value in below)
        return [round(MMWAVE_LOWEST + span * bit / top, 2) for bit in bits]

    low, high = -60.0, 120.0
    if _mean(rates(low)) > MMWAVE_MEAN:
        return _meeting(lambda stretched: rates(low, 1 / stretched), 0.05, 1.0)
    return _meeting(rates, low, high)


def _meeting(rates: Callable[[float], list[float]], low: float, high: float) -> list[float]:
    """Rates with the paper's mean, of those that rise between two values."""
    for _ in range(60):
        middle = (low + high) / 2
        if _mean(rates(middle)) < MMWAVE_MEAN:
            low = middle
        else:
            high = middle
    return rates(high)


def _mean(rates: list[float]) -> float:
    return sum(rates) / len(rates)


LTE_MEAN = 5.0
"""Mean in Mbit/s: between those of the recorded drives (4.6 and 5.0)."""


def _lte_driving(draws: Random, steps: int) -> list[float]:
    slow, quick = _Wandering(draws, 0.6, 4.0), _Wandering(draws, 0.45, 0.4)
    # The cell serves others meanwhile; and the car passes from one cell to the next.
    others = _spans(draws, steps, 0.16, lambda: draws.expovariate(1 / 0.025))
    leaving = _spans(draws, steps, 8.0, lambda: draws.uniform(0.1, 1.2))
    rates = []
    for at in range(steps):
        rate = math.exp(slow.step() + quick.step()) * draws.expovariate(1.0)
        rates.append(0.0 if others[at] or leaving[at] else rate)
    return _scaled(rates, LTE_MEAN)


LEO_MEAN, LEO_SLOT_S = 120.0, 15.0
"""Mean in Mbit/s, and the time for which a terminal keeps its satellite."""


def _leo(draws: Random, steps: int) -> list[float]:
    inside = _Wandering(draws, 0.12, 1.0)
    slot = round(LEO_SLOT_S * 1000 / _STEP_MS)
    level, silent, rates = 0.0, 0, []
    for at in range(steps):
        if at % slot == 0:
            level = draws.gauss(0, 0.3)
            # Nothing is handed over at the beginning of the trace.
            silent = at + round(draws.uniform(20, 120) / _STEP_MS) if at else 0
        rate = math.exp(level + inside.step())
        rates.append(0.0 if at < silent else rate)
    return _scaled(rates, LEO_MEAN)


def _scaled(rates: list[float], mean: float) -> list[float]:
    scale = mean * len(rates) / sum(rates)
    return [round(rate * scale, 3) for rate in rates]


@dataclass(frozen=True)
class Kind:
    """A kind of trace."""

    about: str
    make: Callable[[Random, int], list[float]]
    shortest_s: float
    """Of shorter ones the numbers would not hold."""


KINDS = {
    "mmwave": Kind("walking through a street canyon below a mmWave base station, with blockage", _mmwave, 60),
    "lte-driving": Kind("LTE from a moving car", _lte_driving, 30),
    "leo": Kind("a low-orbit constellation, with a hand-over every 15 s", _leo, 30),
}


def generate(kind: str, *, seed: int = 1, duration_s: float = 120) -> str:
    """A trace as CSV of time and rate, with a step of 10 ms: the same for equal arguments.

    An `Error` for a kind that there is none of, and for a duration that is too short or above an hour.
    """
    if kind not in KINDS:
        raise Error(f"trace {kind!r}: expected {', '.join(KINDS)}")
    if not KINDS[kind].shortest_s <= duration_s <= 3600:
        raise Error(f"duration {duration_s:g} s: expected from {KINDS[kind].shortest_s:g} s to 3600 s for {kind}")
    # The name keeps the draws of one kind from being those of another.
    rates = KINDS[kind].make(Random(f"quiclab trace {kind} {seed}"), round(duration_s * 1000 / _STEP_MS))
    lines = [f"{at * _STEP_MS},{rate:.10g}" for at, rate in enumerate(rates)]
    return "\n".join(["time_ms,rate_mbps", *lines, ""])
