"""Bars with error bars: the mean at each value, and its interval."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.charts import parts
from quiclab.drawings.plots.charts.panels import Panel, Panels
from quiclab.drawings.plots.charts.places import name_places, offset, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A bar for each value and group, side by side; hatched, with their number above, where some runs have no value."""
    for layer in panel.layers:
        points = [(x, point) for x in all_.x.values if (point := layer.point(x, all_.choice)) is not None]
        places = all_.x.positions([x for x, _ in points]) + offset(layer.number, all_.layers)
        middles = [point.middle for _, point in points]
        errors = [
            [point.middle - point.low for _, point in points],
            [point.high - point.middle for _, point in points],
        ]
        bars = axes.bar(places, middles, 0.92 * width(all_.layers), color=layer.colour, label=layer.label)
        if any(map(any, errors)):
            axes.errorbar(places, middles, yerr=errors, fmt="none", ecolor="black", elinewidth=0.9, capsize=2.5)
        for bar, place, (x, point) in zip(bars, places, points, strict=True):
            if not (part := layer.part(x)).whole:
                bar.set(hatch=parts.HATCH, edgecolor="white", linewidth=0)
                parts.above(axes, place, max(point.high, 0.0), part, layer.colour)
        for x in layer.totals:
            if not len(layer.at(x)):
                (place,) = all_.x.positions([x]) + offset(layer.number, all_.layers)
                parts.at_the_foot(axes, place, layer.part(x), layer)
    name_places(axes, all_.x)
