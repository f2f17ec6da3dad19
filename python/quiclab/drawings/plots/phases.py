"""The phases of Careful Resume behind the window, and its jump; nothing for a connection that resumed nothing."""

import math
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots.style import BLACK, GREEN, GREY, PURPLE, VERMILLION
from quiclab.drawings.plots.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {"reconnaissance": GREY, "unvalidated": PURPLE, "validating": GREEN, "safe_retreat": VERMILLION}
"""The phases of RFC 9959 section 3. After them the controller is alone: nothing is drawn."""


def draw_phases(axes: "Axes", view: View) -> None:
    """A band for each phase over its time, and a triangle where the window jumps, with the size of the jump."""
    entries: dict[str, Any] = {}
    end = float(view.run.summary.get("duration_s") or 0)
    for phase in view.phases():
        if phase.name not in COLOURS:
            continue
        # One that the run cuts off lasts until its end.
        stop = max(end, phase.start_s) if math.isnan(phase.end_s) else phase.end_s
        band = axes.axvspan(phase.start_s, stop, color=COLOURS[phase.name], alpha=0.22, linewidth=0)
        entries.setdefault(phase.name.replace("_", " "), band)
        if phase.name == "unvalidated":
            size = phase.window_bytes / 1e3
            (jump,) = axes.plot([phase.start_s], [size], linestyle="none", marker="^", markersize=5, color=BLACK)
            entries[f"jump to {size:,.0f} kB"] = jump
    if entries:
        # A legend of its own inside, because the one above the panel has no room for it.
        legend = axes.legend(
            entries.values(),
            entries.keys(),
            loc="upper right",
            frameon=True,
            framealpha=0.7,
            edgecolor="none",
            fontsize=7,
        )
        axes.add_artist(legend)
