"""What a plot reads: the series of one connection, of the bottleneck link, and where packets were lost."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quiclab._quiclab import Error
from quiclab.drawings.plots.bins import bin_s, is_cut_off
from quiclab.drawings.plots.reduced import Points, Reduction, merged, reduced
from quiclab.values import arguments
from quiclab.values.columns import having, numbers
from quiclab.values.downsampling import Series
from quiclab.values.suggestions import hint

if TYPE_CHECKING:
    import pyarrow as pa

    from quiclab.results.run import Run
    from quiclab.values.columns import Truths

GAUGES = ("bytes_in_flight", "cwnd_bytes", "latest_rtt_ms", "smoothed_rtt_ms", "min_rtt_ms")
"""The columns of the table `connection` that are drawn as they are."""


@dataclass(frozen=True)
class ResumePhase:
    """A phase of Careful Resume (RFC 9959 section 3)."""

    name: str
    """As in the table of events: "reconnaissance", "unvalidated", "validating", "safe_retreat" or "normal"."""
    start_s: float
    end_s: float
    """NaN if nothing follows."""
    window_bytes: float
    """The congestion window at its beginning."""


@dataclass(frozen=True)
class View:
    """One connection of a run, seen from the end that sends the data."""

    run: "Run"
    connection: str
    side: str
    """The sender: "client" or "server"."""
    alone: bool
    """Whether it is the run's only connection."""
    link: str | None
    """The connection's bottleneck: of the link directions on the way of its data the one with the longest queue."""
    data_lanes: tuple[str, ...] = ()
    """The lanes of media with a link layer on the way of its data."""
    back_lanes: tuple[str, ...] = ()
    """And on the way back."""

    def gauge(self, column: str) -> Points:
        """Times in seconds and values of one of `GAUGES`, as many as a plot can show."""
        return self._gauges[column]

    @cached_property
    def _gauges(self) -> dict[str, Points]:
        """The gauges, which are read together."""
        return self._reduced("connection", GAUGES, connection=self.connection, side=self.side)

    def window(self) -> Points:
        """Times in seconds and bytes of the congestion window: as sampled, and where Careful Resume sets it.

        As many as a plot can show.
        """
        phases = self.phases()
        if not phases:
            return self.gauge("cwnd_bytes")
        starts = np.array([phase.start_s for phase in phases])
        windows = np.array([phase.window_bytes for phase in phases])
        where = {"connection": self.connection, "side": self.side}
        sampled = ((times, values) for times, (values,) in self._parts("connection", ["cwnd_bytes"], where))
        last = max([self._last("connection", where), *starts])
        return reduced(merged(sampled, starts, windows), last)

    def rate(self, kind: str) -> Points:
        """Times in seconds and Mbit/s: "sent" by the connection, "delivered" by the bottleneck and its "capacity"."""
        subject = f"{self.connection} {self.side}" if kind == "sent" else self.link
        times, values = self.series("rate", "mbps", subject=subject, kind=kind)
        if not len(times):
            return times, values
        # A value holds from its time on for the width of a bin: the last one too. A capacity holds until the end.
        end = max(float(self.run.summary.get("duration_s") or 0), float(times[-1]))
        over = float(times[-1]) + bin_s(self.run)
        if kind == "capacity" or over >= end:
            return np.append(times, end), np.append(values, values[-1])
        if is_cut_off(self.run.table("rate").arrow):
            return np.append(times, over), np.append(values, values[-1])
        # The table has no rows of bins after the last packet.
        return np.append(times, [over, end]), np.append(values, [0.0, 0.0])

    def delivery_samples(self) -> Points:
        """Times in seconds and Mbit/s: the means of the connection's own delivery-rate samples, of 100 ms each."""
        sums, counts = np.empty(0), np.empty(0)
        where = {"connection": self.connection, "side": self.side}
        for times, (values,) in self._parts("connection", ["delivery_rate_mbps"], where):
            known = ~np.isnan(values)
            if not known.any():
                continue
            bins = (times[known] / 0.1).astype(np.int64)
            missing = max(int(bins[-1]) + 1 - len(sums), 0)
            sums, counts = np.append(sums, np.zeros(missing)), np.append(counts, np.zeros(missing))
            np.add.at(sums, bins, values[known])
            np.add.at(counts, bins, 1)
        there = np.flatnonzero(counts)
        return np.asarray(there * 0.1, dtype=np.float64), sums[there] / counts[there]

    def losses(self) -> Series:
        """When the sender declared packets lost, in seconds."""
        return self.series("loss", "time_s", connection=self.connection, side=self.side)[0]

    def phases(self) -> list[ResumePhase]:
        """The phases of Careful Resume up to its end; empty if nothing was resumed."""
        if "event" not in self.run.tables:
            return []
        found: list[tuple[float, str]] = []
        for part in self.run.parts("event", ["time_s", "connection", "side", "event", "detail"]):
            rows = having(part["event"], "resume_phase")
            if not rows.any():
                continue
            # Another connection, or the other side, may have resumed.
            rows &= having(part["connection"], self.connection) & having(part["side"], self.side)
            times = numbers(part["time_s"])
            found += [(float(times[place]), str(part["detail"][int(place)])) for place in np.flatnonzero(rows)]
        if not found:
            return []
        times = np.array([time for time, _ in found])
        details = [detail for _, detail in found]
        ends = np.append(times[1:], np.nan)
        return [
            ResumePhase(name, float(start), float(end), _after(detail, "window"))
            for (name, detail), start, end in zip(
                ((text.split()[0], text) for text in details), times, ends, strict=True
            )
        ]

    def drops(self) -> Series:
        """When the bottleneck dropped packets, in seconds."""
        return self.series("drop", "time_s", link=self.link)[0]

    def queue(self) -> Points:
        """Times in seconds and packets in the bottleneck's queue, as many as a plot can show."""
        return self._reduced("queue", ["packets"], link=self.link)["packets"]

    def series(self, name: str, column: str, **where: str | None) -> Points:
        """Times and values of a column in the rows whose text columns are as given; empty if there is no such table."""
        parts = [(times, values) for times, (values,) in self._parts(name, [column], where)]
        if not parts:
            return np.empty(0), np.empty(0)
        times, values = zip(*parts, strict=True)
        return np.concatenate(times), np.concatenate(values)

    def _reduced(self, name: str, columns: Sequence[str], **where: str | None) -> dict[str, Points]:
        """Series of a table by the names of their columns, each with at most as many points as a plot can show."""
        last = self._last(name, where)
        series = {column: Reduction(last) for column in columns}
        for times, parts in self._parts(name, columns, where):
            for reduction, values in zip(series.values(), parts, strict=True):
                reduction.add(times, values)
        return {column: reduction.result() for column, reduction in series.items()}

    def _parts(
        self, name: str, columns: Sequence[str], where: Mapping[str, str | None]
    ) -> Iterator[tuple[Series, list[Series]]]:
        """Times and the values of these columns, part by part."""
        if name not in self.run.tables:
            return
        for part in self.run.parts(name, list(dict.fromkeys(["time_s", *where, *columns]))):
            rows = _rows(part, where)
            yield numbers(part["time_s"])[rows], [numbers(part[column])[rows] for column in columns]

    def _last(self, name: str, where: Mapping[str, str | None]) -> float:
        """The last time of a series; that before all others if it is empty."""
        if name in self.run.tables:
            for part in self.run.parts(name, ["time_s", *where], backwards=True):
                times = numbers(part["time_s"])[_rows(part, where)]
                if len(times):
                    return float(times[-1])
        return -math.inf


