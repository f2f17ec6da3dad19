"""The time of a flow cut into stretches, each with its causes in seconds."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quiclab.explanations.why import losses
from quiclab.explanations.why.bottleneck import Bottleneck
from quiclab.explanations.why.delays import Delays, Parts
from quiclab.explanations.why.events import merged
from quiclab.explanations.why.path import Path
from quiclab.explanations.why.records import Waited
from quiclab.explanations.why.shares import Shares
from quiclab.explanations.why.situation import Situation, kind, number
from quiclab.explanations.why.steps import Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

State = tuple[float, float, float]
"""Of the bottleneck: the shares of a time in which it was full, in which it carried nothing, and in which it was full
and a node that took its time for packets."""
_HELD_BACK = ("slow_start", "window", "recovery", "pacer", "send_queue", "delivery")
"""Waits in which the network may have been full."""
_OF_THE_WINDOW = ("slow_start", "window", "pacer")
"""Waits of which a window that losses have made smaller is the cause."""
_OF_ROUND_TRIPS = ("slow_start", "window", "recovery", "pacer", "send_queue", "delivery", "handshake", "validation")
"""Waits that are as long as the round trip: of a part of it, the same part of the wait."""
OF_REQUESTS = ("stream_count", "stream_credit", "connection_credit")
"""Waits of the peer that keep it from asking for more."""
_TIMER = 4
"""Round trips of a timer that waits for an acknowledgement."""
_OF_OTHERS = 0.5
"""If other flows have at least this share of a queue, it counts as theirs."""
_LATE = 1.5
"""A timer that holds an acknowledgement back may be so much later than its option says."""
_HELD = 0.3
"""An acknowledgement that takes this share of the round trip is held back."""


@dataclass
class Stretch:
    """A part of the time, by causes in seconds."""

    start: float
    end: float
    causes: dict[str, float]


class Attribution:
    """What the sender of a flow waited for, and which part of that time each cause had.

    :param situation: the flow.
    :param start: when it began, in seconds of the run.
    :param end: and when it ended.
    """

    def __init__(self, situation: Situation, start: float, end: float) -> None:
        self._situation, self._start, self._end = situation, start, end
        self._records = situation.records
        self.waits = self._records.wait.get((situation.name, situation.sender))
        self.of_peer: dict[str, float] = {}
        self.waited: dict[str, float] = {}
        """For causes that are waits of packets: the product of seconds and of how long packets waited, in s^2."""

    @cached_property
    def path(self) -> Path:
        """The bottlenecks of its data."""
        usual = self._situation.entry.get("bottleneck")
        situation = self._situation
        nodes = [node.queue for node in situation.nodes if node.takes_data]
        return Path(self._records, situation.name, situation.receiver, usual, nodes, self._start, self._end)

    @cached_property
    def shares(self) -> Shares:
        """Who sends over the bottleneck."""
        return Shares.of_hop(self._records, self.path.full[0].name)

    @cached_property
    def _down(self) -> Steps:
        """1 while an interface of its path was down, and 0 otherwise."""
        return Steps.within(merged(self._situation.downs, self._end))

    @cached_property
    def _own(self) -> Steps:
        return self.shares.of(self._situation.name)

    @cached_property
    def _reduced(self) -> Steps:
        return losses.within(self._reductions)

    @cached_property
    def _reductions(self) -> list[losses.Reduced]:
        return losses.reduced(self._records, self._situation.name, self._situation.sender)

    @cached_property
    def _dropped(self) -> Steps:
        """1 in the times of a smaller window that follow a packet that the network dropped, and 0 otherwise."""
        names = {hop.name for hop in self._situation.data} | {node.queue for node in self._situation.nodes}
        times = [rows["time_s"].astype(float) for (name,), rows in self._records.lost.items() if name in names]
        drops = np.sort(np.concatenate(times)) if times else np.zeros(0)
        spans = self._reductions
        firsts = np.searchsorted(drops, np.array([span.since for span in spans], dtype=float), side="left")
        lasts = np.searchsorted(drops, np.array([span.start for span in spans], dtype=float), side="right")
        return losses.within([span for span, some in zip(spans, lasts > firsts, strict=True) if some])

    @cached_property
    def delays(self) -> Delays:
        """What its round trips consist of."""
        return Delays(self._situation)

    @cached_property
    def peer(self) -> Waited | None:
        """What the receiver waited for."""
        rows = self._records.wait.get((self._situation.name, self._situation.receiver))
        return None if rows is None else Waited(rows)

    def stretches(self) -> list[Stretch]:
        """The time of the flow, cut where the sender's wait was told."""
        self.of_peer, self.waited = {}, {}
        cuts = list(self._cuts())
        if not cuts:
            return []
        starts, ends = (np.array([cut[at] for cut in cuts], dtype=float) for at in (0, 1))
        parts = self.delays.parts(starts, ends)
        stretches = [self._caused(at, *cut, parts) for at, cut in enumerate(cuts)]
        return self._ended(stretches)

    def _cuts(self) -> Iterator[tuple[float, float, dict[str, float]]]:
        if self.waits is None:
            return
        times = self.waits["time_s"].tolist()
        sums = {name[:-2]: column for name, column in self.waits.items() if name.endswith("_s")}
        del sums["time"], sums["gap"]
        if times[0] > self._start:
            yield self._start, min(times[0], self._end), {"handshake": times[0] - self._start}
        for at, (start, end) in enumerate(itertools.pairwise([*times, max(self._end, times[-1])])):
            if start >= self._end:
                break
            if at + 1 < len(times):
                waits = {name: float(column[at + 1] - column[at]) for name, column in sums.items()}
            else:
                waits = {self.waits["wait"][at]: end - start}
            yield start, min(end, self._end), waits

    def _caused(self, at: int, start: float, end: float, waits: dict[str, float], parts: Parts) -> Stretch:
        """The causes of what a sender waited for in this time."""
        told = sum(waits.values())
        scale = (end - start) / told if told > 0 else 0.0
        full, out, busy = self.path.shares(start, end)
        causes: dict[str, float] = {}
        for wait, seconds in waits.items():
            spent = seconds * scale
            if spent <= 0:
                continue
            for cause, part in self._parts(wait, spent, (start, end), (full, out, busy), (at, parts)).items():
                if part > 0:
                    causes[cause] = causes.get(cause, 0.0) + part
        self._ask(start, end, 1 - full - out, causes)
        return Stretch(start, end, causes)

    def _parts(
        self, wait: str, spent: float, span: tuple[float, float], state: State, place: tuple[int, Parts]
    ) -> dict[str, float]:
        """The causes of one wait in a stretch."""
        out, cause = state[1], self._cause(wait, span)
        if wait in ("timeout", "handshake") and (down := self._down.mean(*span)) > 0:
            out = max(out, down)
            parts = {"timeout": spent * (1 - out)}
            if wait != "timeout":
                parts = self._parts_of_round_trip(cause, spent * (1 - out), wait, span, state, place)
            return _added({"outage": spent * out}, parts)
        if wait == "timeout":
            name = "middlebox" if self._blocked(span) else "timeout"
            return {"outage": spent * out, name: spent * (1 - out)}
        if wait in ("delivery", "handshake") and (dropped := self._blocked(span)):
            # Each drop costs a timer, of some round trips; a wait goes on after it.
            blocked = min(spent, dropped * _TIMER * max(self.delays.base_s, 0.01))
            rest = self._parts_of_round_trip(cause, spent - blocked, wait, span, state, place)
            return _added({"middlebox": blocked}, rest)
        if wait not in _OF_ROUND_TRIPS:
            return {cause: spent}
        return self._parts_of_round_trip(cause, spent, wait, span, state, place)

    def _parts_of_round_trip(
        self,
        cause: str,
        spent: float,
        wait: str,
        span: tuple[float, float],
        state: State,
        place: tuple[int, Parts],
    ) -> dict[str, float]:
        """The causes of a wait that is as long as round trips are."""
        full, out, busy = state
        net = full - busy
        own = self._own.mean(*span) if wait in _HELD_BACK or full > 0 else 1.0
        parts: dict[str, float] = {}
        left = spent
        if wait in _HELD_BACK:
            parts = {"outage": spent * out, "processing": spent * busy}
            parts |= {"capacity": spent * net * own, "competition": spent * net * (1 - own)}
            left = spent * (1 - full - out)
            self._wait("competition", parts["competition"], self._waits_there(place))
        reduced = self._reduced.mean(*span)
        for name, part in self._of_round_trip(left, own, place, self._acked(wait, span)).items():
            parts[name] = parts.get(name, 0.0) + part
            left -= part
        if reduced > 0 and wait in _OF_THE_WINDOW:
            parts = _added(parts, {cause: left * (1 - reduced)})
            left, cause = left * reduced, "recovery"
        kinds = self._kinds(span, reduced) if cause == "recovery" else {cause: 1.0}
        return _added(parts, {name: left * share for name, share in kinds.items()})

    def _cause(self, wait: str, span: tuple[float, float]) -> str:
        if wait == "validation":
            return "path validation" if span[0] > self._established else "handshake"
        return wait.replace("_", " ")

    @cached_property
    def _established(self) -> float:
        """When the sender's handshake was over."""
        assert self.waits is not None
        other = np.flatnonzero(~np.isin(self.waits["wait"], ("handshake", "validation")))
        return float(self.waits["time_s"][other[0]]) if other.size else float("inf")

    @cached_property
    def _back(self) -> list[Bottleneck]:
        """The hops of the way back that have a rate of their own."""
        hops = [hop for hop in self._situation.back if hop.medium is None and hop.rate_mbps]
        return [Bottleneck(self._records, hop.name) for hop in hops]

    def _acked(self, wait: str, span: tuple[float, float]) -> float:
        """The share of a time in which the rate of acknowledgements was that of a full way back.

        A sender that paces by the rate at which data is acknowledged sends no faster, however short the queue is.
        """
        paced = wait == "pacer" and self._situation.controller.startswith("bbr")
        return max((hop.shares(*span)[0] for hop in self._back), default=0.0) if paced else 0.0

    def _of_round_trip(self, left: float, own: float, place: tuple[int, Parts], acked: float) -> dict[str, float]:
        """What the queues of others, the way back and late acknowledgements have of a wait for a round trip."""
        at, parts = place
        found: dict[str, float] = {}
        back = sum(float(parts.queues[hop.name][at]) for hop in self._situation.back if hop.name in parts.queues)
        there = sum(float(parts.queues[hop.name][at]) for hop in self._situation.data if hop.name in parts.queues)
        round_trip = float(parts.seconds[at])
        if back > 0:
            found["return path"] = left * max(back, acked)
            self._wait("return path", left * max(back, acked), back * round_trip)
        if there > 0 and 1 - own >= _OF_OTHERS:
            found["competition"] = left * there
            self._wait("competition", left * there, there * round_trip)
        busy = sum(float(shares[at]) for shares in parts.nodes.values())
        if busy > 0:
            found["processing"] = left * busy
        rest = float(parts.rest[at])
        if rest >= _HELD and rest * round_trip <= self._longest_hold:
            found["ACK delay"] = left * rest
            self._wait("ACK delay", left * rest, rest * round_trip)
        return found

    def _waits_there(self, place: tuple[int, Parts]) -> float:
        at, parts = place
        there = sum(float(parts.queues[hop.name][at]) for hop in self._situation.data if hop.name in parts.queues)
        return there * float(parts.seconds[at])

    def _wait(self, cause: str, seconds: float, waited: float) -> None:
        self.waited[cause] = self.waited.get(cause, 0.0) + seconds * waited

    @cached_property
    def _longest_hold(self) -> float:
        """For how long acknowledgements may be held back; 0 if more than queues makes round trips longer."""
        hops = [*self._situation.data, *self._situation.back]
        steady = all(hop.kind(option) in ("", "none") for hop in hops for option in ("jitter", "series"))
        if not steady or any(hop.medium not in (None, "shared") for hop in hops):
            return 0.0
        options = [self._situation.options, *(node["kind"] for node in self._situation.middleboxes)]
        names = ("max_ack_delay", "peer_max_ack_delay", "delayed_ack", "longest_delay")
        holds = [number(one.get(name)) or 0.0 for one in options for name in names]
        return _LATE * max(holds, default=0.0)

    def _kinds(self, span: tuple[float, float], reduced: float) -> dict[str, float]:
        """What the losses were that made a window smaller in a time: the names of causes, and their shares."""
        if not self._not_lost:
            return {"recovery": 1.0}
        dropped = min(self._dropped.mean(*span) / reduced, 1.0) if reduced > 0 else 0.0
        return {**{name: (1 - dropped) * share for name, share in self._not_lost.items()}, "recovery": dropped}

    @cached_property
    def _not_lost(self) -> dict[str, float]:
        """What packets were that were declared lost and that the network did not lose: causes, and their shares."""
        entry = self._situation.entry
        declared = entry.get("packets_declared_lost") or 0
        spurious = min(entry.get("packets_spuriously_lost") or 0, declared)
        altered = declared - spurious - min(entry.get("packets_lost") or 0, declared - spurious)
        if not any(hop.options.get("corrupt") for hop in self._situation.data):
            altered = 0
        total = spurious + altered
        return {"reordering": spurious / total, "corruption": altered / total} if total else {}

    @cached_property
    def _drops(self) -> "NDArray[np.float64]":
        """When middleboxes dropped packets."""
        names = {str(node["name"]) for node in self._situation.middleboxes}
        rows = [part["time_s"] for (name,), part in self._records.dropped.items() if name in names]
        return np.sort(np.concatenate(rows).astype(float)) if rows else np.zeros(0)

    def _blocked(self, span: tuple[float, float]) -> int:
        """How many packets middleboxes dropped in a time, or just before it."""
        if not self._drops.size:
            return 0
        before = 2 * max(self.delays.base_s, 1e-3)
        return int(np.searchsorted(self._drops, span[1]) - np.searchsorted(self._drops, span[0] - before))

    def _ask(self, start: float, end: float, share: float, causes: dict[str, float]) -> None:
        """Where the sender has nothing to send because its peer may not ask for more, the cause is with the peer."""
        if self.peer is None or not causes.keys() & {"application", "delivery"}:
            return
        for wait in OF_REQUESTS:
            asks = share * self.peer.seconds(wait, start, end)
            name = wait.replace("_", " ")
            for cause in ("application", "delivery"):
                spent = min(asks, causes.get(cause, 0.0))
                if spent > 0:
                    causes[name] = causes.get(name, 0.0) + spent
                    self.of_peer[name] = self.of_peer.get(name, 0.0) + spent
                    causes[cause] -= spent
                    asks -= spent
        # A request that was lost is sent again when the timer of its sender expires.
        late = min(share * self.peer.seconds("timeout", start, end), causes.get("application", 0.0))
        if late > 0:
            name = "middlebox" if self._blocked((start, end)) else "timeout"
            causes[name] = causes.get(name, 0.0) + late
            self.of_peer[name] = self.of_peer.get(name, 0.0) + late
            causes["application"] -= late

    def _ended(self, stretches: list[Stretch]) -> list[Stretch]:
        """With the time after a connection was closed for being idle, and that in which messages waited for others."""
        if "idle" in str(self._situation.entry.get("close")) and stretches:
            last = stretches[-1]
            cause = "middlebox" if self._drops.size else "idle timeout"
            # No packet that keeps a connection alive passes an outage.
            out = last.causes.get("outage", 0.0)
            parts = {"outage": out, cause: sum(last.causes.values()) - out}
            last.causes = {name: part for name, part in parts.items() if part > 0}
        share = self._behind
        for stretch in stretches if share > 0 else ():
            for cause in ("capacity", "competition", "processing", "window", "slow start", "pacer", "recovery"):
                if (spent := stretch.causes.get(cause, 0.0)) > 0:
                    stretch.causes[cause] = spent * (1 - share)
                    stretch.causes["scheduler"] = stretch.causes.get("scheduler", 0.0) + spent * share
        return stretches

    @cached_property
    def _behind(self) -> float:
        """The share of the delay of messages beyond a round trip, where other data shares their connection."""
        words = {kind(application) for _, application in self._situation.applications}
        if "bulk" not in words or not words & {"messages", "request-response"}:
            return 0.0
        parts = self._situation.entry.get("parts") or {}
        tallies = [part.get(name) for part in parts.values() for name in ("messages", "requests") if part.get(name)]
        waited = [_delay(tally, self._end - self._start) for tally in tallies]
        round_trip = (self._situation.entry.get("rtt_p95_ms") or 0.0) / 1e3
        return max((1 - round_trip / delay for delay in waited if delay > round_trip), default=0.0)


def _delay(tally: dict[str, float], longest: float) -> float:
    """The mean delay of messages or requests; of those that are missing the longest that is possible."""
    number = tally.get("number") or 0
    known = (tally.get("delay_mean_ms") or 0.0) / 1e3 * (tally.get("completed") or 0)
    return (known + longest * (tally.get("missing") or 0)) / number if number else 0.0


def _added(parts: dict[str, float], more: dict[str, float]) -> dict[str, float]:
    for name, part in more.items():
        parts[name] = parts.get(name, 0.0) + part
    return parts
