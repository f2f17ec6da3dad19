"""Fig. 6: the load times of both streams of random pages, by scheduler, and by what goes first of what was lost."""

from collections.abc import Mapping
from statistics import median, quantiles
from typing import TYPE_CHECKING

from quiclab.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STREAMS = {"first": 3, "second": 7}
"""The first two unidirectional streams of a server (RFC 9000 section 2.1)."""
_SUMMARY = ("pages", "median_s", "lower_s", "upper_s", "fifo_median_s", "change_percent", "lost_packets")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each page and stream, and one for each box: its quartiles, and its median against that of FIFO."""
    points: Points = []
    runs = sweeps["main"]
    of_runs = {run: of_run for (run,), of_run in groups(runs.tables["stream"], "run")}
    for row in runs.rows:
        for stream, load_s in _loads(of_runs[row["run"]]).items():
            about = {
                "scheduler": row["transport.scheduler.type"],
                "retransmissions": row["transport.scheduler.retransmissions"],
                "stream": stream,
            }
            load = {"load_s": load_s, "lost": row["connection.page.packets_lost"]}
            points.append({"what": "page", **about, **load, **dict.fromkeys(_SUMMARY)})
    boxes: Points = []
    for (scheduler, retransmissions, stream), pages in groups(points, "scheduler", "retransmissions", "stream"):
        loads = column(pages, "load_s")
        lower, middle, upper = quantiles(loads, n=4, method="inclusive")
        fifo = select(points, {"scheduler": "fifo", "retransmissions": retransmissions, "stream": stream})
        reference = median(column(fifo, "load_s"))
        boxes.append(
            {
                "what": "box",
                "scheduler": scheduler,
                "retransmissions": retransmissions,
                "stream": stream,
                "load_s": None,
                "lost": None,
                "pages": len(loads),
                "median_s": middle,
                "lower_s": lower,
                "upper_s": upper,
                "fifo_median_s": reference,
                "change_percent": 100 * (middle / reference - 1),
                "lost_packets": sum(column(pages, "lost")),
            }
        )
    return boxes + points


def _loads(streams: Points) -> dict[str, float]:
    """When the streams of a run ended at the client."""
    ends = {
        one["stream"]: one["closed_s"]
        for one in streams
        # A page without large objects has nothing on the second stream.
        if one["side"] == "client" and one["received_bytes"]
    }
    return {name: ends[stream] for name, stream in _STREAMS.items() if stream in ends}


def draw(points: Points) -> "Figure":
    """Boxes of the load times of each stream, for each scheduler; a panel for each way with what was lost."""
    from matplotlib import pyplot

    pages = select(points, {"what": "page"})
    ways = list(groups(pages, "retransmissions"))
    figure, panels = pyplot.subplots(1, len(ways), figsize=(8, 3.2), sharey=True, layout="constrained", squeeze=False)
    colours = {"first": style.BLUE, "second": style.VERMILLION}
    titles = {"rank": "lost data under its stream's rank", "first": "retransmissions first"}
    for axes, ((way,), of_way) in zip(panels[0], ways, strict=True):
        names = []
        for place, ((scheduler,), of_it) in enumerate(groups(of_way, "scheduler")):
            names.append(scheduler.upper())
            for shift, stream in zip((-0.2, 0.2), _STREAMS, strict=True):
                loads = column(select(of_it, {"stream": stream}), "load_s")
                box = axes.boxplot([loads], positions=[place + shift], widths=0.3, sym=".", patch_artist=True)
                for part in box["boxes"]:
                    part.set(facecolor=colours[stream], alpha=0.5, label=f"{stream} stream" if place == 0 else None)
                for part in box["medians"]:
                    part.set(color=style.BLACK)
        axes.set_xticks(range(len(names)), names)
        axes.set_title(titles[way])
    panels[0][0].set_ylabel("load time in s")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure
