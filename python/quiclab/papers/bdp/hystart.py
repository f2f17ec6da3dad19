"""Beyond the paper, which switches it off: what HyStart++ changes, alone and on a link that TCP has taken."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.papers.bdp import taken
from quiclab.papers.bdp.ways import NAMES, completion, way
from quiclab.reproduce.points import Points, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ON, _OFF = "with HyStart++", "without HyStart++"
_SHOWN = ("tcp_dip_percent", "tcp_recovery_s", "completion_s")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The points of `taken` with and without HyStart++, and `change`: what it adds, run by run.

    `download` and `slower` are the same for 10 MB on a link of their own: seconds, and percent that HyStart++ adds.
    """
    found = taken.cases(sweeps["main"], sweeps["alone"], _hystart)
    points = [point for point in taken.points(found) if point["what"] != "time"]
    off = {case.way: case.measures for case in found if case.link == _OFF}
    for case in found:
        if case.link == _ON:
            for of, values in case.measures.items():
                without = off[case.way][of]
                added = [value - without[which] for which, value in values.items()]
                points.append(taken.mean("change", case, of, added))
    return points + list(_downloads(sweeps["download"]))


def _hystart(row: Mapping[str, Any]) -> str:
    return _ON if "hystart++" in row["tcp.controller"] else _OFF


def _downloads(runs: Runs) -> Iterator[dict[str, Any]]:
    seconds: dict[str, dict[str, list[float]]] = {}
    for row in runs.rows:
        seconds.setdefault(way(row), {}).setdefault(_hystart(row), []).append(completion(row))
    for name, times in seconds.items():
        for link, values in times.items():
            yield _download("download", name, link, values)
        pairs = zip(times[_OFF], times[_ON], strict=True)
        yield _download("slower", name, _ON, [100 * (here / without - 1) for without, here in pairs])


def _download(what: str, name: str, link: str, values: list[float]) -> dict[str, Any]:
    mean, low, high = interval(values)
    about = {"what": what, "way": NAMES[name], "link": link, "mean": mean, "low": low, "high": high}
    return {**dict.fromkeys(taken.COLUMNS), **about, "runs": len(values)}


def draw(points: Points) -> "Figure":
    """Bars without and with HyStart++: a panel for each of three measures on the taken link, and one for downloads."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 2, figsize=(10, 6), layout="constrained")
    means = select(points, {"what": "mean"})
    for axes, of in zip(panels.flat, _SHOWN, strict=False):
        of_panel = select(means, {"measure": of})
        _bars(axes, of_panel)
        axes.set_title(f"{'QUIC: ' if of == 'completion_s' else ''}{of_panel[0]['words']}", fontsize="medium")
    _bars(panels[1, 1], select(points, {"what": "download"}))
    panels[1, 1].set_title("10 MB on a link of their own: seconds until complete", fontsize="medium")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _bars(axes: Any, points: Points) -> None:
    ways = list(dict.fromkeys(point["way"] for point in points))
    for place, ((link,), bars) in enumerate(groups(points, "link")):
        heights = [ways.index(point["way"]) + 0.4 * place - 0.2 for point in bars]
        ends = [[point["mean"] - point["low"] for point in bars], [point["high"] - point["mean"] for point in bars]]
        colour = style.ORANGE if link == _ON else style.BLUE
        values = [point["mean"] for point in bars]
        axes.barh(heights, values, 0.38, xerr=ends, color=colour, label=link, error_kw={"linewidth": 0.6})
    axes.set_yticks(range(len(ways)), ways)
    axes.invert_yaxis()
