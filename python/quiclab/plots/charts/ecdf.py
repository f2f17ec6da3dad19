"""Empirical distributions: the part of the runs with at most this value."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.plots.charts import parts
from quiclab.plots.charts.panels import Panel, Panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = ("-", "--", "-.", ":")


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A line of steps for each group, of all its runs: where some have no value it ends below 1."""
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
        if not part.whole:
            parts.above(axes, values[-1], part.n / part.total, part, layer.colour)
    axes.set_ylim(None if "y" in all_.choice.log else 0, 1.02)
    axes.margins(x=0.02)
