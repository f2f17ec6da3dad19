"""Where the time of a flow went, from the records of its run: what its sender waited for, and what the network did meanwhile.

Every moment from the start of a flow to its end belongs to one cause. The table `wait` says what kept the sender from sending
more; where that was its window or its pacer, the rates of the bottleneck say whether the network had more to give.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from quiclab.run import Run

_FULL = 0.9
"""A bottleneck that delivers this share of its capacity is full."""
_OUT = 0.01
"""A bottleneck with less than this share of its mean capacity is out."""
_NOTABLE = 0.005
"""A cause with a smaller share of the time is not told."""
_INFLATED = 1.5
"""From this ratio of the mean round-trip time over the least one on, queues are told."""

_HELD_BACK = ("slow_start", "window", "recovery", "pacer", "delivery")
"""Waits in which the network may have been full."""


@dataclass(frozen=True)
class Cause:
    """A cause, and the time that it took."""

    name: str
    """`handshake`, `slow start`, `window`, `recovery`, `timeout`, `pacer`, `stream credit`, `connection credit`, `stream count`,
    `application`, `delivery`, `capacity`, `outage`."""
    seconds: float
    """In all."""
    share: float
    """Of the time of the flow, 0 to 1."""
    longest: tuple[float, float]
    """Start and end of the longest stretch, in seconds of the run. What interrupts it for no longer than a round trip counts to it."""
    what: str
    """What happened, in one sentence."""
    change: str
    """What would change it."""


@dataclass(frozen=True)
class Answer:
    """Where the time of one connection went."""

    name: str
    """The connection."""
    start_s: float
    """The start of the flow, in seconds of the run."""
    end_s: float
    """When the receiver had all, or the end of the run."""
    completed: bool
    causes: tuple[Cause, ...]
    """The causes, the longest first; their seconds add up to the time of the flow but for what is too short to be told."""
    beside: tuple[str, ...] = field(default=())
    """What happened meanwhile and belongs to no moment of its own: queues, data that waited for data before it."""
    unfinished: str | None = None
    """Why it was not completed."""


def why(run: "Run", connection: str | None = None) -> list[Answer]:
    """Where the time of each connection went, or of one.

    :param run: a run with the tables `wait` and `rate` (both are kept by default).
    :param connection: the name of a connection; by default all.
    :raises Error: if the run has no such connection, or lacks a table.
    """
    missing = [table for table in ("wait", "rate") if table not in run.tables]
    if missing:
        raise Error(f"the run has no table {missing[0]!r}: add it to record.tables")
    connections = run.summary.get("connections") or []
    if connection is not None and connection not in [entry["name"] for entry in connections]:
        names = ", ".join(entry["name"] for entry in connections)
        raise Error(f"the run has no connection {connection!r}; it has {names or 'none'}")
    records = _Records(run)
    chosen = (entry for entry in connections if connection in (None, entry["name"]))
    return [_Flow(records, entry).answer() for entry in chosen]


class _Records:
    """The tables of a run, as far as they are needed."""

    def __init__(self, run: "Run") -> None:
        self.run = run

    @cached_property
    def wait(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The rows of `wait` by connection and side, each column an array."""
        table = self.run.table("wait")
        return _split(table, ("connection", "side"))

    @cached_property
    def rate(self) -> dict[tuple[str, str], dict[str, Any]]:
        return _split(self.run.table("rate"), ("subject", "kind"))

    def least_rtt_ms(self, name: str, side: str) -> float | None:
        """The least round-trip time that a side has seen."""
        import pyarrow.compute as pc

        least: float | None = None
        if "connection" not in self.run.tables:
            return None
        for part in self.run.parts("connection", ["connection", "side", "min_rtt_ms"]):
            mine = pc.and_(pc.equal(part["connection"], name), pc.equal(part["side"], side))
            found = pc.min(part.filter(mine)["min_rtt_ms"]).as_py()
            if found is not None:
                least = found if least is None else min(least, found)
        return least


