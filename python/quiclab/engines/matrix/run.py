"""All cells of a matrix: those that a folder has already are kept, the others are run."""

import json
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quiclab._quiclab import VERSION, Error, OutputError
from quiclab.engines import emulation
from quiclab.engines.matrix import certificates, figures
from quiclab.engines.matrix.cells import Cell, Task, held, make_file
from quiclab.engines.matrix.networks import Network
from quiclab.engines.matrix.results import FAILED, Outcome, write_table
from quiclab.engines.matrix.stacks import Stack, check_program
from quiclab.values import folders

AGAIN = ("failed", "late")
CELLS, WWW, RUNS, INFO = "cells", "www", "runs.parquet", "sweep.json"
MOST_RUNS = 100_000
Progress = Callable[[int, int, Cell, Outcome], None]


@dataclass(frozen=True)
class Matrix:
    """What came of a matrix."""

    path: Path
    runs: Sequence[tuple[Cell, Outcome]]
    reused: int
    """Runs that the folder had already."""
    rows: Sequence[Mapping[str, Any]]
    """Those of runs.parquet."""
    parameters: Sequence[str]
    """The columns of the pairs and of what is varied."""

    @property
    def failed(self) -> list[tuple[Cell, Outcome]]:
        """The runs that failed."""
        return [(cell, outcome) for cell, outcome in self.runs if outcome.result == FAILED]

    @property
    def late(self) -> list[tuple[Cell, Outcome]]:
        """The runs that the machine was too slow for."""
        return [(cell, outcome) for cell, outcome in self.runs if outcome.is_late(cell.task.max_lateness_ms)]


def run(
    pairs: Sequence[tuple[Stack, Stack]],
    networks: Sequence[Network],
    task: Task,
    out: Path,
    *,
    runs: int = 1,
    seed: int = 1,
    jobs: int = 1,
    again: Sequence[str] = (),
    progress: Progress | None = None,
) -> Matrix:
    """Runs each pair over each network.

    :param out: the folder; what it has of the same definition is not run again.
    :param runs: how often; the first run of each cell has the seed `seed`, the next one the next seed.
    :param jobs: runs at a time. They share the processor, so that more than one may be late.
    :param again: what is run again although the folder has it: `failed`, `late`.
    :param progress: called for each run that is finished, with how many are, and how many there are.
    :raises Error: nothing can be run here, or there are too many runs. :raises OutputError: the folder cannot be used.
    :raises KeyboardInterrupt: after the runs that are under way have been ended; finished ones are kept.
    """
    if unknown := set(again) - set(AGAIN):
        raise Error(f"--again {min(unknown)}: expected one of {', '.join(AGAIN)}")
    total = len(pairs) * len(networks) * runs
    if total > MOST_RUNS:
        raise Error(f"{total:,} runs: expected at most {MOST_RUNS:,}")
    for stack in dict.fromkeys(stack for pair in pairs for stack in pair):
        check_program(stack)
    emulation.check_tools()
    certificates.check()
    combinations = [(*pair, network) for network in networks for pair in pairs]
    # The runs of a seed lie together, so that a slow hour of the machine does not meet one stack alone.
    cells = [
        Cell(client, server, network, number, seed + number - 1, task)
        for number in range(1, runs + 1)
        for client, server, network in combinations
    ]
    out = out.absolute()
    _prepare(out)
    with held(out):
        make_file(out / WWW, task)
        outcomes, reused = _outcomes(cells, out, jobs, again, progress)
        # In the table the runs of a cell lie together, pair by pair.
        places = sorted(range(len(combinations)), key=lambda place: place % len(pairs))
        ordered = [cell for place in places for cell in cells[place :: len(combinations)]]
        results = [(cell, outcomes[cell.name]) for cell in ordered]
        rows, parameters = _rows(results)
        _write(out, rows, parameters, runs)
    return Matrix(out, results, reused, rows, parameters)


