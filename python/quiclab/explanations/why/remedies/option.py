"""One change that may take a cause away."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """A change of the scenario."""

    what: str
    """In words, as what would help: `a higher rate of cell forward`."""
    sets: Mapping[str, Any]
    """The keys of the scenario that change, and their values."""
    brings: float = 0.5
    """The part of the time of the cause that it should take away, without a trial."""
    is_last: bool = False
    """Whether it is advice only where nothing else helps: few can move a server nearer."""


def in_mbps(rate: float) -> str:
    """A rate in Mbit/s as a scenario has it."""
    return f"{float(f'{rate:.3g}'):.10g} Mbit/s"


def in_ms(seconds: float) -> str:
    """A time as a scenario has it."""
    return f"{float(f'{seconds * 1e3:.3g}'):.10g} ms"


def in_ns(seconds: float) -> str:
    """A short time as a scenario has it, in whole nanoseconds."""
    nanoseconds = max(round(float(f"{seconds * 1e9:.3g}")), 1)
    return f"{nanoseconds / 1e3:.10g} us" if nanoseconds >= 1000 else f"{nanoseconds} ns"


def in_bytes(size: float) -> str:
    """A size as a scenario has it."""
    return f"{int(float(f'{size:.3g}'))} B"
