"""How many runs a drawn number covers: "36/100" beside what shows a part of them."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.charts.panels import Layer
from quiclab.results.statistics import Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

HATCH = "////"
"""Fills what shows a part of the runs."""

_SIZE = 6.5
_LINE = 8
"""Distance in points between texts at the foot of a panel."""


def text(part: Part) -> str:
    """36/100."""
    return f"{part.n}/{part.total}"


def above(axes: "Axes", x: float, y: float, part: Part, colour: str) -> None:
    """Writes it above a point."""
    _write(axes, (x, y), "data", 4, part, colour)


def at_the_foot(axes: "Axes", x: float, part: Part, layer: Layer) -> None:
    """Writes it where there is nothing else to show, because no run has a value; layers stand above each other."""
    # The axis reaches this place.
    axes.update_datalim([(x, 0)], updatey=False)
    axes.autoscale_view(scaley=False)
    _write(axes, (x, 0), axes.get_xaxis_transform(), 2 + _LINE * layer.number, part, layer.colour)


def _write(
    axes: "Axes", place: tuple[float, float], coordinates: "str | Transform", points: float, part: Part, colour: str
) -> None:
    written = axes.annotate(
        text(part),
        place,
        (0, points),
        xycoords=coordinates,
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=_SIZE,
        color=colour,
    )
    # What stands at the edge of a panel must not make it narrow.
    written.set_in_layout(False)
