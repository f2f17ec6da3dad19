"""The bottlenecks of a flow, one at a time: another one where its path or the capacity of a link changes."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quiclab.explanations.why.bottleneck import Bottleneck
from quiclab.explanations.why.records import Records
from quiclab.explanations.why.steps import Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Path:
    """When the bottleneck of a flow was full, and when it carried nothing.

    The usual bottleneck is that of the summary, whose queue was the longest on average, or a policer of a lower rate.
    Another one takes its place in each bin of the table `rate` in which the other is full, and has the longer queue or
    the usual one carries nothing.

    :param records: the tables of the run.
    :param connection: its name.
    :param receiver: the end that receives the data, `client` or `server`.
    :param usual: the name of the usual bottleneck, where there is one.
    :param nodes: the queues of nodes that take time for its data.
    :param start: when the flow began, in seconds.
    :param end: and when it ended.
    """

    def __init__(
        self,
        records: Records,
        connection: str,
        receiver: str,
        usual: str | None,
        nodes: list[str],
        start: float,
        end: float,
    ) -> None:
        self._nodes = nodes
        self._records, self._start, self._end = records, start, end
        self.usual = self._policed(Bottleneck(records, usual), records.policer(connection))
        self._others = [name for name in [*records.towards(connection, receiver), *nodes] if name != self.usual.name]

    def _policed(self, usual: Bottleneck, policer: str | None) -> Bottleneck:
        if policer is None or policer == usual.name:
            return usual
        # Nothing waits at a policer, so its queue is never the longest.
        other = Bottleneck(self._records, policer)
        lower = other.mean_mbps is not None and other.mean_mbps < (usual.mean_mbps or float("inf"))
        return other if lower else usual

    @cached_property
    def _bins(self) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
        """The bins of the table `rate` while the flow was there: their starts and ends."""
        rows = self._records.rate.get((self.usual.name, "capacity"))
        if rows is None:
            rows = self._records.rate.get((self.usual.name, "delivered"))
        times = np.zeros(0) if rows is None else np.unique(rows["time_s"].astype(float))
        if times.size < 2:
            return np.zeros(0), np.zeros(0)
        ends = np.append(times[1:], 2 * times[-1] - times[-2])
        there = (ends > self._start) & (times < self._end)
        return times[there], ends[there]

    @cached_property
    def _instead(self) -> "list[tuple[Bottleneck, NDArray[np.bool_]]]":
        """The bottlenecks that take the place of the usual one, and in which bins."""
        starts, ends = self._bins
        if not starts.size or not self._others:
            return []
        longest = self._lengths(self.usual.name)
        longest[self.usual.out(starts, ends) > 0] = -1.0
        found: list[tuple[Bottleneck, NDArray[np.bool_]]] = []
        for name in self._others:
            lengths = self._lengths(name)
            if not (lengths > longest).any():
                continue
            other = Bottleneck(self._records, name)
            taken = (lengths > longest) & (other.full(starts, ends) > _MOSTLY)
            longest = np.where(taken, lengths, longest)
            found = [(before, bins & ~taken) for before, bins in found] + [(other, taken)]
        return [(other, bins) for other, bins in found if bins.any()]

    def _lengths(self, queue: str) -> "NDArray[np.float64]":
        """How many packets were in a queue in each bin, on average."""
        starts, ends = self._bins
        steps = self._records.length(queue)
        return np.zeros_like(starts) if steps is None else steps.integrals(starts, ends) / (ends - starts)

    @cached_property
    def _shares(self) -> tuple[Steps, Steps, Steps]:
        """Full, out, and full while that is a node, where another one takes the place of the usual bottleneck."""
        starts, ends = self._bins
        full, out = self.usual.full(starts, ends), self.usual.out(starts, ends)
        busy = full * (self.usual.name in self._nodes)
        for other, bins in self._instead:
            full[bins], out[bins] = other.full(starts, ends)[bins], 0.0
            busy[bins] = full[bins] * (other.name in self._nodes)
        return Steps(starts, full), Steps(starts, out), Steps(starts, busy)

    def shares(self, start: float, end: float) -> tuple[float, float, float]:
        """The shares of a time in which the bottleneck was full, in which it carried nothing, and was a full node."""
        if not self._instead:
            full, out = self.usual.shares(start, end)
            return full, out, full * (self.usual.name in self._nodes)
        full, out, busy = (steps.mean(start, end) for steps in self._shares)
        return min(full, 1 - out), out, min(busy, full, 1 - out)

    @cached_property
    def full(self) -> list[Bottleneck]:
        """The bottleneck that was full for longest, and others that were it for 5 % of the flow's time or more.

        A node is no bottleneck of the network: it stands last.
        """
        starts, ends = self._bins
        if not self._instead:
            return [self.usual]
        elsewhere = np.logical_or.reduce([bins for _, bins in self._instead])
        lengths = np.minimum(ends, self._end) - np.maximum(starts, self._start)
        times = [(float((self.usual.full(starts, ends) * lengths)[~elsewhere].sum()), self.usual)]
        times += [(float((other.full(starts, ends) * lengths)[bins].sum()), other) for other, bins in self._instead]
        first, *others = sorted(times, key=lambda pair: (pair[1].name in self._nodes, -pair[0]))
        return [first[1], *(one for time, one in others if time >= _NOTABLE * (self._end - self._start))]


_MOSTLY = 0.5
"""A bottleneck that is full for more than this share of a bin takes the place of the usual one."""
_NOTABLE = 0.05
"""One that is full for a smaller share of the flow's time is not named."""
