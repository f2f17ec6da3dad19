"""Marks for single events in a panel, and the legend above it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from quiclab.drawings.plots.style import BLACK, GREY, VERMILLION
from quiclab.values.downsampling import COLUMNS, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LEGEND_SIZE = 8.0
"""The size of a legend's letters in points."""


def mark(axes: "Axes", times: Series, label: str, things: str = "packets") -> None:
    """A cross at the top for each event; the legend tells how many there were. Nothing if there was none."""
    if not len(times):
        return
    shown = times
    if len(times) > COLUMNS:
        # One cross per column of pixels is as many as can be told apart.
        span = times.max() - times.min() or 1.0
        shown = times[np.unique(((times - times.min()) * (COLUMNS / span)).astype(np.int64), return_index=True)[1]]
    axes.plot(
        shown,
        np.full(len(shown), 0.97),
        transform=axes.get_xaxis_transform(),
        linestyle="none",
        marker="x",
        markersize=4,
        markeredgewidth=0.9,
        color=VERMILLION,
        clip_on=False,
        label=f"{label} ({len(times):,} {things})",
    )


def lines(axes: "Axes", times: Series, label: str) -> None:
    """A thin line from the bottom to the top for each event, which has one entry in the legend."""
    if len(times):
        whole = axes.get_xaxis_transform()
        axes.vlines(times, 0, 1, transform=whole, color=BLACK, linewidth=0.6, linestyle="--", label=label)


def shade(axes: "Axes", spans: Sequence[tuple[float, float]], label: str, colour: str) -> None:
    """A pale band from the bottom to the top for each span, which have one entry in the legend."""
    for at, (start, end) in enumerate(spans):
        axes.axvspan(start, end, color=colour, alpha=0.22, linewidth=0, label=label if at == 0 else f"_{label}")


def stalls(axes: "Axes", spans: Sequence[tuple[float, float]]) -> None:
    """The stalls of a playback, as every panel shows them; the legend tells how many there were."""
    shade(axes, spans, f"stalls ({len(spans):,})" if len(spans) > 1 else "stall", VERMILLION)


def absent(axes: "Axes", words: str) -> None:
    """Says why a panel beside others is empty."""
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=GREY)


def legend(axes: "Axes", columns: int = 4) -> None:
    """Above the panel, where it hides nothing, in rows of this many entries; in smaller letters if these are long."""
    labels = axes.get_legend_handles_labels()[1][:columns]
    from matplotlib import rcParams

    usual = min(_LEGEND_SIZE, float(rcParams["legend.fontsize"]))
    size = min(usual, _LEGEND_SIZE * _width(axes) / _needed(labels)) if labels else usual
    entries = axes.legend(
        fontsize=size,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=columns,
        borderaxespad=0.1,
        columnspacing=1.2,
        handlelength=1.5,
        handletextpad=0.5,
    )
    # A long name must not make the panel narrow.
    entries.set_in_layout(False)


def _needed(labels: list[str]) -> float:
    """The width in points of a row with these entries, in letters of the usual size: the mean letter has 0.56 of it."""
    return _LEGEND_SIZE * sum(0.56 * len(label) + 3.2 for label in labels)


def _width(axes: "Axes") -> float:
    """The width of a panel in points, about: the layout comes later."""
    figure, grid = axes.get_figure(root=True), axes.get_gridspec()
    if figure is None or grid is None:
        return 400.0
    return 0.86 * 72 * float(figure.get_size_inches()[0]) / grid.ncols
