"""The points of a figure: rows of plain values, which are drawn, checked and written to a file."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

Value = Any
"""A number, a text, a boolean, or None."""
Point = dict[str, Value]
Points = list[Point]
"""All points have the same columns. The last word of a column's name is its unit."""


def select(points: Points, where: dict[str, Any]) -> Points:
    """The points with these values; a list of values means any of them. Numbers are compared to nine digits."""
    return [point for point in points if all(_is(point.get(key), value) for key, value in where.items())]


def groups(points: Points, *columns: str) -> Iterator[tuple[tuple[Any, ...], Points]]:
    """The points grouped by some columns; groups keep the order of their first points."""
    found: dict[tuple[Any, ...], Points] = {}
    for point in points:
        found.setdefault(tuple(point[column] for column in columns), []).append(point)
    yield from found.items()


def column(points: Points, name: str) -> list[Any]:
    """A column."""
    return [point[name] for point in points]


def to_csv(points: Points) -> str:
    """CSV with a header and numbers of nine digits."""
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
