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

    @property
    def holds(self) -> str:
        """What the path holds, as the end of a sentence."""
        rtt = self.entry.get("rtt_mean_ms")
        if not self.rate_mbps or not rtt:
            return ""
        holds = _bytes(self.rate_mbps * rtt * 125)
        return f" ({self.rate_mbps:,.3g} Mbit/s of {self.bottleneck} times {rtt:,.3g} ms are {holds})"

    @property
    def stream_credit(self) -> str:
        """The option of the receiver that limits a stream."""
        if self.over_tcp:
            return "tcp.max_receive_buffer"
        # The streams of requests are opened by the client.
        return f"transport.initial_max_stream_data_bidi_{'local' if self.receiver == 'client' else 'remote'}"


def words(cause: str, facts: Facts) -> tuple[str, str]:
    """What happened, and what would change it."""
    return _WORDS[cause](facts)


def _handshake(facts: Facts) -> tuple[str, str]:
    return "no data could be sent before the handshake", (
        "0-RTT (`visits` with `early_data`), or a shorter round-trip time"
        if not facts.over_tcp
        else "TCP Fast Open (`tcp.fast_open`), or QUIC, which needs one round trip less"
    )


def _slow_start(facts: Facts) -> tuple[str, str]:
    return "the window was still growing, and the network was not full", (
        "a larger `initial_window`, what is known of the path (`resume`), or more data on one connection"
    )


def _window(facts: Facts) -> tuple[str, str]:
    return "the congestion window was full, and the network was not", f"a controller with a larger window{facts.holds}"


def _recovery(facts: Facts) -> tuple[str, str]:
    lost = facts.entry.get("packets_lost") or 0
    other = _other(facts, "a controller that reacts less to losses", "bbr3", "bbr1")
    return f"the window was smaller than before a loss ({lost:,} packets were lost), and the network was not full", (
        f"{other}, a longer queue, or a link that loses less"
    )


def _timeout(facts: Facts) -> tuple[str, str]:
    timeouts = facts.entry.get("probe_timeouts") or 0
    often = "once" if timeouts == 1 else f"{timeouts:,} times"
    return f"no acknowledgement came until a timer expired ({often})", "a path that loses less"


def _pacer(facts: Facts) -> tuple[str, str]:
    return "the pacer spread packets, and the network was not full", "a controller that finds a higher rate"


def _stream_credit(facts: Facts) -> tuple[str, str]:
    return "the receiver granted no more flow-control credit for the stream", (
        f"a larger `{facts.stream_credit}` at the {facts.receiver}{facts.holds}"
    )


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
    return "everything that the application had written was on its way", (
        "a shorter delay, a shorter queue, or an application that writes earlier"
    )


def _capacity(facts: Facts) -> tuple[str, str]:
    rate = f" ({facts.rate_mbps:,.3g} Mbit/s on average)" if facts.rate_mbps else ""
    return f"{facts.bottleneck} was full", f"a higher rate of {facts.bottleneck}{rate}, or less other traffic there"


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


def _bytes(count: float) -> str:
    return f"{count / 1e6:,.3g} MB" if count >= 1e6 else f"{count / 1e3:,.3g} kB"
