"""The latency of a live video: how far playback is behind what is filmed."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.marks import absent, legend, stalls
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.style import BLUE, GREY
from quiclab.drawings.plots.video import playback_of
from quiclab.drawings.plots.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", view: View) -> None:
    """Latency as a line, and the target as a dashed one."""
    axes.set_ylabel("latency (s)")
    playback = playback_of(view)
    if playback is None or playback.target_s is None:
        absent(axes, "plays nothing live")
        return
    times, values = playback.latency()
    axes.plot(times, values, color=BLUE, label="latency")
    axes.axhline(playback.target_s, color=GREY, linewidth=1.0, linestyle="--", label="target")
    stalls(axes, playback.stalls())
    legend(axes)


def _is_live(view: View) -> bool:
    playback = playback_of(view)
    return playback is not None and playback.target_s is not None


PANEL = Panel(draw, height=1.5, applies=_is_live, without="no connection plays a live video")
