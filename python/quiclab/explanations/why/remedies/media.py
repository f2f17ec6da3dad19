"""Remedies at media: more spectrum, a faster standard, stations that take less air time."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.media import HIGHEST_MBPS, phy_mbps
from quiclab.explanations.why.remedies.option import Option, in_ms
from quiclab.explanations.why.situation import Hop, kind, number, quoted

GOOD_DB = 30
"""Decibels of a channel near its antenna."""
_HIGHEST_MCS = 28
"""Of a cell."""
_WIDEST_MHZ = {0: 50, 1: 100, 2: 100, 3: 400, 4: 400}
"""Of a carrier of NR, by its numerology (TS 38.101-1 and 38.101-2, table 5.3.5-1)."""
_HANDOVER_S = 0.03
"""A short interruption by a handover."""
_FEWER = 10
"""Packets for each acknowledgement."""


def of_all(facts: Facts, hop: Hop, option: str, value: Any) -> dict[str, Any]:
    """An option of a medium for all of its nodes, those included that have one of their own."""
    assert facts.situation is not None
    own = [node for node, options in facts.situation.at(hop).items() if option in options]
    return {f"{hop.shared}.{option}": value} | {f"{hop.shared}.at.{quoted(node)}.{option}": value for node in own}


def wider(facts: Facts, hop: Hop) -> Iterator[dict[str, Any]]:
    """More spectrum, or a better channel, in a cell."""
    assert facts.situation is not None
    if hop.medium == "nr":
        wide = number(hop.options.get("bandwidth")) or 100.0
        widest = _WIDEST_MHZ.get(int(hop.options.get("numerology", 1)), 100)
        if wide < widest:
            yield {f"{hop.shared}.bandwidth": int(min(4 * wide, widest))}
        if int(hop.options.get("layers", 1)) < 4:
            yield {f"{hop.shared}.layers": 4}
    elif hop.options.get("bandwidth") != "20 MHz":
        yield {f"{hop.shared}.bandwidth": "20 MHz"}
    own = [node for node in facts.situation.stations if "mcs" in facts.situation.at(hop).get(node, {})]
    if own:
        yield {f"{hop.shared}.at.{quoted(node)}.mcs": _HIGHEST_MCS for node in own}
    elif "mcs" in hop.options:
        yield {f"{hop.shared}.mcs": _HIGHEST_MCS}
    elif kind(hop.options.get("channel")) == "constant":
        yield of_all(facts, hop, "channel", GOOD_DB)


def faster(facts: Facts, hop: Hop) -> Iterator[dict[str, Any]]:
    """A faster rate of the own station, or a faster standard of the WLAN."""
    assert facts.situation is not None
    standard = str(hop.options.get("standard", "g"))
    new = standard not in HIGHEST_MBPS
    at = facts.situation.at(hop)
    own: dict[str, Any] = {}
    for node, options in at.items():
        if node in facts.situation.stations and ("mcs" if new else "rate") in options:
            given = {"mcs": 31} if new else {"rate": f"{HIGHEST_MBPS[standard]:g} Mbit/s"}
            own |= {f"{hop.shared}.at.{quoted(node)}.{option}": value for option, value in given.items()}
    if own:
        yield own
    if kind(hop.options.get("rate_control", "fixed")) != "fixed":
        if not new:
            yield {f"{hop.shared}.standard": "n"}
        elif int(hop.options.get("streams", 1)) < 4:
            yield {f"{hop.shared}.streams": 4}
    elif new:
        if hop.options.get("mcs") != 31:
            yield {f"{hop.shared}.mcs": 31} | own
    elif "rate" not in hop.options and not any("rate" in options for options in at.values()):
        yield {f"{hop.shared}.standard": "n", f"{hop.shared}.mcs": 15}
    elif (number(hop.options.get("rate")) or HIGHEST_MBPS[standard]) < HIGHEST_MBPS[standard]:
        yield {f"{hop.shared}.rate": f"{HIGHEST_MBPS[standard]:g} Mbit/s"} | own


def stations(facts: Facts) -> Iterator[Option]:
    """Stations of others that are as fast as the fastest: what a slow one takes is air time."""
    hop, situation = facts.hop, facts.situation
    if hop is None or situation is None or hop.medium not in ("wlan", "lte", "nr"):
        return
    medium = situation.records.medium(hop.name.split(" ")[0]) or {}
    if hop.medium != "wlan":
        for node, options in situation.at(hop).items():
            if node not in situation.stations and kind(options.get("channel", "")) == "constant":
                key = f"{hop.shared}.at.{quoted(node)}.channel"
                yield Option(f"a better channel of {node}, which takes less of the cell then", {key: GOOD_DB}, 0.3)
        return
    rates = {str(node): phy_mbps(medium, str(node)) for node in medium.get("terminals", [])}
    best = max((rate for rate in rates.values() if rate is not None), default=0.0)
    for node, rate in rates.items():
        if rate is None or rate >= best or node in situation.stations:
            continue
        own = medium.get("at", {}).get(node, {})
        fastest = max(rates, key=lambda name: rates[name] or 0.0)
        options = {**medium, **medium.get("at", {}).get(fastest, {})}
        option = "mcs" if "mcs" in own else "rate"
        value = options.get(option, 7 if option == "mcs" else f"{best:g} Mbit/s")
        key = f"{hop.shared}.at.{quoted(node)}.{option}"
        what = f"a station {node} that sends at {best:.4g} instead of {rate:.4g} Mbit/s, and so takes less air time"
        yield Option(what, {key: value}, 0.6)


def shorter_elsewhere(facts: Facts) -> Iterator[Option]:
    """Shorter queues of the other stations, which send as often as they have packets."""
    hop, situation = facts.hop, facts.situation
    if hop is None or situation is None or hop.medium not in ("wlan", "shared"):
        return
    medium = situation.records.medium(hop.name.split(" ")[0]) or {}
    station, terminals = str(medium.get("station")), [str(node) for node in medium.get("terminals", [])]
    others: dict[str, None] = {}
    for entry in situation.records.run.summary.get("connections") or []:
        flow, sender = situation.records.flow(str(entry.get("name"))), str(entry.get("sender", "server"))
        if not {str(flow.get("client")), str(flow.get("server"))}.isdisjoint(terminals):
            others[str(flow.get(sender)) if str(flow.get(sender)) in terminals else station] = None
    own = next(
        (node for node in (station, *terminals) if f"{hop.name} ".startswith(f"{medium.get('name')} {node} ")), ""
    )
    found = [node for node in others if node != own]
    if found:
        what = f"an AQM (`fq-codel`) at the other stations: {', '.join(found[:3])}{', ...' * (len(found) > 3)}"
        brings = 0.3 if facts.is_elsewhere else 0.1
        yield Option(what, {f"{hop.shared}.at.{quoted(node)}.queue": "fq-codel" for node in found}, brings)


def scheduler(facts: Facts) -> Iterator[Option]:
    """A cell that gives everybody a part."""
    hop = facts.hop
    if hop is None or hop.medium not in ("lte", "nr"):
        return
    given = kind(hop.options.get("scheduler", "proportional-fair"))
    for name in ("proportional-fair", "round-robin"):
        if name != given:
            what = f"another scheduler of the cell (`{name}` instead of `{given}`)"
            yield Option(what, {f"{hop.shared}.scheduler": name}, 0.1 if given == "proportional-fair" else 0.3)


def starved(facts: Facts) -> Iterator[Option]:
    """The same for one that gives a flow so little that its timers expire."""
    if facts.is_starved and facts.is_elsewhere:
        yield from (replace(option, brings=0.5) for option in scheduler(facts))


def reserved(facts: Facts) -> Iterator[Option]:
    """Frames that are announced, where stations do not hear each other."""
    hop = facts.hop
    if hop is not None and hop.medium == "wlan" and hop.options.get("hidden"):
        what = "RTS and CTS, since some stations do not hear each other"
        yield Option(what, {f"{hop.shared}.rts_threshold": "200 B"}, 0.4)


def interruption(facts: Facts) -> Iterator[Option]:
    """Handovers that interrupt for less time."""
    assert facts.situation is not None
    for hop in facts.situation.data:
        given = number(hop.options.get("interruption")) or 0.0
        if hop.medium in ("lte", "nr") and kind(hop.options.get("handover", "none")) != "none" and given > _HANDOVER_S:
            key = f"{hop.shared}.interruption"
            yield Option(f"handovers of {hop.name} that interrupt for less time", {key: in_ms(_HANDOVER_S)}, 0.6)


def repairs(facts: Facts) -> Iterator[Option]:
    """A link layer that sends again what failed."""
    situation = facts.situation
    assert situation is not None
    for hop in situation.data:
        if hop.medium == "wlan" and int(hop.options.get("attempts", 7)) < 7:
            yield Option(f"more attempts for a frame of {hop.name}", {f"{hop.shared}.attempts": 7}, 0.5)
        if hop.medium in ("lte", "nr"):
            if hop.options.get("rlc") == "um":
                yield Option(f"the acknowledged mode of RLC at {hop.name}", of_all(facts, hop, "rlc", "am"), 0.4)
            if int(hop.options.get("harq_retransmissions", 3)) < 3:
                again = {f"{hop.shared}.harq_retransmissions": 3}
                yield Option(f"HARQ retransmissions at {hop.name}", again, 0.4)


def fewer_acks(facts: Facts) -> Iterator[Option]:
    """Fewer acknowledgements, where they use the same air as the data."""
    hop, situation = facts.hop, facts.situation
    if hop is None or situation is None or hop.medium not in ("shared", "wlan"):
        return
    ratio = int(situation.options.get("ack_ratio", 2))
    if ratio < _FEWER:
        what = f"fewer acknowledgements (`ack_ratio` {_FEWER} instead of {ratio}), which use the same air"
        yield Option(what, situation.own(ack_ratio=_FEWER), 0.1)
