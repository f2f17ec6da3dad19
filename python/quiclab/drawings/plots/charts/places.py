"""A place on the horizontal axis for each value, and in it one for each group."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.charts.labels import value_text
from quiclab.drawings.plots.charts.panels import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILLED = 0.8
"""How much of the distance of two places is filled."""


def name_places(axes: "Axes", axis: Axis) -> None:
    """Ticks with the values; when they are long they stand upright."""
    texts = [value_text(value) for value in axis.values]
    upright = sum(map(len, texts)) > 70
    axes.set_xticks(range(len(texts)), texts, rotation=90 if upright else 0)
    axes.set_xlim(-0.6, len(texts) - 0.4)
    axes.grid(visible=False, axis="x")


def width(layers: int) -> float:
    """The width of what stands in one place."""
    return _FILLED / layers


def offset(number: int, layers: int) -> float:
    """How far from the middle of a value's place the place of a group is."""
    return (number - (layers - 1) / 2) * width(layers)