def _split(table: Any, keys: tuple[str, str]) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of a table by two columns of text."""
    import numpy as np
    import pyarrow.compute as pc

    found = {}
    firsts, seconds = (table[key].unique().to_pylist() for key in keys)
    for first, second in itertools.product(firsts, seconds):
        rows = table.filter(pc.and_(pc.equal(table[keys[0]], first), pc.equal(table[keys[1]], second)))
        if rows.num_rows:
            names = [name for name in rows.column_names if name not in keys]
            found[first, second] = {name: np.asarray(rows[name].to_pylist()) for name in names}
    return found


@dataclass
class _Stretch:
    """A part of the time, by causes in seconds."""

    start: float
    end: float
    causes: dict[str, float]


class _Flow:
    """One connection."""

    def __init__(self, records: _Records, entry: dict[str, Any]) -> None:
        self.records, self.entry = records, entry
        self.name, self.sender = entry["name"], entry["sender"]
        self.receiver = "client" if self.sender == "server" else "server"
        self.waits = records.wait.get((self.name, self.sender))
        opened = [rows["time_s"][0] for (name, _), rows in records.wait.items() if name == self.name]
        self.start = float(min(opened, default=0.0))
        self.completed = entry.get("completion_s") is not None
        duration = records.run.summary["duration_s"]
        self.end = self.start + entry["completion_s"] if self.completed else max(duration, self.start)

    def answer(self) -> Answer:
        stretches = list(self._stretches())
        total = max(self.end - self.start, 1e-12)
        sums: dict[str, float] = {}
        for stretch in stretches:
            for cause, seconds in stretch.causes.items():
                sums[cause] = sums.get(cause, 0.0) + seconds
        causes = []
        within = (self.entry.get("rtt_mean_ms") or 0.0) / 1e3
        for cause, seconds in sorted(sums.items(), key=lambda pair: -pair[1]):
            if seconds >= _NOTABLE * total:
                what, change = self._words(cause)
                longest = _longest(stretches, cause, within)
                causes.append(Cause(cause, seconds, seconds / total, longest, what, change))
        beside = tuple(self._beside(total))
        return Answer(
            self.name, self.start, self.end, self.completed, tuple(causes), beside, self._unfinished(stretches)
        )

    def _stretches(self) -> Iterable[_Stretch]:
        """The time of the flow, cut where the sender's wait was told."""
        if self.waits is None:
            yield _Stretch(self.start, self.end, {"handshake": self.end - self.start})
            return
        times = [float(time) for time in self.waits["time_s"]]
        sums = {name[:-2]: column for name, column in self.waits.items() if name.endswith("_s") and name != "time_s"}
        gone = sums.pop("gap", None)
        assert gone is not None
        if times[0] > self.start:
            yield self._caused(self.start, min(times[0], self.end), {"handshake": times[0] - self.start})
        for at, (start, end) in enumerate(itertools.pairwise([*times, max(self.end, times[-1])])):
            if start >= self.end:
                break
            if at + 1 < len(times):
                waits = {name: float(column[at + 1] - column[at]) for name, column in sums.items()}
            else:
                waits = {self.waits["wait"][at]: end - start}
            yield self._caused(start, min(end, self.end), waits)

    def _caused(self, start: float, end: float, waits: dict[str, float]) -> _Stretch:
        """The causes of what a sender waited for in this time."""
        told = sum(waits.values())
        scale = (end - start) / told if told > 0 else 0.0
        full, out = self.bottleneck.shares(start, end)
        causes: dict[str, float] = {}
        for wait, seconds in waits.items():
            spent = seconds * scale
            if spent <= 0:
                continue
            parts = {_cause(wait): spent}
            if wait in _HELD_BACK:
                parts = {"outage": spent * out, "capacity": spent * full, _cause(wait): spent * (1 - full - out)}
            elif wait == "timeout":
                parts = {"outage": spent * out, "timeout": spent * (1 - out)}
            for cause, part in parts.items():
                if part > 0:
                    causes[cause] = causes.get(cause, 0.0) + part
        return _Stretch(start, end, causes)

    @cached_property
    def bottleneck(self) -> "_Bottleneck":
        return _Bottleneck(self.records, self.entry.get("bottleneck"))

    def _beside(self, total: float) -> Iterable[str]:
        least = self.records.least_rtt_ms(self.name, self.sender)
        mean = self.entry.get("rtt_mean_ms")
        if least and mean and mean >= _INFLATED * least:
            yield (
                f"queueing: the round-trip time was {mean:,.1f} ms in the mean and {least:,.1f} ms at least: packets waited "
                f"{mean - least:,.1f} ms in queues, the longest of them {self.bottleneck.name or 'not known'}. "
                "A shorter queue, an AQM (`codel`, `fq-codel`), or a controller that keeps queues short would change it."
            )
        received = self.records.wait.get((self.name, self.receiver))
        if received is not None:
            gap = float(received["gap_s"][-1])
            if received["in_gap"][-1]:
                gap += max(0.0, self.end - float(received["time_s"][-1]))
            if gap >= _NOTABLE * total:
                yield (
                    f"head of line: for {gap:,.3f} s data that had been received waited for data before it on its stream. "
                    "Independent data on streams of its own would not have waited."
                )

    def _unfinished(self, stretches: Sequence[_Stretch]) -> str | None:
        if self.completed:
            return None
        close = self.entry.get("close")
        if close not in (None, "open"):
            return f"the connection was closed: {close}"
        if self.waits is None:
            return f"no packet of the {self.sender} was sent: no handshake was completed"
        last = self.waits["wait"][-1]
        since = float(self.waits["time_s"][-1])
        if stretches and "outage" in stretches[-1].causes:
            return f"the run ended at {self.end:,.3f} s, and {self.bottleneck.name} carried nothing"
        what, _ = self._words(_cause(last))
        if last in ("stream_credit", "connection_credit", "stream_count", "handshake", "validation", "timeout"):
            return f"since {since:,.3f} s nothing was sent: {what}"
        return f"the run ended at {self.end:,.3f} s, before all was delivered: a longer duration"

    def _words(self, cause: str) -> tuple[str, str]:
        """What happened, and what would change it."""
        lost = self.entry.get("packets_lost") or 0
        timeouts = self.entry.get("probe_timeouts") or 0
        rtt = self.entry.get("rtt_mean_ms")
        credit = "initial_max_stream_data_bidi_" + ("local" if self.sender == "server" else "remote")
        link = self.bottleneck.name or "the slowest link"
        rate = self.bottleneck.mean_mbps
        at = f"{rate:,.3g} Mbit/s" if rate else "its rate"
        need = ""
        if rate and rtt:
            need = f"; {rate / 8 * rtt:,.0f} kB are the rate of {link} times the round-trip time"
        words = {
            "handshake": (
                "keys and addresses were exchanged before data could be sent",
                'a session that is resumed with 0-RTT (`visits`, `early_data`), or fewer round trips',
            ),
            "slow start": (
                "the window was growing from its initial size, and the network was not full",
                "a larger `transport.initial_window`, Careful Resume (`transport.resume`), or a longer transfer",
            ),
            "window": (
                "the congestion window was full, and the network was not",
                "a controller that takes a larger window, or a larger window of `fixed`" + need,
            ),
            "recovery": (
                f"the controller recovered from losses ({lost:,} packets were lost), and the network was not full",
                "fewer losses, or a controller that reacts less to them (`bbr3`, `cubic`)",
            ),
            "timeout": (
                f"no acknowledgement came until a timer expired ({timeouts:,} probe timeouts)",
                "fewer losses at the end of data, or a shorter `transport.max_ack_delay`",
            ),
            "pacer": (
                "the pacer spread packets, and the network was not full",
                "a larger `transport.pacing_burst`, or a controller that finds the rate sooner",
            ),
            "stream credit": (
                "the receiver's flow control of the stream admitted no more",
                f"a larger `transport.{credit}` of the {self.receiver}{need}",
            ),
            "connection credit": (
                "the receiver's flow control of the connection admitted no more",
                f"a larger `transport.initial_max_data` of the {self.receiver}{need}",
            ),
            "stream count": (
                "the peer admitted no more streams",
                f"a larger `transport.initial_max_streams_bidi` (or `_uni`) of the {self.receiver}",
            ),
            "application": (
                "the application had written nothing more, and all had been delivered",
                "an application that writes sooner, or more at a time",
            ),
            "delivery": ("all had been sent, and was on its way", "a shorter delay, or a shorter queue before the last packet"),
            "capacity": (f"{link} was full", f"a faster {link} ({at} in the mean), or less other traffic on it"),
            "outage": (f"{link} carried nothing", f"a {link} without outages"),
        }
        return words[cause]


