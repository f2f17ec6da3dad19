"""Empirical distributions: the part of the runs with at most this value."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.drawings.plots.charts import parts
from quiclab.drawings.plots.charts.panels import Layer, Panel, Panels
from quiclab.results.statistics import interval_of
from quiclab.values.downsampling import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_PLACES = 200
"""Values at which the band is computed."""
_LINES = ("-", "--", "-.", ":")


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A line of steps for each group, of all its runs: where some have no value it ends below 1.

    With a spread a band around it: at each value by itself, the interval of the part of the runs with at most this one.
    """
    for layer in panel.layers:
        part = layer.all
        # The first value twice: there the line rises from 0. With no value at all it does not rise.
        values = np.sort(np.concatenate(list(layer.runs.values()))) if layer.runs else np.asarray(all_.x.values[-1:])
        axes.plot(
            np.append(values[:1] if layer.runs else all_.x.values[:1], values),
            np.minimum(np.arange(len(values) + 1), part.n) / part.total,
            drawstyle="steps-post",
            color=layer.colour,
            # Colours alone are not enough where lines cross often.
            linestyle=_LINES[layer.number % len(_LINES)],
            label=layer.label,
        )
        if all_.choice.spread is not None and len(values) > 1 and layer.runs:
            _band(axes, values, layer, all_)
        if not part.whole:
            parts.above(axes, values[-1], part.n / part.total, part, layer.colour)
    axes.set_ylim(None if "y" in all_.choice.log else 0, 1.02)
    axes.margins(x=0.02)


def _band(axes: "Axes", values: Series, layer: Layer, all_: Panels) -> None:
    """The intervals of the mean of zeros and ones that say which run has at most a value."""
    places = np.unique(values)
    if len(places) > _MOST_PLACES:
        places = places[np.linspace(0, len(places) - 1, _MOST_PLACES).round().astype(int)]
    total = layer.all.total
    lows, highs = [], []
    for place in places:
        below = np.zeros(total)
        below[: int(np.count_nonzero(values <= place))] = 1.0
        low, high = interval_of(below, all_.choice.spread or "student", all_.choice.confidence) or (np.nan, np.nan)  # type: ignore[arg-type]
        lows.append(max(low, 0.0))
        highs.append(min(high, 1.0))
    axes.fill_between(places, lows, highs, step="post", color=layer.colour, alpha=0.15, linewidth=0)
