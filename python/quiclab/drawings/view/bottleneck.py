"""The bottleneck of a connection from the tables of a run folder: its capacity, what it delivered, and its queue."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quiclab.values.columns import having, mask, numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from quiclab.explanations.why.records import Records
    from quiclab.results.run import Run

    Series = dict[str, NDArray[np.int64]]
    """Columns of equal length; `time` is in nanoseconds of the run."""

_LONGEST = 200_000
"""From this many rows on, a queue is drawn by the least and the greatest value in each of half as many times."""


@dataclass
class Bottleneck:
    """The direction of a link, or the attachment of a medium, whose queue was the longest on the way of the data."""

    name: str
    """As in the tables: `cell forward`."""
    rate: "Series"
    """In bit/s: `capacity` (a medium has none) and `delivered`, each for the time until the next."""
    queue: "Series"
    """`packets` and `bytes`, when they changed."""
    outages: list[tuple[int, int]]
    """When it carried nothing, as `why` defines it; nanoseconds of the run."""


def bottleneck(records: "Records", name: str) -> Bottleneck | None:
    """A bottleneck by its name; None if the table of rates does not have it."""
    capacity, delivered = (records.rate.get((name, kind)) for kind in ("capacity", "delivered"))
    known = capacity if capacity is not None else delivered
    if known is None:
        return None
    from quiclab.explanations.why.bottleneck import binned

    starts = known["time_s"].astype(float)
    carried = binned(starts, delivered)
    rate = {"time": _integers(starts * 1e9), "delivered": _integers(carried * 1e6)}
    if capacity is not None:
        rate["capacity"] = _integers(capacity["mbps"].astype(float) * 1e6)
    return Bottleneck(name, rate, _queue(records.run, name), _outages(records, name, starts))


def _outages(records: "Records", name: str, starts: "NDArray[np.float64]") -> list[tuple[int, int]]:
    """The times in which it carried nothing, each as long as it lasted."""
    has_queue = "queue" in records.run.tables
    if not has_queue and (name, "capacity") not in records.rate:
        return []
    from quiclab.explanations.why.bottleneck import Bottleneck as Shares

    shares = Shares(records, name)
    spans: list[tuple[int, int]] = []
    ends = [*starts[1:].tolist(), max(records.run.summary["duration_s"], float(starts[-1]))]
    for start, end in zip(starts.tolist(), ends, strict=True):
        _, out = shares.shares(start, end)
        if out < 0.5:
            continue
        begin = spans.pop()[0] if spans and spans[-1][1] == round(start * 1e9) else round(start * 1e9)
        spans.append((begin, round(end * 1e9)))
    return spans


def _queue(run: "Run", name: str) -> "Series":
    """What was in its queue; nothing if the run has no table of that."""
    import numpy as np

    if "queue" not in run.tables:
        return {}

    def parts(columns: list[str]) -> "Iterable[pa.Table]":
        for part in run.parts("queue", ["link", *columns]):
            yield part.filter(mask(having(part["link"], name)))

    count = sum(len(part) for part in parts([]))
    width = run.summary["duration_s"] / (_LONGEST / 2) if count > _LONGEST else 0.0
    found: dict[str, list[NDArray[np.int64]]] = {"time": [], "packets": [], "bytes": []}
    for part in parts(["time_s", "packets", "bytes"]):
        times = numbers(part["time_s"])
        series = {"time": _integers(times * 1e9)} | {key: _integers(numbers(part[key])) for key in ("packets", "bytes")}
        if width:
            kept = _extremes(np.floor(times / width), series["bytes"])
            series = {key: column[kept] for key, column in series.items()}
        for key, column in series.items():
            found[key].append(column)
    return {key: np.concatenate(columns) for key, columns in found.items() if columns}


def _extremes(bins: "NDArray[np.float64]", values: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """The places of the least and the greatest value in each run of equal bins, in order."""
    import numpy as np

    # By bin, and in it by value: the first and the last of each bin.
    order = np.lexsort((values, bins))
    edges = np.flatnonzero(np.diff(bins[order]))
    ends = np.concatenate([[0], edges + 1, edges, [len(order) - 1]]) if len(order) else np.zeros(0)
    places: NDArray[np.int64] = np.unique(order[ends.astype(int)])
    return places


def _integers(values: "NDArray[np.generic]") -> "NDArray[np.int64]":
    import numpy as np

    rounded: NDArray[np.int64] = np.rint(values).astype(np.int64)
    return rounded
