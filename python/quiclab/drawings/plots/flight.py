"""Bytes in flight against the window, with the packets that were declared lost."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.marks import legend, mark
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.phases import draw_phases
from quiclab.drawings.plots.style import BLUE, ORANGE, SKY
from quiclab.drawings.plots.view import View
from quiclab.values.downsampling import downsample

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", view: View) -> None:
    """In flight as an area, the window as the line above it."""
    times, flight = downsample(*view.gauge("bytes_in_flight"))
    axes.fill_between(times, flight / 1e3, step="post", color=SKY, alpha=0.4, linewidth=0)
    axes.plot(times, flight / 1e3, drawstyle="steps-post", color=BLUE, linewidth=0.8, label="in flight")
    times, window = downsample(*view.window())
    axes.plot(times, window / 1e3, drawstyle="steps-post", color=ORANGE, label="congestion window")
    draw_phases(axes, view)
    mark(axes, view.losses(), "declared lost")
    axes.set_ylabel("bytes (kB)")
    legend(axes)


PANEL = Panel(draw, height=2.4)
