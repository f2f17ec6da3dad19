"""The finished runs of a sweep, in the form that the code of figures reads."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.progress import SweepCallback
from quiclab.scenario import Scenario
from quiclab.sweeps import Sweep, sweep

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Runs:
    """The successful runs of a sweep."""

    rows: list[dict[str, Any]]
    """One per run: the varied values, by path with the unit as last word (`link.bottleneck.delay_ms`), and the
    results: `connection.NAME.goodput_mbps`, `link.NAME.forward.delivered_bytes`."""
    series: "pa.Table | None"
    """The time series, if the sweep keeps any: run, table, subject, quantity, time_s, value."""
    tables: dict[str, list[dict[str, Any]]]
    """The rows of the tables that the sweep keeps, by table: the run, and the columns of the table."""
    failures: list[str]
    """One line for each failed run: its values and its error."""
    made: int
    """The number of all runs."""
    scenario: dict[str, Any] = field(default_factory=dict)
    """The scenario before anything is varied, with every default filled in.

    With the values of one run set, it repeats that run, for what a sweep does not keep.
    """
    warnings: list[str] = field(default_factory=list)
    """Warnings: repetitions that are identical runs, values in the file that no run uses."""

    @staticmethod
    def of(done: Sweep, scenario: Scenario | None = None) -> "Runs":
        """The runs of a finished sweep of this scenario."""
        failures = [
            f"run {failure['run']}, seed {failure['seed']}, {failure['values']}: {failure['error']}"
            for failure in done.failures
        ]
        rows = [row for row in done.runs.to_pylist() if row["error"] is None]
        tables = {name: done.table(name).to_pylist() for name in done.info["keep"]}
        document = {} if scenario is None else tomllib.loads(scenario.to_toml())
        return Runs(rows, done.series, tables, failures, done.info["runs"], document, done.notes + done.warnings)


def make(path: Path, sets: Sequence[str], folder: Path, jobs: int | None, progress: SweepCallback | None) -> Runs:
    """Makes the runs of a scenario file with these changes. Runs that are in the folder are not repeated."""
    scenario = Scenario.from_file(path, sets)
    return Runs.of(sweep(scenario, jobs=jobs, out=folder, progress=progress), scenario)