def _prepare(out: Path) -> None:
    if out.exists() and not (out / CELLS).is_dir() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{out}: exists and is not the folder of a matrix; choose another --out or remove it")
    with folders.writing(out):
        (out / CELLS).mkdir(parents=True, exist_ok=True)


def _outcomes(
    cells: Sequence[Cell], out: Path, jobs: int, again: Sequence[str], progress: Progress | None
) -> tuple[dict[str, Outcome], int]:
    outcomes: dict[str, Outcome] = {}
    missing = []
    for cell in cells:
        known = cell.finished(out / CELLS)
        if known is not None and not _is_wanted_again(cell, known, again):
            outcomes[cell.name] = known
            continue
        if known is not None:
            shutil.rmtree(out / CELLS / cell.name)
        missing.append(cell)
    reused, stop = len(outcomes), threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        under_way: dict[Future[Outcome], Cell] = {}
        left = iter(missing)
        try:
            while True:
                while len(under_way) < jobs and (following := next(left, None)) is not None:
                    under_way[pool.submit(following.perform, out / CELLS, out / WWW, stop)] = following
                if not under_way:
                    return outcomes, reused
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    cell = under_way.pop(future)
                    outcomes[cell.name] = future.result()
                    if progress is not None:
                        progress(len(outcomes), len(cells), cell, outcomes[cell.name])
        finally:
            # Whatever happened, no run outlives this.
            stop.set()


def _is_wanted_again(cell: Cell, known: Outcome, again: Sequence[str]) -> bool:
    late = known.is_late(cell.task.max_lateness_ms)
    return ("failed" in again and known.result == FAILED) or ("late" in again and late)


def _rows(runs: Sequence[tuple[Cell, Outcome]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of the table, and the columns of what is varied."""
    varied = list(dict.fromkeys(name for cell, _ in runs for name in cell.network.values))
    rows = []
    for number, (cell, outcome) in enumerate(runs):
        network = cell.network
        row: dict[str, Any] = {"run": number, "repetition": cell.run, "seed": cell.seed}
        row |= {"client": cell.client.name, "server": cell.server.name, "network": network.scenario.name}
        row |= {name: network.values.get(name) for name in varied}
        row |= asdict(outcome)
        goodput = outcome.goodput_mbps
        row["utilisation"] = goodput / network.rate_mbps if goodput and network.rate_mbps else None
        row["late"] = outcome.is_late(cell.task.max_lateness_ms)
        row["error"] = outcome.reason or None
        row["folder"] = f"{CELLS}/{cell.name}"
        rows.append(row)
    return rows, ["client", "server", "network", *varied]


def _write(out: Path, rows: Sequence[Mapping[str, Any]], parameters: Sequence[str], runs: int) -> None:
    """The table, the figures, and what makes the folder that of a sweep for `quiclab plot`."""
    info = {
        "scenario": out.name,
        "version": VERSION,
        "runs": len(rows),
        "failed": sum(row["result"] == FAILED for row in rows),
        "repetitions": runs,
        "combinations": len(rows) // runs,
        "identical": 0,
        "parameters": [
            {"path": name, "column": name, "values": [str(value) for value in dict.fromkeys(row[name] for row in rows)]}
            for name in parameters
        ],
        "series": [],
        "keep": [],
        "set": [],
        "notes": [],
        "failures": [
            {
                "run": row["run"],
                "repetition": row["repetition"],
                "seed": row["seed"],
                "values": {name: str(row[name]) for name in parameters},
                "error": row["reason"],
            }
            for row in rows
            if row["result"] == FAILED
        ],
    }
    with folders.writing(out):
        (out / INFO).unlink(missing_ok=True)
        for old in out.glob("heatmap-*.png"):
            old.unlink()
        table = write_table(out / RUNS, rows, ["reason", "error"])
        figures.write(out, table, parameters)
        folders.write_whole(out / INFO, json.dumps(info, indent=2, ensure_ascii=False) + "\n")
