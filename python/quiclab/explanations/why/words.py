"""The words for causes: what happened."""

from collections.abc import Callable, Mapping
from typing import Any

from quiclab.explanations.why.facts import Facts, digits
from quiclab.explanations.why.situation import kind


def words(cause: str, facts: Facts) -> str:
    """What happened."""
    return _WORDS[cause](facts)


def nothing(cause: str, facts: Facts) -> str:
    """What is said of a cause for which no option of the scenario is known that would change it."""
    if cause == "application":
        return "the application wrote nothing more, so no network makes it faster"
    if cause == "head of line":
        other = "QUIC with separate streams" if facts.over_tcp else "separate streams"
        return f"{other} for independent data, or a path that loses less, would avoid that"
    return "no option of the scenario is known to change it"


def _handshake(facts: Facts) -> str:
    what = "no data could be sent before the handshake"
    if facts.lost and facts.dropped_by:
        return f"{what}, whose packets did not pass {facts.dropped_by}"
    if facts.lost:
        return f"{what}, whose packets were lost or late"
    # RFC 9000 section 8.1.
    return f"{what}, in which the server waited until the client's address was validated" if facts.amplified else what


def _recovery(facts: Facts) -> str:
    marks = f"; {_marks(facts)}" if facts.marked else ""
    before = "a loss or a mark" if facts.marked else "a loss"
    dropped = "".join(f"; {told}" for told in (*_node_drops(facts), *_drops(facts)))
    return (
        f"the window was smaller than before {before} ({_losses(facts.entry)}{dropped}{marks}), "
        "and the network was not full"
    )


def _node_drops(facts: Facts) -> list[str]:
    if facts.node is None or not facts.node_drops:
        return []
    return [f"the queue of node {facts.node.name} dropped {facts.node_drops:,}"]


def _drops(facts: Facts) -> list[str]:
    """Drops of a queue that is not that of the bottleneck."""
    if facts.drops is None or facts.drops[0] == facts.bottleneck:
        return []
    return [f"the queue of {facts.drops[0]} dropped {facts.drops[1]:,} of all flows"]


def _marks(facts: Facts) -> str:
    return " and ".join(f"{name} marked {count:,} of all flows with CE" for name, count in facts.marked)


def _window(facts: Facts) -> str:
    reasons = [*([_marks(facts)] if facts.marked else []), *_node_drops(facts)]
    told = f" ({'; '.join(reasons)})" if reasons else ""
    return f"the congestion window was full, and the network was not{told}"


def _losses(entry: Mapping[str, Any]) -> str:
    """The counts of the summary in words."""
    lost, declared = entry.get("packets_lost") or 0, entry.get("packets_declared_lost") or 0
    spurious = entry.get("packets_spuriously_lost") or 0
    if declared == lost and not spurious:
        return f"{_count(lost)} lost"
    arrived = f", of which {spurious:,} had arrived" if spurious else ""
    return f"{_count(declared)} declared lost{arrived}; the network lost {lost:,}"


def _count(packets: int) -> str:
    return "1 packet was" if packets == 1 else f"{packets:,} packets were"


def _reordering(facts: Facts) -> str:
    return f"packets overtook each other, and their sender took those that came late for lost ({_losses(facts.entry)})"


def _corruption(facts: Facts) -> str:
    return f"packets were altered on the way and discarded by the {facts.receiver} ({_losses(facts.entry)})"


def _timeout(facts: Facts) -> str:
    if facts.sender != facts.entry.get("sender", facts.sender):
        return f"requests of the {facts.sender} were not acknowledged until its timer expired"
    timeouts = facts.entry.get("probe_timeouts") or 0
    often = "once" if timeouts == 1 else f"{timeouts:,} times"
    return f"no acknowledgement came until a timer expired ({often})"


def _capacity(facts: Facts) -> str:
    others = f", and at other times {' and '.join(facts.also_full)}" if facts.also_full else ""
    shared = f"; {facts.shared}" if facts.shared else ""
    if facts.policed:
        return f"the policer of {facts.bottleneck} let no more through{others}{shared}"
    return f"{facts.bottleneck} was full{others}{shared}"


