"""What a run costs beside its packets: the smallest run, reading many flows, a step of Gym, and sweeps of short runs.

    .venv/bin/python benches/setup.py [REPEATS]

Each row is CPU time of this process (the median of REPEATS repetitions, 9 by default), but for the ratios of sweeps,
which are those of times by the wall clock and want two idle cores.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import quiclab
from quiclab.document import to_toml

FLOWS = (1_000, 10_000)
RUNS = 1_000

LINK = {"name": "wire", "from": "server", "to": "client", "delay": "1 ms"}
ENDS = {"client": "client", "server": "server"}
LEAST = {
    "name": "least",
    "duration": "1 s",
    "link": [LINK],
    "flow": [{"name": "get", **ENDS, "application": {"type": "bulk", "size": "1 kB"}}],
}
"""The smallest scenario: a response of 1 kB over an unlimited link."""
SHORT = {
    "name": "short",
    "duration": "1 s",
    "link": [{**LINK, "rate": "10 Mbit/s", "delay": "10 ms", "queue": "1 BDP"}],
    "flow": [{"name": "get", **ENDS, "application": {"type": "bulk", "size": "100 MB"}}],
}
"""One second of a download at 10 Mbit/s: about 800 data packets."""


def many(flows: int) -> dict[str, Any]:
    """Return a document with `flows` flows, each with a start and options of its own."""
    application = {"type": "bulk", "size": "1 kB"}
    own = {"transport": {"initial_window": 32}}
    names = (
        {"name": f"get-{at}", **ENDS, "application": application, "start": f"{at} us", **own} for at in range(flows)
    )
    return {**LEAST, "flow": list(names)}


def cpu(call: Callable[[], object], times: int, repeats: int) -> float:
    """Return the CPU time of a call in microseconds: the median of several repetitions, each of many calls."""
    spans = []
    for _ in range(repeats):
        begun = time.process_time()
        for _ in range(times):
            call()
        spans.append((time.process_time() - begun) / times)
    return statistics.median(spans) * 1e6


def row(what: str, value: float, unit: str) -> None:
    """Print a row."""
    print(f"{what:<66} {value:>10.2f} {unit}", flush=True)


def runs(repeats: int) -> None:
    """Print the rows of the smallest run."""
    scenario = quiclab.Scenario(LEAST)
    seeds = iter(range(1, 1 << 40))
    row("smallest run, with its tables", cpu(scenario.run, 300, repeats), "us")
    row("the same, its summary read", cpu(lambda: scenario.run().summary, 300, repeats), "us")
    row("the same without tables", cpu(lambda: scenario.run(tables=False), 300, repeats), "us")
    row("the same with another seed each time", cpu(lambda: scenario.run(next(seeds)), 300, repeats), "us")
    row("reading the smallest scenario, from Python values", cpu(lambda: quiclab.Scenario(LEAST), 300, repeats), "us")


def reading(repeats: int) -> None:
    """Print the rows of reading many flows, and how they grow with their number."""
    spans: dict[str, list[float]] = {"Python values": [], "TOML": []}
    for flows in FLOWS:
        document = many(flows)
        text = to_toml(document)
        spans["Python values"].append(cpu(lambda document=document: quiclab.Scenario(document), 1, repeats))
        spans["TOML"].append(cpu(lambda text=text: quiclab.Scenario.from_text(text), 1, repeats))
    for what, (few, most) in spans.items():
        row(f"reading {FLOWS[-1]:,} flows, from {what}", most / 1e6, "s")
        row(f"a flow of them over one of {FLOWS[0]:,}", most / few * FLOWS[0] / FLOWS[-1], "")


def steps(repeats: int) -> None:
    """Print the rows of a step of Gym: with ten packets, and with none, which is what it costs beside them."""
    import numpy as np

    import quiclab.gym

    scenario = quiclab.Scenario({**SHORT, "duration": "600 s"})
    action = np.zeros(1, dtype=np.float32)
    for interval_s, what in ((0.01, "of 10 ms at 10 Mbit/s"), (1e-6, "without a packet")):
        environment = quiclab.gym.CongestionControl(scenario, interval_s=interval_s, normalised=True)
        environment.reset(seed=1)
        row(f"step of Gym {what}", cpu(lambda env=environment: env.step(action), 300, repeats), "us")


def sweeps(repeats: int) -> None:
    """Print the rows of a sweep of short runs."""
    document = {**SHORT, "sweep": {"repetitions": RUNS}}

    def wall(jobs: int) -> float:
        begun = time.perf_counter()
        quiclab.sweep(document, jobs=jobs)
        return time.perf_counter() - begun

    simulate = quiclab.Scenario(SHORT)
    alone = cpu(lambda: simulate.run(tables=False), 50, repeats)
    beside = cpu(lambda: quiclab.sweep(document, jobs=1), 1, 3) / RUNS - alone
    row(f"sweep of {RUNS:,} runs of 1 s: CPU time of a run beside the simulation", beside, "us")
    ratios = [wall(1) / wall(2) for _ in range(3)]
    row("the same by the wall clock, one job over two", statistics.median(ratios), "")


def main() -> None:
    """Print all rows."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    runs(repeats)
    reading(repeats)
    steps(repeats)
    sweeps(repeats)


if __name__ == "__main__":
    main()
