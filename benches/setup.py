"""What a run costs beside its packets: the smallest run, reading many flows, a step of Gym, and sweeps of short runs.

    .venv/bin/python benches/setup.py [REPEATS]

Each row is CPU time of this process (the median of REPEATS repetitions, 9 by default), but for the ratios of sweeps,
which are those of times by the wall clock and want two idle cores: beside them stands what two processes that share
nothing get done. The workers of Dask are there before the clock starts (the extra `quiclab[cluster]`).
"""

import logging
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import quiclab
from quiclab.values.toml_text import to_toml

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
PAGE = {
    "name": "page",
    "duration": "10 s",
    "link": [{**LINK, "rate": "100 Mbit/s", "delay": "10 ms", "queue": "1 BDP"}],
    "flow": [{"name": "get", **ENDS, "application": {"type": "http3", "sizes": ["20 kB"], "count": 5}}],
}
"""A page of 5 objects over HTTP/3, 100 kB in all."""


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
    page = quiclab.Scenario(PAGE)
    row("page of 5 objects over HTTP/3, without tables", cpu(lambda: page.run(tables=False), 100, repeats), "us")
    row("the same with its tables", cpu(page.run, 100, repeats), "us")
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

    def wall(jobs: int, **changes: Any) -> float:
        begun = time.perf_counter()
        quiclab.sweep({**document, **changes}, jobs=jobs)
        return time.perf_counter() - begun

    simulate = quiclab.Scenario(SHORT)
    alone = cpu(lambda: simulate.run(tables=False), 50, repeats)
    beside = cpu(lambda: quiclab.sweep(document, jobs=1), 1, 3) / RUNS - alone
    row(f"sweep of {RUNS:,} runs of 1 s: CPU time of a run besides the simulation", beside, "us")
    row("of that, at the end, when no run is made any more", cpu_at_the_end(document, repeats), "us")
    one, two, apart = zip(*[(wall(1), wall(2), side_by_side()) for _ in range(repeats)], strict=True)
    ratios = [a / b for a, b in zip(one, two, strict=True)]
    row("the same by the wall clock, one job over two", statistics.median(ratios), "")
    row("two processes side by side, over one of them alone", statistics.median(apart), "")
    try:
        from distributed import LocalCluster
    except ImportError:
        print("Dask: not installed")
        return
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL) as far:
        for duration in ("1 s", "10 s"):
            ratios = []
            for _ in range(min(repeats, 5)):
                own = wall(2, duration=duration)
                begun = time.perf_counter()
                quiclab.sweep({**document, "duration": duration}, engine="dask", scheduler=far.scheduler_address)
                ratios.append(own / (time.perf_counter() - begun))
            row(f"runs of {duration}: two jobs over two workers of Dask", statistics.median(ratios[1:]), "")


def cpu_at_the_end(document: dict[str, Any], repeats: int) -> float:
    """Return the CPU time of the thread that called a sweep, for each run: it makes none, and others wait for it."""
    spans = []
    for _ in range(repeats):
        begun = time.thread_time()
        quiclab.sweep(document, jobs=1)
        spans.append(time.thread_time() - begun)
    return statistics.median(spans) / RUNS * 1e6


ALONE = f"""
import time, quiclab
scenario = quiclab.Scenario({SHORT!r})
scenario.run(tables=False)
input()
begun = time.perf_counter()
for seed in range({RUNS // 2}):
    scenario.run(seed, tables=False)
print(time.perf_counter() - begun)
"""


def side_by_side() -> float:
    """Return how many times as much two processes that share nothing get done as one of them: the most there is."""

    def slowest(processes: int) -> float:
        command = [sys.executable, "-c", ALONE]
        started = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        for process in started:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return max(float(process.communicate()[0]) for process in started)

    return 2 * slowest(1) / slowest(2)


def main() -> None:
    """Print all rows."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    runs(repeats)
    reading(repeats)
    steps(repeats)
    sweeps(repeats)


if __name__ == "__main__":
    main()
