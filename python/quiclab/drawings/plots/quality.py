"""The quality of a video: the bitrate that is shown over time, and that of each segment while it is downloaded."""

from typing import TYPE_CHECKING, Any

import numpy as np

from quiclab.drawings.plots.marks import absent, legend, stalls
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.style import BLUE, ORANGE, VERMILLION
from quiclab.drawings.plots.video import playback_of
from quiclab.drawings.plots.view import View
from quiclab.values.downsampling import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WITHOUT = "no connection plays a video, or the run has no tables segment and playback"
"""Why there is nothing to draw."""


def draw(axes: "Axes", view: View) -> None:
    """What is shown as steps, each download of a segment of the picture as a bar from its request to its end."""
    axes.set_ylabel("bitrate (Mbit/s)")
    playback = playback_of(view)
    if playback is None:
        absent(axes, "plays no video")
        return
    rows = [row for row in playback.segments if row["kind"] == playback.kinds[0]]
    complete = [row for row in rows if row["outcome"] in ("complete", "underway")]
    axes.plot(*_bars(complete, view), color=ORANGE, linewidth=3.0, solid_capstyle="butt", alpha=0.8, label="download")
    # Downloads without a pause are told apart by where each begins.
    begins = [row["asked_s"] for row in complete], [row["bitrate_mbps"] for row in complete]
    axes.plot(*begins, linestyle="none", marker="|", markersize=3.5, markeredgewidth=0.7, color="white")
    broken = [row for row in rows if row["outcome"] not in ("complete", "underway")]
    for outcome, marker in {"abandoned": "x", "cancelled": "|", "cut": "4", "failed": "v"}.items():
        some = [row for row in broken if row["outcome"] == outcome]
        if some:
            axes.plot(*_bars(some, view), color=VERMILLION, linewidth=3.0, solid_capstyle="butt", alpha=0.6)
            ends = [row["ended_s"] for row in some]
            label = f"{outcome} ({len(some):,})"
            style: dict[str, Any] = {"marker": marker, "markersize": 6, "color": VERMILLION, "clip_on": False}
            axes.plot(ends, [row["bitrate_mbps"] for row in some], linestyle="none", label=label, **style)
    times, bitrates = playback.bitrates()
    axes.plot(times, bitrates, drawstyle="steps-post", color=BLUE, linewidth=1.5, label="shown")
    stalls(axes, playback.stalls())
    legend(axes, columns=6)


def _bars(rows: list[dict[str, Any]], view: View) -> tuple[Series, Series]:
    """A level line for each download, with gaps between them."""
    end = float(view.run.summary.get("duration_s") or 0)
    times = [[row["asked_s"], end if row["ended_s"] is None else row["ended_s"], np.nan] for row in rows]
    return np.array(times).ravel(), np.repeat([row["bitrate_mbps"] for row in rows], 3)


PANEL = Panel(draw, height=1.8, applies=lambda view: playback_of(view) is not None, without=WITHOUT)
