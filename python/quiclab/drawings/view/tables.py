"""Connections over TCP, for which qlog has no words: what the tables of a run folder know of their congestion."""

from pathlib import Path
from typing import TYPE_CHECKING

from quiclab._quiclab import OutputError
from quiclab.records.qlog import Log
from quiclab.values import folders, regular_files, shapes, stored_tables

if TYPE_CHECKING:
    import pyarrow as pa

TABLE = "connection.parquet"

NOTE = "over TCP, which qlog does not cover: its congestion control is shown, from the tables of the run"

_COLUMNS = {
    "congestion_window": "cwnd_bytes",
    "bytes_in_flight": "bytes_in_flight",
    "ssthresh": "ssthresh_bytes",
    "smoothed_rtt": "smoothed_rtt_ms",
    "latest_rtt": "latest_rtt_ms",
    "min_rtt": "min_rtt_ms",
}
"""The column of the table for a gauge of qlog."""


def logs(where: Path) -> list[Log]:
    """A log without packets for each end of each connection over TCP; empty if the folder has none, or no tables."""
    flows = _tcp_flows(where)
    if not flows or not (where / TABLE).exists():
        return []
    table = stored_tables.whole(where / TABLE)
    names = table["connection"].to_pylist()
    sides = table["side"].to_pylist()
    rows: dict[tuple[str, str], list[int]] = {}
    for row, (name, side) in enumerate(zip(names, sides, strict=True)):
        # A flow of several connections numbers all but the first: web, web#1, web#2. A proxy has its own: web at ap.
        if name.partition(" at ")[0].partition("#")[0] in flows:
            rows.setdefault((name, side), []).append(row)
    return [_log(name, side, table.take(chosen)) for (name, side), chosen in rows.items()]


def _tcp_flows(where: Path) -> set[str]:
    try:
        scenario = regular_files.read_toml(where / folders.SCENARIO)
        shapes.scenario("", scenario)
    except (FileNotFoundError, NotADirectoryError):
        return set()
    except (OSError, ValueError, shapes.WrongError) as error:
        raise OutputError(f"{where / folders.SCENARIO}: cannot be read: {regular_files.reason(error)}") from error
    return {str(flow.get("name")) for flow in scenario.get("flow", []) if flow.get("protocol") == "tcp"}


def _log(name: str, side: str, table: "pa.Table") -> Log:
    log = Log(f"{name} {side}", side, f"tcp {name}", "", notes=[NOTE] if side == "client" else [])
    times = [round(time * 1e9) for time in table["time_s"].to_pylist()]
    for gauge, column in _COLUMNS.items():
        for time, value in zip(times, table[column].to_pylist(), strict=True):
            if value is not None:
                log.events.gauge(gauge, time, value)
    return log
