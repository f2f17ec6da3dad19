"""A series as a plot can show it: per column of pixels the first, the least, the greatest and the last value."""

import numpy as np
import numpy.typing as npt

Series = npt.NDArray[np.float64]

COLUMNS = 1600
"""Columns of pixels: more than a panel has at the resolution of a figure."""


def downsample(times: Series, values: Series, columns: int = COLUMNS) -> tuple[Series, Series]:
    """At most four points for each of `columns` equal spans of time; a line through them covers the same pixels.

    `times` do not decrease. Values that are not numbers are passed over where there are others in their span.
    """
    if len(times) <= 4 * columns:
        return times, values
    span = times[-1] - times[0]
    if span <= 0:
        return times[:1], values[:1]
    bins = np.minimum(((times - times[0]) * (columns / span)).astype(np.int64), columns - 1)
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    ends = np.append(starts[1:], len(times)) - 1
    least = np.fmin.reduceat(values, starts)
    greatest = np.fmax.reduceat(values, starts)
    # Within one column of pixels the order in time does not show.
    middle = (times[starts] + times[ends]) / 2
    shown_times = np.stack([times[starts], middle, middle, times[ends]], axis=1).ravel()
    shown_values = np.stack([values[starts], least, greatest, values[ends]], axis=1).ravel()
    return shown_times, shown_values
