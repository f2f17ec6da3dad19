"""Remedies at nodes that take time for packets: fewer packets, another queue, a faster node."""

from collections.abc import Iterator
from typing import Any

from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.remedies.option import Option, in_ns
from quiclab.explanations.why.situation import quoted

_FASTER = 4
_RATIO = 10
_LEAST = 0.2
"""Another flow with a smaller share of a node's time is not asked to send less."""
_SHORT = 10
"""Packets of a queue that is short."""


def fewer_acks(facts: Facts) -> Iterator[Option]:
    """Fewer acknowledgements, of this flow and of those that take the most of the node's time."""
    node, situation = facts.node, facts.situation
    if node is None or situation is None or not node.ack_s:
        return
    ratio = int(situation.options.get("ack_ratio", 2))
    for more in (_RATIO, 4) if node.takes_acks else ():
        if more > ratio:
            what = f"fewer acknowledgements (`ack_ratio` {more} instead of {ratio}) from the {situation.receiver}"
            yield Option(what, situation.own(ack_ratio=more), 0.2)
    for name, share in facts.node_shares:
        flow = situation.records.flow(name)
        if name == situation.name or share < _LEAST or not flow:
            continue
        protocol, options = situation.records.transport(name)
        if int(options.get("ack_ratio", 2)) < _RATIO:
            table = "tcp" if protocol == "tcp" else "transport"
            key = f"flow.{quoted(str(flow['name']))}.{table}.ack_ratio"
            yield Option(f"fewer acknowledgements of {name} (`ack_ratio` {_RATIO})", {key: _RATIO}, 0.1)


def shorter(facts: Facts) -> Iterator[Option]:
    """A queue in which others cannot keep packets waiting for long."""
    if facts.node is not None:
        what = f"a shorter queue of node {facts.node.name}, of {_SHORT} packets"
        yield Option(what, {f"{facts.node.key}.queue": f"{_SHORT} packets"}, 0.1)


def standing(facts: Facts) -> Iterator[Option]:
    """The same, where packets wait at the node for longest."""
    if facts.node is not None and facts.bottleneck == facts.node.queue:
        yield from shorter(facts)


def longer(facts: Facts) -> Iterator[Option]:
    """A queue that drops nothing."""
    if facts.node is not None and facts.node_drops:
        what = f"a longer queue of node {facts.node.name}, which dropped {facts.node_drops:,}"
        yield Option(what, {f"{facts.node.key}.queue": "1000 packets"}, 0.4)


def faster(facts: Facts) -> Iterator[Option]:
    """A node that takes less time."""
    node = facts.node
    if node is None:
        return
    times = {"packet": node.packet_s, "ack": node.ack_s if "ack" in node.options else 0.0, "byte": node.byte_s}
    sets: dict[str, Any] = {f"{node.key}.{name}": in_ns(time / _FASTER) for name, time in times.items() if time}
    yield Option(f"a faster node {node.name}", sets, 1 - 1 / _FASTER)
