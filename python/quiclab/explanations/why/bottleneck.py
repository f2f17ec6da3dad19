"""The bottleneck of a flow: when it was full, and when it carried nothing."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.explanations.why.records import Records
from quiclab.explanations.why.steps import Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FULL = 0.9
"""A link that delivers this share of its capacity is full."""
_OUT = 0.01
"""A link with less than this share of its mean capacity is out."""


class Bottleneck:
    """The direction of a link, or the attachment of a medium, whose queue was the longest on the way of the data.

    A link is full in a bin of the table `rate` in which it delivers 90 % of its capacity, and out in one in which its
    capacity is less than 1 % of its mean. A policer is full in a bin in which less than 10 % of the tokens come into a
    full bucket, where they are lost. The capacity of a medium depends on who sends: it is full while there are packets
    in the queue of the attachment, and out in a bin in which packets wait there all the time and none is delivered.
    """

    def __init__(self, records: Records, name: str | None) -> None:
        self.name = name or "the network"
        self.mean_mbps: float | None = None
        policer = records.policers.get(self.name)
        self.is_policed = False
        self._full = Steps.zero()
        self._out = Steps.zero()
        capacity = records.rate.get((name or "", "capacity"))
        delivered = records.rate.get((name or "", "delivered"))
        if capacity is not None:
            starts, available = capacity["time_s"].astype(float), capacity["mbps"].astype(float)
            carried = binned(starts, delivered)
            out = available < _OUT * available.mean()
            full = carried >= _FULL * available
            if policer is not None:
                rate, burst = policer
                self.is_policed = rate < available.mean()
                full |= _used(starts, carried, rate, burst) >= _FULL
                available = np.minimum(available, rate)
            self.mean_mbps = float(available.mean())
            self._out = Steps(starts, out.astype(float))
            self._full = Steps(starts, (~out & full).astype(float))
        elif delivered is not None and (queue := records.queue.get((name or "",))) is not None:
            starts, carried = delivered["time_s"].astype(float), delivered["mbps"].astype(float)
            waiting = Steps(queue["time_s"].astype(float), (queue["packets"] > 0).astype(float))
            ends = np.append(starts[1:], 2 * starts[-1] - starts[-2]) if starts.size > 1 else starts + 0.1
            waits = np.array([waiting.mean(start, end) for start, end in zip(starts, ends, strict=True)])
            out = (carried == 0) & (waits == 1)
            self._out = Steps(starts, out.astype(float))
            self._full = waiting

    def full(self, starts: "NDArray[np.float64]", ends: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """The shares of some times in which it was full."""
        return self._full.integrals(starts, ends) / (ends - starts)

    def out(self, starts: "NDArray[np.float64]", ends: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """The shares of some times in which it carried nothing."""
        return self._out.integrals(starts, ends) / (ends - starts)

    def shares(self, start: float, end: float) -> tuple[float, float]:
        """The shares of a time in which it was full, and in which it carried nothing."""
        out = self._out.mean(start, end)
        return min(self._full.mean(start, end), 1 - out), out


def _used(
    starts: "NDArray[np.float64]", carried: "NDArray[np.float64]", rate: float, burst: float
) -> "NDArray[np.float64]":
    """The share of the tokens of a policer that are used, in each bin: those that come into a full bucket are not."""
    lengths = np.append(np.diff(starts), np.diff(starts)[-1:]) if starts.size > 1 else np.ones_like(starts)
    most = 8e-6 * burst
    tokens = most
    shares = np.zeros_like(starts)
    for at, (length, mbps) in enumerate(zip(lengths.tolist(), carried.tolist(), strict=True)):
        tokens += (rate - mbps) * length
        wasted = max(tokens - most, 0.0)
        tokens = max(tokens - wasted, 0.0)
        shares[at] = 1 - wasted / (rate * length)
    return shares


def binned(starts: "NDArray[np.float64]", rows: "dict[str, NDArray[np.float64]] | None") -> "NDArray[np.float64]":
    """The delivered rate in each bin, in Mbit/s. A bin in which nothing was delivered need not have a row."""
    carried = np.zeros_like(starts)
    if rows is not None:
        at = np.searchsorted(starts, rows["time_s"].astype(float) + 1e-9) - 1
        np.add.at(carried, np.clip(at, 0, None), rows["mbps"].astype(float))
    return carried
