"""Fewer points, the same picture."""

import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quiclab.values.downsampling import downsample

series = st.lists(st.tuples(st.floats(0, 100), st.floats(-1e9, 1e9)), min_size=1, max_size=400)


@given(series, st.integers(1, 40))
def test_extremes_and_ends_stay(points: list[tuple[float, float]], columns: int) -> None:
    points.sort(key=lambda point: point[0])
    times, values = (np.array(part, dtype=float) for part in zip(*points, strict=True))
    if times[0] == times[-1]:
        times = times + np.linspace(0, 1, len(times))
    fewer_times, fewer = downsample(times, values, columns)
    assert len(fewer_times) == len(fewer) <= max(len(times), 4 * columns)
    assert (fewer.min(), fewer.max()) == (values.min(), values.max())
    assert (fewer_times[0], fewer_times[-1]) == (times[0], times[-1])
    assert (fewer[0], fewer[-1]) == (values[0], values[-1])
    assert (np.diff(fewer_times) >= 0).all()


def test_a_peak_of_one_sample_in_a_million_is_seen() -> None:
    times = np.linspace(0, 60, 1_000_000)
    values = np.zeros(1_000_000)
    values[123_456] = 1.0
    start = time.perf_counter()
    fewer_times, fewer = downsample(times, values, 1000)
    assert time.perf_counter() - start < 0.5
    assert len(fewer) <= 4000
    assert abs(fewer_times[fewer.argmax()] - times[123_456]) <= 0.06


def test_a_null_hides_nothing_beside_it() -> None:
    values = np.full(10_000, np.nan)
    values[5] = 3.0
    _, fewer = downsample(np.arange(10_000.0), values, 10)
    assert np.nanmax(fewer) == 3.0


def test_all_at_one_time_is_one_point() -> None:
    times, values = downsample(np.zeros(100), np.arange(100.0), 2)
    assert len(times) == len(values) == 1
