"""Connections over TCP, for which qlog has no words: what the tables of a run folder know of their congestion."""

from pathlib import Path
from typing import TYPE_CHECKING

from quiclab import _folder, _regular, _shape, _stored
from quiclab._quiclab import OutputError
from quiclab.view.qlog import Log

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
    table = _stored.whole(where / TABLE)
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
        scenario = _regular.read_toml(where / _folder.SCENARIO)
        _shape.scenario("", scenario)
    except (FileNotFoundError, NotADirectoryError):
        return set()
    except (OSError, ValueError, _shape.WrongError) as error:
        raise OutputError(f"{where / _folder.SCENARIO}: cannot be read: {_regular.reason(error)}") from error
    return {str(flow.get("name")) for flow in scenario.get("flow", []) if flow.get("protocol") == "tcp"}


def _log(name: str, side: str, table: "pa.Table") -> Log:
    log = Log(f"{name} {side}", side, f"tcp {name}", "", notes=[NOTE] if side == "client" else [])
    times = [round(time * 1e9) for time in table["time_s"].to_pylist()]
    for gauge, column in _COLUMNS.items():
        for time, value in zip(times, table[column].to_pylist(), strict=True):
            if value is not None:
                log.events.gauge(gauge, time, value)
    return log
