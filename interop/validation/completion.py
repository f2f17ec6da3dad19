"""How long one file takes, over short and long paths, without and with losses."""

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from quiclab.statistics import interval_of, mean_of
from validation.section import Section
from validation.transfer import File, Transfer

SIZE = 1_000_000
LOSSES = ("0 %", "1 %", "5 %")
RTTS_MS = (10, 100)
LIMIT = 0.05
"""How far apart simulated and real times may be."""
AIM = LIMIT / 5
"""The half width of the interval that the number of seeds is chosen for."""
LEAST = 8
"""Seeds of every cell, the first ones: how much they scatter tells how many more are needed."""
BUDGET_S = 480.0
"""How long all transfers in real time may take together."""
START_S = 1.5
"""What relay and client take to start and to end, beside the transfer."""
SLOW_S = 2.0
"""One transfer is underway for each of these seconds that a transfer takes on average: all together they are slow."""
MOST_AT_ONCE = 8


@dataclass(frozen=True)
class Cell:
    """A row of the table, as it is printed."""

    rtt_ms: int
    loss: str
    seeds: int
    simulated_s: float
    real_s: float
    difference: float
    """Of the real time to the simulated one, as a part of that."""
    interval: tuple[float, float] | None
    """The interval of the difference with 95 % confidence; unknown for one seed."""

    @property
    def verdict(self) -> str:
        """Whether the whole interval is within the limit, or beyond it, or neither is shown."""
        if self.interval is None:
            return "open"
        low, high = self.interval
        if low >= -LIMIT and high <= LIMIT:
            return "within"
        return "beyond" if low > LIMIT or high < -LIMIT else "open"

    @property
    def name(self) -> str:
        """As a sentence calls it."""
        return f"{self.rtt_ms} ms with {self.loss} loss"


def compared(rtt_ms: int, loss: str, simulated_s: Sequence[float], real_s: Sequence[float]) -> Cell:
    """The row of a cell: geometric means, and the mean of the logarithms of the ratios, seed by seed."""
    ratios = np.log(np.asarray(real_s) / np.asarray(simulated_s))
    found = interval_of(ratios)
    return Cell(
        rtt_ms=rtt_ms,
        loss=loss,
        seeds=len(ratios),
        simulated_s=statistics.geometric_mean(simulated_s),
        real_s=statistics.geometric_mean(real_s),
        difference=math.expm1(mean_of(ratios)),
        interval=None if found is None else (math.expm1(found[0]), math.expm1(found[1])),
    )


