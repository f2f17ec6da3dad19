"""Remedies in the application: when it asks, for how much at a time, and which stream is sent first."""

from collections.abc import Iterator
from typing import Any

from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.remedies.option import Option
from quiclab.explanations.why.situation import kind, number


def asks(facts: Facts) -> Iterator[Option]:
    """An application that writes or asks earlier, or more at a time."""
    situation = facts.situation
    assert situation is not None
    more: dict[str, Any] = {}
    sooner: dict[str, Any] = {}
    for key, application in situation.applications:
        word = kind(application)
        for option in ("think", "service"):
            if number(application.get(option)):
                sooner[f"{key}.{option}"] = "0 s"
        if word == "request-response" and int(application.get("pipelining", 1)) < 16 and "think" not in str(sooner):
            more[f"{key}.pipelining"] = 16
        if word in ("hq", "http2", "http3") and int(application.get("concurrency", 100)) < 100:
            more[f"{key}.concurrency"] = 100
        if word == "http1" and int(application.get("connections", 6)) < 24:
            more[f"{key}.connections"] = 24
        if word == "http2" and (number(application.get("stream_window")) or 1e9) < _WINDOW:
            windows = {f"{key}.stream_window": "6 MiB", f"{key}.connection_window": "15 MiB"}
            yield Option("larger windows of HTTP/2 (`stream_window`, `connection_window`)", windows, 0.6)
    writes = "an application that writes or asks earlier, or more at a time"
    if sooner:
        yield Option(writes, sooner, 0.6)
    if more:
        yield Option(writes, more, 0.5)


_WINDOW = 1_000_000
"""A smaller window of HTTP/2 may hold a transfer back."""


def scheduler(facts: Facts) -> Iterator[Option]:
    """Messages and requests before long transfers."""
    situation = facts.situation
    assert situation is not None
    urgent = {f"{key}.urgency": 0 for key, application in situation.applications if kind(application) in _URGENT}
    rest = {f"{key}.urgencies": [7] for key, application in situation.applications if kind(application) == "bulk"}
    given = kind(situation.options.get("scheduler", ""))
    for name, sets in (("abs", {**urgent, **rest}), ("rfc9218", {**urgent, **rest}), ("rr", {})):
        if name != given or sets:
            what = f"a scheduler that sends messages first (`{name}` instead of `{given}`)"
            yield Option(what, {**situation.own(scheduler=name), **sets}, 0.5)


_URGENT = ("messages", "request-response")
