"""The times in which an interface on the path of a flow was down."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Down:
    """A time in which packets of a flow could not pass an interface."""

    node: str
    interface: str
    start: float
    """In seconds of the run."""
    end: float
    """When it came up again, or the flow migrated away from it; infinite if neither happened."""
    others: tuple[str, ...]
    """The other interfaces that the flow could have used, if it is that of its client."""

    @property
    def told(self) -> str:
        """In words."""
        until = f"to {self.end:g} s" if math.isfinite(self.end) else "on"
        return f"interface {self.interface} of node {self.node} was down from {self.start:g} s {until}"


def downs(
    events: "list[tuple[float, Mapping[str, Any]]]", flow: str, client: str, interfaces: Mapping[str, Collection[str]]
) -> list[Down]:
    """The times in which interfaces of a flow were down, in order.

    :param events: the events of the scenario in order, with their times in seconds.
    :param flow: the name of the flow.
    :param client: its client, which migrates.
    :param interfaces: by node of the path: its interfaces that lead to the other end.
    """
    moves = [
        (at, str(event["interface"])) for at, event in events if event["type"] == "migrate" and event["flow"] == flow
    ]
    found: list[Down] = []
    for place, (start, event) in enumerate(events):
        node, interface = str(event.get("node")), str(event.get("interface"))
        if event["type"] != "interface-down" or interface not in interfaces.get(node, ()):
            continue
        later = events[place + 1 :]
        ends = [at for at, other in later if other["type"] == "interface-up" and _same(event, other)]
        if node == client:
            in_use = [to for at, to in moves if at <= start]
            if in_use and in_use[-1] != interface:
                continue
            ends += [at for at, to in moves if at >= start and to != interface]
        others = tuple(sorted(set(interfaces[node]) - {interface})) if node == client else ()
        found.append(Down(node, interface, start, min(ends, default=math.inf), others))
    return found


def _same(event: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(event[key] == other.get(key) for key in ("node", "interface"))


def merged(found: list[Down], until: float) -> list[tuple[float, float]]:
    """Their times as spans that do not overlap, up to a time."""
    spans: list[tuple[float, float]] = []
    for one in found:
        start, end = one.start, min(one.end, until)
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        elif end > start:
            spans.append((start, end))
    return spans
