"""Traces and series made from a seed: a mmWave street canyon, LTE in a moving car, satellite paths.

The models are those of the simulator: its rate `generated` and its series play the same. docs/traces.md says what
each is built from, and what it does not claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from quiclab._quiclab import Error, generate_series, generate_trace, series_models, trace_models
from quiclab.values import arguments as _given
from quiclab.values.traces.capacity import Capacity, write


@dataclass(frozen=True)
class Kind:
    """A kind of trace or series."""

    about: str
    shortest_s: float
    """The shortest duration: a shorter one would miss the statistics that docs/traces.md states."""
    usual_s: float = 120
    too_short: str = "misses the stated statistics"
    """What a shorter one would miss, for the error message."""
    is_series: bool = False
    """Whether it has delays and losses beside rates."""


KINDS = {name: Kind(about, shortest_s) for name, about, shortest_s in trace_models()} | {
    name: Kind(about, shortest_s, usual_s, too_short, is_series=True)
    for name, about, shortest_s, usual_s, too_short in series_models()
}


def generate(
    kind: str, *, seed: int = 1, duration_s: float | None = None, options: Mapping[str, str] | None = None
) -> str:
    """A trace as CSV of time and rate, or a series as CSV of time, rate, delay and loss. Same arguments, same text.

    A link with `rate = { type = "generated", model = kind, duration = ..., seed = seed }`, or with
    `series = { type = kind, duration = ..., seed = seed }` and the same options, plays the same.

    Raises `Error` for an unknown kind or option, for a value out of range, and for a duration that is too short or
    above an hour.
    """
    _given.text("generate: kind", kind, f"one of {', '.join(KINDS)}")
    if kind not in KINDS:
        raise Error(f"trace {kind!r}: expected {', '.join(KINDS)}")
    known = KINDS[kind]
    duration_s = known.usual_s if duration_s is None else duration_s
    if not isinstance(duration_s, int | float) or isinstance(duration_s, bool):
        raise _given.wrong("generate: duration_s", duration_s, "a number of seconds")
    given = [
        (_given.text("generate: options", key, "names"), _given.text(f"generate: options: {key}", value, "a text"))
        for key, value in _given.table("generate: options", options or {}, "a table of texts").items()
    ]
    if not known.shortest_s <= duration_s <= 3600:
        raise Error(
            f"duration {duration_s:g} s: expected from {known.shortest_s:g} s to 3600 s for {kind}: "
            f"a shorter one {known.too_short}"
        )
    duration_ns = round(duration_s * 1e9)
    if known.is_series:
        return generate_series(kind, seed, duration_ns, given)
    if options:
        raise Error(f"{kind} takes no options, but got {next(iter(options))!r}")
    return write(Capacity(*generate_trace(kind, seed, duration_ns)), "csv")
