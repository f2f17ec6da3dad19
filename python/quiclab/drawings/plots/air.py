"""The air time of the lane that a connection's data passes, beside that of others, and the blocks that failed in it."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.drawings.plots.lanes import Lanes, lanes_of
from quiclab.drawings.plots.marks import absent, legend, lines, mark
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.style import BLUE, GREY, ORANGE, SKY
from quiclab.drawings.plots.view import View
from quiclab.values.downsampling import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WITHOUT_LANE = "passes no medium with a link layer"
"""What a panel of a connection without lanes says."""
WITHOUT = "no connection passes a medium with a link layer, or the run has no table air"
"""Why there is nothing to draw."""


def draw(axes: "Axes", view: View) -> None:
    """Shares of the air time as areas upon each other, the share of blocks that were sent again as a line."""
    axes.set_ylabel("air time (%)")
    lanes = lanes_of(view)
    if lanes is None:
        absent(axes, WITHOUT_LANE)
        return
    below = np.zeros(len(lanes.edges) - 1)
    for label, colour, some in _layers(lanes):
        above = below + lanes.share(some)
        (times, low), (_, high) = over_bins(lanes, below), over_bins(lanes, above)
        axes.fill_between(times, low, high, color=colour, alpha=0.4, linewidth=0, label=label)
        below = above
    axes.plot(*over_bins(lanes, lanes.share([lanes.data])), color=BLUE, linewidth=0.8)
    axes.plot(*over_bins(lanes, lanes.sent_again()), color=ORANGE, label="blocks sent again (%)")
    mark(axes, lanes.lost(), "lost", "blocks")
    lines(axes, lanes.handovers(), "handover")
    legend(axes, columns=6)


def over_bins(lanes: Lanes, values: Series) -> tuple[Series, Series]:
    """Times and values of a line that is level over each bin, alone or beside others."""
    return np.stack([lanes.edges[:-1], lanes.edges[1:]], axis=1).ravel(), np.repeat(values, 2)


def _layers(lanes: Lanes) -> list[tuple[str, str, list[str]]]:
    """Label, colour and lanes of each area, from the bottom to the top."""
    layers = [(lanes.data, BLUE, [lanes.data])]
    others = [lane for lane in lanes.beside if lane != lanes.back]
    if lanes.back in lanes.beside and lanes.back is not None:
        layers.append((lanes.back, SKY, [lanes.back]))
    if others:
        label = others[0] if len(others) == 1 else f"{len(others)} others"
        layers.append((label, GREY, others))
    return layers


PANEL = Panel(draw, height=1.8, applies=lambda view: lanes_of(view) is not None, without=WITHOUT)
