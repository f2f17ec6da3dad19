"""The capacity of a link over time: read from a file, written to one."""

from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from pathlib import Path

from quiclab._quiclab import Error, read_trace, trace_notes
from quiclab.values import arguments, regular_files

_NS_PER_MS = 1_000_000
_OPPORTUNITY_BITS = 1500 * 8
"""One line of a Mahimahi file delivers this much."""
_FORMS = {".csv": "csv"}
_MOST_BINS = 10_000_000
_LONGEST_NS = 1 << 100
_MOST_LINES = 50_000_000
"""The simulator reads at most this many lines of a Mahimahi file."""


@dataclass(frozen=True)
class Capacity:
    """A piecewise constant rate over time, repeated from the start when it ends."""

    times_ns: list[int]
    """When each rate begins, ascending from 0."""
    rates_bps: list[int]
    end_ns: int
    """When the last rate ends."""
    notes: list[str] = field(default_factory=list, compare=False)
    """What was skipped, joined and rounded in the file."""

    @property
    def duration_s(self) -> float:
        """The length of one repetition, in seconds."""
        return self.end_ns / 1e9

    @property
    def mean_mbps(self) -> float:
        """The mean rate in Mbit/s."""
        work = sum(rate * (end - start) for rate, start, end in self.spans())
        return work / self.end_ns / 1e6

    def spans(self) -> list[tuple[int, int, int]]:
        """Each rate in bit/s, with its start and end in nanoseconds."""
        ends = [*self.times_ns[1:], self.end_ns]
        return list(zip(self.rates_bps, self.times_ns, ends, strict=True))

    def binned(self, bin_ns: int) -> list[float]:
        """The mean rate of each whole bin in Mbit/s; a trace shorter than one bin gives its own mean.

        Raises `Error` for more than ten million bins.
        """
        bin_ns = arguments.whole("binned: bin_ns", bin_ns, 1, _LONGEST_NS)
        count = max(self.end_ns // bin_ns, 1)
        if count > _MOST_BINS:
            raise Error(
                f"{self.duration_s:g} s in bins of {bin_ns / 1e6:g} ms: {count} bins; expected at most {_MOST_BINS}"
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
        """Start and end of each span, at least this long, in which every 10 ms bin has at most `below_mbps`."""
        arguments.number("outages: at_least_ns", at_least_ns, 0)
        arguments.number("outages: below_mbps", below_mbps, 0)
        bin_ns = 10 * _NS_PER_MS
        low = [rate <= below_mbps for rate in self.binned(bin_ns)]
        edges = [at for at, (one, other) in enumerate(pairwise([False, *low, False])) if one != other]
        spans = zip(edges[::2], edges[1::2], strict=True)
        return [(a * bin_ns, b * bin_ns) for a, b in spans if (b - a) * bin_ns >= at_least_ns]


def read(path: str | PathLike[str]) -> Capacity:
    """Reads a trace in either format. Raises `Error`, which names the file and the line, for a malformed one."""
    path = arguments.path("read: path", path)
    try:
        text = regular_files.text(path)
    except (OSError, ValueError) as problem:
        raise Error(f"{path}: {regular_files.reason(problem)}") from None
    return Capacity(*read_trace(str(path), text), trace_notes(text))


def write(capacity: Capacity, form: str) -> str:
    """The text of a trace as `csv` or as `mahimahi`.

    CSV is lossless: it has as many decimals as nanoseconds and bit/s need. Mahimahi counts in milliseconds and
    1500 bytes: at any time it is at most 1500 bytes behind, and each line is less than 1 ms late. A Mahimahi trace
    ends with its last line, so an outage at the end is lost. Raises `Error` for another format, and for a trace that
    gives no line of Mahimahi or more than the simulator reads.
    """
    arguments.instance("write: capacity", capacity, Capacity, "a Capacity, as `read` gives it")
    if form == "csv":
        return _csv(capacity)
    if form == "mahimahi":
        return _mahimahi(capacity)
    raise Error(f"format {form!r}: expected csv or mahimahi")


def form_of(path: Path) -> str:
    """The format by file name: `csv` for .csv, `mahimahi` for anything else."""
    return _FORMS.get(path.suffix.lower(), "mahimahi")


def _decimal(value: int, scale: int) -> str:
    whole, rest = divmod(value, scale)
    digits = f"{rest:0{len(str(scale)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


def _csv(capacity: Capacity) -> str:
    rows = list(zip(capacity.times_ns, capacity.rates_bps, strict=True))
    # The reader takes the last rate to last as long as the one before it. Where it does not, it is cut in two halves.
    last, end = rows[-1], capacity.end_ns
    if len(rows) == 1:
        halves = 1_000_000_000 if end == 1_000_000_000 else end // 2
        if end != 1_000_000_000:
            rows.append((end - halves, last[1]))
    elif end - last[0] != last[0] - rows[-2][0]:
        rows.append((last[0] + (end - last[0]) // 2, last[1]))
        if (end - last[0]) % 2:
            raise Error(f"the last rate lasts {end - last[0]} ns; CSV needs an even number, to write it as two halves")
    lines = [f"{_decimal(at, _NS_PER_MS)},{_decimal(rate, 1_000_000)}" for at, rate in rows]
    return "\n".join(["time_ms,rate_mbps", *lines, ""])


def _mahimahi(capacity: Capacity) -> str:
    per_line = _OPPORTUNITY_BITS * 1_000_000_000
    all_lines = sum(rate * (end - start) for rate, start, end in capacity.spans()) // per_line
    if all_lines > _MOST_LINES:
        raise Error(f"the trace needs {all_lines} lines of Mahimahi; the simulator reads at most {_MOST_LINES}")
    lines: list[str] = []
    work, count = 0, 0
    for rate, start, end in capacity.spans():
        total = work + rate * (end - start)
        for number in range(count + 1, total // per_line + 1):
            # The nanosecond at which these 1500 bytes are complete, rounded up to a millisecond.
            at = start - -(number * per_line - work) // rate
            lines.append(str(-(-at // _NS_PER_MS)))
        work, count = total, total // per_line
    if not lines:
        raise Error("the trace carries less than 1500 bytes, which is no line of Mahimahi")
    return "\n".join([*lines, ""])
