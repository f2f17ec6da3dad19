"""What came of the cells: one outcome for each run, their medians, and the table on disk."""

import os
import statistics
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.engines.matrix.packets import Traffic
from quiclab.values.median import interval_of_median

if TYPE_CHECKING:
    import pyarrow as pa

PASSED, FAILED, UNSUPPORTED = "passed", "failed", "unsupported"


@dataclass
class Outcome:
    """What came of a run. What is measured is so in the network, by the packets at its gates."""

    result: str
    """passed, failed or unsupported."""
    reason: str = ""
    duration_s: float | None = None
    """From the client's first datagram to the arrival of the server's last data; None unless it passed."""
    goodput_mbps: float | None = None
    """The file over that time; None unless it passed."""
    rtt_mean_ms: float | None = None
    """The mean delay of the server's packets and that of the client's, together."""
    rtt_min_ms: float | None = None
    server_packets: int | None = None
    client_packets: int | None = None
    server_packets_lost: int | None = None
    """Of the server's packets, those that the network lost or dropped."""
    client_packets_lost: int | None = None
    server_sent_bytes: int | None = None
    """Of IP packets that entered the network."""
    client_sent_bytes: int | None = None
    server_overhead: float | None = None
    """What the server sent, in bytes of IP, over the size of the file."""
    client_overhead: float | None = None
    lateness_p99_ms: float | None = None
    """Of the emulation."""
    lateness_max_ms: float | None = None

    def measure(self, traffic: Traffic, size: int) -> None:
        """Takes over what the packets show."""
        down, up = traffic.down, traffic.up
        self.rtt_mean_ms, self.rtt_min_ms = traffic.rtt_mean_ms, traffic.rtt_min_ms
        self.server_packets, self.client_packets = down.packets, up.packets
        self.server_packets_lost, self.client_packets_lost = down.lost, up.lost
        self.server_sent_bytes, self.client_sent_bytes = down.sent_bytes, up.sent_bytes
        if self.result == PASSED and traffic.duration_s:
            self.duration_s = traffic.duration_s
            self.goodput_mbps = 8e-6 * size / traffic.duration_s
            self.server_overhead, self.client_overhead = down.sent_bytes / size, up.sent_bytes / size

    def is_late(self, limit_ms: float) -> bool:
        """Whether the machine was too slow for its numbers to count."""
        return self.lateness_p99_ms is not None and self.lateness_p99_ms > limit_ms


@dataclass(frozen=True)
class Median:
    """Over the runs of a cell that passed."""

    value: float
    low: float | None
    high: float | None
    """The 95 % interval; None for fewer than six runs."""

    def __str__(self) -> str:
        interval = "" if self.low is None else f" [{self.low:.3g}, {self.high:.3g}]"
        return f"{self.value:.3g}{interval}"


def median(values: Iterable[float | None]) -> Median | None:
    """The median of what is known; None of nothing."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    low, high = interval_of_median(known) or (None, None)
    return Median(statistics.median(known), low, high)


def write_table(path: Path, rows: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> "pa.Table":
    """Writes rows of equal keys as Parquet. `texts`: columns that are text also where all are null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        if name in texts or any(isinstance(value, str) for value in values):
            columns[name] = pa.array([None if value is None else str(value) for value in values], pa.string())
        elif any(isinstance(value, float) for value in values) or all(value is None for value in values):
            columns[name] = pa.array(values, pa.float64())
        else:
            columns[name] = pa.array(values)
    table = pa.table(columns)
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        pq.write_table(table, str(partial), compression="zstd")
        partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return table
