"""The round-trip time: every sample, the smoothed one, and the least."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.marks import legend
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.style import BLACK, BLUE, GREEN
from quiclab.drawings.plots.view import View
from quiclab.values.downsampling import downsample

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", view: View) -> None:
    """As the sender measures it (RFC 9002 section 5)."""
    for column, label, colour, line, width in (
        ("latest_rtt_ms", "latest", BLUE, "-", 0.7),
        ("smoothed_rtt_ms", "smoothed", BLACK, "-", 1.2),
        ("min_rtt_ms", "minimum", GREEN, "--", 1.4),
    ):
        times, values = downsample(*view.gauge(column))
        axes.plot(times, values, drawstyle="steps-post", color=colour, linestyle=line, linewidth=width, label=label)
    axes.set_ylabel("RTT (ms)")
    legend(axes)


PANEL = Panel(draw, height=2.0)
