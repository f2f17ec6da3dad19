"""A series of rate, delay and loss, and what can be said of it."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from quiclab._quiclab import Error, read_series
from quiclab.traces.capacity import Capacity

_MS = 1e6
"""Nanoseconds in a millisecond."""


@dataclass(frozen=True)
class Series:
    """Rate, delay and loss over time, as far as it has them, played in a circle."""

    times_ns: list[int]
    """From when on each line holds: rising from 0 on."""
    rates_bps: list[int] | None
    delays_ns: list[int] | None
    """Of one way."""
    losses: list[float] | None
    end_ns: int
    """Until when the last line holds."""

    @property
    def capacity(self) -> Capacity | None:
        """Its rates."""
        return None if self.rates_bps is None else Capacity(self.times_ns, self.rates_bps, self.end_ns)

    def mean(self, values: "list[int] | list[float]") -> float:
        """The mean over time of the values of its lines."""
        spans = pairwise([*self.times_ns, self.end_ns])
        return sum(value * (end - start) for value, (start, end) in zip(values, spans, strict=True)) / self.end_ns

    def gaps(self) -> list[tuple[int, int]]:
        """The spans in which nothing is sent: beginnings and ends."""
        found: list[tuple[int, int]] = []
        for rate, start, end in self.capacity.spans() if self.capacity else []:
            if rate > 0:
                continue
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        return found


def series_of(path: Path) -> Series:
    """Reads a series; an `Error` names file and line of what is wrong with it."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise Error(f"{path}: {getattr(problem, 'strerror', None) or 'not text'}") from None
    return Series(*read_series(str(path), text))


def laws(text: str) -> list[str]:
    """What the series with this text keeps, a line for each of its columns and one for its gaps."""
    series = Series(*read_series("series", text))
    lines = []
    if series.capacity is not None:
        rates = [rate / 1e6 for rate in series.capacity.rates_bps]
        lines.append(f"rate: mean {series.capacity.mean_mbps:.4g}, {min(rates):.4g} to {max(rates):.4g} Mbit/s")
        lines.append(_gaps(series.gaps()))
    if series.delays_ns is not None:
        least, most = (of(series.delays_ns) / _MS for of in (min, max))
        both = f"RTT {2 * least:.4g} to {2 * most:.4g} ms if both directions play it"
        lines.append(f"delay: {least:.4g} to {most:.4g} ms one way; {both}")
    if series.losses is not None:
        lines.append(f"loss: mean {series.mean(series.losses):.2%}, at most {max(series.losses):.2%}")
    return lines


def _gaps(gaps: list[tuple[int, int]]) -> str:
    if not gaps:
        return "gaps: none"
    lengths = [(end - start) / _MS for start, end in gaps]
    between = {later[0] - earlier[0] for earlier, later in pairwise(gaps)}
    every = f", every {between.pop() / 1e9:g} s" if len(between) == 1 else ""
    spread = f"{min(lengths):g} ms" if min(lengths) == max(lengths) else f"{min(lengths):g} to {max(lengths):g} ms"
    return f"gaps: {len(gaps)} of {spread}{every}, the first at {gaps[0][0] / 1e9:g} s"
