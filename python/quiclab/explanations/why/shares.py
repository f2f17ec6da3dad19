"""Who has a hop, or a node that takes time: the shares of the flows in what it carries, or in its time."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from quiclab.explanations.why import media
from quiclab.explanations.why.nodes import Node
from quiclab.explanations.why.records import Records
from quiclab.explanations.why.situation import Situation
from quiclab.explanations.why.steps import Steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rates = dict[str, NDArray[np.float64]]
    """By the names of flows, in each bin."""

_NOTABLE = 0.02
"""A smaller share is not named."""


class Shares:
    """What each flow has of a hop, in the bins of the table `rate`.

    At a link that is its share in what arrives there: in a queue that is first in, first out, all bytes wait equally
    long. At a medium it is its share of the air time that all lanes use that share the medium's capacity, and at a node
    its share of the node's time.

    :param records: the tables of the run.
    :param hop: the name of a direction of a link, of a lane of a medium, or of the queue of a node.
    :param node: the node, if it is one.
    """

    def __init__(self, records: Records, hop: str, node: Node | None = None) -> None:
        self._records, self._hop, self._node = records, hop, node
        self.medium, self._lanes = media.lanes(hop, records.run.summary.get("media") or [])
        """The medium of the hop."""
        where = "its time" if node is not None else f"the air time of {self.medium}"
        self._of = "what arrived there" if node is None and self.medium is None else where

    @classmethod
    def of_hop(cls, records: Records, hop: str, node: Node | None = None) -> "Shares":
        """The same, made once for all flows that are asked about."""
        if hop not in records.shares:
            records.shares[hop] = cls(records, hop, node)
        return cast("Shares", records.shares[hop])

    @cached_property
    def _bins(self) -> "NDArray[np.float64]":
        rows = self._records.rate.get((self.medium or self._hop, "capacity"))
        rows = rows if rows is not None else self._records.rate.get((self._hop, "delivered"))
        return np.zeros(0) if rows is None else np.unique(rows["time_s"].astype(float))

    def _binned(self, times: "NDArray[np.float64]", values: "NDArray[np.float64]") -> "NDArray[np.float64]":
        found = np.zeros_like(self._bins)
        at = np.clip(np.searchsorted(self._bins, times.astype(float) + 1e-9) - 1, 0, None)
        np.add.at(found, at, values.astype(float))
        return found

    @cached_property
    def _spent(self) -> "Rates":
        """What each flow has, in some unit."""
        found: Rates = {}
        if not self._bins.size:
            return found
        for part in [self._of_node(self._node)] if self._node is not None else map(self._of_lane, self._lanes):
            for name, values in part:
                found[name] = found[name] + values if name in found else values
        return found

    def _of_lane(self, lane: str) -> "Iterator[tuple[str, NDArray[np.float64]]]":
        """What each flow has of a lane, or of a direction of a link."""
        medium = self._records.medium(self.medium)
        sent: Rates = {}
        for name, sender in self._records.senders.get(lane, ()):
            rows = self._records.sent.get((f"{name} {sender}", "sent"))
            if rows is not None:
                # Stations of a medium take time, and not bytes.
                terminals = [str(node["name"]) for node in self._records.nodes(name)] if medium else []
                cost = media.seconds_per_bit(medium, terminals) * 1e6
                sent[name] = sent.get(name, 0.0) + cost * self._binned(rows["time_s"], rows["mbps"])
        crossing = self._records.crossing(lane)
        delivered = self._records.rate.get((lane, "delivered"))
        if crossing and delivered is not None:
            carried = self._binned(delivered["time_s"], delivered["mbps"])
            rest = np.maximum(carried - sum(sent.values(), np.zeros_like(carried)), 0.0)
            if rest.sum() > _NOTABLE * carried.sum():
                sent[crossing[0] if len(crossing) == 1 else "cross traffic"] = rest
        air = self._records.air.get((lane,))
        if air is None or medium is None:
            yield from sent.items()
            return
        time = self._binned(air["time_s"], air["air_share"])
        every = _smooth(sum(sent.values(), np.zeros_like(time)))
        for name, values in sent.items():
            mean = values.sum() / max(sum(one.sum() for one in sent.values()), 1e-12)
            yield name, time * np.where(every > 0, _smooth(values) / np.where(every > 0, every, 1.0), mean)

    def _of_node(self, node: Node) -> "Iterator[tuple[str, NDArray[np.float64]]]":
        """How long a node takes for each flow."""
        width = _bin(self._bins)
        for entry in self._records.run.summary.get("connections") or []:
            situation = Situation(self._records, entry)
            here = next((one for one in situation.nodes if one.name == node.name), None)
            if here is None:
                continue
            ways = (
                (situation.sender, "packets_sent", here.takes_data),
                (situation.receiver, "return_packets_sent", here.takes_acks),
            )
            for side, count, takes in ways:
                rows = self._records.sent.get((f"{situation.name} {side}", "sent"))
                if rows is None or not takes:
                    continue
                rates = self._binned(rows["time_s"], rows["mbps"])
                size = max(float(rates.sum()) * width * 125e3, 1.0)
                yield situation.name, rates * float(node.cost_s(float(entry.get(count) or 0), size)) / size
        for cross in self._records.run.summary.get("cross_traffic") or []:
            if self._records.crosses(str(cross["name"]), node.name):
                cost = float(node.cost_s(float(cross["packets_sent"]), float(cross["sent_bytes"])))
                # Per bin as those of flows: bytes in Mbit/s.
                whole = max(self._bins.size * width * 125e3, 1.0)
                yield str(cross["name"]), np.full_like(self._bins, cost / whole)

    def of(self, connection: str) -> Steps:
        """The share of a connection over time; 1 where it is alone, and where nobody sends."""
        own = self._spent.get(connection)
        if own is None or len(self._spent) < 2:
            return Steps(np.array([-1.0]), np.ones(1))
        # Bytes that wait were sent before: the share of a bin is that of the bins around it.
        every = _smooth(sum(self._spent.values(), np.zeros_like(own)))
        shares = np.where(every > 0, _smooth(own) / np.where(every > 0, every, 1.0), 1.0)
        return Steps(self._bins, shares)

    def between(self, start: float, end: float) -> list[tuple[str, float]]:
        """The names of those that had a part of it in a time, and their shares: the greatest first."""
        within = self._within(start, end)
        sums = {name: float(values[within].sum()) for name, values in self._spent.items()}
        total = sum(sums.values())
        if total <= 0:
            return []
        return sorted(((name, value / total) for name, value in sums.items()), key=lambda pair: -pair[1])

    def in_lane(self, connection: str, start: float, end: float) -> float:
        """The share of a connection in its own lane of a medium, or in its direction of a link, in a time."""
        within = self._within(start, end)
        sums = {name: float(values[within].sum()) for name, values in self._own_lane.items()}
        total = sum(sums.values())
        return sums.get(connection, 0.0) / total if total > 0 else 1.0

    @cached_property
    def _own_lane(self) -> "Rates":
        return dict(self._of_lane(self._hop)) if self._bins.size else {}

    def _within(self, start: float, end: float) -> "NDArray[np.bool_]":
        return np.asarray((self._bins > start - _bin(self._bins)) & (self._bins < end))

    def words(self, own: str, start: float, end: float) -> str:
        """`bulk had 97 % of what arrived there, and this flow 3 %`; empty where nobody else has a notable share."""
        shares = self.between(start, end)
        others = [(name, share) for name, share in shares if name != own and share >= _NOTABLE]
        if not others:
            return ""
        mine = next((share for name, share in shares if name == own), 0.0)
        told = [f"{name} had {_percent(share)}" for name, share in others[:3]]
        if len(others) > 3:
            told.append(f"{len(others) - 3} more had {_percent(sum(share for _, share in others[3:]))}")
        return f"{', '.join(told)} of {self._of}, and this flow {_percent(mine)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0095 or share == 0 else "less than 1 %"


def _smooth(values: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Means over five bins."""
    return np.convolve(values, np.ones(5) / 5, mode="same") if values.size >= 5 else np.full_like(values, values.mean())


def _bin(starts: "NDArray[np.float64]") -> float:
    return float(starts[1] - starts[0]) if starts.size > 1 else 0.1
