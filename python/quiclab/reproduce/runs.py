"""The finished runs of a sweep, as the code of a figure reads them."""

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
    """All runs of a sweep that ended as they should."""

    rows: list[dict[str, Any]]
    """One for each: what was varied, by path with the unit as last word (`link.bottleneck.delay_ms`), and what came
    out: `connection.NAME.goodput_mbps`, `link.NAME.forward.delivered_bytes`."""
    series: "pa.Table | None"
    """The time series, if the sweep keeps some: run, table, subject, quantity, time_s, value."""
    tables: dict[str, list[dict[str, Any]]]
    """The rows of the tables that the sweep keeps, by name: run, and the columns that the table has in each run."""
    failures: list[str]
    """What the others failed of, one line each."""
    made: int
    """How many runs there were."""
    scenario: dict[str, Any] = field(default_factory=dict)
    """The scenario that they were made of, every default filled in, before anything is varied.

    With the values of a run set it is that run alone, to be made once more with what a sweep does not keep.
    """
    warnings: list[str] = field(default_factory=list)
    """What is to be said of the sweep: repetitions that were all the same run, values of the file that no run has."""

    @staticmethod
    def of(done: Sweep, scenario: Scenario | None = None) -> "Runs":
        """Those of a finished sweep, of this scenario."""
        failures = [
            f"run {failure['run']}, seed {failure['seed']}, {failure['values']}: {failure['error']}"
            for failure in done.failures
        ]
        rows = [row for row in done.runs.to_pylist() if row["error"] is None]
        tables = {name: done.table(name).to_pylist() for name in done.info["keep"]}
        document = {} if scenario is None else tomllib.loads(scenario.to_toml())
        return Runs(rows, done.series, tables, failures, done.info["runs"], document, done.notes + done.warnings)


def make(path: Path, sets: Sequence[str], folder: Path, jobs: int | None, progress: SweepCallback | None) -> Runs:
    """Makes the runs of a scenario file with these changes. What the folder has is not run again."""
    scenario = Scenario.from_file(path, sets)
    return Runs.of(sweep(scenario, jobs=jobs, out=folder, progress=progress), scenario)
