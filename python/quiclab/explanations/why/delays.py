"""The parts of a round trip over time: the path without queues, the queues of both directions, and the rest."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quiclab.explanations.why.situation import Hop, Situation
from quiclab.explanations.why.steps import Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]


_EXPLAINED = 0.3
"""Queues that explain this part of what a round trip took beyond its path are the reason for all of it."""


@dataclass(frozen=True)
class Parts:
    """Shares of the round trip in each of some times; they add up to 1."""

    base: "Values"
    """The path without queues."""
    queues: "dict[str, Values]"
    """The queue of each hop, in both directions."""
    nodes: "dict[str, Values]"
    """The processing of each node on the path, with its queue, in both directions."""
    rest: "Values"
    """Neither: an acknowledgement that was held back, jitter, a link layer."""
    seconds: "Values"
    """The round trip."""


class Delays:
    """What round trips consist of.

    :param situation: of the flow.
    """

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self.queues = {
            hop.name: steps for hop in (*situation.data, *situation.back) if (steps := self._queue(hop)) is not None
        }
        self.nodes = {node.name: node.waits(situation.records.queue) or Steps.zero() for node in situation.nodes}
        """How long packets waited at each node with `processing`."""
        rows = situation.records.windows.get((situation.name, situation.sender))
        self._rtts, self._first = Steps.zero(), float("inf")
        least = None
        if rows is not None:
            known = ~np.isnan(rows["latest_rtt_ms"])
            times, rtts = rows["time_s"][known].astype(float), rows["latest_rtt_ms"][known].astype(float) / 1e3
            if times.size:
                self._rtts, self._first = Steps(times, rtts), float(times[0])
                waited = sum(
                    (steps.integrals(times - rtts, times) for steps in self.queues.values()), np.zeros_like(times)
                )
                least = float(np.maximum(rtts - waited / np.maximum(rtts, 1e-9), 0.0).min())
        # A run of an older version does not know it.
        self.base_s = situation.path_rtt_s if situation.path_rtt_s is not None else (least or 0.0)

    def _queue(self, hop: Hop) -> Steps | None:
        """How long a packet that arrives at the queue of a hop waits there, in seconds."""
        records = self._situation.records
        waiting = records.bytes_waiting(hop.name)
        rate = hop.rate_mbps
        if rate is None and (rows := records.rate.get((hop.name, "delivered"))) is not None:
            carried = rows["mbps"].astype(float)
            rate = float(carried[carried > 0].mean()) if (carried > 0).any() else None
        return None if waiting is None or not rate else waiting.times(8e-6 / rate)

    def parts(self, starts: "Values", ends: "Values") -> Parts:
        """The parts of the round trips of some times."""
        lengths = np.maximum(ends - starts, 1e-12)
        queues = {name: steps.integrals(starts, ends) / lengths for name, steps in self.queues.items()}
        nodes = {
            node.name: (node.takes_data + node.takes_acks) * self.nodes[node.name].integrals(starts, ends) / lengths
            + node.passes_s
            for node in self._situation.nodes
        }
        waits = sum([*queues.values(), *nodes.values()], np.zeros_like(lengths))
        seen = np.maximum(ends - np.maximum(starts, self._first), 0.0)
        known = seen > 0
        measured = np.where(known, self._rtts.integrals(starts, ends) / np.where(known, seen, 1.0), self.base_s + waits)
        excess = np.maximum(measured - self.base_s, 0.0)
        # Packets of a flow with a queue of its own do not wait behind all others, and those that arrive in bursts wait
        # for each other: where queues explain a good part of the round trip, they explain all of it.
        explained = waits > _EXPLAINED * excess
        scale = np.where(explained, excess / np.where(waits > 0, waits, 1.0), 1.0)
        rest = np.where(explained, 0.0, excess - waits)
        total = np.maximum(self.base_s + excess, 1e-12)
        of_queues, of_nodes = (
            {name: wait * scale / total for name, wait in waited.items()} for waited in (queues, nodes)
        )
        return Parts(self.base_s / total, of_queues, of_nodes, rest / total, total)
