"""Empirical distributions: the part of the runs with at most this value."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.plots.charts.panels import Panel, Panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = ("-", "--", "-.", ":")


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A line of steps for each group."""
    for layer in panel.layers:
        # Colours alone are not enough where lines cross often.
        values = np.concatenate(list(layer.runs.values()))
        axes.ecdf(values, color=layer.colour, linestyle=_LINES[layer.number % len(_LINES)], label=layer.label)
    axes.set_ylim(0, 1.02)
    axes.margins(x=0.02)
