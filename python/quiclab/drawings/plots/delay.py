"""The mean delay of packets in each part of the link layer, and that of the way back."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.drawings.plots.air import WITHOUT, WITHOUT_LANE, over_bins
from quiclab.drawings.plots.lanes import lanes_of
from quiclab.drawings.plots.marks import absent, legend
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.style import BLACK, BLUE, GREEN, ORANGE, VERMILLION
from quiclab.drawings.plots.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = {"queue": GREEN, "access": ORANGE, "transfer": BLUE, "order": VERMILLION}
"""The parts, which add up, in the order in which a packet meets them."""


def draw(axes: "Axes", view: View) -> None:
    """A line for each part over the bins that have a packet, on an axis that shows a slot beside a long queue."""
    axes.set_ylabel("link delay (ms)")
    axes.set_yscale("symlog", linthresh=1.0)
    axes.yaxis.set_major_formatter("{x:g}")
    lanes = lanes_of(view)
    if lanes is None:
        absent(axes, WITHOUT_LANE)
        return
    for part, colour in PARTS.items():
        axes.plot(*over_bins(lanes, lanes.delay(part, lanes.data)), color=colour, label=part)
    if lanes.back is not None:
        back = sum((lanes.delay(part, lanes.back) for part in PARTS), np.zeros(len(lanes.edges) - 1))
        label = f"all of {lanes.back}"
        axes.plot(*over_bins(lanes, back), color=BLACK, linewidth=0.8, linestyle=":", label=label)
    legend(axes, columns=5)


PANEL = Panel(draw, height=1.8, applies=lambda view: lanes_of(view) is not None, without=WITHOUT)
