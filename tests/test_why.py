"""Where the time of a flow went: scenarios that are built to have one known cause, each by itself."""

from typing import Any

import pytest

import quiclab
from quiclab.why import Answer, Cause

LINK = {"name": "wire", "from": "server", "to": "client", "rate": "20 Mbit/s", "delay": "20 ms", "queue": "1 BDP"}
BULK = {"type": "bulk", "size": "5 MB"}


def asked(
    application: dict[str, Any] = BULK,
    *,
    link: dict[str, Any] | None = None,
    transport: dict[str, Any] | None = None,
    flow: dict[str, Any] | None = None,
    **keys: Any,
) -> Answer:
    """Run one flow from a server to a client, and ask why."""
    ends = {"name": "get", "client": "client", "server": "server"}
    document = {
        "name": "why",
        "duration": "20 s",
        "link": [{**LINK, **(link or {})}],
        "transport": transport or {},
        "flow": [{**ends, "application": application, **(flow or {})}],
        **keys,
    }
    return quiclab.Scenario(document).run().why("get")[0]


def first(answer: Answer) -> Cause:
    """Return the cause that took most of the time. The shares of all are at most the whole."""
    assert 0.95 <= sum(cause.share for cause in answer.causes) <= 1.0 + 1e-6
    return answer.causes[0]


FIXED = {"controller": {"type": "fixed", "window": "20 kB"}}
CAUSES: dict[str, tuple[str, dict[str, Any]]] = {
    # One kilobyte: one round trip of handshake, and one of request and response.
    "a short transfer far away": ("handshake", {"application": {"type": "bulk", "size": "1 kB"}, "link": {"delay": "100 ms"}}),
    "half a megabyte over a fast link": (
        "slow start",
        {"application": {"type": "bulk", "size": "500 kB"}, "link": {"rate": "1 Gbit/s", "delay": "100 ms"}},
    ),
    "a window of a fifth of what the path holds": ("window", {"transport": FIXED}),
    "a full link": ("capacity", {"application": {"type": "bulk", "size": "20 MB"}}),
    "a full link, and a controller that is paced": (
        "capacity",
        {"application": {"type": "bulk", "size": "20 MB"}, "transport": {"controller": "bbr3"}},
    ),
    "little credit of the stream": ("stream credit", {"transport": {"initial_max_stream_data_bidi_local": "30 kB"}}),
    "little credit of the connection": ("connection credit", {"transport": {"initial_max_data": "30 kB"}}),
    "a slow rate of the sender": (
        "pacer",
        {"transport": {"controller": {"type": "fixed", "window": "10 MB", "rate": "2 Mbit/s"}}},
    ),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_known_cause_is_found(case: str) -> None:
    cause, scenario = CAUSES[case]
    assert first(asked(**scenario)).name == cause
