"""The memory of long downloads with the default tables: the peak of whole processes, from start to end.

    .venv/bin/python benches/memory.py [SIZE...]

The most memory that a process had at one time, as the operating system counts it (the maximum resident set), at these
sizes of the transfer of `quiclab dev bench` without cryptography, by default 1 MB, 375 MB and 10 GB. A column for each
stage of `quiclab run` says what has been needed by then: the simulation, which writes its tables while it goes on,
and the figure. The last two cases are in memory: `Scenario.run` without a folder, and the same with tables of 250,000
rows at most (`record.rows`), the series thinned.
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
from quiclab.values import libraries

def told(stage):
    print(stage, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, sep=":", flush=True)

libraries.alone()
scenario = Scenario.from_file(sys.argv[2], sys.argv[3:])
told("read")
with tempfile.TemporaryDirectory() as folder:
    run = scenario.run(out=Path(folder) / "run" if sys.argv[1] == "files" else None, figure=False)
    told("simulated, with tables")
    with libraries.loaded(figures=True):
        plots.save(run, Path(folder) / "figure.png")
    told("figure drawn")
    rows = max(sum(map(len, run.parts(name, []))) for name in run.tables)
print("rows of the longest table", rows, sep=":")
"""
"""Prints the peak after each stage, in MiB, and the rows of the longest table."""


def stages(place: str, *settings: str) -> dict[str, int]:
    """The peak of the memory after each stage of a run, in MiB, and the rows of its longest table.

    `place` of the tables: `files` or `memory`.
    """
    command = [sys.executable, "-c", STAGES, place, str(BULK), "tls.protection=null", *settings]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {stage: int(number) for stage, _, number in (line.partition(":") for line in lines)}


def main(arguments: Sequence[str]) -> None:
    """Measure each size with its tables in files, and the last one in memory, whole and thinned."""
    sizes = [f"flow.download.application.size={size}" for size in arguments or SIZES]
    cases = [("files", size) for size in sizes] + [("memory", sizes[-1]), ("memory", sizes[-1], THINNED)]
    for number, (place, *settings) in enumerate(cases):
        peaks = stages(place, *settings)
        if number == 0:
            print("| size | tables | " + " | ".join(peaks) + " |")
            print("| --- | --- |" + " ---: |" * len(peaks))
        label = ", ".join(setting.removeprefix("flow.download.application.size=") for setting in settings)
        print(f"| {label} | {place} | " + " | ".join(f"{value:,}" for value in peaks.values()) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
