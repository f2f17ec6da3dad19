"""Lines with bands: the mean at each value, and its interval."""

from typing import TYPE_CHECKING

from quiclab.plots.charts.panels import Panel, Panels
from quiclab.plots.charts.places import name_places
from quiclab.plots.charts.series import TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_MARKERS = 60


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A line for each group through the means, with the interval as a band around it.

    Over time, runs end: the line goes on while half of them are there.
    """
    over_time = all_.x.column == TIME
    for layer in panel.layers:
        least = max(map(len, layer.runs.values())) / 2 if over_time else 1
        shown = [x for x in all_.x.values if len(layer.at(x)) >= least]
        points = [(x, point) for x in shown if (point := layer.point(x, all_.choice)) is not None]
        places = all_.x.positions([x for x, _ in points])
        middles = [point.middle for _, point in points]
        # Many markers hide the line.
        marker = layer.marker if len(all_.x.values) <= _MOST_MARKERS else None
        axes.plot(places, middles, color=layer.colour, marker=marker, markersize=3.5, label=layer.label)
        lows, highs = [point.low for _, point in points], [point.high for _, point in points]
        if lows != highs:
            axes.fill_between(places, lows, highs, color=layer.colour, alpha=0.2, linewidth=0)
    axes.margins(x=0.02)
    if all_.x.places:
        name_places(axes, all_.x)
