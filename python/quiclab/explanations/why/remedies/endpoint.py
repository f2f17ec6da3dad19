"""Remedies at the endpoints: controllers, credit, acknowledgements, handshakes."""

import math
from collections.abc import Iterator

from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.remedies.option import Option, in_bytes
from quiclab.explanations.why.situation import kind, number

_PACKET = 1_400
_LARGE = 500
"""The largest initial window that is tried, in packets."""
_OWN = 0.5
"""If the flow has a smaller share of the way back, its acknowledgements do not fill it."""
_CONTROLLERS = ("bbr3", "cubic", "bbr1", "newreno", "copa")


def controllers(facts: Facts) -> Iterator[Option]:
    """Other controllers."""
    situation = facts.situation
    assert situation is not None
    # One that keeps its rate through losses gets no more of a queue that drops by its own rule.
    brings = 0.15 if facts.is_managed else 0.4
    for name in _CONTROLLERS:
        if name != facts.controller:
            yield Option(f"another controller (`{name}`)", situation.own(controller=name), brings)


def slow_start(facts: Facts) -> Iterator[Option]:
    """A slow start that ends with the first loss, instead of at the first sign of delay."""
    situation = facts.situation
    assert situation is not None
    controller = situation.options.get("controller")
    if isinstance(controller, dict) and str(controller.get("slow_start", "standard")) != "standard":
        (key,) = situation.own(controller=None)
        yield Option("a slow start that goes on until a loss", {f"{key}.slow_start": "standard"}, 0.3)


def initial_window(facts: Facts) -> Iterator[Option]:
    """A larger initial window: what the path holds."""
    situation = facts.situation
    assert situation is not None
    round_trip = situation.path_rtt_s or 0.1
    holds = (facts.rate_mbps or 100.0) * round_trip * 125e3 / _PACKET
    for packets in (min(max(math.ceil(holds), 32), _LARGE), 32):
        what = "a larger `initial_window`, what is known of the path (`resume`), or more data on one connection"
        yield Option(what, situation.own(initial_window=packets), 0.5)


def stream_credit(facts: Facts) -> Iterator[Option]:
    """More credit of the stream."""
    situation = facts.situation
    assert situation is not None
    if facts.application_window is not None:
        key, option = facts.application_window
        yield Option(f"a larger `{option}` of the application", {f"{key}.{option}": "16 MB"}, 0.6)
    what, option = facts.stream_credit
    if option == "window_scaling":
        yield Option(what, situation.own(window_scaling=True), 0.5)
    elif option == "max_receive_buffer":
        yield Option(what, situation.own(max_receive_buffer=_enough(facts)), 0.5)
        given = situation.own(receive_buffer=_enough(facts), max_receive_buffer=_enough(facts))
        yield Option("a larger `tcp.receive_buffer` from the start", given, 0.5)
    else:
        yield Option(what, situation.own(**{option: _enough(facts)}), 0.5)


def _enough(facts: Facts) -> str:
    """Credit of four BDPs, and no less than the default."""
    assert facts.situation is not None
    round_trip = facts.situation.path_rtt_s or 0.1
    return in_bytes(max(16e6, 4 * (facts.rate_mbps or 0.0) * round_trip * 125e3))


def connection_credit(facts: Facts) -> Iterator[Option]:
    """More credit of the connection."""
    assert facts.situation is not None
    what = f"a larger `transport.initial_max_data` at the {facts.receiver}{facts.holds}"
    yield Option(what, facts.situation.own(initial_max_data=_enough(facts)), 0.5)


def streams(facts: Facts) -> Iterator[Option]:
    """More streams at a time."""
    assert facts.situation is not None
    what = f"a larger `transport.initial_max_streams_bidi` (or `_uni`) at the {facts.receiver}"
    given = facts.situation.own(initial_max_streams_bidi=1000, initial_max_streams_uni=1000)
    yield Option(what, given, 0.5)


def send_queue(facts: Facts) -> Iterator[Option]:
    """More data of the application in the transport."""
    assert facts.situation is not None
    name = "send_buffer" if facts.over_tcp else "send_queue"
    what = f"a larger `{'tcp' if facts.over_tcp else 'transport'}.{name}` at the {facts.sender}{facts.holds}"
    yield Option(what, facts.situation.own(**{name: _enough(facts)}), 0.5)


