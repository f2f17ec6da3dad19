"""What is known of a flow and of one of its causes, for words and remedies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.explanations.why.nodes import Node
from quiclab.explanations.why.situation import Hop, Situation, kind

_MANAGED = ("codel", "fq-codel", "red", "pie", "dualpi2")
_FAIR = 0.7
_ALONE = 0.8


@dataclass(frozen=True)
class Facts:
    """What is known of a flow, for its words."""

    entry: Mapping[str, Any]
    """Its entry in the summary."""
    over_tcp: bool
    controller: str
    """The controller of its sender."""
    sender: str
    receiver: str
    bottleneck: str
    rate_mbps: float | None
    """The mean capacity of the bottleneck, where it has one."""
    scales: bool = True
    """Whether windows of TCP can be above 64 KiB."""
    stream: int | None = None
    """The kind of the stream with the most data: the lowest two bits of its number."""
    also_full: tuple[str, ...] = ()
    """Other bottlenecks that were full, at other times."""
    policed: bool = False
    """Whether a policer makes it a bottleneck."""
    policer: str | None = None
    """A policer that dropped packets."""
    lost: bool = False
    """Whether packets of the handshake were lost or late."""
    amplified: bool = False
    """Whether the server waited long for the validation of the client's address."""
    situation: Situation | None = None
    """Its options and its path; None where they are not known."""
    hop: Hop | None = None
    """The bottleneck."""
    queue_hop: Hop | None = None
    """The hop of the data with the queue in which the flow waited."""
    back: Hop | None = None
    """The hop of the way back with the queue in which acknowledgements waited."""
    shares: tuple[tuple[str, float], ...] = ()
    """Who sent over the bottleneck while the flow was there, and their shares: the greatest first."""
    lane_share: float = 1.0
    """The share of the flow in its own lane of a medium: where it is large, nobody else waits in its queue."""
    medium: str | None = None
    """The medium of the bottleneck, of which others may have the air."""
    shared: str = ""
    """The same in words."""
    back_shares: str = ""
    """The same of the way back."""
    back_share: float = 1.0
    """The share of the flow in what the way back carried."""
    waited_ms: float = 0.0
    """How long packets waited in the queue of the cause, on average."""
    node: Node | None = None
    """The node with `processing` at which packets spent the most time."""
    node_ms: float = 0.0
    """How long packets waited there before their turn, on average while the flow was there."""
    node_drops: int = 0
    """How many packets its queue dropped, of all flows."""
    node_shares: tuple[tuple[str, float], ...] = ()
    """Who had how much of its time: the greatest first."""
    node_shared: str = ""
    """The same in words."""
    drops: tuple[str, int] | None = None
    """The hop of the data whose queue dropped the most packets of all flows, and how many."""
    fails: bool = False
    """Whether the medium of the bottleneck sends many of its frames or blocks again."""
    marked: tuple[tuple[str, int], ...] = ()
    """The hops of the data that marked packets with CE, and how many of all flows."""
    down: str = ""
    """The interfaces of its path that were down, and when, in words."""
    dropped_by: str = ""
    """The middlebox that dropped packets, and how many, in words."""

    @property
    def is_alone(self) -> bool:
        """Whether nobody else sends over the bottleneck."""
        return self.situation is not None and self.situation.is_alone

    @property
    def is_unanswered(self) -> bool:
        """Whether its sender asked more than once, and nothing came back."""
        return (self.entry.get("probe_timeouts") or 0) > 1

    @property
    def own_share(self) -> float:
        """The share of the flow in what the bottleneck carried."""
        name = None if self.situation is None else self.situation.name
        return next((share for one, share in self.shares if one == name), 1.0)

    @property
    def is_starved(self) -> bool:
        """Whether the flow has less than 70 % of an equal share of the bottleneck."""
        return self.own_share < _FAIR / max(len(self.shares), 1)

    @property
    def is_behind(self) -> bool:
        """Whether it is starved, and by others in its own queue."""
        return self.is_starved and (self.medium is None or self.lane_share < _ALONE)

    @property
    def brought_by_fairness(self) -> float:
        """The share of the time that an equal share of its own queue or lane would save."""
        if self.medium is None:
            return 0.5 if self.is_behind else 0.1
        # At least one other flow is there; what else the air carries does not change.
        return min(max(1 - 2 * self.lane_share, 0.1), 0.5)

    @property
    def is_elsewhere(self) -> bool:
        """Whether most of the air of its medium belongs to those in other queues."""
        return self.medium is not None and self.own_share < 0.5 * self.lane_share

    @property
    def is_managed(self) -> bool:
        """Whether the queue of the bottleneck drops packets before it is full."""
        return self.hop is not None and self.hop.kind("queue") in _MANAGED

    @property
    def is_l4s(self) -> bool:
        """Whether its controller reacts to marks of L4S."""
        return self.controller == "prague"

    @property
    def application_window(self) -> tuple[str, str] | None:
        """The key of an application with flow control of its own, and the option that limits a stream."""
        if self.situation is None:
            return None
        return next(((key, "stream_window") for key, one in self.situation.applications if kind(one) == "http2"), None)

    @property
    def holds(self) -> str:
        """What the path holds, as the end of a sentence."""
        rtt = self.entry.get("path_rtt_ms") or self.entry.get("rtt_mean_ms")
        if not self.rate_mbps or not rtt:
            return ""
        holds = size(self.rate_mbps * rtt * 125)
        return f" ({mbps(self.rate_mbps)} of {self.bottleneck} times {digits(rtt)} ms are {holds})"

    @property
    def stream_credit(self) -> tuple[str, str]:
        """What limits a stream, in words, and the option."""
        if self.over_tcp:
            if not self.scales:
                return "`tcp.window_scaling`, without which a receive window is 64 KiB at most", "window_scaling"
            return f"a larger `tcp.max_receive_buffer` at the {self.receiver}{self.holds}", "max_receive_buffer"
        if self.stream is not None and self.stream & _ONE_WAY:
            name = "uni"
        elif self.stream is None:
            # The streams of requests are opened by the client.
            name = f"bidi_{'local' if self.receiver == 'client' else 'remote'}"
        else:
            name = f"bidi_{'local' if self.receiver == ('client', 'server')[self.stream & 1] else 'remote'}"
        option = f"initial_max_stream_data_{name}"
        return f"a larger `transport.{option}` at the {self.receiver}{self.holds}", option


_ONE_WAY = 2
"""The bit of a stream's number that is set if it is unidirectional (RFC 9000 section 2.1)."""


def mbps(rate: float) -> str:
    """A rate in words."""
    return f"{digits(rate)} Mbit/s"


def size(count: float) -> str:
    """A number of bytes in words."""
    return f"{digits(count / 1e6)} MB" if count >= 1e6 else f"{digits(count / 1e3)} kB"


def digits(value: float) -> str:
    """A number with three digits, and without an exponent if it is large."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"
