"""The words for causes: what happened, and what would change it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Facts:
    """What is known of a flow, for its words."""

    entry: dict[str, Any]
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

    @property
    def holds(self) -> str:
        """What the path holds, as the end of a sentence."""
        rtt = self.entry.get("rtt_mean_ms")
        if not self.rate_mbps or not rtt:
            return ""
        holds = _bytes(self.rate_mbps * rtt * 125)
        return f" ({_mbps(self.rate_mbps)} of {self.bottleneck} times {_digits(rtt)} ms are {holds})"

    @property
    def stream_credit(self) -> str:
        """The option that limits a stream."""
        if self.over_tcp:
            if not self.scales:
                return "`tcp.window_scaling`, without which a receive window is 64 KiB at most"
            return f"a larger `tcp.max_receive_buffer` at the {self.receiver}{self.holds}"
        if self.stream is not None and self.stream & _ONE_WAY:
            kind = "uni"
        elif self.stream is None:
            # The streams of requests are opened by the client.
            kind = f"bidi_{'local' if self.receiver == 'client' else 'remote'}"
        else:
            kind = f"bidi_{'local' if self.receiver == ('client', 'server')[self.stream & 1] else 'remote'}"
        return f"a larger `transport.initial_max_stream_data_{kind}` at the {self.receiver}{self.holds}"


_ONE_WAY = 2
"""The bit of a stream's number that is set if it is unidirectional (RFC 9000 section 2.1)."""


def words(cause: str, facts: Facts) -> tuple[str, str]:
    """What happened, and what would change it."""
    return _WORDS[cause](facts)


def _handshake(facts: Facts) -> tuple[str, str]:
    what = "no data could be sent before the handshake"
    if facts.lost:
        return f"{what}, whose packets were lost or late", "a path that loses less, or a shorter queue"
    if facts.over_tcp:
        return what, "TCP Fast Open (`tcp.fast_open`), or QUIC, which needs one round trip less"
    # Without a token the server waits for the client's second flight (RFC 9000 section 8.1).
    options = "`tls.tickets`, `tls.early_data`, `transport.new_tokens`, and `early_data` of a flow with `visits`"
    change = f"0-RTT ({options}), or a shorter round-trip time"
    if facts.amplified:
        # RFC 9000 section 8.1.
        return f"{what}, in which the server waited until the client's address was validated", (
            f"a shorter `tls.certificate_chain`, {change}"
        )
    return what, change


def _slow_start(facts: Facts) -> tuple[str, str]:
    return "the window was still growing, and the network was not full", (
        "a larger `initial_window`, what is known of the path (`resume`), or more data on one connection"
    )


def _window(facts: Facts) -> tuple[str, str]:
    return "the congestion window was full, and the network was not", f"a controller with a larger window{facts.holds}"


def _recovery(facts: Facts) -> tuple[str, str]:
    lost = facts.entry.get("packets_lost") or 0
    other = _other(facts, "a controller that reacts less to losses", "bbr3", "bbr1")
    what = f"the window was smaller than before a loss ({lost:,} packets were lost), and the network was not full"
    if facts.policer:
        return what, f"a larger `burst` or a higher `rate` of the policer of {facts.policer}, or {other}"
    return what, f"{other}, a longer queue, or a link that loses less"


def _timeout(facts: Facts) -> tuple[str, str]:
    timeouts = facts.entry.get("probe_timeouts") or 0
    often = "once" if timeouts == 1 else f"{timeouts:,} times"
    return f"no acknowledgement came until a timer expired ({often})", "a path that loses less"


def _pacer(facts: Facts) -> tuple[str, str]:
    return "the pacer spread packets, and the network was not full", "a controller that finds a higher rate"


def _stream_credit(facts: Facts) -> tuple[str, str]:
    return "the receiver granted no more flow-control credit for the stream", facts.stream_credit


def _connection_credit(facts: Facts) -> tuple[str, str]:
    return "the receiver granted no more flow-control credit for the connection", (
        f"a larger `transport.initial_max_data` at the {facts.receiver}{facts.holds}"
    )


def _stream_count(facts: Facts) -> tuple[str, str]:
    return "the receiver admitted no more streams", (
        f"a larger `transport.initial_max_streams_bidi` (or `_uni`) at the {facts.receiver}"
    )


def _send_queue(facts: Facts) -> tuple[str, str]:
    return "the send queue was full of data in flight, and the application had more to write", (
        f"a larger `transport.send_queue` at the {facts.sender}{facts.holds}"
    )


def _application(facts: Facts) -> tuple[str, str]:
    return "the sender had nothing to send", "an application that writes or asks earlier, or more at a time"


def _delivery(facts: Facts) -> tuple[str, str]:
    return "everything that the application had written was in flight", (
        "a shorter delay, a shorter queue, or an application that writes or asks earlier, or more at a time"
    )


def _capacity(facts: Facts) -> tuple[str, str]:
    rate = f" ({_mbps(facts.rate_mbps)} on average)" if facts.rate_mbps else ""
    others = f", and at other times {' and '.join(facts.also_full)}" if facts.also_full else ""
    if facts.policed:
        what = f"the policer of {facts.bottleneck} let no more through{others}"
        return what, f"a higher `rate` of the policer{rate}, or less other traffic there"
    return (
        f"{facts.bottleneck} was full{others}",
        f"a higher rate of {facts.bottleneck}{rate}, or less other traffic there",
    )


def _outage(facts: Facts) -> tuple[str, str]:
    return f"{facts.bottleneck} carried nothing", f"no outages of {facts.bottleneck}, or another path"


def _queueing(facts: Facts) -> tuple[str, str]:
    return f"packets waited in queues, the longest of them at {facts.bottleneck}", (
        "a shorter queue, an AQM (`codel`, `fq-codel`), or "
        + _other(facts, "a controller that keeps queues short", "bbr3", "copa")
    )


def _head_of_line(facts: Facts) -> tuple[str, str]:
    return "received data waited for earlier data that was missing", (
        "QUIC with separate streams for independent data"
        if facts.over_tcp
        else "separate streams for independent data, or a path that loses less"
    )


_WORDS: dict[str, Callable[[Facts], tuple[str, str]]] = {
    "handshake": _handshake,
    "slow start": _slow_start,
    "window": _window,
    "recovery": _recovery,
    "timeout": _timeout,
    "pacer": _pacer,
    "stream credit": _stream_credit,
    "connection credit": _connection_credit,
    "stream count": _stream_count,
    "send queue": _send_queue,
    "application": _application,
    "delivery": _delivery,
    "capacity": _capacity,
    "outage": _outage,
    "queueing": _queueing,
    "head of line": _head_of_line,
}


def _other(facts: Facts, what: str, *controllers: str) -> str:
    """Another controller than the one that was used."""
    others = ", ".join(f"`{controller}`" for controller in controllers if controller != facts.controller)
    return f"{what} ({others})"


def _mbps(rate: float) -> str:
    return f"{_digits(rate)} Mbit/s"


def _bytes(count: float) -> str:
    return f"{_digits(count / 1e6)} MB" if count >= 1e6 else f"{_digits(count / 1e3)} kB"


def _digits(value: float) -> str:
    """A number with three digits, and without an exponent if it is large."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"
