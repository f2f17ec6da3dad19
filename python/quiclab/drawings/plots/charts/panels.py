"""From a table to what a chart draws: panels of layers, with places on the axis for what is no number."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quiclab._quiclab import Error
from quiclab.drawings.plots.charts.labels import label, value_text
from quiclab.drawings.plots.charts.series import TIME
from quiclab.drawings.plots.looks import current
from quiclab.drawings.plots.style import MARKERS
from quiclab.results.choice import SPREADS, Choice
from quiclab.results.statistics import Part, interval_of, mean_of, part_told, resolve
from quiclab.values.downsampling import Series
from quiclab.values.suggestions import hint

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_LAYERS = 20
_MOST_PANELS = 30
_MOST_PLACES = 200
"""More than can be told apart on a page."""

_LOGARITHMIC = ("x", "y", "v")
_SIDE_BY_SIDE = ("bar", "box")
"""Kinds whose horizontal axis has a place for each value, whether it is a number or not."""


@dataclass(frozen=True)
class Axis:
    """What is along an axis."""

    column: str
    values: Sequence[Any]
    """Its distinct values: numbers in rising order, words as they first occur."""
    numeric: bool
    places: bool
    """Whether each value has a place of its own, 0, 1, 2 ..., instead of being where its number is."""

    def positions(self, values: Sequence[Any]) -> Series:
        """Where these values are on the axis."""
        if not self.places:
            return np.asarray(values, dtype=np.float64)
        place = {value: at for at, value in enumerate(self.values)}
        return np.asarray([place[value] for value in values], dtype=np.float64)


@dataclass(frozen=True)
class Point:
    """The runs at one value of the horizontal axis."""

    middle: float
    low: float
    high: float
    """The middle again where there is no interval."""


@dataclass(frozen=True)
class Layer:
    """What one colour shows in one panel."""

    label: str
    colour: str
    marker: str
    number: int
    """Its place among all layers of the chart, also of those that this panel lacks."""
    runs: Mapping[Any, Series]
    """At each value of the horizontal axis where the layer has runs, the values of those that have one; never null."""
    totals: Mapping[Any, int]
    """How many runs there are, with a value or without."""

    def at(self, value: Any) -> Series:
        """The values of the runs at one value of the horizontal axis."""
        return self.runs.get(value, np.empty(0))

    def part(self, value: Any) -> Part:
        """How many of the runs there have a value."""
        return Part(len(self.at(value)), self.totals.get(value, 0))

    @property
    def all(self) -> Part:
        """How many of all its runs have a value."""
        return Part(sum(map(len, self.runs.values())), sum(self.totals.values()))

    def point(self, value: Any, choice: Choice) -> Point | None:
        """The mean and its interval there, or the median and quantiles; None if there is no run."""
        return point(self.at(value), choice)


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    layers: Sequence[Layer]
    rows: "Mapping[str, Sequence[Any]]"
    """All columns of the choice by their role: x, y, value. What is drawn is NaN where a run has no value."""

    def cells(self) -> "Mapping[tuple[Any, Any], Cell]":
        """Of a heat map: the runs of each pair of values of its axes."""
        found: dict[tuple[Any, Any], list[float]] = {}
        for x, y, value in zip(self.rows["x"], self.rows["y"], self.rows["value"], strict=True):
            found.setdefault((x, y), []).append(value)
        return {pair: Cell(np.asarray(values)) for pair, values in found.items()}


@dataclass(frozen=True)
class Cell:
    """The runs of a place in a heat map."""

    every: Series
    """The values of all of them, NaN where a run has none."""

    @property
    def values(self) -> Series:
        """The values of the runs that have one."""
        return self.every[~np.isnan(self.every)]

    @property
    def part(self) -> Part:
        """How many of the runs have one."""
        return Part(len(self.values), len(self.every))


@dataclass(frozen=True)
class Panels:
    """All that a chart draws."""

    choice: Choice
    panels: Sequence[Panel]
    x: Axis
    y: Axis | None
    """Of a heat map."""
    labels: Sequence[str]
    """What each colour is, in their order."""
    x_label: str
    y_label: str
    value_label: str
    legend: str | None
    """What the colours are."""
    note: str | None
    """How many runs the numbers cover, if some have no value."""

    @property
    def layers(self) -> int:
        """The number of colours."""
        return len(self.labels)

    def heights(self, kind: str) -> list[float]:
        """What a chart of this kind draws over the vertical axis: the values of all runs, or their middles."""
        if kind not in ("box", "line", "bar"):
            return []
        places = [(layer, x) for panel in self.panels for layer in panel.layers for x in layer.totals]
        if kind == "box":
            return [float(value) for layer, x in places for value in layer.at(x)]
        points = (layer.point(x, self.choice) for layer, x in places)
        return [point.middle for point in points if point is not None]


def point(values: Series, choice: Choice) -> Point | None:
    """The middle of these values, and its band."""
    if not len(values):
        return None
    if choice.spread == "quantiles":
        tail = (1 - choice.confidence) / 2
        low, middle, high = np.quantile(values, [tail, 0.5, 1 - tail])
        return Point(float(middle), float(low), float(high))
    middle = mean_of(values)
    interval = interval_of(values, choice.spread or "student", choice.confidence)
    return Point(middle, *(interval or (middle, middle)))


def panels(table: "pa.Table", kind: str, choice: Choice) -> Panels:
    """Reads what `choice` names. Raises `Error` if something is missing, is no number, or leaves nothing to draw."""
    if choice.spread is not None and choice.spread not in SPREADS:
        raise Error(f"no spread {choice.spread!r}: one of {', '.join(SPREADS)}{hint(choice.spread, SPREADS)}")
    if kind == "ecdf" and choice.spread == "quantiles":
        raise Error("a distribution shows all quantiles: its spread is student or bootstrap")
    if unknown := set(choice.log) - set(_LOGARITHMIC):
        raise Error(f"no logarithmic axis {min(unknown)!r}: expected some of {', '.join(_LOGARITHMIC)}")
    columns = _columns(table, kind, choice)
    names = {role: column for role, (column, _) in columns.items()}
    values = "value" if kind == "heatmap" else "x" if kind == "ecdf" else "y"
    numbers = _numbers(names[values], columns[values][1])
    keep = chosen(table, choice.where)
    if not (keep & ~np.isnan(numbers)).any():
        raise Error(f"nothing to plot: no run has a value of {names[values]!r} there")
    kept = {
        role: [value for value, wanted in zip(row, keep, strict=True) if wanted] for role, (_, row) in columns.items()
    }
    # Runs without a value stay: a chart of a part of the runs says how many it covers.
    kept[values] = list(numbers[keep])
    if kind == "ecdf":
        x = _axis(names["x"], [value for value in kept["x"] if not np.isnan(value)], places=False)
    else:
        x = _axis(names["x"], kept["x"], places=kind in (*_SIDE_BY_SIDE, "heatmap"))
    y = _axis(names["y"], kept["y"], places=True) if kind == "heatmap" else None
    groups = ordered(kept["group"]) if "group" in kept else [None]
    facets = ordered(kept["facet"]) if "facet" in kept else [None]
    for what, found, most in (("groups", groups, _MOST_LAYERS), ("panels", facets, _MOST_PANELS)):
        if len(found) > most:
            raise Error(f"{len(found)} {what} are too many to tell apart: choose at most {most} with `where`")
    made = [_panel(kept, names, facet, groups, values) for facet in facets]
    known = table.column_names
    return Panels(
        choice=choice,
        panels=made,
        x=x,
        y=y,
        labels=[value_text(group) for group in groups],
        x_label=label(names["x"], known),
        y_label="part of the runs" if kind == "ecdf" else label(names["y"], known),
        value_label=label(names["value"], known) if "value" in names else "",
        legend=label(names["group"], known) if "group" in names else None,
        note=_note(made, kind, names["x"], label(names[values], known)),
    )


def _note(made: Sequence[Panel], kind: str, x: str, shown: str) -> str | None:
    places = [part for panel in made for part in _places(panel, kind)]
    if x == TIME:
        # Where no run is underway there is nothing to show a part of.
        return part_told(shown, [part for part in places if part.n], "not begun, ended, or failed")
    return part_told(shown, places)


def _places(panel: Panel, kind: str) -> list[Part]:
    """How many runs each number of the panel covers; a distribution counts as one for each colour."""
    if kind == "heatmap":
        return [cell.part for cell in panel.cells().values()]
    if kind == "ecdf":
        return [layer.all for layer in panel.layers]
    return [layer.part(x) for layer in panel.layers for x in layer.totals]


def ordered(values: Sequence[Any]) -> list[Any]:
    """The distinct values: numbers in rising order, others as they first occur; null last."""
    found = list(dict.fromkeys(values))
    some = [value for value in found if value is not None]
    if all(isinstance(value, int | float) for value in some):
        some.sort()
    return some + [None] * (len(some) < len(found))


def _columns(table: "pa.Table", kind: str, choice: Choice) -> dict[str, tuple[str, list[Any]]]:
    roles = {"x": choice.x, "y": choice.y, "group": choice.group, "facet": choice.facet, "value": choice.value}
    needed = {"ecdf": ["x"], "heatmap": ["x", "y", "value"]}.get(kind, ["x", "y"])
    for role in needed:
        if roles[role] is None:
            raise Error(f"a chart of kind {kind} needs a column for {role}")
    known = table.column_names
    names = {role: resolve(name, known) for role, name in roles.items() if name is not None}
    for role in names.keys() - {*needed, "group", "facet"}:
        raise Error(f"a chart of kind {kind} has no {role}")
    if kind == "heatmap" and "group" in names:
        raise Error("a heat map has no groups: use facet")
    return {role: (name, table.column(name).to_pylist()) for role, name in names.items()}


def _panel(
    kept: Mapping[str, Sequence[Any]], names: Mapping[str, str], facet: Any, groups: Sequence[Any], values: str
) -> Panel:
    mine = [place for place in range(len(kept["x"])) if "facet" not in kept or kept["facet"][place] == facet]
    rows = {role: [row[place] for place in mine] for role, row in kept.items()}
    layers = []
    for number, group in enumerate(groups):
        runs: dict[Any, list[float]] = {}
        totals: Counter[Any] = Counter()
        for at, (x, value) in enumerate(zip(rows["x"], rows[values], strict=True)):
            if "group" not in rows or rows["group"][at] == group:
                totals[x] += 1
                if not np.isnan(value):
                    runs.setdefault(x, []).append(value)
        if not totals:
            continue
        layers.append(
            Layer(
                label=value_text(group),
                colour=colour(number, len(groups)),
                marker=MARKERS[number % len(MARKERS)],
                number=number,
                runs={x: np.asarray(found, dtype=np.float64) for x, found in runs.items()},
                totals=totals,
            )
        )
    title = f"{label(names['facet'], [])}: {value_text(facet)}" if "facet" in names else ""
    return Panel(title, layers, rows)


def colour(number: int, count: int) -> str:
    """Of the palette while it lasts, then from dark to bright."""
    palette = current().palette
    if count <= len(palette):
        return palette[number]
    import matplotlib
    from matplotlib.colors import to_hex

    # The brightest end cannot be seen on white.
    return to_hex(matplotlib.colormaps["viridis"](0.92 * number / (count - 1)))


def _axis(column: str, values: Sequence[Any], *, places: bool) -> Axis:
    found = ordered(values)
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in found)
    own = places or not numeric
    if own and len(found) > _MOST_PLACES:
        raise Error(f"{len(found)} values of {column!r} do not fit on an axis: expected at most {_MOST_PLACES}")
    return Axis(column, found, numeric, own)


def _numbers(name: str, values: Sequence[Any]) -> Series:
    try:
        return np.asarray([np.nan if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise Error(f"column {name!r} is not numeric") from error


def chosen(table: "pa.Table", where: Mapping[str, Any]) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Which rows have the values that `where` asks for. Raises `Error` if there is none with one of them."""
    keep = np.ones(table.num_rows, dtype=bool)
    for name, wanted in where.items():
        column = resolve(name, table.column_names)
        values = table.column(column).to_pylist()
        allowed = list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
        mine = np.asarray([any(_same(value, one) for one in allowed) for value in values], dtype=bool)
        if not mine.any():
            found = [value_text(value) for value in ordered(values)[:20]]
            near = hint(str(allowed[0]), found) if allowed else ""
            raise Error(f"no run has {column} = {', '.join(map(str, allowed))}; there are: {', '.join(found)}{near}")
        keep &= mine
    return keep


def _same(value: Any, wanted: Any) -> bool:
    """Whether they are equal; a word from the command line is the number, or the truth value, that it says."""
    if isinstance(wanted, str) and not isinstance(value, str) and value is not None:
        if isinstance(value, bool):
            return wanted.lower() == str(value).lower()
        try:
            return bool(value == float(wanted))
        except ValueError:
            return False
    return bool(value == wanted)
