"""A series that is reduced to what a plot can show while it is read in parts: its length does not matter for memory."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from quiclab.values.downsampling import COLUMNS, Series

Points = tuple[Series, Series]
"""Times that do not decrease, and values."""


def reduced(parts: Iterable[Points], last: float, columns: int = COLUMNS) -> Points:
    """What `downsample` makes of all parts together. `last` is the last of all times."""
    reduction = Reduction(last, columns)
    for times, values in parts:
        reduction.add(times, values)
    return reduction.result()


def merged(parts: Iterable[Points], times: Series, values: Series) -> Iterable[Points]:
    """The parts with a few more points, sorted by time; at equal times, these come after the others."""
    for part, numbers in parts:
        now = times < part[-1] if len(part) else np.zeros(len(times), bool)
        yield _sorted(np.append(part, times[now]), np.append(numbers, values[now]))
        times, values = times[~now], values[~now]
    yield _sorted(times, values)


def _sorted(times: Series, values: Series) -> Points:
    order = np.argsort(times, kind="stable")
    return times[order], values[order]


class Reduction:
    """The points so far: all of them while they are few, then at most four for each span of time."""

    def __init__(self, last: float, columns: int = COLUMNS) -> None:
        """`last` is the last of all times."""
        self._last = last
        self._columns = columns
        self._raw: list[Points] = []
        self._count = 0
        self._spans: _Spans | None = None

    def add(self, times: Series, values: Series) -> None:
        """Adds the next part."""
        if not len(times):
            return
        if self._spans is not None:
            self._spans.add(times, values)
            return
        self._raw.append((times, values))
        self._count += len(times)
        if self._count > 4 * self._columns:
            first = float(self._raw[0][0][0])
            self._spans = _Spans(first, self._last, self._columns)
            for part in self._raw:
                self._spans.add(*part)
            self._raw = self._raw[:1]

    def result(self) -> Points:
        """What is to be drawn of all parts."""
        if self._spans is not None:
            # All at one time is one point.
            return self._spans.points() if self._spans.width > 0 else (self._raw[0][0][:1], self._raw[0][1][:1])
        if not self._raw:
            return np.empty(0), np.empty(0)
        times, values = zip(*self._raw, strict=True)
        return np.concatenate(times), np.concatenate(values)


class _Spans:
    """The first, the least, the greatest and the last value of each of equal spans of time."""

    def __init__(self, first: float, last: float, columns: int) -> None:
        self.width = last - first
        self._first = first
        self._times = np.full((2, columns), np.nan)
        """Of the first value, and of the last one; NaN for a span without a value."""
        self._values = np.full((4, columns), np.nan)

    def add(self, times: Series, values: Series) -> None:
        if self.width <= 0:
            return
        columns = self._times.shape[1]
        bins = np.minimum(((times - self._first) * (columns / self.width)).astype(np.int64), columns - 1)
        starts = np.flatnonzero(np.diff(bins, prepend=-1))
        ends = np.append(starts[1:], len(times)) - 1
        places: npt.NDArray[np.int64] = bins[starts]
        new = np.isnan(self._times[0, places])
        self._times[0, places[new]] = times[starts[new]]
        self._values[0, places[new]] = values[starts[new]]
        self._times[1, places] = times[ends]
        _, least, greatest, last = self._values
        least[places] = np.fmin(least[places], np.fmin.reduceat(values, starts))
        greatest[places] = np.fmax(greatest[places], np.fmax.reduceat(values, starts))
        last[places] = values[ends]

    def points(self) -> Points:
        there = ~np.isnan(self._times[0])
        begin, end = self._times[:, there]
        # Within one column of pixels the order in time does not show.
        middle = (begin + end) / 2
        first, least, greatest, last = self._values[:, there]
        times = np.stack([begin, middle, middle, end], axis=1).ravel()
        return times, np.stack([first, least, greatest, last], axis=1).ravel()
