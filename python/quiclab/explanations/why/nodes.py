"""The nodes of a flow's path that take time for packets: what a packet costs there, and how long packets wait."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from quiclab.explanations.why.steps import Steps

_FULL = 1_500.0
_ACK = 70.0
"""Typical sizes in bytes of a packet with data and of one with acknowledgements only, IP header included."""


@dataclass(frozen=True)
class Node:
    """A node with `processing`."""

    name: str
    key: str
    """Where its times stand in the scenario: `node.client.processing`."""
    options: Mapping[str, Any]
    packet_s: float
    ack_s: float
    byte_s: float
    takes_data: bool
    """Whether packets with data of the flow arrive there."""
    takes_acks: bool
    """Whether packets back to its sender do."""

    @property
    def queue(self) -> str:
        """Its queue, as in the tables."""
        return f"{self.name} {PROCESSING}"

    @property
    def passes_s(self) -> float:
        """What the node itself takes of a round trip, without a queue."""
        return float(self.takes_data * self.cost_s(1, _FULL) + self.takes_acks * self.cost_s(1, _ACK))

    def cost_s(self, packets: "Any", size: "Any") -> "Any":
        """How long it takes for this many packets with this many bytes in all, by their mean size."""
        full = np.clip((size - _ACK * packets) / (_FULL - _ACK), 0, packets)
        return full * self.packet_s + (packets - full) * self.ack_s + size * self.byte_s

    def waits(self, queues: "Mapping[tuple[str, ...], Mapping[str, Any]]") -> Steps | None:
        """How long a packet that arrives waits for those before it, in seconds; None without rows about it.

        :param queues: the rows of the table `queue`, by the name of the queue.
        """
        rows = queues.get((self.queue,))
        if rows is None:
            return None
        return Steps(rows["time_s"], self.cost_s(rows["packets"].astype(float), rows["bytes"].astype(float)))

    @cached_property
    def told(self) -> str:
        """What it takes, in words."""
        acks = [f"{_time(self.ack_s)} for each without data"] if self.ack_s != self.packet_s else []
        each = [f"{_time(self.packet_s)} for each packet"] if self.packet_s else []
        size = [f"{_time(self.byte_s)} for each byte"] if self.byte_s else []
        return ", ".join(each + acks + size)


PROCESSING = "processing"
"""The word behind the name of a node in the name of its queue."""


def _time(seconds: float) -> str:
    for unit, factor in (("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
