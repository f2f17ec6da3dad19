"""Sweeps are run: all runs of a scenario's `[sweep]` table, on all cores or on a cluster, and their tables written."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from quiclab import _quiclab
from quiclab._quiclab import VERSION, Error, OutputError
from quiclab.engines import cluster, processes
from quiclab.records.sweep_tables import Tables
from quiclab.results.scenario import Changes, Scenario
from quiclab.results.sweeps import FINISHED, REMEDY, Sweep
from quiclab.values import arguments, folders
from quiclab.values.progress import SweepCallback, SweepProgress, shown_sweep

Engine = Literal["local", "dask"]

_Report = Callable[..., object]
"""Is told the numbers of finished, reused, failed and all runs, and `workers` and `written`: see `SweepProgress`."""

_MOST_FAILURES = 1000
"""Failed runs that sweep.json lists; runs.parquet has them all."""

_MOST_JOBS = 1 << 16
_SECONDS_BETWEEN_REPORTS = 0.1


def sweep(
    scenario: Scenario | str | PathLike[str] | Mapping[str, Any],
    set: Changes = (),
    *,
    jobs: int | None = None,
    engine: Engine = "local",
    scheduler: str | None = None,
    out: str | PathLike[str] | Literal[True] | None = None,
    progress: SweepCallback | bool | None = None,
) -> Sweep:
    """Does all runs of a scenario's `[sweep]` table, on all cores or on a cluster, without holding the GIL.

    >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml")
    >>> sweep = quiclab.sweep(scenario, {"sweep.transport.controller": ["newreno", "cubic"], "sweep.repetitions": 3})
    >>> sweep.runs.num_rows
    6

    :param scenario: a `Scenario`, the path of its file, or its document as a mapping.
    :param set: changes to it, as in `Scenario.from_file`.
    :param jobs: the number of parallel runs; default: the number of cores for this process.
    :param engine: "local": threads of this process, or processes if the scenario names classes in files of Python;
        "dask": Dask distributed (the extra `quiclab[cluster]`), whose
        processes import the calling script: what they must not run goes below `if __name__ == "__main__":`. The
        tables are the same, byte for byte.
    :param scheduler: of the engine dask, the address of a scheduler ("tcp://head:8786"), or the file in which it wrote
        its address; default: a cluster of `jobs` processes on this machine.
    :param out: the sweep's folder. Its finished runs are kept: an interrupted sweep continues, an extended one runs
        only what is new. True: sweeps/NAME. None: no folder; the results vanish with the object.
    :param progress: called with a `SweepProgress` at most ten times a second; True shows it on stderr or in a notebook.
    :raises ScenarioError: the scenario or its table is wrong.
    :raises OutputError: the folder cannot be used.
    :raises Error: the cluster cannot be used.
    :raises KeyboardInterrupt: at once; finished runs are kept in the folder.

    A run that fails does not stop the others: see `Sweep.failures`. The tables depend only on the sweep, not on the
    number of jobs or on interruptions.
    """
    if isinstance(scenario, Mapping):
        scenario = Scenario(scenario)
    elif not isinstance(scenario, Scenario):
        scenario = Scenario.from_file(scenario)
    if set:
        scenario = scenario.with_(set)
    if engine not in ("local", "dask"):
        raise Error(f"unknown engine {engine!r}: expected local or dask")
    if scheduler is not None and engine != "dask":
        raise Error("a scheduler needs the engine dask; expected --engine dask, or engine='dask'")
    if scheduler is not None and jobs is not None:
        raise Error("a number of jobs and a scheduler exclude each other: the workers of the scheduler do the runs")
    inner = planned(scenario)
    has_classes = processes.are_for([scenario._text, *scenario._sets])
    how = _How(engine, scheduler, _jobs(jobs), has_classes)
    held = None
    if out is None:
        held = folders.temporary()
        path = Path(held.name)
    else:
        path = Path("sweeps") / inner.name if out is True else arguments.path("sweep: out", out)
    with _shown(inner.name, progress) as report:
        result = _run(scenario, inner, path, how, report)
    result._held = held
    return result


def planned(scenario: Scenario) -> _quiclab.Sweep:
    """The sweep of a scenario. Raises `Error` if its runs would need real time."""
    inner = _quiclab.Sweep.parse(scenario._text, scenario._origin, scenario._sets)
    if inner.gates:
        raise Error(f"node {inner.gates[0]}: a gate needs real time, and a sweep runs in virtual time; expected host")
    return inner


def foretold(inner: _quiclab.Sweep) -> str | None:
    """What to say of a sweep before it is run: that its repetitions will all be the same run; None if they will not."""
    seeds = max((len(values) for path, values, _ in inner.parameters if path == "seed"), default=1)
    repetitions = max(inner.repetitions, seeds)
    if repetitions < 2 or inner.draws:
        return None
    what = "seeds" if seeds > 1 else "repetitions of each combination"
    return f"nothing in it is random: all {repetitions} {what} are the same run{REMEDY}"


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _jobs(jobs: int | None) -> int:
    if jobs is None:
        return cores()
    return arguments.whole("sweep: jobs", jobs, 1, _MOST_JOBS)


@dataclass(frozen=True)
class _How:
    """By which engine, and with how much of it."""

    engine: Engine
    scheduler: str | None
    jobs: int
    has_classes: bool
    """Whether the runs call Python, in which the threads of a process take turns."""

    def run(self, inner: _quiclab.Sweep, path: Path, report: _Report) -> _quiclab.FinishedSweep:
        if self.engine == "local" and self.jobs > 1 and self.has_classes:
            return processes.run(inner, path, self.jobs, report)
        if self.engine == "local":
            return inner.run(path, self.jobs, report)
        return cluster.run(inner, path, self.scheduler, self.jobs, report)


def _run(scenario: Scenario, inner: _quiclab.Sweep, path: Path, how: _How, report: _Report) -> Sweep:
    finished_folder = path / FINISHED
    if path.exists() and not finished_folder.is_dir() and (not path.is_dir() or any(path.iterdir())):
        raise OutputError(f"{path}: exists and is not the folder of a sweep; choose another --out or remove it")
    with folders.writing(path):
        finished_folder.mkdir(parents=True, exist_ok=True)
    finished = how.run(inner, finished_folder, report)
    _, reused, failed, total = finished.counts
    tables = Tables(finished, bool(inner.series), inner.keep, lambda part: report(*finished.counts, written=part))
    info = {
        "scenario": inner.name,
        "version": VERSION,
        "runs": total,
        "failed": failed,
        "repetitions": inner.repetitions,
        "combinations": total // inner.repetitions,
        # Those whose repetitions all gave the same.
        "identical": tables.identical(inner.repetitions),
        "parameters": [
            {"path": where, "column": column, "values": values} for where, values, column in inner.parameters
        ],
        "series": inner.series,
        "keep": inner.keep,
        "set": scenario._sets,
        "notes": [*inner.notes, *inner.file_notes()],
        "failures": [
            {"run": run, "repetition": repetition, "seed": seed, "values": dict(values), "error": error}
            for run, repetition, seed, values, error in finished.failures(_MOST_FAILURES)
        ],
    }
    info = folders.without_home(info)
    tables.write(path, scenario._text, info)
    result = Sweep(path, info)
    result.reused = reused
    return result


@contextmanager
def _shown(name: str, progress: SweepCallback | bool | None) -> Iterator[_Report]:
    if progress is True:
        with shown_sweep(name) as callback:
            yield _report(callback)
    else:
        yield _report(arguments.function("sweep: progress", progress) if progress else None)


def _report(callback: SweepCallback | None) -> _Report:
    next_call = 0.0

    def report(
        done: int,
        reused: int,
        failed: int,
        total: int,
        workers: int | None = None,
        written: float | None = None,
    ) -> None:
        nonlocal next_call
        if callback is None:
            return
        if (clock := time.monotonic()) >= next_call or (done == total and written is None):
            next_call = clock + _SECONDS_BETWEEN_REPORTS
            callback(SweepProgress(done, reused, failed, total, workers, written))

    return report
