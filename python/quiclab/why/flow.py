"""One flow: its time cut into stretches, each with its causes."""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from quiclab.why import losses
from quiclab.why.answer import Answer, Cause
from quiclab.why.path import Path
from quiclab.why.queues import Queues
from quiclab.why.records import Records, Waited
from quiclab.why.steps import Steps
from quiclab.why.words import Facts, words

_NOTABLE = 0.005
"""A cause with a smaller share of the time is not told."""
_INFLATED = 1.5
"""A round-trip time of more than this multiple of the least one is a sign of queues."""
_LONG_HANDSHAKE = 4
"""Round-trip times of the longest handshake without a loss: of TCP with TLS, or of QUIC with a Retry and a long
certificate."""
_SECOND_FLIGHT = 1.75
"""More round-trip times than this take the handshakes in which the server may not send all of its first flight at once:
without that, data can be sent after 1 (by the client) or 1.5 (by the server)."""
_FIRST_TIMEOUT_S = 0.999
"""Of QUIC without an RTT sample (RFC 9002 section 6.2.2); that of TCP is 1 s (RFC 6298 section 2.1)."""

_HELD_BACK = ("slow_start", "window", "recovery", "pacer", "send_queue", "delivery")
"""Waits in which the network may have been full."""

_OF_THE_WINDOW = ("slow_start", "window", "pacer")
"""Waits of which a window that losses have made smaller is the cause."""
_OF_REQUESTS = ("stream_count", "stream_credit", "connection_credit")
"""Waits of the peer that keep it from asking for more."""


@dataclass
class _Stretch:
    """A part of the time, by causes in seconds."""

    start: float
    end: float
    causes: dict[str, float]


