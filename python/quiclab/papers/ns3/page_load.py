"""Fig. 6: the load times of random pages by scheduler, by stream as in the paper and by object.

And by what goes first of what was lost, also where a page is written over seconds.
"""

from collections.abc import Mapping
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.drawings.plots import style
from quiclab.reproduce.points import Points, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STREAMS = {3: "first", 7: "second"}
"""The first two unidirectional streams of a server (RFC 9000 section 2.1)."""
_CLASSES = {"first": "basic", "second": "large"}
"""What is on them."""
_COLOURS = {"first": style.BLUE, "second": style.VERMILLION, "basic": style.BLUE, "large": style.VERMILLION}
_CASES = {"main": "at once", "limited": "limited"}
"""How a page is written, by sweep."""
_MORE = ("mean_s", "low_s", "high_s", "percent", "low_percent", "high_percent")

Loads = dict[tuple[int, int], float]
"""The load times of a kind of streams or objects by repetition, which is the page, and its number in it."""
Kind = tuple[str, str, str, str, str]
"""Case, what it is of (stream, object), which of them, scheduler, retransmissions."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A box for each kind of streams and of objects, and how it differs from others, page by page."""
    loads: dict[Kind, Loads] = {}
    lost: dict[tuple[str, str, str], int] = {}
    for name, runs in sweeps.items():
        streams, objects = (_by_run(runs.tables[table]) for table in ("stream", "object"))
        for row in runs.rows:
            how = (row["transport.scheduler.type"], row["transport.scheduler.retransmissions"])
            key = (_CASES[name], *how)
            lost[key] = lost.get(key, 0) + row["connection.page.packets_lost"]
            for one in streams[row["run"]]:
                # A page without large objects has nothing on the second stream.
                if one["side"] == "client" and one["received_bytes"] and one["stream"] in _STREAMS:
                    kind = (_CASES[name], "stream", _STREAMS[one["stream"]], *how)
                    loads.setdefault(kind, {})[row["repetition"], one["stream"]] = one["closed_s"]
            for one in objects[row["run"]]:
                kind = (_CASES[name], "object", _CLASSES[_STREAMS[one["stream"]]], *how)
                loads.setdefault(kind, {})[row["repetition"], one["object"]] = one["complete_s"]
    return [_box(loads, kind, lost) for kind in loads]


def _by_run(table: Points) -> dict[int, Points]:
    return {run: of_run for (run,), of_run in groups(table, "run")}


def _box(loads: dict[Kind, Loads], kind: Kind, lost: dict[tuple[str, str, str], int]) -> dict[str, Any]:
    case, of, which, scheduler, retransmissions = kind
    mine = loads[kind]
    values = sorted(mine.values())
    twentieths = quantiles(values, n=20, method="inclusive")
    fifo, pfifo, rank = (
        _loads(loads, (case, of, which, *how))
        for how in (("fifo", retransmissions), ("pfifo", retransmissions), (scheduler, "rank"))
    )
    middle, reference = median(values), median(fifo.values())
    return {
        "case": case,
        "of": of,
        "which": which,
        "scheduler": scheduler,
        "retransmissions": retransmissions,
        "number": len(values),
        "p5_s": twentieths[0],
        "lower_s": twentieths[4],
        "median_s": middle,
        "upper_s": twentieths[14],
        "p95_s": twentieths[18],
        "fifo_median_s": reference,
        "change_percent": 100 * (middle / reference - 1),
        **_more(mine, fifo, "over_fifo"),
        **_more(mine, pfifo, "over_pfifo"),
        **_more(mine, rank, "over_rank"),
        "lost_packets": lost[case, scheduler, retransmissions],
    }


def _loads(loads: dict[Kind, Loads], kind: Kind) -> Loads:
    if kind not in loads:
        raise Error(f"ns3-page-load: no run has {', '.join(kind)}, with which others are compared")
    return loads[kind]


def _more(mine: Loads, others: Loads, name: str) -> dict[str, float]:
    """How much later than in other runs: the mean of the means of the same pages, with its interval over pages."""
    by_page: dict[int, list[float]] = {}
    for (page, number), load in mine.items():
        # A run that failed has no loads: there is a row that says so.
        if (page, number) in others:
            by_page.setdefault(page, []).append(load - others[page, number])
    ends = interval([fmean(of_page) for of_page in by_page.values()])
    base: dict[int, list[float]] = {}
    for (page, _), load in others.items():
        base.setdefault(page, []).append(load)
    whole = fmean(fmean(of_page) for of_page in base.values())
    values = (*ends, *(100 * end / whole for end in ends))
    return {f"{name}_{column}": value for column, value in zip(_MORE, values, strict=True)}


def draw(points: Points) -> "Figure":
    """Boxes for each scheduler and way with what was lost: above by stream as in the paper, below by object."""
    from matplotlib import pyplot

    titles = {
        "rank": "lost data under its stream's rank",
        "first": "retransmissions first",
    }
    cases = {"at once": "", "limited": "\nsend queue of 300 kB"}
    panels_of = [(case, way) for case in cases for way in titles]
    figure, panels = pyplot.subplots(2, len(panels_of), figsize=(11, 6.2), sharey="row", layout="constrained")
    for line, of in zip(panels, ("stream", "object"), strict=True):
        for axes, (case, way) in zip(line, panels_of, strict=True):
            _boxes(axes, select(points, {"of": of, "case": case, "retransmissions": way}))
            if of == "stream":
                axes.set_title(titles[way] + cases[case], fontsize=8)
        line[0].set_ylabel(f"load time by {of} in s")
        handles, labels = line[0].get_legend_handles_labels()
        line[-1].legend(handles, labels, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _boxes(axes: "Axes", points: Points) -> None:
    names = []
    for place, ((scheduler,), of_it) in enumerate(groups(points, "scheduler")):
        names.append(scheduler.upper())
        for shift, point in zip((-0.2, 0.2), sorted(of_it, key=lambda point: str(point["which"])), strict=False):
            quartiles = {"q1": point["lower_s"], "med": point["median_s"], "q3": point["upper_s"]}
            box = axes.bxp(
                [{**quartiles, "whislo": point["p5_s"], "whishi": point["p95_s"]}],
                positions=[place + shift],
                widths=0.3,
                showfliers=False,
                patch_artist=True,
                medianprops={"color": style.BLACK},
            )
            label = f"{point['which']} {'stream' if point['of'] == 'stream' else 'objects'}"
            for part in box["boxes"]:
                part.set(facecolor=_COLOURS[point["which"]], alpha=0.5, label=label if place == 0 else None)
    axes.set_xticks(range(len(names)), names)
