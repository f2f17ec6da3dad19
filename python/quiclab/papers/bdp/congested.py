"""Figs. 13 to 15: a client comes back to a link that a TCP flow has taken meanwhile."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.papers.bdp import taken
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """See `taken.points`; the name of a link is the length of its queue."""
    return taken.points(taken.cases(sweeps["main"], sweeps["alone"], _queue))


def _queue(row: Mapping[str, Any]) -> str:
    return f"queue of {row['link.satellite.queue_bdp']:g} BDP"


def draw(points: Points) -> "Figure":
    """A panel for each way and queue: what the two connections of the client and the TCP flow receive, over time."""
    from matplotlib import pyplot

    cases = list(groups(select(points, {"what": "time"}), "way", "link"))
    rows = -(-len(cases) // 2)
    figure, panels = pyplot.subplots(rows, 2, figsize=(10, 9), sharex=True, sharey=True, layout="constrained")
    for axes, ((name, link), line) in zip(panels.T.flat, cases, strict=True):
        axes.set_title(f"{name}, {link}", fontsize="medium")
        times = column(line, "time_s")
        axes.plot(times, column(line, "quic_mbps"), color=style.BLUE, label="QUIC, and again", drawstyle="steps-post")
        axes.plot(times, column(line, "tcp_mbps"), color=style.GREEN, label="TCP", drawstyle="steps-post")
    for axes in panels[:, 0]:
        axes.set_ylabel("Mbit/s")
    for axes in panels[-1]:
        axes.set_xlabel("time in s")
    legend_above(figure, panels[0, :1])
    return figure
