"""The series of a run as rows of what was so after each acknowledgement."""

from quiclab.reproduce.runs import Runs

Sample = dict[str, float]
"""`time_s` and the quantities of that moment, by name."""


def samples(runs: Runs, run: int, subject: str = "data client") -> list[Sample]:
    """What a connection's side recorded in one run, in order: a row for each moment of the table `connection`.

    Gauges of the same moment stand beside it. Where there were several acknowledgements at one moment, in the order in
    which they came.
    """
    import pyarrow.compute as pc

    if runs.series is None:
        return []
    of_run = runs.series.filter((pc.field("run") == run) & (pc.field("subject") == subject))
    columns: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in of_run.select(["table", "quantity", "time_s", "value"]).to_pylist():
        columns.setdefault((row["table"], row["quantity"]), []).append((row["time_s"], row["value"]))
    rows = [{"time_s": time_s, "cwnd_bytes": value} for time_s, value in columns.pop(("connection", "cwnd_bytes"), [])]
    for (table, quantity), values in columns.items():
        _join(rows, quantity, values, sparse=table == "gauge" or len(values) < len(rows))
    return rows


def _join(rows: list[Sample], quantity: str, values: list[tuple[float, float]], *, sparse: bool) -> None:
    if not sparse:
        for row, (_, value) in zip(rows, values, strict=True):
            row[quantity] = value
        return
    # A quantity that begins later, or is not told at every moment: each row has the last value that was told.
    told = iter(values)
    pending = next(told, None)
    last: float | None = None
    for row in rows:
        while pending is not None and pending[0] <= row["time_s"]:
            last = pending[1]
            pending = next(told, None)
        if last is not None:
            row[quantity] = last