def handshake(facts: Facts) -> Iterator[Option]:
    """A shorter handshake."""
    situation = facts.situation
    assert situation is not None
    if facts.over_tcp:
        if kind(situation.options.get("tls", "none")) == "none":
            what = "TCP Fast Open (`tcp.fast_open`), or QUIC, which needs one round trip less"
            yield Option(what, situation.own(fast_open="cached"), 0.4)
        return
    chain = number(situation.records.document.get("tls", {}).get("certificate_chain")) or 0.0
    if facts.amplified and chain > 3000:
        yield Option("a shorter `tls.certificate_chain`", {"tls.certificate_chain": "2 kB"}, 0.3)
    if situation.options.get("retry") == "always":
        yield Option("a server that asks for no Retry", situation.own(retry="never"), 0.3)
    tls = situation.records.document.get("tls", {})
    ready = tls.get("tickets") and tls.get("early_data") and situation.flow.get("early_data")
    if situation.flow.get("visits") and not (ready and situation.options.get("new_tokens")):
        options = "`tls.tickets`, `tls.early_data`, `transport.new_tokens`, and `early_data` of a flow with `visits`"
        given = {"tls.tickets": 1, "tls.early_data": True, f"{situation.key}.early_data": True}
        yield Option(f"0-RTT ({options})", {**given, **situation.own(new_tokens=1)}, 0.4)


def fewer_acks(facts: Facts) -> Iterator[Option]:
    """Fewer acknowledgements."""
    situation = facts.situation
    assert situation is not None
    ratio = int(situation.options.get("ack_ratio", 2))
    if facts.back_share < _OWN:
        return
    for more in (10, 4):
        if more > ratio:
            what = f"fewer acknowledgements (`ack_ratio` {more} instead of {ratio}) from the {situation.receiver}"
            yield Option(what, situation.own(ack_ratio=more), 0.15)


def prompt_acks(facts: Facts) -> Iterator[Option]:
    """Acknowledgements that are not held back."""
    situation = facts.situation
    assert situation is not None
    ratio = int(situation.options.get("ack_ratio", 2))
    if facts.over_tcp:
        given = situation.own(**({"ack_ratio": 2} if ratio > 2 else {}), delayed_ack="1 ms")
        yield Option(
            f"acknowledgements that the {facts.receiver} sends at once (`ack_ratio`, `delayed_ack`)", given, 0.5
        )
        return
    asked = situation.options.get("peer_ack_ratio")
    given = situation.own(ack_ratio=min(ratio, 2), max_ack_delay="1 ms")
    if asked is not None:
        given |= situation.own(peer_ack_ratio=2, peer_max_ack_delay="1 ms")
    what = (
        f"acknowledgements that the {facts.receiver} sends at once (`ack_ratio` {min(ratio, 2)}, `max_ack_delay` 1 ms)"
    )
    yield Option(what, given, 0.5)
    if ratio > 2:
        yield Option(
            f"an acknowledgement for every second packet (`ack_ratio` 2 instead of {ratio})",
            situation.own(ack_ratio=2),
            0.5,
        )


def detection(facts: Facts) -> Iterator[Option]:
    """Losses that are detected by time, and are undone where they were none."""
    situation = facts.situation
    assert situation is not None
    if facts.over_tcp and not situation.options.get("rack", True):
        yield Option("losses that are detected by time (`tcp.rack`)", situation.own(rack=True), 0.5)


def alive(facts: Facts) -> Iterator[Option]:
    """A connection that does not fall silent."""
    situation = facts.situation
    assert situation is not None
    if facts.over_tcp:
        return
    idle = number(situation.options.get("max_idle_timeout")) or 30.0
    if facts.is_unanswered and not facts.dropped_by:
        # What keeps a path alive does not mend it.
        return
    seconds = f"{max(round(idle / 3, 1), 0.1):g} s"
    yield Option(f"a `keep_alive` below the idle timeout of {idle:g} s", situation.own(keep_alive=seconds), 0.6)
    yield Option("a longer `max_idle_timeout`", situation.own(max_idle_timeout="0 s"), 0.6)
