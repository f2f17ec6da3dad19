"""The finished runs of a sweep, as the code of a figure reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab import _quiclab
from quiclab._quiclab import ScenarioError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Runs:
    """All runs of a sweep that ended as they should."""

    rows: list[dict[str, Any]]
    """One for each: what was varied, by path with the unit as last word (`link.bottleneck.both.delay_ms`), and what
    came out: `connection.NAME.goodput_mbps`, `link.NAME.forward.delivered_bytes`."""
    series: "pa.Table | None"
    """The time series, if the sweep keeps some: run, table, subject, quantity, time_s, value."""
    failures: list[str]
    """What the others failed of, one line each."""
    made: int
    """How many runs there were."""


def make(path: Path, sets: Sequence[str], folder: Path, jobs: int, progress: Any) -> Runs:
    """Makes the runs of a scenario file with these changes. What the folder has is not run again."""
    import pyarrow as pa

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}") from error
    sweep = _quiclab.Sweep.parse(text, path, list(sets))
    finished = sweep.run(folder, jobs, progress)
    rows = pa.table(finished.runs(0, sweep.runs)).to_pylist()
    series = []
    first = 0
    while sweep.series and first < sweep.runs:
        piece, first = finished.series_rows(first, 1 << 20)
        series.append(pa.table(piece))
    failures = [
        f"{path.name}: run {number} (seed {seed}, {', '.join(f'{key} = {value}' for key, value in values)}): {problem}"
        for number, _, seed, values, problem in finished.failures
    ]
    return Runs(
        [row for row in rows if row["error"] is None],
        pa.concat_tables(series, promote_options="permissive") if series else None,
        failures,
        sweep.runs,
    )
