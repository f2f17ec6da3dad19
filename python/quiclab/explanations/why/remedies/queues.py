"""Remedies at queues: who is served first, and how long they are."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.remedies.endpoint import controllers
from quiclab.explanations.why.remedies.option import Option, in_bytes, in_ms
from quiclab.explanations.why.situation import Hop, kind, number, quoted

_OWN = 0.8
"""If the flow has this share of a queue, most packets in it wait behind its own."""
_LEAST_S = 0.02
"""No queue is shorter than this."""


def _queue(hop: Hop, queue: Any) -> dict[str, Any]:
    return {f"{hop.key}.queue": queue} if hop.key else {}


def fair(facts: Facts) -> Iterator[Option]:
    """A queue for each flow, and an AQM in each."""
    hop = facts.queue_hop
    if hop is not None and hop.kind("queue") != "fq-codel":
        what = f"an AQM that gives each flow its own queue (`fq-codel`) at {hop.name}"
        # A flow that has its share already gains nothing by being given it.
        yield Option(what, _queue(hop, "fq-codel"), facts.brought_by_fairness)
    if hop is not None and hop.kind("queue") not in ("codel", "dualpi2"):
        yield Option(f"an AQM (`codel`) at {hop.name}", _queue(hop, "codel"), 0.8 * facts.brought_by_fairness)
    if hop is not None and facts.is_l4s and hop.kind("queue") != "dualpi2":
        yield Option(f"a queue for L4S (`dualpi2`) at {hop.name}", _queue(hop, "dualpi2"), 0.4)


def fair_back(facts: Facts) -> Iterator[Option]:
    """The same at the way back."""
    hop = facts.back
    if hop is not None and hop.kind("queue") != "fq-codel":
        what = f"an AQM that gives each flow its own queue (`fq-codel`) at {hop.name}"
        yield Option(what, _queue(hop, "fq-codel"), 0.5 if facts.back_share < _OWN else 0.1)


def shorter(facts: Facts) -> Iterator[Option]:
    """A queue of about one BDP."""
    for option in _shorter(facts.queue_hop, facts):
        yield replace(option, brings=0.8 * facts.brought_by_fairness)


def shorter_back(facts: Facts) -> Iterator[Option]:
    """The same at the way back."""
    for option in _shorter(facts.back, facts):
        yield option if facts.back_share < _OWN else replace(option, brings=0.1)


def _shorter(hop: Hop | None, facts: Facts) -> Iterator[Option]:
    if hop is None or not hop.rate_mbps or facts.situation is None:
        return
    seconds = max(facts.situation.path_rtt_s or _LEAST_S, _LEAST_S)
    given = _limit_s(hop)
    for limit in (seconds, 5 * seconds):
        word = "shorter" if given is None or limit < given else "longer"
        yield Option(f"a {word} queue of {hop.name}, of {in_ms(limit)}", _queue(hop, in_ms(limit)), 0.4)


def _limit_s(hop: Hop) -> float | None:
    """How long packets wait in a full queue of a hop at its mean rate; None if its limit is not known."""
    queue = hop.options.get("queue")
    limit = str(queue.get("limit", "") if isinstance(queue, Mapping) else queue)
    value, _, unit = limit.partition(" ")
    if unit.startswith("packet") and hop.rate_mbps:
        return float(value) * _PACKET * 8e-6 / hop.rate_mbps
    seconds = number(limit) if unit in ("s", "ms", "us", "ns") else None
    size = number(limit) if unit.endswith("B") and hop.rate_mbps else None
    return size * 8e-6 / (hop.rate_mbps or 1.0) if size is not None else seconds


_PACKET = 1_500
"""The bytes of a packet, at most, on most links."""


def longer(facts: Facts) -> Iterator[Option]:
    """A queue of one BDP, and of four, where packets were dropped."""
    hop, situation = facts.hop, facts.situation
    if situation is not None and facts.drops is not None:
        hop = situation.hop(facts.drops[0]) or hop
    if hop is None or not hop.key or not hop.rate_mbps or situation is None or not situation.path_rtt_s:
        return
    if hop.kind("queue") not in ("drop-tail", "drop-head"):
        return
    product = max(hop.rate_mbps * situation.path_rtt_s * 125e3, 15_000.0)
    for times in (1, 4):
        yield Option(f"a longer queue of {hop.name}", _queue(hop, in_bytes(times * product)), 0.4)


def managed(facts: Facts) -> Iterator[Option]:
    """A queue that drops late where one that is managed drops early."""
    hop, situation = facts.hop, facts.situation
    if hop is None or not hop.key or not hop.rate_mbps or situation is None or not situation.path_rtt_s:
        return
    if facts.is_managed:
        product = max(hop.rate_mbps * situation.path_rtt_s * 125e3, 15_000.0)
        what = f"a queue of {hop.name} that drops only when it is full, of one BDP"
        yield Option(what, _queue(hop, in_bytes(product)), 0.2)


def alike(facts: Facts) -> Iterator[Option]:
    """The controller of this flow for those that take more than their share."""
    situation = facts.situation
    assert situation is not None
    mine = situation.options.get("controller")
    greedy = [name for name, share in facts.shares if name != situation.name and share > 1 / max(len(facts.shares), 1)]
    for name in greedy[:1]:
        flow = situation.records.flow(name)
        protocol, options = situation.records.transport(name)
        if not flow or kind(options.get("controller", "")) == situation.controller:
            continue
        table = "tcp" if protocol == "tcp" else "transport"
        theirs = kind(options.get("controller", ""))
        what = f"the controller of this flow (`{situation.controller}`) for {name}, which has `{theirs}`"
        yield Option(what, {f"flow.{quoted(str(flow['name']))}.{table}.controller": mine}, 0.4)


def tougher(facts: Facts) -> Iterator[Option]:
    """Another controller, which takes more of a queue that others fill."""
    for option in controllers(facts):
        yield option if facts.is_starved else replace(option, brings=0.1)


def first(facts: Facts) -> Iterator[Option]:
    """Priority for the flow."""
    hop = facts.queue_hop
    if hop is not None and hop.key and facts.situation is not None and hop.medium is None:
        flow = str(facts.situation.flow.get("name", facts.situation.name))
        what = f"priority for this flow at {hop.name}"
        yield Option(what, _queue(hop, {"type": "priority", "classes": [[flow]]}), 0.2)
