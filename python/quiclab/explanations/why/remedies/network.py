"""Remedies in the network: rates, losses, outages, delays, middleboxes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quiclab.explanations.why.facts import Facts, mbps
from quiclab.explanations.why.remedies.media import GOOD_DB, faster, of_all, wider
from quiclab.explanations.why.remedies.option import Option, in_mbps, in_ms
from quiclab.explanations.why.situation import Hop, kind, number, quoted

_MORE = 4
"""A higher rate is this multiple: three quarters of the time of a full link."""


def rate(facts: Facts) -> Iterator[Option]:
    """A higher rate of the bottleneck."""
    if facts.hop is None:
        return
    others = "" if facts.is_alone else ", or less other traffic there"
    mean = f" ({mbps(facts.rate_mbps)} on average)" if facts.rate_mbps else ""
    if facts.policed:
        given = number(facts.hop.options["queue"]["rate"]) or 0.0
        what = f"a higher `rate` of the policer{mean}{others}"
        # Acknowledgements are not all that a sender waits for.
        brings = 0.6 if facts.situation is not None and facts.hop in facts.situation.data else 0.3
        yield Option(what, {f"{facts.hop.key}.queue.rate": in_mbps(_MORE * given)}, brings)
        return
    for sets in _higher(facts, facts.hop, facts.rate_mbps or facts.hop.rate_mbps, _MORE):
        # Of a faster one, too, those take the most that take more than their share.
        share = facts.own_share if facts.is_starved or facts.is_elsewhere else 1.0
        # Frames of a faster one would fail even more often.
        brings = 0.1 if facts.hop.medium == "wlan" and facts.fails else (1 - 1.2 / _MORE) * share
        following = _following(facts)
        if following is not None and facts.rate_mbps:
            # The next one lets no more through than it has.
            brings = min(brings, 1 - facts.rate_mbps / following[1])
        yield Option(f"a higher rate of {facts.hop.name}{mean}{others}", sets, brings)
        if following is not None and facts.hop.medium is None:
            link, next_mbps = following
            both = {**sets, f"{link.shared}.rate": in_mbps(_MORE * next_mbps)}
            yield Option(f"a higher rate of {facts.hop.name} and of {link.name}{others}", both, 0.6)


def _following(facts: Facts) -> tuple[Hop, float] | None:
    """The next slowest link that all data passes, and its rate in Mbit/s; None if it is `_MORE` times as fast."""
    situation = facts.situation
    events = situation.records.document.get("event") if situation is not None else None
    if situation is None or facts.hop is None or not facts.rate_mbps or events:
        return None
    links = [hop for hop in situation.data if hop.name != facts.hop.name and hop.medium is None]
    rates = [(hop, hop.rate_mbps) for hop in links if hop.rate_mbps is not None]
    slow = [(hop, rate) for hop, rate in rates if facts.rate_mbps <= rate < _MORE * facts.rate_mbps]
    return min(slow, key=lambda pair: pair[1], default=None)


def rate_back(facts: Facts) -> Iterator[Option]:
    """A higher rate of the way back."""
    if facts.back is not None:
        mean = f" ({mbps(facts.back.rate_mbps)} on average)" if facts.back.rate_mbps else ""
        for sets in _higher(facts, facts.back, facts.back.rate_mbps, 10):
            yield Option(f"a higher rate of {facts.back.name}{mean}", sets, 0.4)


def _higher(facts: Facts, hop: Hop, rate_mbps: float | None, factor: int) -> Iterator[dict[str, Any]]:
    if not hop.key:
        return
    if hop.medium in ("lte", "nr"):
        yield from wider(facts, hop)
    elif hop.medium == "wlan":
        yield from faster(facts, hop)
    elif rate_mbps:
        series = (
            {f"{hop.key}.series": "none", f"{hop.key}.delay": "10 ms"} if hop.kind("series") not in ("", "none") else {}
        )
        yield {f"{hop.shared}.rate": in_mbps(factor * rate_mbps), **series}


def channel(facts: Facts) -> Iterator[Option]:
    """A better radio channel, for every terminal of the media of the path."""
    assert facts.situation is not None
    sets: dict[str, Any] = {}
    media = {str(medium.get("name")): medium for medium in facts.situation.records.document.get("medium", [])}
    for hop in facts.situation.data:
        medium = media.get(hop.name.split(" ")[0])
        if medium is None or "channel" not in hop.options:
            continue
        sets |= of_all(facts, hop, "channel", GOOD_DB)
    if sets:
        yield Option(f"a better radio channel, of {GOOD_DB} dB", sets, 0.6)


def faster_channel(facts: Facts) -> Iterator[Option]:
    """The same for a rate that follows the channel: that of a WLAN without rate control does not."""
    hop = facts.hop
    fixed = (
        not facts.fails
        and hop is not None
        and hop.medium == "wlan"
        and kind(hop.options.get("rate_control", "fixed")) == "fixed"
    )
    yield from (replace(option, brings=0.1) if fixed else option for option in channel(facts))


def _lossy(hops: Sequence[Hop]) -> list[Hop]:
    return [hop for hop in hops if hop.key and hop.kind("loss") not in ("", "none")]


def losses(facts: Facts) -> Iterator[Option]:
    """No losses other than those of queues."""
    assert facts.situation is not None
    lossy = _lossy([*facts.situation.data, *facts.situation.back])
    sets = {f"{hop.key}.loss": "none" for hop in lossy if hop.medium is None}
    for hop in lossy:
        sets |= of_all(facts, hop, "loss", "none") if hop.medium is not None else {}
    errors: dict[str, Any] = {}
    for hop in facts.situation.data:
        at = {f".at.{quoted(node)}": own for node, own in facts.situation.at(hop).items()}
        for key, own in {"": hop.options, **at}.items() if hop.medium else ():
            errors |= {f"{hop.shared}{key}.{option}": "none" for option in _ERRORS if _fails(option, own.get(option))}
    names = " and ".join(hop.name for hop in lossy[:2])
    if sets:
        yield Option(f"a path that loses less: {names} without losses", sets, 0.7)
    if errors:
        yield Option("a path that loses less: a channel without errors", errors, 0.6)


_ERRORS = ("frame_errors", "block_errors", "uplink_block_errors")
_USUAL = 0.1
"""A share of blocks of a cell that fails by design."""


def _fails(option: str, given: object) -> bool:
    """Whether errors are more than those that a cell is built for."""
    if option == "frame_errors" or kind(given) != "target":
        return kind(given or "none") != "none"
    return isinstance(given, dict) and (number(given.get("bler")) or 0.0) > _USUAL


def silence(facts: Facts) -> Iterator[Option]:
    """No losses, where a sender asked several times and nothing came back."""
    if facts.is_unanswered:
        yield from losses(facts)


def corruption(facts: Facts) -> Iterator[Option]:
    """No packets that are altered on the way."""
    assert facts.situation is not None
    hops = [*facts.situation.data, *facts.situation.back]
    altered = [hop for hop in hops if hop.key and hop.options.get("corrupt")]
    if altered:
        names = " and ".join(hop.name for hop in altered[:2])
        yield Option(f"a path that alters no packets: {names}", {f"{hop.key}.corrupt": 0.0 for hop in altered}, 0.7)


def reordering(facts: Facts) -> Iterator[Option]:
    """Packets in order."""
    assert facts.situation is not None
    hops = [*facts.situation.data, *facts.situation.back]
    free = [hop for hop in hops if hop.key and hop.options.get("reorder")]
    if free:
        names = " and ".join(hop.name for hop in free[:2])
        yield Option(
            f"a path that keeps the order of packets: {names}", {f"{hop.key}.reorder": False for hop in free}, 0.6
        )
    shaken = [hop for hop in hops if hop.key and hop.kind("jitter") not in ("", "none")]
    if shaken:
        names = " and ".join(hop.name for hop in shaken[:2])
        yield Option(f"no jitter of {names}", {f"{hop.key}.jitter": "none" for hop in shaken}, 0.6)


def outage(facts: Facts) -> Iterator[Option]:
    """Links that never stop."""
    assert facts.situation is not None
    sets: dict[str, Any] = {}
    names: list[str] = []
    for hop in (*facts.situation.data, *facts.situation.back):
        usual = facts.situation.records.usual_rate(hop.name)
        is_series = hop.kind("series") not in ("", "none")
        if (
            not hop.key
            or hop.medium is not None
            or not usual
            or not (is_series or hop.kind("rate") not in ("", "fixed"))
        ):
            continue
        sets |= {f"{hop.key}.rate": in_mbps(usual), **({f"{hop.key}.series": "none"} if is_series else {})}
        names.append(hop.name)
    if sets:
        yield Option(f"no outages of {' and '.join(names[:2])}, or another path", sets, 0.6)


def interfaces(facts: Facts) -> Iterator[Option]:
    """A migration away from an interface that goes down, or one that stays up."""
    assert facts.situation is not None
    situation = facts.situation
    events = list(situation.records.document.get("event") or [])
    for down in situation.downs:
        for other in down.others if situation.protocol == "quic" else ():
            move = {"at": f"{down.start:.9g} s", "type": "migrate", "flow": situation.flow["name"]}
            move |= {"interface": other, "how": "rebound"}
            what = f"a migration to {other} when {down.interface} goes down"
            yield Option(what, {"event": [*map(_given, events), move]}, 0.8)
    gone = {(down.node, down.interface) for down in situation.downs}
    stays = [
        _given(event)
        for event in events
        if not str(event["type"]).startswith("interface-") or (event["node"], event["interface"]) not in gone
    ]
    if gone:
        names = " and ".join(f"interface {interface} of node {node}" for node, interface in sorted(gone))
        yield Option(f"{names} up all the time, or another path", {"event": stays}, 0.9)


def events(facts: Facts) -> Iterator[Option]:
    """A NAT that is not made to forget, and a flow that does not move."""
    assert facts.situation is not None
    given = list(facts.situation.records.document.get("event") or [])
    flow, stations = facts.situation.flow.get("name"), facts.situation.stations
    forgets = [one for one in given if one["type"] == "forget" and one.get("node") in stations]
    moves = [one for one in given if one["type"] == "migrate" and one.get("flow") == flow]
    names = " and ".join(sorted({str(one["node"]) for one in forgets}))
    for what, gone in ((f"node {names} that keeps its memory", forgets), ("a flow that keeps its interface", moves)):
        if gone:
            yield Option(what, {"event": [_given(one) for one in given if one not in gone]}, 0.7)


def _given(event: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if value is not None}


def delay(facts: Facts) -> Iterator[Option]:
    """A shorter path."""
    assert facts.situation is not None
    sets: dict[str, Any] = {}
    longest = 0.0
    for hop in (*facts.situation.data, *facts.situation.back):
        seconds = number(hop.options.get("delay")) or 0.0
        if hop.key and seconds > 0:
            sets[f"{hop.key if hop.medium is None else hop.shared}.delay"] = in_ms(seconds / 4)
            longest = max(longest, seconds)
    if sets:
        yield Option("a shorter round-trip time, by a server that is nearer", sets, 0.6, is_last=True)


def policers(facts: Facts) -> Iterator[Option]:
    """More room at a policer."""
    assert facts.situation is not None
    hop = facts.situation.hop(facts.policer) if facts.policer else None
    if hop is None or not isinstance(queue := hop.options.get("queue"), dict):
        return
    given, burst = number(queue.get("rate")) or 0.0, number(queue.get("burst")) or 0.0
    round_trip = facts.situation.path_rtt_s or 0.1
    room = max(2 * given * round_trip * 125e3, 8 * burst)
    what = f"a larger `burst` or a higher `rate` of the policer of {hop.name}"
    yield Option(what, {f"{hop.key}.queue.burst": f"{int(room)} B"}, 0.5)
    yield Option(f"a higher `rate` of the policer of {hop.name}", {f"{hop.key}.queue.rate": in_mbps(4 * given)}, 0.5)


def room(facts: Facts) -> Iterator[Option]:
    """A NAT with more mappings, where it dropped packets."""
    assert facts.situation is not None
    for node in facts.situation.middleboxes if facts.dropped_by else ():
        if kind(node["kind"]) == "nat" and int(node["kind"].get("mappings", _MAPPINGS)) < _MAPPINGS:
            key = f"node.{quoted(str(node['name']))}.kind.mappings"
            yield Option(f"more `mappings` of node {node['name']} (nat)", {key: _MAPPINGS}, 0.7)


_MAPPINGS = 10_000
"""The default."""


def nat(facts: Facts) -> Iterator[Option]:
    """A NAT that does not forget."""
    assert facts.situation is not None
    for node in facts.situation.middleboxes:
        if kind(node["kind"]) != "nat":
            continue
        key = f"node.{quoted(str(node['name']))}.kind"
        if node["kind"].get("rebind"):
            yield Option(f"node {node['name']} (nat) that keeps its mappings", {f"{key}.rebind": []}, 0.6)
        option = "tcp_timeout" if facts.over_tcp else "timeout"
        timeout = number(node["kind"].get(option)) or 300.0
        if not facts.over_tcp:
            alive = facts.situation.own(keep_alive=in_ms(timeout / 2))
            what = f"`keep_alive` below the {timeout:g} s after which node {node['name']} (nat) forgets"
            yield Option(what, alive, 0.6)
        yield Option(f"a longer `{option}` of node {node['name']} (nat)", {f"{key}.{option}": "24 h"}, 0.6)


def proxies(facts: Facts) -> Iterator[Option]:
    """A proxy with more room, and with another controller."""
    assert facts.situation is not None
    if not facts.over_tcp:
        return
    for node in facts.situation.middleboxes:
        if kind(node["kind"]) != "pep":
            continue
        key = f"node.{quoted(str(node['name']))}.kind"
        room = {f"{key}.{option}": "16 MB" for option in ("receive_buffer", "max_receive_buffer", "send_buffer")}
        yield Option(f"more buffer at node {node['name']} (pep)", room, 0.5)
        for controller in ("bbr3", "cubic"):
            if kind(node["kind"].get("controller", "")) != controller:
                what = f"another controller (`{controller}`) of node {node['name']} (pep)"
                yield Option(what, {f"{key}.controller": controller}, 0.4)


def holds(facts: Facts) -> Iterator[Option]:
    """A middlebox that passes acknowledgements at once."""
    assert facts.situation is not None
    for node in facts.situation.middleboxes:
        if kind(node["kind"]) == "ack-pacer":
            key = f"node.{quoted(str(node['name']))}.kind.longest_delay"
            yield Option(f"node {node['name']} (ack-pacer) that holds acknowledgements for less", {key: "1 ms"}, 0.6)
