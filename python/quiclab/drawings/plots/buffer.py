"""The buffer of a player: media that have come and are not played yet, and when playback stood."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.marks import absent, legend, lines, shade, stalls
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.quality import WITHOUT
from quiclab.drawings.plots.style import BLUE, GREEN, GREY
from quiclab.drawings.plots.video import playback_of
from quiclab.drawings.plots.view import View
from quiclab.values.downsampling import downsample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {"video": BLUE, "audio": GREEN}


def draw(axes: "Axes", view: View) -> None:
    """A line for each track; shaded where playback stood; a thin line at each seek."""
    axes.set_ylabel("buffer (s)")
    playback = playback_of(view)
    if playback is None:
        absent(axes, "plays no video")
        return
    waits = playback.waits()
    shade(axes, waits, "start-up" if len(waits) == 1 else "start-up, after seek", GREY)
    stalls(axes, playback.stalls())
    for kind in playback.kinds:
        label = "buffer" if len(playback.kinds) == 1 else kind
        axes.plot(*downsample(*playback.buffer(kind)), color=_COLOURS[kind], label=label)
    lines(axes, playback.seeks(), "seek")
    legend(axes, columns=5)


PANEL = Panel(draw, height=1.8, applies=lambda view: playback_of(view) is not None, without=WITHOUT)
