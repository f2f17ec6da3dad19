"""Means with confidence intervals, and quantiles, of the runs of a sweep, grouped by what the sweep varies."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from quiclab._quiclab import Error
from quiclab.values import arguments
from quiclab.values.suggestions import listed

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Interval = Literal["student", "bootstrap"]

_RESAMPLES = 2000
"""Resamples of a bootstrap interval: enough to fix its ends to a few percent of its width."""

_LARGEST_SEED = (1 << 128) - 1

_MOST_DRAWS = 1 << 22
"""Numbers that a bootstrap draws at once; this bounds its memory."""


def means(
    table: "pa.Table",
    columns: Sequence[str],
    by: Sequence[str],
    *,
    interval: Interval = "student",
    confidence: float = 0.95,
    seed: int = 1,
) -> "pa.Table":
    """Means with confidence intervals: one row per group and column, with n, total, mean, stddev, low, high.

    :param table: the runs of a sweep, or any other table.
    :param columns: column names, in full or only the end if it is unique (`goodput_mbps`).
    :param by: the columns to group by; groups keep the order of their first rows. `[]`: one group of all rows.
    :param interval: how to compute the interval of the mean: Student's t, or the percentile bootstrap with 2,000
        resamples and this seed.
    :param confidence: the coverage of the interval, between 0 and 1.

    Nulls (a failed run, a transfer that did not complete) are left out: the numbers cover `n` of the `total` rows of
    the group, see `parts`. With one value the interval is null, with none the mean is null too.
    """
    check(interval, confidence)
    arguments.whole("seed", seed, 0, _LARGEST_SEED)

    def row(values: "np.ndarray[Any, Any]") -> dict[str, float | int | None]:
        mean = mean_of(values) if len(values) else None
        stddev = deviation_of(values) if len(values) > 1 else None
        low, high = interval_of(values, interval, confidence, seed) or (None, None)
        return {"mean": mean, "stddev": stddev, "low": low, "high": high}

    return _grouped(table, columns, by, row)


def quantiles(table: "pa.Table", columns: Sequence[str], by: Sequence[str], q: Sequence[float]) -> "pa.Table":
    """Quantiles, interpolated linearly: one row per group and column, with n, total, q05, q50 ... See `means`."""
    import numpy as np

    q = [arguments.number("a quantile", one, 0, 1) for one in arguments.listed("q", q, "a list of numbers from 0 to 1")]
    names = [f"q{format(100 * one, '.10g').zfill(2)}" for one in q]

    def row(values: "np.ndarray[Any, Any]") -> dict[str, float | int | None]:
        found = [float(value) for value in np.quantile(values, q)] if len(values) else [None] * len(names)
        return dict(zip(names, found, strict=True))

    return _grouped(table, columns, by, row)


class Part(NamedTuple):
    """How many runs of a group have a value."""

    n: int
    """Runs with a value."""
    total: int
    """Runs in the group."""

    @property
    def whole(self) -> bool:
        """Whether every run has a value."""
        return self.n >= self.total

    def __str__(self) -> str:
        return f"{self.n} of {self.total}"


def parts(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """One sentence for each column of `means` or `quantiles` that some runs have no value for."""
    found: dict[str, list[Part]] = {}
    for row in rows:
        found.setdefault(row["column"], []).append(Part(row["n"], row["total"]))
    return [told for column, places in found.items() if (told := part_told(column, places)) is not None]


def part_told(column: str, places: Sequence[Part], why: str = "not completed, or failed") -> str | None:
    """How many runs have a value in a column, given a `Part` for each point; None if all have one.

    `why`: why the other runs may have none.
    """
    some = [place for place in places if not place.whole]
    if not some:
        return None
    least, most = min(some, key=_share), max(some, key=_share)
    if least == most:
        runs = str(least)
    else:
        runs = f"{least.n} to {most}" if least.total == most.total else f"{least} to {most}"
    where = f" at {len(some)} of {len(places)} points" if len(places) > 1 else ""
    return f"{column}: covers {runs} runs{where}; the other runs have no value: {why}"


def _share(part: Part) -> float:
    return part.n / part.total


def check(interval: str, confidence: float) -> None:
    """Raises `Error` for an unknown interval or a confidence out of range."""
    arguments.one_of("interval", interval, ("student", "bootstrap"))
    arguments.between("confidence", confidence)


def mean_of(values: "np.ndarray[Any, Any]") -> float:
    """The mean, summed from the differences to the first value, so that equal values give exactly their value."""
    return float(values[0] + (values - values[0]).mean())


def deviation_of(values: "np.ndarray[Any, Any]") -> float:
    """The sample standard deviation of at least two values; exactly zero for equal ones."""
    return float((values - values[0]).std(ddof=1))


def interval_of(
    values: "np.ndarray[Any, Any]", interval: Interval = "student", confidence: float = 0.95, seed: int = 1
) -> tuple[float, float] | None:
    """The confidence interval of the mean; None for fewer than two values. See `means`."""
    check(interval, confidence)
    if len(values) < 2:
        return None
    if interval == "bootstrap":
        return bootstrap(values, confidence, seed)
    mean, stddev = mean_of(values), deviation_of(values)
    half = student_quantile((1 + confidence) / 2, len(values) - 1) * stddev / math.sqrt(len(values))
    return mean - half, mean + half


def bootstrap(values: "np.ndarray[Any, Any]", confidence: float, seed: int) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean (Efron 1979). Same values and seed, same interval."""
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(seed))
    count = len(values)
    at_once = max(1, _MOST_DRAWS // count)
    found: list[np.ndarray[Any, Any]] = []
    left = _RESAMPLES
    while left > 0:
        draws = generator.integers(0, count, size=(min(left, at_once), count))
        found.append(values[0] + (values[draws] - values[0]).mean(axis=1))
        left -= at_once
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(found), [tail, 1 - tail])
    return float(low), float(high)


