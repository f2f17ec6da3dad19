"""A value that changes at some times."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Steps:
    """A value over time, constant from each of some times to the next, and 0 before the first."""

    def __init__(self, times: "NDArray[np.float64]", values: "NDArray[np.float64]") -> None:
        self._times, self._values = times, values
        self._sums = np.concatenate([[0.0], np.cumsum(np.diff(times) * values[:-1])]) if times.size else np.zeros(0)

    @classmethod
    def zero(cls) -> "Steps":
        """Always 0."""
        return cls(np.zeros(0), np.zeros(0))

    @classmethod
    def within(cls, spans: list[tuple[float, float]]) -> "Steps":
        """1 within these spans, which are in order and do not overlap, and 0 outside."""
        return cls(np.array(spans, dtype=float).reshape(-1), np.tile([1.0, 0.0], len(spans)))

    def times(self, factor: float) -> "Steps":
        """Its values, each times a factor."""
        return Steps(self._times, self._values * factor)

    def mean(self, start: float, end: float) -> float:
        """The mean over a time; 0 of a time without a length."""
        if not self._times.size or end <= start:
            return 0.0
        return (self._until(end) - self._until(start)) / (end - start)

    def _until(self, time: float) -> float:
        """The integral until a time."""
        at = int(np.searchsorted(self._times, time, side="right")) - 1
        if at < 0:
            return 0.0
        return float(self._sums[at] + (time - self._times[at]) * self._values[at])

    def integrals(self, starts: "NDArray[np.float64]", ends: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """The integral over each of some times."""
        if not self._times.size:
            return np.zeros_like(starts)
        until = []
        for times in (starts, ends):
            at = np.searchsorted(self._times, times, side="right") - 1
            sums = self._sums[at] + (times - self._times[at]) * self._values[at]
            until.append(np.where(at < 0, 0.0, sums))
        return until[1] - until[0]
