"""The throughput of a player's downloads, what its rate adaptation makes of it, and what the bottleneck can carry."""

from typing import TYPE_CHECKING

import numpy as np

from quiclab.drawings.plots.marks import absent, legend
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.quality import WITHOUT
from quiclab.drawings.plots.rate import draw_capacity
from quiclab.drawings.plots.style import BLUE, GREEN, VERMILLION
from quiclab.drawings.plots.video import playback_of
from quiclab.drawings.plots.view import View
from quiclab.values.downsampling import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {"video": BLUE, "audio": GREEN}


def draw(axes: "Axes", view: View) -> None:
    """Each complete download as a bar from its first byte to its end, the estimate as steps, capacity as an area."""
    axes.set_ylabel("throughput (Mbit/s)")
    playback = playback_of(view)
    if playback is None:
        absent(axes, "plays no video")
        return
    downloads = {kind: playback.downloads(kind) for kind in playback.kinds}
    estimates = playback.estimates()
    highest = max((float(values.max()) for _, _, values in downloads.values() if len(values)), default=0.0)
    draw_capacity(axes, view, max(highest, float(estimates[1].max(initial=0.0))) or float("inf"))
    for kind, (first, ended, rates) in downloads.items():
        label = "downloads" if len(downloads) == 1 else f"downloads of {kind}"
        times, heights = _bars(first, ended, rates)
        axes.fill_between(times, heights, color=_COLOURS[kind], alpha=0.35, linewidth=0, label=label)
        axes.plot(times, heights, color=_COLOURS[kind], linewidth=1.0, solid_capstyle="butt")
    if len(estimates[0]):
        axes.plot(*estimates, drawstyle="steps-post", color=VERMILLION, linewidth=1.2, label="estimate")
    legend(axes)


def _bars(first: Series, ended: Series, heights: Series) -> tuple[Series, Series]:
    """Level lines with gaps between them."""
    gaps = np.full(len(first), np.nan)
    return np.stack([first, ended, gaps], axis=1).ravel(), np.stack([heights, heights, gaps], axis=1).ravel()


PANEL = Panel(draw, height=1.8, applies=lambda view: playback_of(view) is not None, without=WITHOUT)
