"""Who sends over a hop: the shares of the flows in what it carries and in its queue."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from quiclab.why.records import Records
from quiclab.why.situation import flow_names
from quiclab.why.steps import Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OTHER = "cross traffic"
_NOTABLE = 0.02
"""A smaller share is not named."""


class Shares:
    """What each flow sends over a hop, in the bins of the table `rate`.

    In a queue that is first in, first out, all bytes wait equally long: the share of a flow in the queue is its share
    in what arrives there.

    :param records: the tables of the run.
    :param hop: the name of a direction of a link, or of an attachment.
    """

    def __init__(self, records: Records, hop: str) -> None:
        self._records, self._hop = records, hop

    @cached_property
    def _bins(self) -> "NDArray[np.float64]":
        rows = self._records.rate.get((self._hop, "delivered"))
        rows = rows if rows is not None else self._records.rate.get((self._hop, "capacity"))
        return np.zeros(0) if rows is None else np.unique(rows["time_s"].astype(float))

    @cached_property
    def _sent(self) -> "dict[str, NDArray[np.float64]]":
        """By the names of flows, in Mbit/s in each bin."""
        found: dict[str, NDArray[np.float64]] = {}
        starts = self._bins
        if not starts.size:
            return found
        for name in flow_names(self._records):
            for sender, receiver in (("server", "client"), ("client", "server")):
                rows = self._records.sent.get((f"{name} {sender}", "sent"))
                if rows is None or self._hop not in self._records.towards(name, receiver):
                    continue
                at = np.clip(np.searchsorted(starts, rows["time_s"].astype(float) + 1e-9) - 1, 0, None)
                np.add.at(found.setdefault(name, np.zeros_like(starts)), at, rows["mbps"].astype(float))
        if self._records.document.get("cross_traffic"):
            delivered = np.zeros_like(starts)
            rows = self._records.rate.get((self._hop, "delivered"))
            if rows is not None:
                at = np.clip(np.searchsorted(starts, rows["time_s"].astype(float) + 1e-9) - 1, 0, None)
                np.add.at(delivered, at, rows["mbps"].astype(float))
            rest = np.maximum(delivered - sum(found.values(), np.zeros_like(starts)), 0.0)
            if rest.sum() > _NOTABLE * delivered.sum():
                found[_OTHER] = rest
        return found

    def of(self, connection: str) -> Steps:
        """The share of a connection over time; 1 where it is alone, and where nobody sends."""
        own = self._sent.get(connection)
        if own is None or len(self._sent) < 2:
            return Steps(np.array([-1.0]), np.ones(1))
        # Bytes that wait were sent before: the share of a bin is that of the bins around it.
        every = _smooth(sum(self._sent.values(), np.zeros_like(own)))
        shares = np.where(every > 0, _smooth(own) / np.where(every > 0, every, 1.0), 1.0)
        return Steps(self._bins, shares)

    def between(self, start: float, end: float) -> list[tuple[str, float]]:
        """The names of those that sent there in a time, and their shares: the greatest first."""
        within = (self._bins > start - _bin(self._bins)) & (self._bins < end)
        sums = {name: float(sent[within].sum()) for name, sent in self._sent.items()}
        total = sum(sums.values())
        if total <= 0:
            return []
        return sorted(((name, value / total) for name, value in sums.items()), key=lambda pair: -pair[1])


def words(shares: list[tuple[str, float]], own: str) -> str:
    """`bulk has 97 % of it, and this flow 3 %`; empty where nobody else has a notable share."""
    others = [(name, share) for name, share in shares if name != own and share >= _NOTABLE]
    if not others:
        return ""
    mine = next((share for name, share in shares if name == own), 0.0)
    told = [f"{name} had {_percent(share)}" for name, share in others[:3]]
    if len(others) > 3:
        told.append(f"{len(others) - 3} more had {_percent(sum(share for _, share in others[3:]))}")
    return f"{', '.join(told)} of what arrived there, and this flow {_percent(mine)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0095 or share == 0 else "less than 1 %"


def _smooth(values: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Means over five bins."""
    return np.convolve(values, np.ones(5) / 5, mode="same") if values.size >= 5 else np.full_like(values, values.mean())


def _bin(starts: "NDArray[np.float64]") -> float:
    return float(starts[1] - starts[0]) if starts.size > 1 else 0.1
