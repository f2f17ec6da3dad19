"""The time series of one run, by subject, table and quantity."""

from bisect import bisect_right
from dataclasses import dataclass

from quiclab.reproduce.runs import Runs


@dataclass(frozen=True)
class Series:
    """A quantity over time: each value holds until the next time."""

    times: list[float]
    values: list[float]

    def at(self, time: float) -> float | None:
        """The value at that time; None before the first."""
        place = bisect_right(self.times, time)
        return self.values[place - 1] if place else None

    def between(self, start: float, end: float) -> list[float]:
        """The values after `start`, up to and including `end`."""
        return self.values[bisect_right(self.times, start) : bisect_right(self.times, end)]


Trace = dict[tuple[str, str], Series]
"""A series for each table and quantity."""


def trace(runs: Runs, run: int, subject: str) -> Trace:
    """All series of one subject (`data client`, `bottleneck forward`) in a run."""
    import pyarrow.compute as pc

    assert runs.series is not None, "the scenario keeps series"
    mine = runs.series.filter((pc.field("run") == run) & (pc.field("subject") == subject))
    found: Trace = {}
    for table in pc.unique(mine["table"]).to_pylist():
        of_table = mine.filter(pc.field("table") == table)
        for quantity in pc.unique(of_table["quantity"]).to_pylist():
            rows = of_table.filter(pc.field("quantity") == quantity)
            found[table, quantity] = Series(rows["time_s"].to_pylist(), rows["value"].to_pylist())
    return found


def by_run(runs: Runs, subject: str, table: str, quantity: str) -> dict[int, Series]:
    """One series of every run that has it, read in one pass: for sweeps of many runs."""
    import pyarrow.compute as pc

    field = pc.field
    where = (field("subject") == subject) & (field("table") == table) & (field("quantity") == quantity)
    rows = runs.select("series", ["run", "subject", "table", "quantity", "time_s", "value"], where)
    found: dict[int, Series] = {}
    for run, time, value in zip(*(rows[name].to_pylist() for name in ("run", "time_s", "value")), strict=True):
        of_run = found.setdefault(run, Series([], []))
        of_run.times.append(time)
        of_run.values.append(value)
    return found
