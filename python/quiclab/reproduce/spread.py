"""Means with confidence intervals."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev

from quiclab.results.statistics import student_quantile


def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """The mean and both ends of its interval by Student's t; all three are the value if there is only one."""
    mean = fmean(values)
    if len(values) < 2:
        return mean, mean, mean
    half = student_quantile((1 + confidence) / 2, len(values) - 1) * stdev(values) / sqrt(len(values))
    return mean, mean - half, mean + half