class Flow:
    """One connection."""

    def __init__(self, records: Records, entry: dict[str, Any]) -> None:
        self.records, self.entry = records, entry
        self.name, self.sender = entry["name"], entry["sender"]
        self.receiver = "client" if self.sender == "server" else "server"
        self.waits = records.wait.get((self.name, self.sender))
        opened = [rows["time_s"][0] for (name, _), rows in records.wait.items() if name == self.name]
        duration = records.run.summary["duration_s"]
        self.has_begun = bool(opened)
        self.start = float(min(opened, default=duration))
        self.completed = entry.get("completion_s") is not None
        self.end = self.start + entry["completion_s"] if self.completed else max(duration, self.start)
        self._of_peer: dict[str, float] = {}

    def answer(self) -> Answer:
        """Where its time went."""
        stretches = list(self._stretches())
        beside = [*self._told(self._queueing), *self._told(list(self._gaps()))]
        causes = tuple(self._told(stretches))
        unfinished = None if self.completed else self._unfinished(stretches)
        return Answer(self.name, self.start, self.end, self.completed, causes, tuple(beside), unfinished)

    def spans(self) -> list[tuple[float, float, str]]:
        """Start and end, in seconds of the run, of each time that one cause took for the most part, and the cause."""
        found: list[tuple[float, float, str]] = []
        for stretch in self._stretches():
            if stretch.end <= stretch.start or not stretch.causes:
                continue
            cause = max(stretch.causes, key=lambda name: stretch.causes[name])
            begun = found.pop()[0] if found and found[-1][1:] == (stretch.start, cause) else stretch.start
            found.append((begun, stretch.end, cause))
        return found

    @cached_property
    def _path(self) -> Path:
        usual = self.entry.get("bottleneck")
        return Path(self.records, self.name, self.receiver, usual, self.start, self.end)

    @cached_property
    def _reduced(self) -> Steps:
        return losses.reduced(self.records, self.name, self.sender)

    @cached_property
    def _facts(self) -> Facts:
        protocol, options = self.records.transport(self.name)
        bottleneck, *others = self._path.full
        return Facts(
            entry=self.entry,
            over_tcp=protocol == "tcp",
            controller=_type(options.get("controller", "")),
            sender=self.sender,
            receiver=self.receiver,
            bottleneck=bottleneck.name,
            rate_mbps=bottleneck.mean_mbps,
            policed=bottleneck.is_policed,
            also_full=tuple(other.name for other in others),
            scales=bool(options.get("window_scaling", True)),
        )

    def _words(self, cause: str, seconds: float) -> tuple[str, str]:
        """What happened, and what would change it."""
        facts = self._facts
        if cause == "handshake":
            facts = self._of_handshake(facts, seconds)
        elif cause == "stream credit" and not facts.over_tcp:
            facts = dataclasses.replace(facts, stream=self.records.kind_of_stream(self.name))
        elif cause == "recovery":
            facts = dataclasses.replace(facts, policer=self.records.policer(self.name))
        elif cause == "queueing":
            spans = [(stretch.start, stretch.end) for stretch in self._queueing]
            facts = dataclasses.replace(facts, bottleneck=self._queues.longest(spans, facts.bottleneck))
        if self._of_peer.get(cause, 0.0) > seconds / 2:
            # What the peer may not send is small: it is not the bottleneck that it would have to fill.
            facts = dataclasses.replace(facts, sender=self.receiver, receiver=self.sender, rate_mbps=None)
        return words(cause, facts)

    def _of_handshake(self, facts: Facts, seconds: float) -> Facts:
        """With what made a handshake of so many seconds long, where it was."""
        rows = self.records.windows.get((self.name, self.sender))
        if rows is None or np.isnan(rows["latest_rtt_ms"]).all():
            round_trip_ms = self.entry.get("rtt_mean_ms")
        else:
            round_trip_ms = float(np.nanmin(rows["latest_rtt_ms"]))
        if not round_trip_ms:
            return dataclasses.replace(facts, lost=seconds > _FIRST_TIMEOUT_S)
        round_trips = seconds * 1e3 / round_trip_ms
        server = self.records.wait.get((self.name, "server"))
        validation = 0.0 if server is None else float(server["validation_s"][-1])
        amplified = round_trips > _SECOND_FLIGHT and 3 * validation > seconds
        return dataclasses.replace(facts, lost=round_trips > _LONG_HANDSHAKE, amplified=amplified)

    def _told(self, stretches: Sequence[_Stretch]) -> Iterable[Cause]:
        """The causes in these stretches that are long enough to be told, the longest first."""
        total = max(self.end - self.start, 1e-12)
        sums: dict[str, float] = {}
        for stretch in stretches:
            for cause, seconds in stretch.causes.items():
                sums[cause] = sums.get(cause, 0.0) + seconds
        within = (self.entry.get("rtt_mean_ms") or 0.0) / 1e3
        for cause, seconds in sorted(sums.items(), key=lambda pair: -pair[1]):
            if seconds >= _NOTABLE * total:
                what, change = self._words(cause, seconds)
                yield Cause(cause, seconds, seconds / total, _longest(stretches, cause, within), what, change)

    def _stretches(self) -> Iterable[_Stretch]:
        """The time of the flow, cut where the sender's wait was told."""
        if self.waits is None:
            if self.has_begun:
                yield _Stretch(self.start, self.end, {"handshake": self.end - self.start})
            return
        times = self.waits["time_s"].tolist()
        sums = {name[:-2]: column for name, column in self.waits.items() if name.endswith("_s")}
        del sums["time"], sums["gap"]
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
        full, out = self._path.shares(start, end)
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
            if wait in _OF_THE_WINDOW and (reduced := self._reduced.mean(start, end)) > 0:
                left = parts[_cause(wait)]
                parts |= {_cause(wait): left * (1 - reduced), "recovery": left * reduced}
            for cause, part in parts.items():
                if part > 0:
                    causes[cause] = causes.get(cause, 0.0) + part
        self._ask(start, end, 1 - full - out, causes)
        return _Stretch(start, end, causes)

    @cached_property
    def _peer(self) -> "Waited | None":
        rows = self.records.wait.get((self.name, self.receiver))
        return None if rows is None else Waited(rows)

    def _ask(self, start: float, end: float, share: float, causes: dict[str, float]) -> None:
        """Where the sender has nothing to send because its peer may not ask for more, the cause is with the peer."""
        if self._peer is None or not causes.keys() & {"application", "delivery"}:
            return
        for wait in _OF_REQUESTS:
            asks = share * self._peer.seconds(wait, start, end)
            for cause in ("application", "delivery"):
                spent = min(asks, causes.get(cause, 0.0))
                if spent > 0:
                    causes[_cause(wait)] = causes.get(_cause(wait), 0.0) + spent
                    self._of_peer[_cause(wait)] = self._of_peer.get(_cause(wait), 0.0) + spent
                    causes[cause] -= spent
                    asks -= spent

    @cached_property
    def _queues(self) -> Queues:
        return Queues(self.records, self.name)

    @cached_property
    def _queueing(self) -> list[_Stretch]:
        """When round trips took long because packets waited in queues."""
        rows = self.records.windows.get((self.name, self.sender))
        if rows is None or np.isnan(rows["latest_rtt_ms"]).all():
            return []
        times, rtts = rows["time_s"], rows["latest_rtt_ms"] / 1e3
        least = float(np.nanmin(rtts))
        at = np.flatnonzero((rtts >= _INFLATED * least) & (times < self.end))
        starts, ends = times[at], np.minimum(np.append(times[1:], self.end), self.end)[at]
        if "queue" in self.records.run.tables:
            # A delayed acknowledgement, jitter or a longer path inflate it too, but then no packet waited for so long.
            waited = self._queues.waited(starts - rtts[at], starts) >= (_INFLATED - 1) * least
            # A sample holds for a round trip, and as long as packets wait: after that the sender may have been silent.
            still = np.maximum(self._queues.waited(starts, ends), rtts[at])
            starts, ends = starts[waited], np.minimum(ends, starts + still)[waited]
        # One stretch for neighbouring rows: there may be millions of rows.
        firsts = np.flatnonzero(np.append(True, starts[1:] > ends[:-1])[: starts.size])
        lasts = np.append(firsts[1:], starts.size) - 1 if starts.size else firsts
        spans = zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True)
        return [_Stretch(start, end, {"queueing": end - start}) for start, end in spans]

    def _gaps(self) -> Iterable[_Stretch]:
        """When received data waited for data before it."""
        rows = self.records.wait.get((self.name, self.receiver))
        if rows is None:
            return
        times, sums = rows["time_s"].tolist(), rows["gap_s"].tolist()
        last = sums[-1] + (max(0.0, self.end - times[-1]) if rows["in_gap"][-1] else 0.0)
        for start, end, before, after in zip(
            times, [*times[1:], max(self.end, times[-1])], sums, [*sums[1:], last], strict=True
        ):
            if after > before and start < self.end:
                yield _Stretch(start, min(end, self.end), {"head of line": min(after - before, self.end - start)})

    def _unfinished(self, stretches: Sequence[_Stretch]) -> str:
        if not self.has_begun:
            after = self.records.after(self.name)
            why = f": it begins after {after}, which was not over" if after else ""
            return f"it had not begun when the run ended at {self.end:,.3f} s{why}"
        close = self.entry.get("close")
        if close not in (None, "open"):
            return f"the connection was {close}" if close.startswith("closed ") else f"the connection ended: {close}"
        if self.waits is None:
            return f"the {self.sender} sent no packet, so no handshake was completed"
        last = self.waits["wait"][-1]
        since = float(self.waits["time_s"][-1])
        if stretches and "outage" in stretches[-1].causes:
            return f"{self._path.usual.name} carried nothing when the run ended at {self.end:,.3f} s"
        if last in ("stream_credit", "connection_credit", "stream_count", "handshake", "validation", "timeout"):
            what, _ = words(_cause(last), self._facts)
            return f"no new data was sent after {since:,.3f} s: {what}"
        if last in ("application", "delivery"):
            if self._peer is not None and self._peer.last in _OF_REQUESTS:
                what, _ = words(_cause(self._peer.last), self._facts)
                return f"no request was sent after {self._peer.since:,.3f} s: {what}"
            return f"its application had not finished when the run ended at {self.end:,.3f} s"
        if self.records.endless(self.name):
            return "its transfer has no `size`, and goes on until the run ends"
        return f"data was left to send when the run ended at {self.end:,.3f} s; a longer `duration` would help"


def _type(component: str | dict[str, Any]) -> str:
    return component if isinstance(component, str) else component.get("type", "")


def _cause(wait: str) -> str:
    return "handshake" if wait == "validation" else wait.replace("_", " ")


def _longest(stretches: Sequence[_Stretch], cause: str, within: float) -> tuple[float, float]:
    """The longest time that this cause took, for the most part, with breaks of at most `within` seconds."""
    best = current = (0.0, 0.0)
    for stretch in stretches:
        if stretch.causes.get(cause, 0.0) * 2 < stretch.end - stretch.start or stretch.end <= stretch.start:
            continue
        begun = current[0] if current[1] > 0 and stretch.start - current[1] <= within else stretch.start
        current = (begun, stretch.end)
        best = max(best, current, key=lambda span: span[1] - span[0])
    return best
