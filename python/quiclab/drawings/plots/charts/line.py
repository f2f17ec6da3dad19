"""Lines with bands: the mean at each value, and its interval."""

from typing import TYPE_CHECKING, Any

import numpy as np

from quiclab.drawings.plots.charts import parts
from quiclab.drawings.plots.charts.panels import Layer, Panel, Panels
from quiclab.drawings.plots.charts.places import name_places
from quiclab.drawings.plots.charts.series import TIME
from quiclab.drawings.plots.looks import current
from quiclab.values.downsampling import Series

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes

_MOST_MARKERS = 60


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A line for each group through the means, with the interval as a band around it.

    Where some runs have no value it is dashed, its markers are hollow, and beside them stands how many have one. Over
    time, runs end: the line goes on while half of them are there.
    """
    over_time = all_.x.column == TIME
    for layer in panel.layers:
        least = max((len(layer.at(x)) for x in all_.x.values), default=0) / 2 if over_time else 1
        shown = [x for x in all_.x.values if len(layer.at(x)) >= least]
        points = [(x, point) for x in shown if (point := layer.point(x, all_.choice)) is not None]
        places = all_.x.positions([x for x, _ in points])
        middles = np.asarray([point.middle for _, point in points])
        whole = np.asarray([layer.part(x).whole for x, _ in points], dtype=bool)
        # Many markers hide the line.
        markers = len(all_.x.values) <= _MOST_MARKERS
        _lines(axes, places, middles, whole, layer, layer.marker if markers else None)
        lows, highs = [point.low for _, point in points], [point.high for _, point in points]
        if lows != highs:
            axes.fill_between(places, lows, highs, color=layer.colour, alpha=0.2, linewidth=0)
        if markers:
            _counts(axes, layer, all_, dict(zip((x for x, _ in points), middles, strict=True)))
    axes.margins(x=0.02)
    if all_.x.places:
        name_places(axes, all_.x)


def _lines(
    axes: "Axes", x: Series, y: Series, whole: "npt.NDArray[np.bool_]", layer: Layer, marker: str | None
) -> None:
    """A line through points that cover all runs; a piece with an end that covers only some of them is dashed."""
    style: dict[str, Any] = {"color": layer.colour, "marker": marker, "markersize": 3.5}
    dashes = current().dashes
    line = dashes[layer.number % len(dashes)]
    axes.plot(x, np.where(whole, y, np.nan), label=layer.label, linestyle=line, **style)
    if whole.all():
        return
    beside = ~whole | ~np.append(whole[1:], True) | ~np.append(True, whole[:-1])
    hollow: dict[str, Any] = {"markerfacecolor": "white", "markevery": np.flatnonzero(~whole)}
    axes.plot(x, np.where(beside, y, np.nan), linestyle=(0, (3, 2)), **style, **hollow)


def _counts(axes: "Axes", layer: Layer, all_: Panels, middles: dict[object, float]) -> None:
    for x in layer.totals:
        part = layer.part(x)
        if part.whole:
            continue
        (place,) = all_.x.positions([x])
        if x in middles:
            parts.above(axes, place, middles[x], part, layer.colour)
        else:
            parts.at_the_foot(axes, place, part, layer)
