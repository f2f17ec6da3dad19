"""Table I: downloads over a satellite access whose rate and loss vary."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.papers.bdp.ways import COLOURS, NAMES, compared_with, completion, way
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = "flow.get.visits.0.application.size_bytes"
_PAPER = {
    ("one_rtt", 0.5): (3.12, 11.34, 47.82),
    ("one_rtt", 1.0): (3.87, 17.15, 61.43),
    ("zero_rtt", 0.5): (2.43, 7.59, 33.69),
    ("zero_rtt", 1.0): (3.19, 10.24, 33.92),
    ("bdp_frame", 0.5): (1.87, 4.24, 15.55),
    ("bdp_frame", 1.0): (2.78, 6.47, 23.88),
}
"""Least, mean and longest download time in seconds, by way and megabytes."""
_COLUMNS = ("what", "way", "size_mb", "least", "mean", "low", "high", "longest", "runs", "time_s", "share")
_PAPERS = ("paper_least", "paper_mean", "paper_longest", "paper_saved")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The table; what each way saves of the mean without 0-RTT, in percent; what it saves run by run, in seconds.

    And the distributions: which share of the downloads is complete after how long.
    """
    points: Points = []
    for (size,), rows in groups(sweeps["main"].rows, _SIZE):
        megabytes = 1e-6 * size
        seconds: dict[str, dict[int, float]] = {}
        for row in rows:
            seconds.setdefault(way(row), {})[row["repetition"]] = completion(row)
        for name, of_way in seconds.items():
            about = {"way": NAMES[name], "size_mb": megabytes, "runs": len(of_way)}
            times = sorted(of_way.values())
            mean, low, high = interval(times)
            found = {"least": times[0], "mean": mean, "low": low, "high": high, "longest": times[-1]}
            points.append(_point("table", **about, **found, **_paper(name, megabytes)))
            for place, time in enumerate(times):
                points.append(_point("time", **about, time_s=time, share=(place + 1) / len(times)))
            other = compared_with(name, "one_rtt")
            if other is not None:
                plain = seconds[other]
                less, least, most = interval([plain[which] - time for which, time in of_way.items()])
                points.append(_point("less", **about, mean=less, low=least, high=most))
                whole = sum(plain.values()) / len(plain)
                shares = {"mean": 100 * less / whole, "low": 100 * least / whole, "high": 100 * most / whole}
                points.append(_point("saved", **about, **shares, **_paper(name, megabytes)))
    return points


def _paper(name: str, size: float) -> dict[str, float]:
    """What the paper has for a way and a size, and what it saves there of the mean without 0-RTT, in percent."""
    if (name, size) not in _PAPER:
        return {}
    least, mean, longest = _PAPER[name, size]
    saved = 100 * (1 - mean / _PAPER["one_rtt", size][1])
    return {"paper_least": least, "paper_mean": mean, "paper_longest": longest, "paper_saved": saved}


def _point(what: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys((*_COLUMNS, *_PAPERS)), "what": what, **values}


def draw(points: Points) -> "Figure":
    """A panel for each size: the share of the downloads that are complete, over time; means as dots."""
    from matplotlib import pyplot

    sizes = list(groups(select(points, {"what": "time"}), "size_mb"))
    figure, panels = pyplot.subplots(1, len(sizes), figsize=(9, 3.8), sharey=True, layout="constrained")
    colours = {NAMES[name]: colour for name, colour in COLOURS.items()}
    for axes, ((size,), of_size) in zip(panels, sizes, strict=True):
        axes.set_title(f"{size:g} MB")
        for (name,), line in groups(of_size, "way"):
            axes.plot(column(line, "time_s"), column(line, "share"), color=colours[name], label=name)
            (row,) = select(points, {"what": "table", "size_mb": size, "way": name})
            axes.plot(row["mean"], 0.5, "o", color=colours[name])
            if row["paper_mean"] is not None:
                axes.plot(row["paper_mean"], 0.5, "x", color=colours[name])
        axes.set_xlim(0, None)
        axes.set_ylim(0, 1)
        axes.set_xlabel("download time in s; dots: means, crosses: the paper's")
    panels[0].set_ylabel("share of the downloads")
    panels[0].legend(loc="lower right")
    return figure