def _cause(wait: str) -> str:
    return "handshake" if wait == "validation" else wait.replace("_", " ")


def _longest(stretches: Sequence[_Stretch], cause: str, within: float) -> tuple[float, float]:
    """The longest time that this cause took, for the most part, with interruptions of at most `within` seconds."""
    best = current = (0.0, 0.0)
    for stretch in stretches:
        if stretch.causes.get(cause, 0.0) * 2 < stretch.end - stretch.start or stretch.end <= stretch.start:
            continue
        begun = current[0] if current[1] > 0 and stretch.start - current[1] <= within else stretch.start
        current = (begun, stretch.end)
        best = max(best, current, key=lambda span: span[1] - span[0])
    return best


class _Bottleneck:
    """When the link with the longest queue on the way of the data was full, and when it carried nothing."""

    def __init__(self, records: _Records, name: str | None) -> None:
        import numpy as np

        self.name = name
        delivered = records.rate.get((name or "", "delivered"))
        capacity = records.rate.get((name or "", "capacity"))
        self.starts: NDArray[np.float64] = np.zeros(0)
        self.mean_mbps: float | None = None
        if capacity is None:
            return
        self.starts = np.asarray(capacity["time_s"], dtype=float)
        available = np.asarray(capacity["mbps"], dtype=float)
        carried = np.zeros_like(available)
        if delivered is not None:
            at = np.searchsorted(self.starts, np.asarray(delivered["time_s"], dtype=float) + 1e-9) - 1
            np.add.at(carried, np.clip(at, 0, None), np.asarray(delivered["mbps"], dtype=float))
        self.mean_mbps = float(available.mean()) if available.size else None
        self.out = available < _OUT * available.mean()
        self.full = ~self.out & (carried >= _FULL * available)

    def shares(self, start: float, end: float) -> tuple[float, float]:
        """The shares of a time in which it was full, and in which it carried nothing."""
        import numpy as np

        if not self.starts.size or end <= start:
            return 0.0, 0.0
        first = max(0, int(np.searchsorted(self.starts, start, side="right")) - 1)
        last = max(first + 1, int(np.searchsorted(self.starts, end, side="left")))
        edges = np.append(self.starts[first:last], np.inf)
        edges[0] = min(edges[0], start)
        spans = np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], start), 0, None)
        whole = float(spans.sum()) or 1.0
        return float(spans[self.full[first:last]].sum()) / whole, float(spans[self.out[first:last]].sum()) / whole
