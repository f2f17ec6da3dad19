"""What a user waits for at the prompt: the CPU time of whole processes, from start to end.

    .venv/bin/python benches/prompt.py [ROUNDS] [--quinn PROGRAM]

User and system time of each process, as the operating system counts it. The cases take turns for ROUNDS rounds
(default 11), and the median of each is printed. The smallest run is `tests/bulk.toml`, 300 kB; the bulk transfer is
that of `quiclab dev bench`, 375 MB. The same transfer by quinn-proto alone is a process of the benchmarks (`--quinn`,
by default `target/release/bench`, with `--once quinn-null`); the ratio of both is taken in each round. The simulation
alone is `Scenario.run(tables=False)` in a process that has imported and parsed everything.
Libraries are compiled and cached before the first round.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from callgrind import BULK, ROOT

SMALLEST = Path(__file__).resolve().parent.parent / "tests" / "bulk.toml"
ROUNDS = 11

ALONE = """
import sys, time
from pathlib import Path
from quiclab._quiclab import Scenario
scenario = Scenario.parse(Path(sys.argv[1]).read_text(), Path(sys.argv[1]), [])
scenario.run(tables=False)
begun = time.process_time()
summary, _ = scenario.run(tables=False)
print(time.process_time() - begun, summary.read()["connections"][0]["data_packets_sent"])
"""
"""Prints the CPU seconds of a simulation, and the data packets of it."""


def process(*command: str) -> Callable[[Path], float]:
    """A case: the CPU seconds of a process, in a folder."""

    def seconds(folder: Path) -> float:
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        with child:
            told = child.stderr.read() if child.stderr else b""
        if child.returncode:
            raise SystemExit(f"{' '.join(command)}: exit code {child.returncode}\n{told.decode()}")
        return usage.ru_utime + usage.ru_stime

    return seconds


def simulation(scenario: Path) -> tuple[float, int]:
    """The CPU seconds of a simulation, and its data packets."""
    command = [sys.executable, "-c", ALONE, str(scenario)]
    seconds, packets = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), int(packets)


def quiclab(*arguments: str | Path) -> Callable[[Path], float]:
    """A case: a command line of quiclab."""
    return process(sys.executable, "-m", "quiclab", *map(str, arguments))


CASES: dict[str, Callable[[Path], float]] = {
    "python": process(sys.executable, "-c", "pass"),
    "import quiclab": process(sys.executable, "-c", "import quiclab"),
    "--help": quiclab("--help"),
    "run --help": quiclab("run", "--help"),
    "smallest run, --no-tables": quiclab("run", SMALLEST, "--no-tables"),
    "smallest run, tables and figure": quiclab("run", SMALLEST),
    "bulk, simulation alone": lambda folder: simulation(BULK)[0],
    "bulk, quinn-proto": process(str(ROOT / "target" / "release" / "bench"), "--once", "quinn-null"),
    "bulk, --no-tables": quiclab("run", BULK, "--no-tables"),
    "bulk, tables and figure": quiclab("run", BULK),
}


def main(arguments: Sequence[str]) -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rounds", type=int, nargs="?", default=ROUNDS)
    parser.add_argument("--quinn", type=Path, help="the program of the benchmarks")
    options = parser.parse_args(arguments)
    cases = dict(CASES)
    if options.quinn is not None:
        cases["bulk, quinn-proto"] = process(str(options.quinn.absolute()), "--once", "quinn-null")
    _, packets = simulation(BULK)
    measured: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(options.rounds + 1):
        for name, case in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                seconds = case(Path(folder))
            # The first round fills caches.
            if turn:
                measured[name].append(seconds)
    medians = {name: statistics.median(values) for name, values in measured.items()}
    print(f"{'case':<34} {'CPU s':>7} {'lowest':>7} {'highest':>7}")
    for name, values in measured.items():
        print(f"{name:<34} {medians[name]:7.3f} {min(values):7.3f} {max(values):7.3f}")
    alone = medians["bulk, simulation alone"]
    whole = medians["bulk, --no-tables"]
    print(f"{'bulk, beyond the simulation':<34} {medians['bulk, tables and figure'] - alone:7.3f}")
    both = zip(measured["bulk, quinn-proto"], measured["bulk, --no-tables"], strict=True)
    print(
        f"{'quinn-proto over bulk, --no-tables':<34} {statistics.median(theirs / ours for theirs, ours in both):7.2f}"
    )
    print(f"{'bulk, --no-tables, of the process':<34} {packets / whole:,.0f} data packets per CPU second")


if __name__ == "__main__":
    main(sys.argv[1:])