def table(cells: Sequence[Cell]) -> list[str]:
    """The rows as they are printed."""
    lines = [
        "| RTT | loss | seeds | simulated | real | difference | 95 % interval |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for cell in cells:
        interval = "unknown" if cell.interval is None else f"{cell.interval[0]:+.1%} to {cell.interval[1]:+.1%}"
        lines.append(
            f"| {cell.rtt_ms} ms | {cell.loss} | {cell.seeds} | {cell.simulated_s:.3f} s | {cell.real_s:.3f} s "
            f"| {cell.difference:+.1%} | {interval} |"
        )
    return lines


_ROW = re.compile(
    r"^\| (\d+) ms \| (\d+ %) \| (\d+) \| ([\d.]+) s \| ([\d.]+) s \| (\S+)% \| (?:(\S+)% to (\S+)%|unknown) \|$",
    re.MULTILINE,
)


def read(page: str) -> list[Cell]:
    """The rows of a printed table."""
    return [
        Cell(
            rtt_ms=int(rtt_ms),
            loss=loss,
            seeds=int(seeds),
            simulated_s=float(simulated_s),
            real_s=float(real_s),
            difference=float(difference) / 100,
            interval=(float(low) / 100, float(high) / 100) if low else None,
        )
        for rtt_ms, loss, seeds, simulated_s, real_s, difference, low, high in _ROW.findall(page)
    ]


def claim(cells: Sequence[Cell]) -> str:
    """What the rows show, and no more."""
    kinds = {kind: [cell.name for cell in cells if cell.verdict == kind] for kind in ("within", "beyond", "open")}
    if len(kinds["within"]) == len(cells):
        return f"Real and simulated times agree within {LIMIT:.0%}: every interval lies in that range."
    shown = f"{len(kinds['within'])} of {len(cells)} cells"
    parts = [f"Real and simulated times are shown to agree within {LIMIT:.0%} in {shown}."]
    if kinds["beyond"]:
        parts.append(f"They differ by more than that at {_listed(kinds['beyond'])}.")
    if kinds["open"]:
        parts.append(f"The intervals leave it open at {_listed(kinds['open'])}.")
    return " ".join(parts)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


@dataclass(frozen=True)
class Effort:
    """What the first seeds say that a cell will cost."""

    deviation: float
    """Of the logarithm of the ratio of real to simulated time, from seed to seed."""
    duration_s: float

    def cost_s(self, seeds: int) -> float:
        """How long this many transfers take."""
        return seeds * (self.duration_s + START_S) / at_once(self.duration_s)

    def half_width(self, seeds: int) -> float:
        """Of the interval, if the next seeds scatter as the first ones."""
        return 1.96 * self.deviation / math.sqrt(seeds)


def at_once(duration_s: float) -> int:
    """How many transfers that take so long run beside one another: slow ones, which leave the machine at rest."""
    return max(1, min(MOST_AT_ONCE, int(duration_s / SLOW_S)))


def plan(efforts: Sequence[Effort]) -> list[int]:
    """Seeds for each cell: one more where the interval would be widest, as long as there is time."""
    seeds = [LEAST] * len(efforts)
    while True:
        spent = sum(effort.cost_s(count) for effort, count in zip(efforts, seeds, strict=True))
        widths = [
            (effort.half_width(count), at)
            for at, (effort, count) in enumerate(zip(efforts, seeds, strict=True))
            if effort.half_width(count) > AIM and spent + effort.cost_s(1) <= BUDGET_S
        ]
        if not widths:
            return seeds
        seeds[max(widths)[1]] += 1


@dataclass
class Times:
    """What was measured of a cell, seed by seed from the first one."""

    transfer: Transfer
    simulated_s: list[float] = field(default_factory=list)
    real_s: list[float] = field(default_factory=list)

    def measure(self, folder: Path, seeds: int) -> None:
        """Adds what is missing to this many seeds."""
        more = range(len(self.real_s) + 1, seeds + 1)
        simulated_s = [self.transfer.simulated(seed).duration_s for seed in more]
        if simulated_s:
            outcomes = self.transfer.real(folder, more, at_once(statistics.mean(simulated_s)))
            self.simulated_s += simulated_s
            self.real_s += [outcome.duration_s for outcome in outcomes]

    def effort(self) -> Effort:
        """By what was measured so far."""
        logarithms = np.log(np.asarray(self.real_s) / np.asarray(self.simulated_s))
        return Effort(float(np.std(logarithms, ddof=1)), statistics.mean(self.real_s))

    def cell(self) -> Cell:
        """Its row."""
        return compared(self.transfer.rtt_ms, self.transfer.loss, self.simulated_s, self.real_s)


def study(folder: Path, runs: int | None = None) -> Section:
    """Both kinds of time of every cell, over this many seeds or as many as needed; it holds if all agree."""
    cells = [Times(Transfer(rtt_ms, loss, [File("file", SIZE)])) for rtt_ms in RTTS_MS for loss in LOSSES]
    for cell in cells:
        cell.measure(folder, runs or LEAST)
    if runs is None:
        for cell, seeds in zip(cells, plan([cell.effort() for cell in cells]), strict=True):
            cell.measure(folder, seeds)
            print(table([cell.cell()])[-1], flush=True)
    rows = table([cell.cell() for cell in cells])
    # Sentence and verdict follow from the rows as they are printed.
    printed = read("\n".join(rows))
    lines = ["## Completion time", "", *INTRODUCTION, "", claim(printed), "", *rows]
    return Section(lines, all(cell.verdict == "within" for cell in printed))


INTRODUCTION = [
    f"A client fetches one file of {SIZE // 1000} kB. Times are geometric means over the seeds of a cell. The",
    "difference is the mean ratio of real to simulated time, seed by seed (the mean of the logarithms), with its 95 %",
    f"interval by Student's t. Every cell has {LEAST} seeds; it gets more, depending on how much their ratios scatter,",
    f"for an interval of {AIM:.0%} to both sides, as far as the time for all cells allows.",
]