@cache
def student_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution, for a probability from 0.5 to 1."""
    low, high = 0.0, 1.0
    while _student_cdf(high, degrees) < probability and high < 1e300:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _student_cdf(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return high


def _student_cdf(t: float, degrees: int) -> float:
    """Student's distribution function for t >= 0, by the incomplete beta function (Abramowitz and Stegun 26.7.1)."""
    return 1 - 0.5 * _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by a continued fraction (Abramowitz and Stegun 26.5.8, Lentz)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        # The fraction converges fast on the other side.
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    tiny = 1e-300
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for step in (even, odd):
            d = 1 / _away_from_zero(1 + step * d, tiny)
            c = _away_from_zero(1 + step / c, tiny)
            change = c * d
            fraction *= change
        if abs(change - 1) < 1e-15:
            break
    return front * fraction / a


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny


def _grouped(
    table: "pa.Table",
    columns: Sequence[str],
    by: Sequence[str],
    row: Callable[["np.ndarray[Any, Any]"], dict[str, float | int | None]],
) -> "pa.Table":
    import pyarrow as pa

    columns = [resolve(name, table.column_names) for name in columns]
    by = [resolve(name, table.column_names) for name in by]
    keys = list(zip(*(table.column(name).to_pylist() for name in by), strict=True))
    groups: dict[tuple[Any, ...], list[int]] = {} if by else {(): list(range(table.num_rows))}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    numbers = {name: _numbers(table, name) for name in columns}
    rows: list[dict[str, Any]] = []
    for key, members in groups.items():
        for name in columns:
            values = numbers[name][members]
            values = values[values == values]
            counts = {"n": len(values), "total": len(members)}
            rows.append({**dict(zip(by, key, strict=True)), "column": name, **counts, **row(values)})
    types = {name: table.schema.field(name).type for name in by}
    if not rows:
        return pa.table({name: pa.array([], _plain(kind)) for name, kind in types.items()})
    result = pa.Table.from_pylist(rows)
    for name, kind in types.items():
        result = result.set_column(result.schema.get_field_index(name), name, result.column(name).cast(_plain(kind)))
    return result


def _plain(kind: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _numbers(table: "pa.Table", name: str) -> "np.ndarray[Any, Any]":
    """A column as doubles; null is NaN."""
    import pyarrow as pa

    column = table.column(name)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type)):
        raise Error(f"column {name!r} is not numeric")
    # safe=False: a seed has more digits than a double. Columns have nulls, so that to_numpy must copy.
    return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def resolve(name: str, names: Iterable[str]) -> str:
    """The column with this name, or the only one whose name ends with it: `goodput_mbps`."""
    known = list(names)
    arguments.text("a column", name, "the name of a column, or its end")
    if name in known:
        return name
    ends = [column for column in known if column.endswith(f".{name}")]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise Error(f"column {name!r} is ambiguous: {listed(ends)}")
    near = _nearest(name, known)
    hint = f" (did you mean {near!r}?)" if near else ""
    raise Error(f"no column {name!r}; there are: {listed(known)}{hint}")


def _nearest(name: str, columns: Sequence[str]) -> str | None:
    """The column whose name, or the end of it, is closest to this one; None if none is close."""
    ends = {
        column.split(".", dots)[-1]: column for column in reversed(columns) for dots in range(column.count(".") + 1)
    }
    # Pages of papers record this code: with `make papers` it is `nearest` of the simulator, as everywhere else.
    near = get_close_matches(name, ends, n=1)
    return ends[near[0]] if near else None
