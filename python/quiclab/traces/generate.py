"""Traces out of a seed: a mmWave street canyon, LTE from a moving car, a LEO constellation with its hand-overs.

They are made in the simulator, by the models that its rate `generated` plays: docs/traces.md says from what each is
built, and what it does not claim.
"""

from dataclasses import dataclass

from quiclab._quiclab import Error, generate_trace, trace_models
from quiclab.traces.capacity import Capacity, write


@dataclass(frozen=True)
class Kind:
    """A kind of trace."""

    about: str
    shortest_s: float
    """Shorter traces would miss the stated statistics."""


KINDS = {name: Kind(about, shortest_s) for name, about, shortest_s in trace_models()}


def generate(kind: str, *, seed: int = 1, duration_s: float = 120) -> str:
    """A trace as CSV of time and rate, with a step of 10 ms: the same for equal arguments.

    A link with `rate = { type = "generated", model = kind, duration = ..., seed = seed }` carries the same.

    An `Error` for a kind that there is none of, and for a duration that is too short or above an hour.
    """
    if kind not in KINDS:
        raise Error(f"trace {kind!r}: expected {', '.join(KINDS)}")
    if not KINDS[kind].shortest_s <= duration_s <= 3600:
        raise Error(f"duration {duration_s:g} s: expected from {KINDS[kind].shortest_s:g} s to 3600 s for {kind}")
    return write(Capacity(*generate_trace(kind, seed, round(duration_s * 1e9))), "csv")
