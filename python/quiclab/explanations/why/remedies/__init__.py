"""Remedies: for each cause, changes of the scenario that may take it away."""

from collections.abc import Callable, Iterable

from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.remedies import application, endpoint, media, network, nodes, queues
from quiclab.explanations.why.remedies.option import Option
from quiclab.explanations.why.remedies.usual import known, usual

__all__ = ["Option", "known", "options", "usual"]


def options(cause: str, facts: Facts) -> list[Option]:
    """What may take a cause away, the most likely first; each as keys of the scenario that exist there."""
    if facts.situation is None:
        return []
    found = [option for make in _OF.get(cause, ()) for option in make(facts) if option.sets]
    # The same change may follow from several sources.
    return list({tuple(map(repr, option.sets.items())): option for option in reversed(found)}.values())[::-1]


_OF: dict[str, tuple[Callable[[Facts], Iterable[Option]], ...]] = {
    "handshake": (
        endpoint.handshake,
        network.room,
        network.events,
        network.losses,
        network.channel,
        network.delay,
    ),
    "path validation": (network.nat, network.events, network.delay),
    "slow start": (endpoint.initial_window, endpoint.slow_start, network.delay),
    "window": (
        endpoint.controllers,
        endpoint.slow_start,
        queues.longer,
        queues.managed,
        nodes.longer,
        network.reordering,
        network.delay,
    ),
    "recovery": (
        network.policers,
        media.repairs,
        network.losses,
        network.proxies,
        endpoint.controllers,
        queues.longer,
        queues.managed,
        nodes.longer,
    ),
    "reordering": (network.reordering, endpoint.detection, endpoint.controllers),
    "corruption": (network.corruption, endpoint.controllers),
    "timeout": (
        media.starved,
        media.repairs,
        network.losses,
        network.corruption,
        network.nat,
        endpoint.controllers,
        queues.longer,
        nodes.longer,
    ),
    "pacer": (endpoint.controllers, endpoint.slow_start, network.delay),
    "stream credit": (network.proxies, endpoint.stream_credit, network.losses),
    "connection credit": (endpoint.connection_credit,),
    "stream count": (endpoint.streams,),
    "send queue": (endpoint.send_queue, network.proxies),
    "scheduler": (application.scheduler,),
    "application": (application.asks,),
    "delivery": (application.asks, network.proxies, network.losses, network.delay),
    "capacity": (network.rate, network.faster_channel, media.reserved, media.fewer_acks),
    "competition": (
        media.scheduler,
        queues.fair,
        queues.shorter,
        media.shorter_elsewhere,
        queues.alike,
        media.reserved,
        media.stations,
        network.rate,
        queues.tougher,
        queues.first,
    ),
    "outage": (network.interfaces, network.outage, media.interruption, network.channel),
    "middlebox": (network.room, network.events, network.nat, endpoint.alive),
    "idle timeout": (
        network.silence,
        network.room,
        network.events,
        network.interfaces,
        endpoint.alive,
        network.nat,
    ),
    "return path": (endpoint.fewer_acks, queues.fair_back, queues.shorter_back, network.rate_back),
    "processing": (nodes.fewer_acks, nodes.shorter, nodes.faster),
    "ACK delay": (network.holds, endpoint.prompt_acks),
    "queueing": (queues.fair, queues.shorter, nodes.standing),
}
"""By cause; those of one cause in the order in which they are tried."""
