"""What a link can carry over time, out of a file and into one."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from quiclab._quiclab import Error, read_trace

_NS_PER_MS = 1_000_000
_OPPORTUNITY_BITS = 1500 * 8
"""What one line of a Mahimahi file moves."""
_FORMS = {".csv": "csv"}
_MOST_BINS = 10_000_000
_MOST_LINES = 50_000_000
"""What the simulator takes of a Mahimahi file."""


@dataclass(frozen=True)
class Capacity:
    """A rate for each span of time, played in a circle."""

    times_ns: list[int]
    """From when on each rate holds: rising from 0 on."""
    rates_bps: list[int]
    end_ns: int
    """Until when the last one holds."""

    @property
    def duration_s(self) -> float:
        """How long one round of it is."""
        return self.end_ns / 1e9

    @property
    def mean_mbps(self) -> float:
        """Its mean rate in Mbit/s."""
        work = sum(rate * (end - start) for rate, start, end in self.spans())
        return work / self.end_ns / 1e6

    def spans(self) -> list[tuple[int, int, int]]:
        """Each rate in bit/s with its beginning and its end."""
        ends = [*self.times_ns[1:], self.end_ns]
        return list(zip(self.rates_bps, self.times_ns, ends, strict=True))

    def binned(self, bin_ns: int) -> list[float]:
        """The mean rate of each whole bin in Mbit/s; of the only one if there is none.

        An `Error` where there are more than ten million of them.
        """
        count = max(self.end_ns // bin_ns, 1)
        if count > _MOST_BINS:
            raise Error(
                f"{self.duration_s:g} s are {count} times {bin_ns / 1e6:g} ms; at most {_MOST_BINS} can be told"
            )
        work = [0] * count
        for rate, start, end in self.spans():
            at = start
            while at < end and at // bin_ns < count:
                until = min(end, (at // bin_ns + 1) * bin_ns)
                work[at // bin_ns] += rate * (until - at)
                at = until
        return [done / min(bin_ns, self.end_ns) / 1e6 for done in work]

    def outages(self, at_least_ns: int, below_mbps: float) -> list[tuple[int, int]]:
        """The spans of at least so long in which no 10 ms have more than `below_mbps`: beginnings and ends."""
        bin_ns = 10 * _NS_PER_MS
        low = [rate <= below_mbps for rate in self.binned(bin_ns)]
        edges = [at for at, (one, other) in enumerate(pairwise([False, *low, False])) if one != other]
        spans = zip(edges[::2], edges[1::2], strict=True)
        return [(a * bin_ns, b * bin_ns) for a, b in spans if (b - a) * bin_ns >= at_least_ns]


def read(path: Path) -> Capacity:
    """Reads a trace of either form; an `Error` names file and line of what is wrong with it."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise Error(f"{path}: {getattr(problem, 'strerror', None) or 'not text'}") from None
    return Capacity(*read_trace(str(path), text))


def write(capacity: Capacity, form: str) -> str:
    """The text of a trace as `csv` or as `mahimahi`.

    CSV loses nothing: times in nanoseconds and rates in bit/s have a decimal point where they need one. Mahimahi knows
    milliseconds and 1500 bytes: the amount that has come by a time is at most 1500 bytes behind, each line is less than
    1 ms late, and the trace ends with its last line, so that an outage at its end is cut off. An `Error` for another
    form, or if there is less than one line of Mahimahi in it, or more than the simulator takes.
    """
    if form == "csv":
        return _csv(capacity)
    if form == "mahimahi":
        return _mahimahi(capacity)
    raise Error(f"form {form!r}: expected csv or mahimahi")


def form_of(path: Path) -> str:
    """The form that a file's name asks for: .csv, or anything else for Mahimahi."""
    return _FORMS.get(path.suffix.lower(), "mahimahi")


def _decimal(value: int, scale: int) -> str:
    whole, rest = divmod(value, scale)
    digits = f"{rest:0{len(str(scale)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


def _csv(capacity: Capacity) -> str:
    rows = list(zip(capacity.times_ns, capacity.rates_bps, strict=True))
    # The last rate holds as long as the one before it: what lasts otherwise is cut in two.
    last, end = rows[-1], capacity.end_ns
    if len(rows) == 1:
        halves = 1_000_000_000 if end == 1_000_000_000 else end // 2
        if end != 1_000_000_000:
            rows.append((end - halves, last[1]))
    elif end - last[0] != last[0] - rows[-2][0]:
        rows.append((last[0] + (end - last[0]) // 2, last[1]))
        if (end - last[0]) % 2:
            raise Error(f"the last rate holds for {end - last[0]} ns, which has no half")
    lines = [f"{_decimal(at, _NS_PER_MS)},{_decimal(rate, 1_000_000)}" for at, rate in rows]
    return "\n".join(["time_ms,rate_mbps", *lines, ""])


def _mahimahi(capacity: Capacity) -> str:
    per_line = _OPPORTUNITY_BITS * 1_000_000_000
    all_lines = sum(rate * (end - start) for rate, start, end in capacity.spans()) // per_line
    if all_lines > _MOST_LINES:
        raise Error(f"{all_lines} times 1500 bytes; the simulator takes {_MOST_LINES} lines of a Mahimahi file at most")
    lines: list[str] = []
    work, count = 0, 0
    for rate, start, end in capacity.spans():
        total = work + rate * (end - start)
        for number in range(count + 1, total // per_line + 1):
            # The nanosecond by which it is there, and the millisecond that ends at or behind it.
            at = start - -(number * per_line - work) // rate
            lines.append(str(-(-at // _NS_PER_MS)))
        work, count = total, total // per_line
    if not lines:
        raise Error("less than 1500 bytes in all: no line of a Mahimahi file")
    return "\n".join([*lines, ""])
