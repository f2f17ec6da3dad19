"""What a sweep with a part in Python costs: its runs one after the other, in a sweep with one job, and with two.

    .venv/bin/python benches/own_parts.py

Prints the times of the two sweeps over that of the loop and of the first sweep, for a congestion controller
(examples/aimd.py). The cases take turns, and each ratio is the median of those of the rounds. A ratio above its bar is
an error. Where others use the cores, the times say little, and `--shared` holds the bars for the seconds of
processors: two jobs use two of them at once, so that half of their seconds counts.
"""

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import quiclab

AIMD = Path(__file__).parent.parent / "examples" / "aimd.py"
LINK = {"name": "wire", "from": "server", "to": "client", "rate": "50 Mbit/s", "delay": "10 ms", "queue": "1 BDP"}
FLOW = {"name": "bulk", "client": "client", "server": "server", "application": {"type": "bulk", "size": "500 MB"}}
RUNS = 8
ROUNDS = 3
BARS = {"one job / loop": 1.25, "two jobs / one job": 0.55}


def scenario(delay_ms: int) -> quiclab.Scenario:
    """One of the runs."""
    transport = {"controller": f"{AIMD}:Aimd", "initial_max_data": "16 MB"}
    return quiclab.Scenario(
        duration="1 h", transport=transport, link=[{**LINK, "delay": f"{delay_ms} ms"}], flow=[FLOW]
    )


def loop() -> None:
    """All runs, one after the other."""
    for delay_ms in range(10, 10 + RUNS):
        scenario(delay_ms).run(tables=False)


def sweep(jobs: int) -> None:
    """All runs as a sweep."""
    delays = [f"{delay_ms} ms" for delay_ms in range(10, 10 + RUNS)]
    failures = quiclab.sweep(scenario(10), {"sweep.link.wire.delay": delays}, jobs=jobs).failures
    assert not failures, failures[0]


def measured(case: Callable[[], None]) -> tuple[float, float]:
    """The seconds that it takes, and those of all processors together."""

    def used() -> float:
        all_ = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in all_)

    before, start = used(), time.perf_counter()
    case()
    return time.perf_counter() - start, used() - before


def main() -> int:
    """Measures, prints, and compares with the bars."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--shared", action="store_true", help="compare seconds of processors")
    is_shared = parser.parse_args().shared
    cases = {"loop": (loop, 1), "one job": (lambda: sweep(1), 1), "two jobs": (lambda: sweep(2), 2)}
    rounds = [{name: measured(case) for name, (case, _) in cases.items()} for _ in range(ROUNDS)]
    for name in cases:
        seconds, cpu = (statistics.median(one[name][which] for one in rounds) for which in (0, 1))
        print(f"{name:10} {seconds:6.2f} s, {cpu:6.2f} s of processors")

    def cost(one: dict[str, tuple[float, float]], name: str) -> float:
        seconds, cpu = one[name]
        return cpu / cases[name][1] if is_shared else seconds

    wrong = 0
    for ratio, bar in BARS.items():
        above, below = ratio.split(" / ")
        found = statistics.median(cost(one, above) / cost(one, below) for one in rounds)
        wrong += found > bar
        print(f"{ratio:20} {found:.2f}, at most {bar}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
