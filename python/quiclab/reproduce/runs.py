"""The finished runs of a sweep, in the form that the code of figures reads."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.engines.sweeps import sweep
from quiclab.results.scenario import Scenario
from quiclab.results.sweeps import Sweep
from quiclab.values.progress import SweepCallback

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc


@dataclass(frozen=True)
class Runs:
    """The successful runs of a sweep. What it keeps beside their rows is read when it is asked for."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    """One per run: the varied values, by path with the unit as last word (`link.bottleneck.delay_ms`), and the
    results: `connection.NAME.goodput_mbps`, `link.NAME.forward.delivered_bytes`."""
    failures: list[str] = field(default_factory=list)
    """One line for each failed run: its values and its error."""
    made: int = 0
    """The number of all runs."""
    scenario: dict[str, Any] = field(default_factory=dict)
    """The scenario before anything is varied, with every default filled in.

    With the values of one run set, it repeats that run, for what a sweep does not keep.
    """
    warnings: list[str] = field(default_factory=list)
    """Warnings: repetitions that are identical runs, values in the file that no run uses."""
    done: Sweep | None = None
    """The sweep itself."""

    @staticmethod
    def of(done: Sweep, scenario: Scenario | None = None) -> "Runs":
        """The runs of a finished sweep of this scenario."""
        failures = [
            f"run {failure['run']}, seed {failure['seed']}, {failure['values']}: {failure['error']}"
            for failure in done.failures
        ]
        rows = [row for row in done.runs.to_pylist() if row["error"] is None]
        document = {} if scenario is None else tomllib.loads(scenario.to_toml())
        return Runs(rows, failures, done.info["runs"], document, done.notes + done.warnings, done)

    @cached_property
    def series(self) -> "pa.Table | None":
        """The time series, all in memory, if the sweep keeps any: run, table, subject, quantity, time_s, value."""
        return None if self.done is None else self.done.series

    @cached_property
    def tables(self) -> Mapping[str, list[dict[str, Any]]]:
        """The rows of the tables that the sweep keeps, by table: the run, and the columns of the table."""
        return _Tables(self.done)

    def select(self, name: str, columns: Sequence[str], where: "pc.Expression") -> "pa.Table":
        """Columns of the rows of a kept table, or of "series", that meet a condition on these columns.

        For tables of many runs: it holds no more of them in memory than it returns. Raises `Error` if the sweep keeps
        nothing.
        """
        if self.done is None:
            raise Error(f"no sweep that keeps {name}")
        return self.done._select(name, columns, where)


class _Tables(Mapping[str, list[dict[str, Any]]]):
    """The kept tables of a sweep as rows; each is read at its first use."""

    def __init__(self, done: Sweep | None) -> None:
        self._done = done
        self._read: dict[str, list[dict[str, Any]]] = {}

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        if self._done is None or name not in self._done.info["keep"]:
            raise KeyError(name)
        if name not in self._read:
            self._read[name] = self._done.table(name).to_pylist()
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter([] if self._done is None else self._done.info["keep"])

    def __len__(self) -> int:
        return 0 if self._done is None else len(self._done.info["keep"])


def make(path: Path, sets: Sequence[str], folder: Path, jobs: int | None, progress: SweepCallback | None) -> Runs:
    """Makes the runs of a scenario file with these changes. Runs that are in the folder are not repeated."""
    scenario = Scenario.from_file(path, sets)
    return Runs.of(sweep(scenario, jobs=jobs, out=folder, progress=progress), scenario)
