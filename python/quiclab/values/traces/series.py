"""A series of rate, delay and loss over time, and a summary of it."""

from dataclasses import dataclass
from itertools import pairwise
from os import PathLike

from quiclab._quiclab import Error, read_series
from quiclab.values import arguments, regular_files
from quiclab.values.traces.capacity import Capacity

_MS = 1e6
"""Nanoseconds in a millisecond."""


@dataclass(frozen=True)
class Series:
    """Rate, delay and loss over time, each optional, repeated from the start when it ends."""

    times_ns: list[int]
    """When each line begins, ascending from 0."""
    rates_bps: list[int] | None
    delays_ns: list[int] | None
    """One-way delays."""
    losses: list[float] | None
    end_ns: int
    """When the last line ends."""

    @property
    def capacity(self) -> Capacity | None:
        """The rates, if it has any."""
        return None if self.rates_bps is None else Capacity(self.times_ns, self.rates_bps, self.end_ns)

    def mean(self, values: "list[int] | list[float]") -> float:
        """The mean over time of one value per line."""
        spans = pairwise([*self.times_ns, self.end_ns])
        return sum(value * (end - start) for value, (start, end) in zip(values, spans, strict=True)) / self.end_ns

    def gaps(self) -> list[tuple[int, int]]:
        """Start and end of each span with a rate of 0."""
        found: list[tuple[int, int]] = []
        for rate, start, end in self.capacity.spans() if self.capacity else []:
            if rate > 0:
                continue
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        return found


def series_of(path: str | PathLike[str]) -> Series:
    """Reads a series. Raises `Error`, which names the file and the line, for a malformed one."""
    path = arguments.path("series_of: path", path)
    try:
        text = regular_files.text(path)
    except (OSError, ValueError) as problem:
        raise Error(f"{path}: {regular_files.reason(problem)}") from None
    return Series(*read_series(str(path), text))


def laws(text: str) -> list[str]:
    """A summary of a series: one line for rate, gaps, delay and loss each, as far as it has them."""
    series = Series(*read_series("series", arguments.text("laws: text", text, "a series as CSV", most=None)))
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
