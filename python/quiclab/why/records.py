"""The tables of a run, as far as `why` needs them."""

import itertools
import tomllib
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from quiclab.run import Run

    Rows = dict[str, NDArray[Any]]
    """The columns of some rows."""


class Records:
    """The tables, split by what their rows are about."""

    def __init__(self, run: "Run") -> None:
        self.run = run

    @cached_property
    def _document(self) -> dict[str, Any]:
        return tomllib.loads(self.run.scenario_toml)

    @cached_property
    def _flows(self) -> dict[str, dict[str, Any]]:
        return {flow["name"]: flow for flow in self._document.get("flow", [])}

    def transport(self, connection: str) -> tuple[str, dict[str, Any]]:
        """The protocol of a connection, `quic` or `tcp`, and the options of its endpoints.

        The names of other connections of a flow, `get#1`, and of those of a proxy, `get at terminal`, begin with the flow's own.
        """
        flow = self._flows.get(connection) or self._flows.get(connection.partition("#")[0].partition(" at ")[0], {})
        protocol = flow.get("protocol", "quic")
        table = "tcp" if protocol == "tcp" else "transport"
        return protocol, {**self._document.get(table, {}), **flow.get(table, {})}

    @cached_property
    def wait(self) -> "dict[tuple[str, str], Rows]":
        """The rows of `wait` by connection and side."""
        return _split(self.run.table("wait"), ("connection", "side"))

    @cached_property
    def rate(self) -> "dict[tuple[str, str], Rows]":
        """The rows of `rate` by subject and kind."""
        return _split(self.run.table("rate"), ("subject", "kind"))

    def queue(self, link: str) -> "Rows | None":
        """The time and the packets of a queue, when its length changed."""
        return self._chosen("queue", ["time_s", "packets"], {"link": link})

    def round_trips(self, connection: str, side: str) -> "Rows | None":
        """The time and the value of the round-trip times that a side measured."""
        return self._chosen("connection", ["time_s", "latest_rtt_ms"], {"connection": connection, "side": side})

    def windows(self, connection: str, side: str) -> "Rows | None":
        """The time, the congestion window and the smoothed round-trip time of a side, when they changed."""
        columns = ["time_s", "cwnd_bytes", "smoothed_rtt_ms"]
        return self._chosen("connection", columns, {"connection": connection, "side": side})

    def losses(self, connection: str, side: str) -> "Rows | None":
        """The times at which a side declared packets lost."""
        return self._chosen("loss", ["time_s"], {"connection": connection, "side": side})

    def _chosen(self, name: str, columns: list[str], where: dict[str, str]) -> "Rows | None":
        """Columns of the rows of a table that have these values, without those that are null, or None if there are none."""
        import numpy as np
        import pyarrow.compute as pc

        if name not in self.run.tables:
            return None
        parts: list[Rows] = []
        for part in self.run.parts(name, [*columns, *where]):
            rows = part
            for column, value in where.items():
                rows = rows.filter(pc.equal(rows[column], value))
            rows = rows.select(columns).drop_null()
            parts.append({column: rows[column].to_numpy() for column in columns})
        found = {column: np.concatenate([part[column] for part in parts]) for column in columns} if parts else {}
        return found if found and len(found[columns[0]]) else None


class Waited:
    """What one end of a connection waited for."""

    def __init__(self, rows: "Rows") -> None:
        self._rows = rows
        self._times = rows["time_s"].astype(float)
        self.last: str = rows["wait"][-1]
        """What it waited for at the end."""
        self.since = float(self._times[-1])
        """The time of the last row, in seconds of the run."""

    def seconds(self, wait: str, start: float, end: float) -> float:
        """How much of a time it waited for this; between two rows evenly."""
        return self._until(wait, end) - self._until(wait, start)

    def _until(self, wait: str, time: float) -> float:
        import numpy as np

        more = max(0.0, time - self.since) if wait == self.last else 0.0
        return float(np.interp(time, self._times, self._rows[f"{wait}_s"])) + more


def _split(table: "pa.Table", keys: tuple[str, str]) -> "dict[tuple[str, str], Rows]":
    """The rows of a table by two columns of text."""
    import pyarrow.compute as pc

    found: dict[tuple[str, str], Rows] = {}
    firsts, seconds = (table[key].unique().to_pylist() for key in keys)
    for first, second in itertools.product(firsts, seconds):
        rows = table.filter(pc.and_(pc.equal(table[keys[0]], first), pc.equal(table[keys[1]], second)))
        if rows.num_rows:
            names = [name for name in rows.column_names if name not in keys]
            found[first, second] = {name: _array(rows[name]) for name in names}
    return found


def _array(column: "pa.ChunkedArray") -> "np.ndarray[Any, Any]":
    import numpy as np
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        return np.asarray(column.to_pylist(), dtype=object)
    return np.asarray(column.to_numpy())
