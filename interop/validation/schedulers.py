"""How long small urgent files take beside large ones, under each stream scheduler of the server."""

import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from validation.section import Section
from validation.transfer import File, Transfer

SCHEDULERS = {
    "fifo": '"fifo"',
    "edf": '"edf"',
    "rr": '"rr"',
    "wrr": '"wrr"',
    "wfq": '"wfq"',
    "adaptive, target 2 Mbit/s": '{ type = "adaptive", target = "2 Mbit/s" }',
    "adaptive, target 50 Mbit/s": '{ type = "adaptive", target = "50 Mbit/s" }',
    "pfifo": '"pfifo"',
    "abs": '"abs"',
    "rfc9218": '"rfc9218"',
}
"""Each as a scenario and `--set transport.scheduler=` have it; `adaptive` with a path that is fast to it, and slow."""

LARGE = [File(f"large-{number}", 400_000) for number in range(8)]
SMALL = [File(f"small-{number}", 6_000, urgency=1) for number in range(15)]
LOSSES = ("0 %", "1 %")
RTT_MS = 20
RUNS = 5
TIE = 0.1
"""Schedulers of which the simulation's delays are no farther from one another have the same place."""


def transfer(scheduler: str, loss: str) -> Transfer:
    """All large files at once, and the small ones one after the other beside them."""
    return Transfer(RTT_MS, loss, [*LARGE, *SMALL], len(LARGE) + 1, {"scheduler": SCHEDULERS[scheduler]})


def delay_ms(delays_s: Sequence[float]) -> float:
    """Of a small file, on average."""
    return statistics.mean(delays_s[len(LARGE) :]) * 1e3


def places(delays: dict[str, float]) -> list[list[str]]:
    """The schedulers from the shortest delay to the longest, in groups with the same place."""
    order = sorted(delays, key=lambda name: delays[name])
    groups = [[order[0]]]
    for before, name in pairwise(order):
        if delays[name] <= delays[before] * (1 + TIE):
            groups[-1].append(name)
        else:
            groups.append([name])
    return groups


def same_order(groups: list[list[str]], delays: dict[str, float]) -> bool:
    """Whether every scheduler of a group has a shorter delay than all of the next group."""
    return all(
        max(delays[name] for name in better) < min(delays[name] for name in worse) for better, worse in pairwise(groups)
    )


def study(folder: Path, runs: int | None = None) -> Section:
    """Delays of both kinds under every scheduler; it holds if their order is the same."""
    runs = runs or RUNS
    lines = [
        "## Order of schedulers",
        "",
        f"A client requests {len(LARGE)} files of {LARGE[0].size // 1000} kB at once, and beside them {len(SMALL)}",
        f"files of {SMALL[0].size // 1000} kB, one after the other, over an RTT of {RTT_MS} ms. The small files have",
        f"urgency {SMALL[0].urgency}, the large ones {LARGE[0].urgency} (RFC 9218). The delay of a small file is the",
        "time from its request to its last byte, which includes the round trip and the queue of the link; the table",
        f"has the mean over the small files, and of these means the median over {runs} seeds. The server uses the",
        "scheduler of the row (`quiclab real serve --set transport.scheduler=...`). Requests carry no weights and no",
        "deadlines, so here `wrr` equals `rr`, and `edf` equals `fifo`.",
        "",
        f"The place is that in the simulation, from the shortest delay to the longest; delays within {TIE:.0%} of the",
        "next one share a place. In real time every scheduler must be faster than all schedulers of later places.",
    ]
    holds = True
    for loss in LOSSES:
        seeds = range(1, runs + 1)
        virtual, wall = {}, {}
        for name in SCHEDULERS:
            made = transfer(name, loss)
            virtual[name] = statistics.median(delay_ms(made.simulated(seed).delays_s) for seed in seeds)
            wall[name] = statistics.median(delay_ms(outcome.delays_s) for outcome in made.real(folder, seeds))
            print(f"{loss} loss, {name}: {virtual[name]:.1f} ms, {wall[name]:.1f} ms", flush=True)
        groups = places(virtual)
        kept = same_order(groups, wall)
        holds &= kept
        lines += ["", f"With {loss} loss the order is {'the same' if kept else '**not the same**'}:", ""]
        lines += ["| place | scheduler | simulated | real | difference |", "| ---: | --- | ---: | ---: | ---: |"]
        for place, group in enumerate(groups, 1):
            for name in group:
                difference = wall[name] / virtual[name] - 1
                lines.append(f"| {place} | {name} | {virtual[name]:.1f} ms | {wall[name]:.1f} ms | {difference:+.1%} |")
    return Section(lines, holds)
