"""How long one file takes, over short and long paths, without and with losses."""

import statistics
from pathlib import Path

from validation.section import Section
from validation.transfer import File, Transfer

SIZE = 1_000_000
LOSSES = ("0 %", "1 %", "5 %")
RTTS_MS = (10, 100)
RUNS = 10
LIMIT = 0.05
"""How far the medians may be from one another."""


def study(folder: Path, runs: int = RUNS) -> Section:
    """Both kinds of time of every cell; it holds if all cells are within the limit."""
    lines = [
        "## Completion time",
        "",
        f"One file of {SIZE // 1000} kB. Medians of {runs} seeds. They shall be within {LIMIT:.0%} of one another.",
        "",
        "| RTT | loss | simulated | real | difference |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    holds = True
    for rtt_ms in RTTS_MS:
        for loss in LOSSES:
            transfer = Transfer(rtt_ms, loss, [File("file", SIZE)])
            seeds = range(1, runs + 1)
            virtual = statistics.median(transfer.simulated(seed).duration_s for seed in seeds)
            wall = statistics.median(outcome.duration_s for outcome in transfer.real(folder, seeds))
            difference = wall / virtual - 1
            lines.append(f"| {rtt_ms} ms | {loss} | {virtual:.3f} s | {wall:.3f} s | {difference:+.1%} |")
            print(lines[-1], flush=True)
            holds &= abs(difference) <= LIMIT
    return Section(lines, holds)
