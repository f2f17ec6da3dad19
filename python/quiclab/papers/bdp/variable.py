"""Table I: transfers over a family of satellite accesses that vary, in both directions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.papers.bdp.ways import COLOURS, NAMES, completion, way
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE, _DIRECTION = "flow.get.visits.0.application.size_bytes", "flow.get.visits.0.application.direction"
_LINKS = {"series": "series", "two_state": "two states", "leo": "LEO", "dvb_rcs2": "DVB-RCS2"}
_PLAIN = "one_rtt"
_PAPER = {
    ("one_rtt", 0.5): (3.12, 11.34, 47.82),
    ("one_rtt", 1.0): (3.87, 17.15, 61.43),
    ("zero_rtt", 0.5): (2.43, 7.59, 33.69),
    ("zero_rtt", 1.0): (3.19, 10.24, 33.92),
    ("bdp_frame", 0.5): (1.87, 4.24, 15.55),
    ("bdp_frame", 1.0): (2.78, 6.47, 23.88),
}
"""Least, mean and longest download time in seconds, by way and megabytes."""
_COLUMNS = ("what", "link", "direction", "way", "size_mb", "least", "mean", "low", "high", "longest", "runs")
_PAPERS = ("time_s", "share", "paper_least", "paper_mean", "paper_longest", "paper_saved")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The table of each link; what each way saves of the mean without 0-RTT, in percent, and run by run, in seconds.

    And the distributions: which share of the transfers is complete after how long.
    """
    points: Points = []
    for name, runs in sweeps.items():
        for (direction, size), rows in groups(runs.rows, _DIRECTION, _SIZE):
            about = {"link": _LINKS[name], "direction": direction, "size_mb": 1e-6 * size}
            points.extend(_of_link(rows, about))
    return points


def _of_link(rows: list[dict[str, Any]], about: dict[str, Any]) -> Points:
    seconds: dict[str, dict[int, float]] = {}
    for row in rows:
        seconds.setdefault(way(row), {})[row["repetition"]] = completion(row)
    points: Points = []
    plain = seconds[_PLAIN]
    for name, of_way in seconds.items():
        times = sorted(of_way.values())
        mean, low, high = interval(times)
        of = {**about, "way": NAMES[name], "runs": len(times), **_paper(name, about["size_mb"])}
        points.append(_point("table", of, least=times[0], mean=mean, low=low, high=high, longest=times[-1]))
        for place, time in enumerate(times):
            points.append(_point("time", of, time_s=time, share=(place + 1) / len(times)))
        if name != _PLAIN:
            pairs = [(plain[which], time) for which, time in of_way.items()]
            less, least, most = interval([before - after for before, after in pairs])
            points.append(_point("less", of, mean=less, low=least, high=most))
            share, least, most = saved(pairs)
            points.append(_point("saved", of, mean=100 * share, low=100 * least, high=100 * most))
    return points


def saved(pairs: list[tuple[float, float]]) -> tuple[float, float, float]:
    """The share of the mean that is saved, from times before and after run by run, and the ends of its interval.

    The share is one less a ratio of means, whose interval is that of what each run differs from this ratio (the delta
    method): where both times are long in the same runs, it is narrower than that of the difference.
    """
    whole = sum(before for before, _ in pairs) / len(pairs)
    ratio = sum(after for _, after in pairs) / len(pairs) / whole
    _, low, high = interval([(ratio * before - after) / whole for before, after in pairs])
    return 1 - ratio, 1 - ratio + low, 1 - ratio + high


def _paper(name: str, size: float) -> dict[str, float]:
    """What the paper has for a way and a size, and what it saves there of the mean without 0-RTT, in percent."""
    least, mean, longest = _PAPER[name, size]
    share = 100 * (1 - mean / _PAPER[_PLAIN, size][1])
    return {"paper_least": least, "paper_mean": mean, "paper_longest": longest, "paper_saved": share}


def _point(what: str, about: dict[str, Any], **values: float) -> dict[str, Any]:
    return {**dict.fromkeys((*_COLUMNS, *_PAPERS)), "what": what, **about, **values}


def draw(points: Points) -> "Figure":
    """A row for each size and direction, a column for each link: the share of the transfers complete over time."""
    from matplotlib import pyplot

    cases = list(groups(select(points, {"what": "time"}), "size_mb", "direction"))
    links = list(_LINKS.values())
    figure, panels = pyplot.subplots(len(cases), len(links), figsize=(11, 9), sharey=True, layout="constrained")
    colours = {NAMES[name]: colour for name, colour in COLOURS.items()}
    for across, ((size, direction), of_case) in zip(panels, cases, strict=True):
        for axes, ((link,), of_link) in zip(across, groups(of_case, "link"), strict=True):
            axes.set_title(f"{link}, {direction}, {size:g} MB", fontsize="medium")
            for (name,), line in groups(of_link, "way"):
                axes.plot(column(line, "time_s"), column(line, "share"), color=colours[name], label=name)
                (row,) = select(
                    points, {"what": "table", "link": link, "direction": direction, "size_mb": size, "way": name}
                )
                axes.plot(row["mean"], 0.5, "o", color=colours[name])
                axes.plot(row["paper_mean"], 0.5, "x", color=colours[name])
            axes.set_xlim(0, None)
            axes.set_ylim(0, 1.02)
        across[0].set_ylabel("share complete")
    for axes in panels[-1]:
        axes.set_xlabel("time in s; dots: means,\ncrosses: the paper's", fontsize="small")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure
