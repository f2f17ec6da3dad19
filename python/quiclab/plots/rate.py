"""The rates of sending and of delivery against what the bottleneck can carry."""

from typing import TYPE_CHECKING

from quiclab.plots.downsample import downsample
from quiclab.plots.marks import legend
from quiclab.plots.page import Panel
from quiclab.plots.style import BLUE, PALE, VERMILLION
from quiclab.plots.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", view: View) -> None:
    """Capacity as a grey area, the connection's rates as lines."""
    times, capacity = downsample(*view.rate("capacity"))
    if len(times):
        label = f"capacity of {view.link}"
        axes.fill_between(times, capacity, step="post", color=PALE, linewidth=0, label=label)
    # What the link carried belongs to all connections; of one alone it is what that one delivered.
    delivered = "delivered" if view.alone else "delivered, all connections"
    for kind, label, colour in (("sent", "sent", VERMILLION), ("delivered", delivered, BLUE)):
        times, values = downsample(*view.rate(kind))
        axes.plot(times, values, drawstyle="steps-post", color=colour, linewidth=1.0, label=label)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("rate (Mbit/s)")
    legend(axes)


PANEL = Panel(draw, height=2.0)
