"""The points of a figure: rows of plain values, as they are drawn, checked and written to a file."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

Value = Any
"""A number, a word, a flag, or None."""
Point = dict[str, Value]
Points = list[Point]
"""All points have the same columns; a column's unit is the last word of its name."""


def select(points: Points, where: dict[str, Any]) -> Points:
    """The points that have these values; a list of values stands for any of them. Numbers agree to nine digits."""
    return [point for point in points if all(_is(point.get(key), value) for key, value in where.items())]


def groups(points: Points, *columns: str) -> Iterator[tuple[tuple[Any, ...], Points]]:
    """The points by the values of some columns, in the order of their first points."""
    found: dict[tuple[Any, ...], Points] = {}
    for point in points:
        found.setdefault(tuple(point[column] for column in columns), []).append(point)
    yield from found.items()


def column(points: Points, name: str) -> list[Any]:
    """A column."""
    return [point[name] for point in points]


def to_csv(points: Points) -> str:
    """As CSV, with a header, numbers to nine digits."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names: Sequence[str] = list(points[0]) if points else []
    writer.writerow(names)
    writer.writerows([_text(point[name]) for name in names] for point in points)
    return out.getvalue()


def _text(value: Value) -> Value:
    return f"{value:.9g}" if isinstance(value, float) else value


def _is(value: Value, wanted: Any) -> bool:
    if isinstance(wanted, Iterable) and not isinstance(wanted, str):
        return any(_is(value, one) for one in wanted)
    if isinstance(value, float) or isinstance(wanted, float):
        return isinstance(value, int | float) and abs(value - wanted) <= 1e-9 * max(abs(value), abs(wanted))
    return bool(value == wanted)
