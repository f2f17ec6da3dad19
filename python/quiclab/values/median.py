"""The median of a few values, and how sure it is."""

from collections.abc import Sequence
from math import comb


def interval_of_median(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Two of the values that have the median between them with the confidence, whatever the distribution is.

    None for fewer than six values: then not even the least and the greatest have it.
    """
    count, order = len(values), sorted(values)
    for cut in reversed(range(count // 2)):
        missed = 2 * sum(comb(count, below) for below in range(cut + 1)) / 2**count
        if missed <= 1 - confidence:
            return order[cut], order[-1 - cut]
    return None