def _competition(facts: Facts) -> str:
    waited = ""
    if facts.waited_ms >= 1:
        waited = f"; packets waited there for {digits(facts.waited_ms)} ms on average"
        base = facts.entry.get("path_rtt_ms")
        waited += f", on a path of {digits(base)} ms without queues" if base else ""
    place = facts.queue_hop.name if facts.queue_hop is not None else facts.bottleneck
    if facts.medium is not None:
        waited = waited.replace("waited there", f"waited at {place}")
        place = facts.medium
    return f"others had {place}: {facts.shared or 'other traffic'}{waited}"


def _return_path(facts: Facts) -> str:
    place = facts.back.name if facts.back is not None else "the way back"
    shared = f", where {facts.back_shares}" if facts.back_shares else ", which they filled themselves"
    return (
        f"acknowledgements and requests waited on the way back, in the queue of {place} "
        f"for {digits(facts.waited_ms)} ms on average{shared}"
    )


def _ack_delay(facts: Facts) -> str:
    held = f" for {digits(facts.waited_ms)} ms on average" if facts.waited_ms else ""
    return f"the {facts.receiver} held acknowledgements back{held}, and the window was full meanwhile"


def _processing(facts: Facts) -> str:
    node = facts.node
    if node is None:
        return "nodes took time for packets"
    asks = facts.situation is not None and any(kind(one) not in _WITHOUT for _, one in facts.situation.applications)
    back = "acknowledgements and requests" if asks else "acknowledgements"
    what = {(True, False): "data", (False, True): back, (True, True): f"data and {back}"}
    waited = f", and packets waited for {digits(facts.node_ms)} ms on average" if facts.node_ms >= 1 else ""
    shared = f"; {facts.node_shared}" if facts.node_shared else ""
    packets = what.get((node.takes_data, node.takes_acks), "packets")
    return f"node {node.name} was busy with {packets} ({node.told}){waited}{shared}"


_WITHOUT = ("bulk", "messages")
"""Applications without requests."""


def _scheduler(facts: Facts) -> str:
    assert facts.situation is not None
    name = facts.situation.options.get("scheduler", "")
    name = name.get("type", "") if isinstance(name, dict) else name
    return f"messages waited at the {facts.sender} behind other data of the same connection (scheduler `{name}`)"


_WORDS: dict[str, Callable[[Facts], str]] = {
    "handshake": _handshake,
    "path validation": lambda _: (
        "the client's address had changed, and the server waited until the new one was validated"
    ),
    "slow start": lambda _: "the window was still growing, and the network was not full",
    "window": _window,
    "recovery": _recovery,
    "reordering": _reordering,
    "corruption": _corruption,
    "timeout": _timeout,
    "pacer": lambda _: "the pacer spread packets, and the network was not full",
    "stream credit": lambda _: "the receiver granted no more flow-control credit for the stream",
    "connection credit": lambda _: "the receiver granted no more flow-control credit for the connection",
    "stream count": lambda _: "the receiver admitted no more streams",
    "send queue": lambda _: "the send queue was full of data in flight, and the application had more to write",
    "scheduler": _scheduler,
    "application": lambda _: "the sender had nothing to send",
    "delivery": lambda _: "everything that the application had written was in flight",
    "capacity": _capacity,
    "competition": _competition,
    "outage": lambda facts: facts.down or f"{facts.bottleneck} carried nothing",
    "middlebox": lambda facts: f"packets did not pass {facts.dropped_by}",
    "idle timeout": lambda _: "no packet came until the idle timeout closed the connection",
    "return path": _return_path,
    "processing": _processing,
    "ACK delay": _ack_delay,
    "queueing": lambda facts: f"packets waited in queues, the longest of them at {facts.bottleneck}",
    "head of line": lambda _: "received data waited for earlier data that was missing",
}
