"""One flow: its causes, in words, with what would help."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from quiclab.explanations.why.advice import Advice, notes, ranked
from quiclab.explanations.why.attribution import OF_REQUESTS, Attribution, Stretch
from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.queues import Queues, longest
from quiclab.explanations.why.records import Records
from quiclab.explanations.why.shares import Shares
from quiclab.explanations.why.situation import Hop, Situation, number
from quiclab.explanations.why.trial import Trials, outcome
from quiclab.explanations.why.words import words
from quiclab.results.answer import Answer, Cause

_NOTABLE = 0.005
"""A cause with a smaller share of the time is not told."""
_INFLATED = 1.5
"""A round-trip time of more than this multiple of that of the path is a sign of queues."""
_OF_INFLATION = 0.5
"""Queues in which packets waited for a smaller part of what a round trip took longer have not made it long."""
_OFTEN = 0.5
"""A medium in which more than this share of frames is sent again is too fast for its channel."""
_LONG_HANDSHAKE = 4
"""Round-trip times of the longest handshake without a loss: of TCP with TLS, or of QUIC with a Retry and a long
certificate."""
_SECOND_FLIGHT = 1.75
"""More round-trip times than this take the handshakes in which the server may not send all of its first flight at once:
without that, data can be sent after 1 (by the client) or 1.5 (by the server)."""
_FIRST_TIMEOUT_S = 0.999
"""Of QUIC without an RTT sample (RFC 9002 section 6.2.2); that of TCP is 1 s (RFC 6298 section 2.1)."""


class Flow:
    """One connection.

    :param records: the tables of its run.
    :param entry: its entry in the summary.
    :param trials: to try remedies with; None if nothing is tried.
    :param refused: why nothing is tried, where that has to be said.
    """

    def __init__(
        self,
        records: Records,
        entry: dict[str, Any],
        trials: Trials | None = None,
        refused: str | None = None,
    ) -> None:
        self.records, self.entry, self._trials, self._refused = records, entry, trials, refused
        self.name, self.sender = entry["name"], entry["sender"]
        self.receiver = "client" if self.sender == "server" else "server"
        opened = [rows["time_s"][0] for (name, _), rows in records.wait.items() if name == self.name]
        duration = records.run.summary["duration_s"]
        self.has_begun = bool(opened)
        self.start = float(min(opened, default=duration))
        self.completed = entry.get("completion_s") is not None
        self.end = self.start + entry["completion_s"] if self.completed else max(duration, self.start)
        self._situation = Situation(records, entry)
        self._attribution = Attribution(self._situation, self.start, self.end)
        self.waits = self._attribution.waits

    def answer(self) -> Answer:
        """Where its time went, and what would help."""
        stretches = self._stretches
        causes = ranked(list(self._told(stretches)))
        beside = [*self._told(self._queueing), *self._told(list(self._gaps()))]
        unfinished = None if self.completed else self._unfinished(stretches)
        told = notes(causes, self._trials, self._refused if self.has_begun else None)
        return Answer(self.name, self.start, self.end, self.completed, causes, tuple(beside), unfinished, told)

    def spans(self) -> list[tuple[float, float, str]]:
        """Start and end, in seconds of the run, of each time that one cause took for the most part, and the cause."""
        found: list[tuple[float, float, str]] = []
        for stretch in self._stretches:
            if stretch.end <= stretch.start or not stretch.causes:
                continue
            cause = max(stretch.causes, key=lambda name: stretch.causes[name])
            begun = found.pop()[0] if found and found[-1][1:] == (stretch.start, cause) else stretch.start
            found.append((begun, stretch.end, cause))
        return found

    @cached_property
    def _stretches(self) -> list[Stretch]:
        if self.waits is None:
            return [Stretch(self.start, self.end, {"handshake": self.end - self.start})] if self.has_begun else []
        return self._attribution.stretches()

    @cached_property
    def _advice(self) -> Advice:
        # A run ends with its last flow, so one that failed early had more time.
        duration = number(self.records.document.get("duration")) or self.records.run.summary["duration_s"]
        span = max(duration - self.start, 1e-9)
        return Advice(self.name, outcome(self.entry, span), span, self._trials)

    @cached_property
    def _facts(self) -> Facts:
        situation = self._situation
        path = self._attribution.path
        bottleneck, *others = path.full
        hop = situation.hop(bottleneck.name)
        shares = tuple(self._attribution.shares.between(self.start, self.end))
        back = self._longest(situation.back)
        back_shares = Shares.of_hop(self.records, back.name) if back is not None else None
        of_back = back_shares.between(self.start, self.end) if back_shares is not None else []
        return Facts(
            entry=self.entry,
            over_tcp=situation.protocol == "tcp",
            controller=situation.controller,
            sender=self.sender,
            receiver=self.receiver,
            bottleneck=bottleneck.name,
            rate_mbps=bottleneck.mean_mbps,
            policed=bottleneck.is_policed,
            policer=self.records.policer(self.name),
            also_full=tuple(other.name for other in others),
            scales=bool(situation.options.get("window_scaling", True)),
            situation=situation,
            hop=hop,
            queue_hop=self._longest(situation.data) or hop,
            back=back,
            shares=shares,
            shared=self._attribution.shares.words(self.name, self.start, self.end),
            lane_share=self._attribution.shares.in_lane(self.name, self.start, self.end),
            medium=self._attribution.shares.medium,
            back_shares=back_shares.words(self.name, self.start, self.end) if back_shares is not None else "",
            back_share=next((share for name, share in of_back if name == self.name), 1.0),
            down=self._down,
            dropped_by=self._dropped_by,
            marked=self._marked,
            drops=self._drops,
            fails=self._fails(bottleneck.name),
            **self._busiest,
        )

    @property
    def _marked(self) -> tuple[tuple[str, int], ...]:
        """The hops of the data that marked packets with CE, and how many of all flows."""
        counts = [(name, int(one.get("marked_packets") or 0)) for name, one in self._hops.items()]
        return tuple((name, count) for name, count in counts if count)

    @property
    def _drops(self) -> tuple[str, int] | None:
        """The hop of the data whose queue dropped the most packets, and how many of all flows."""
        counts = [(name, int((one.get("drops") or {}).get("queue") or 0)) for name, one in self._hops.items()]
        most = max(counts, key=lambda pair: pair[1], default=None)
        return most if most is not None and most[1] else None

    def _fails(self, hop: str) -> bool:
        """Whether many frames or blocks of a medium have to be sent again."""
        air = self._hops.get(hop, {}).get("air") or {}
        return bool((air.get("again_blocks") or 0) > _OFTEN * max(air.get("sent_blocks") or 0, 1))

    @cached_property
    def _hops(self) -> dict[str, Any]:
        """What the summary has of the hops of the data."""
        names = {hop.name for hop in self._situation.data}
        summary = self.records.run.summary
        links = [(f"{link['name']} {link['direction']}", link) for link in summary.get("links") or []]
        media = [
            (" ".join(str(one[key]) for key in ("name", "attachment", "to") if one.get(key)), one)
            for one in summary.get("media") or []
        ]
        return {name: one for name, one in (*links, *media) if name in names}

    @property
    def _busiest(self) -> dict[str, Any]:
        """What is known of the node with `processing` at which packets spent the most time."""
        waits = self._attribution.delays.nodes
        spent = [
            (node.passes_s + (node.takes_data + node.takes_acks) * waits[node.name].mean(self.start, self.end), node)
            for node in self._situation.nodes
        ]
        most = max(spent, key=lambda pair: pair[0], default=None)
        if most is None:
            return {}
        node = most[1]
        shares = Shares.of_hop(self.records, node.queue, node)
        return {
            "node": node,
            "node_ms": 1e3 * waits[node.name].mean(self.start, self.end),
            "node_drops": len(rows["time_s"]) if (rows := self.records.lost.get((node.queue,))) is not None else 0,
            "node_shares": tuple(shares.between(self.start, self.end)),
            "node_shared": shares.words(self.name, self.start, self.end),
        }

    def _longest(self, hops: list[Hop]) -> Hop | None:
        """The hop in whose queue packets waited for longest while the flow was there."""
        queues = self._attribution.delays.queues
        waited = [(queues[hop.name].mean(self.start, self.end), hop) for hop in hops if hop.name in queues]
        most = max(waited, key=lambda pair: pair[0], default=None)
        return most[1] if most is not None and most[0] > 0 else None

    @property
    def _down(self) -> str:
        """The interfaces that were down while the flow was there, in words."""
        return " and ".join(one.told for one in self._situation.downs if one.start < self.end and one.end > self.start)

    @property
    def _dropped_by(self) -> str:
        """The middleboxes that dropped packets, in words."""
        counts = [(name, len(rows["time_s"])) for (name,), rows in self.records.dropped.items()]
        kinds = {str(node["name"]): node["kind"]["type"] for node in self._situation.middleboxes}
        told = [f"node {name} ({kinds[name]}), which dropped {count:,} of all flows" for name, count in counts]
        return " and ".join(told)

    def _of_cause(self, cause: str, seconds: float) -> Facts:
        """What is known of a cause."""
        facts = self._facts
        if cause == "handshake":
            facts = self._of_handshake(facts, seconds)
        elif cause == "stream credit" and not facts.over_tcp:
            facts = replace(facts, stream=self.records.kind_of_stream(self.name))
        elif cause == "queueing":
            spans = [(stretch.start, stretch.end) for stretch in self._queueing]
            delays = self._attribution.delays
            waits = {**delays.queues, **{node.queue: delays.nodes[node.name] for node in self._situation.nodes}}
            name = longest(waits, spans, facts.bottleneck)
            facts = replace(facts, bottleneck=name, queue_hop=self._situation.hop(name))
        if seconds > 0 and (waited := self._attribution.waited.get(cause)) is not None:
            facts = replace(facts, waited_ms=1e3 * waited / seconds)
        if self._attribution.of_peer.get(cause, 0.0) > seconds / 2:
            # What the peer may not send is small: it is not the bottleneck that it would have to fill.
            facts = replace(facts, sender=self.receiver, receiver=self.sender, rate_mbps=None)
        return facts

    def _of_handshake(self, facts: Facts, seconds: float) -> Facts:
        """With what made a handshake of this many seconds long, where it was."""
        round_trip_ms = self.entry.get("path_rtt_ms") or self.entry.get("rtt_mean_ms")
        if not round_trip_ms:
            return replace(facts, lost=seconds > _FIRST_TIMEOUT_S)
        round_trips = seconds * 1e3 / round_trip_ms
        server = self.records.wait.get((self.name, "server"))
        validation = 0.0 if server is None else float(server["validation_s"][-1])
        amplified = round_trips > _SECOND_FLIGHT and 3 * validation > seconds
        missing = any(self.entry.get(name) for name in ("packets_lost", "return_packets_lost"))
        return replace(facts, lost=missing and round_trips > _LONG_HANDSHAKE, amplified=amplified)

    def _told(self, stretches: Sequence[Stretch]) -> Iterable[Cause]:
        """The causes in these stretches that are long enough to be told, the longest first."""
        total = max(self.end - self.start, 1e-12)
        sums: dict[str, float] = {}
        for stretch in stretches:
            for cause, seconds in stretch.causes.items():
                sums[cause] = sums.get(cause, 0.0) + seconds
        within = (self.entry.get("rtt_mean_ms") or 0.0) / 1e3
        for cause, seconds in sorted(sums.items(), key=lambda pair: -pair[1]):
            if seconds >= _NOTABLE * total:
                untold = Cause(cause, seconds, seconds / total, _longest(stretches, cause, within), "", "")
                yield self._advice.told(untold, self._of_cause(cause, seconds), self._weight)

    @cached_property
    def _weight(self) -> float:
        """The share of the time in which the flow waited for anything but its own application, if that is timed."""
        if not self.entry.get("messages") and not self.entry.get("parts"):
            return 1.0
        idle = sum(stretch.causes.get("application", 0.0) for stretch in self._stretches)
        return 1.0 - idle / float(max(self.end - self.start, 1e-12))

    @cached_property
    def _queues(self) -> Queues:
        return Queues(self.records, self.name, [node.queue for node in self._situation.nodes])

    @cached_property
    def _queueing(self) -> list[Stretch]:
        """When round trips took long because packets waited in queues."""
        rows = self.records.windows.get((self.name, self.sender))
        if rows is None or np.isnan(rows["latest_rtt_ms"]).all():
            return []
        times, rtts = rows["time_s"], rows["latest_rtt_ms"] / 1e3
        base = self._situation.path_rtt_s
        least = float(np.nanmin(rtts)) if base is None else min(base, float(np.nanmin(rtts)))
        at = np.flatnonzero((rtts >= _INFLATED * least) & (times < self.end))
        starts, ends = times[at], np.minimum(np.append(times[1:], self.end), self.end)[at]
        if "queue" in self.records.run.tables:
            # A delayed acknowledgement, jitter or a longer path inflate it too, but then no packet waited for so long.
            needed = np.maximum((_INFLATED - 1) * least, _OF_INFLATION * (rtts[at] - least))
            waited = self._queues.waited(starts - rtts[at], starts) >= needed
            # A sample holds for a round trip, and as long as packets wait: after that the sender may have been silent.
            still = np.maximum(self._queues.waited(starts, ends), rtts[at])
            starts, ends = starts[waited], np.minimum(ends, starts + still)[waited]
        # One stretch for neighbouring rows: there may be millions of rows.
        firsts = np.flatnonzero(np.append(True, starts[1:] > ends[:-1])[: starts.size])
        lasts = np.append(firsts[1:], starts.size) - 1 if starts.size else firsts
        spans = zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True)
        return [Stretch(start, end, {"queueing": end - start}) for start, end in spans]

    def _gaps(self) -> Iterable[Stretch]:
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
                yield Stretch(start, min(end, self.end), {"head of line": min(after - before, self.end - start)})

    def _unfinished(self, stretches: Sequence[Stretch]) -> str:
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
            return f"no new data was sent after {since:,.3f} s: {words('outage', self._facts)}"
        if last in ("stream_credit", "connection_credit", "stream_count", "handshake", "validation", "timeout"):
            what = words(_cause(last), self._facts)
            return f"no new data was sent after {since:,.3f} s: {what}"
        if last in ("application", "delivery"):
            if self._attribution.peer is not None and self._attribution.peer.last in OF_REQUESTS:
                what = words(_cause(self._attribution.peer.last), self._facts)
                return f"no request was sent after {self._attribution.peer.since:,.3f} s: {what}"
            return f"its application had not finished when the run ended at {self.end:,.3f} s"
        if self.records.endless(self.name):
            return "its transfer has no `size`, and goes on until the run ends"
        return f"data was left to send when the run ended at {self.end:,.3f} s; a longer `duration` would help"


def _cause(wait: str) -> str:
    return "handshake" if wait == "validation" else wait.replace("_", " ")


def _longest(stretches: Sequence[Stretch], cause: str, within: float) -> tuple[float, float]:
    """The longest time that this cause took, for the most part, with breaks of at most `within` seconds."""
    best = current = (0.0, 0.0)
    for stretch in stretches:
        took, length = stretch.causes.get(cause, 0.0), stretch.end - stretch.start
        if took * 2 < length or length <= 0:
            continue
        begun = current[0] if current[1] > 0 and stretch.start - current[1] <= within else stretch.start
        # A sender whose timer runs goes on waiting when the outage is over.
        current = (begun, stretch.start + took if cause == "outage" else stretch.end)
        best = max(best, current, key=lambda span: span[1] - span[0])
    return best
