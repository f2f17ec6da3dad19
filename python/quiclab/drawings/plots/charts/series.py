"""Time series of many runs as a table with the same times for all: what a line with a band over time is drawn from."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from quiclab._quiclab import Error
from quiclab.values import regular_files

if TYPE_CHECKING:
    import pyarrow as pa

TIME = "time_s"
_TIMES = 400
"""Times on the axis: about one for every third column of pixels."""


def over_time(runs: "pa.Table", series: Path, quantity: str, subject: str | None, keep: Sequence[str]) -> "pa.Table":
    """A row for each run and time: `time_s`, the quantity, and the columns `keep` of the runs.

    A value holds until the next one of its run; a run has values from its first to its last, and NaN before and after.
    Of a quantity that several subjects have (the two ends of a connection, links), `subject` says which. Raises `Error`
    if that is open.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        regular_files.check(series)
        table = pq.read_table(
            str(series), filters=[("quantity", "=", quantity)], columns=["run", "subject", TIME, "value"]
        )
        if not table.num_rows:
            names = pq.read_table(str(series), columns=["quantity"]).column("quantity").unique().to_pylist()
            raise Error(f"no quantity {quantity!r} in the series; there are: {', '.join(map(str, names))}")
    except (OSError, pa.ArrowException) as error:
        raise Error(f"{series}: cannot be read: {regular_files.reason(error)}") from error
    subjects = table.column("subject").unique().to_pylist()
    if (subject is None and len(subjects) > 1) or (subject is not None and subject not in subjects):
        wanted = "say which subject" if subject is None else f"no subject {subject!r} has it"
        raise Error(f"{quantity!r} belongs to several subjects, {wanted}: {', '.join(map(str, subjects))}")
    if subject is not None:
        table = table.filter(pa.compute.equal(table.column("subject").cast(pa.string()), subject))
    return _sampled(runs, table, quantity, keep)


def _sampled(runs: "pa.Table", table: "pa.Table", quantity: str, keep: Sequence[str]) -> "pa.Table":
    import pyarrow as pa

    rows = {number: row for row, number in enumerate(runs.column("run").to_pylist())}
    numbers, times, values = (table.column(name).to_numpy() for name in ("run", TIME, "value"))
    wanted = np.isin(numbers, list(rows))
    numbers, times, values = numbers[wanted], times[wanted], values[wanted]
    # Runs follow one another, and so do the times of a run.
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    ends = np.append(starts[1:], len(numbers))
    grid = np.linspace(0, float(times.max()) if len(times) else 0.0, _TIMES)
    sampled = np.full((len(rows), len(grid)), np.nan)
    for start, end in zip(starts, ends, strict=True):
        inside = (grid >= times[start]) & (grid <= times[end - 1])
        places = np.searchsorted(times[start:end], grid[inside], side="right") - 1
        sampled[rows[int(numbers[start])], inside] = values[start:end][places]
    row = np.repeat(np.arange(len(rows)), len(grid))
    return pa.table(
        {
            TIME: np.tile(grid, len(rows)),
            quantity: sampled.ravel(),
            **{name: runs.column(name).take(pa.array(row)) for name in dict.fromkeys(["run", *keep])},
        }
    )
