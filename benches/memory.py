"""The memory of long downloads with the default tables: the peak of whole processes, from start to end.

    .venv/bin/python benches/memory.py [SIZE...]

The most memory that a process had at one time, as the operating system counts it (the maximum resident set), at these
sizes of the transfer of `quiclab bench` without cryptography, by default 1 MB, 375 MB and 10 GB. A column for each
stage of `quiclab run` says what has been needed by then: the simulation with its tables in memory, the tables in
files, and the figure. The last case has tables of 250,000 rows at most (`record.rows`), the series thinned.
"""

import subprocess
import sys
from collections.abc import Sequence

from callgrind import BULK

SIZES = ("1 MB", "375 MB", "10 GB")
THINNED = "record.rows=250000"

STAGES = """
import resource, sys, tempfile
from pathlib import Path
from quiclab import Scenario, plots

def told(stage):
    print(stage, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, sep=":", flush=True)

scenario = Scenario.from_file(sys.argv[1], sys.argv[2:])
told("read")
run = scenario.run()
told("simulated")
with tempfile.TemporaryDirectory() as folder:
    run.save(Path(folder) / "run", figure=False)
    told("tables written")
    plots.save(run, Path(folder) / "figure.png")
told("figure drawn")
rows = max(run.table(name).num_rows for name in run.tables)
print("rows of the longest table", rows, sep=":")
"""
"""Prints the peak after each stage, in MiB, and the rows of the longest table."""


def stages(*settings: str) -> dict[str, int]:
    """The peak of the memory after each stage of a run, in MiB, and the rows of its longest table."""
    command = [sys.executable, "-c", STAGES, str(BULK), "tls.protection=null", *settings]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {stage: int(number) for stage, _, number in (line.partition(":") for line in lines)}


def main(arguments: Sequence[str]) -> None:
    """Measure each size, and the last one again with thinned tables."""
    sizes = [f"flow.download.application.size={size}" for size in arguments or SIZES]
    cases = [(size,) for size in sizes] + [(sizes[-1], THINNED)]
    for number, settings in enumerate(cases):
        peaks = stages(*settings)
        if number == 0:
            print("| size | " + " | ".join(peaks) + " |")
            print("| --- |" + " ---: |" * len(peaks))
        label = ", ".join(setting.removeprefix("flow.download.application.size=") for setting in settings)
        print(f"| {label} | " + " | ".join(f"{value:,}" for value in peaks.values()) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
