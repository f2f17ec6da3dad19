"""The finished runs of a sweep, as the code of a figure reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
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

    @staticmethod
    def of(done: Sweep) -> "Runs":
        """Those of a finished sweep."""
        failures = [
            f"run {failure['run']}, seed {failure['seed']}, {failure['values']}: {failure['error']}"
            for failure in done.failures
        ]
        rows = [row for row in done.runs.to_pylist() if row["error"] is None]
        tables = {name: done.table(name).to_pylist() for name in done.info["keep"]}
        return Runs(rows, done.series, tables, failures, done.info["runs"])


def make(path: Path, sets: Sequence[str], folder: Path, jobs: int | None, progress: SweepCallback | None) -> Runs:
    """Makes the runs of a scenario file with these changes. What the folder has is not run again."""
    return Runs.of(sweep(Scenario.from_file(path, sets), jobs=jobs, out=folder, progress=progress))