def _rows(part: "pa.Table", where: Mapping[str, str | None]) -> "Truths":
    """Which rows have these texts in these columns."""
    rows = np.ones(len(part), dtype=bool)
    for key, word in where.items():
        rows &= having(part[key], word)
    return rows


def views(run: "Run", connection: str | None) -> list[View]:
    """The views of a run, one per connection, or the one that is named. Raises `Error` if there is none."""
    run._check()
    if not run.tables:
        raise Error("nothing to plot: the run was made without tables")
    if "connection" not in run.tables:
        raise Error("nothing to plot: the run has no table 'connection': add it to record.tables")
    names = list(dict.fromkeys(str(entry["name"]) for entry in run.summary.get("connections", [])))
    alone = len(names) == 1
    if connection is not None:
        arguments.text("connection", connection, "the name of a connection")
        if connection not in names:
            raise Error(f"no connection {connection!r}: there are {', '.join(names)}{hint(connection, names)}")
        names = [connection]
    if not names:
        raise Error("nothing to plot: the run has no connection")
    entries = {str(entry["name"]): entry for entry in run.summary["connections"]}

    def view(name: str) -> View:
        entry = entries[name]
        lanes = entry.get("lanes") or {}
        data, back = (tuple(lanes.get(way) or ()) for way in ("data", "back"))
        return View(run, name, str(entry.get("sender", "server")), alone, entry.get("bottleneck"), data, back)

    return [view(name) for name in names]


def _after(detail: str, word: str) -> float:
    """The number after a word; NaN if it is not there."""
    words = detail.split()
    return float(words[words.index(word) + 1]) if word in words else float("nan")
