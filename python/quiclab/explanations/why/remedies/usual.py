"""Options that differ from their defaults, and the defaults: a changed option may be what made the flow slow."""

import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from quiclab import _quiclab
from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.remedies.network import reordering
from quiclab.explanations.why.remedies.option import Option
from quiclab.explanations.why.situation import Situation, kind, number, quoted

_MOST = 8
"""The number of those that are tried."""

_OTHERS = frozenset(
    [
        *("presentation", "from", "until", "seeks", "audio_bitrate", "video_urgency", "audio_urgency"),
        *("controller", "scheduler", "retry", "versions", "rebind", "inside"),
        *("channel", "sites", "interference", "queue", "delay", "mtu", "hidden", "streams", "width", "standard"),
        *("rate", "basic_rates", "bandwidth", "handover", "block_errors", "uplink_block_errors", "frame_errors"),
    ]
)
"""Options that are left as they are: what a scenario is about, and what other remedies change."""

_WITHOUT = {"pace": 10.0, "discard": "2 s", "latency": "6 s"}
"""Options that are off by default, and values that hold nothing back."""


_KNOWN = {
    ("capacity", "ampdu_frames"): 0.75,
    ("return path", "request_period"): 0.5,
    ("delivery", "initial_window"): 0.6,
    ("application", "pace"): 0.6,
    ("delivery", "pace"): 0.6,
    ("stream credit", "nagle"): 0.6,
    ("ACK delay", "nagle"): 0.6,
    ("stream credit", "receive_buffer"): 0.5,
    ("recovery", "sack"): 0.4,
    ("window", "sack"): 0.4,
}
"""Options that are known to be behind a cause, and the part of its time that they should take away without a trial."""


def usual(facts: Facts) -> list[Option]:
    """The defaults in place of what the scenario sets: at the endpoints, the player, middleboxes, media."""
    situation = facts.situation
    if situation is None:
        return []
    found = (option for place in _places(situation) for option in _of(*place))
    return [*reordering(facts), *itertools.islice(found, _MOST)]


def known(cause: str, facts: Facts) -> list[Option]:
    """Those that are known to be behind a cause."""
    named = [(option, next(iter(option.sets)).rsplit(".", 1)[1]) for option in usual(facts)]
    return [replace(option, brings=_KNOWN[cause, name]) for option, name in named if (cause, name) in _KNOWN]


def _places(situation: Situation) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Sets of options: their topic and component in `quiclab list`, their key in the scenario, and what is set."""
    table = "tcp" if situation.protocol == "tcp" else "transport"
    yield "sections", table, f"{situation.key}.{table}", situation.options
    for key, application in situation.applications:
        if kind(application) == "video":
            yield "applications", "video", key, application
    for node in situation.middleboxes:
        if node["name"] in situation.stations:
            yield "middleboxes", kind(node["kind"]), f"node.{quoted(str(node['name']))}.kind", node["kind"]
    media = {hop.name.split(" ")[0]: hop for hop in (*situation.data, *situation.back) if hop.medium is not None}
    for name, hop in media.items():
        medium = situation.records.medium(name)
        if medium is not None:
            yield "media", str(hop.medium), hop.shared, medium


def _of(topic: str, component: str, key: str, given: Mapping[str, Any]) -> Iterator[Option]:
    for name, (default, below) in _defaults(topic, component).items():
        value = given.get(name)
        if name in _OTHERS or value is None:
            continue
        if default is None:
            if name in _WITHOUT:
                yield _option(f"{key}.{name}", _WITHOUT[name], value)
        elif kind(value) != kind(default) if below else not _same(value, default):
            yield _option(f"{key}.{name}", default, value)
        elif below and isinstance(value, Mapping):
            yield from _of(below, kind(value), f"{key}.{name}", value)


def _option(key: str, value: Any, before: Any) -> Option:
    name, was = key.rsplit(".", 1)[1], kind(before) if isinstance(before, Mapping) else before
    return Option(f"`{name}` {value} instead of {was}", {key: value})


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    numbers = number(one), number(other)
    return bool(numbers[0] == numbers[1]) if None not in numbers else bool(one == other)


@cache
def _defaults(topic: str, component: str) -> dict[str, tuple[Any, str | None]]:
    """By option: its default, None if it has none, and the topic of what it may be, if that has options itself."""
    rows: list[Any] = next((one["rows"] for one in json.loads(_quiclab.rooms_json()) if one["name"] == topic), [])
    options: list[Any] = next((row["parameters"] for row in rows if row["name"] == component), [])
    return {
        option["name"]: (
            None if option["default"] is None else tomllib.loads(f"a = {option['default']}")["a"],
            option["topic"],
        )
        for option in options
    }
