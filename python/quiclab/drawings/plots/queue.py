"""The queue at the bottleneck, with the packets that it dropped."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.marks import legend, mark
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.style import GREEN
from quiclab.drawings.plots.view import View
from quiclab.values.downsampling import downsample

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", view: View) -> None:
    """Packets that wait, over all connections."""
    times, packets = downsample(*view.queue())
    axes.fill_between(times, packets, step="post", color=GREEN, alpha=0.3, linewidth=0)
    label = f"queue of {view.link}" if view.link else "queue"
    axes.plot(times, packets, drawstyle="steps-post", color=GREEN, linewidth=0.8, label=label)
    mark(axes, view.drops(), "dropped")
    axes.set_ylabel("queue (packets)")
    legend(axes)


PANEL = Panel(draw, height=1.8)
