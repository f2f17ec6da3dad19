"""Figs. 6 to 9: how much of the link a download uses, by its size, the RTT and the rate."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.values.units import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BY = ("rtt_ms", "rate_mbps", "size_mb")
_NAMES = {"rtt_ms": "RTT, ms", "rate_mbps": "rate, Mbit/s", "size_mb": "size, MB"}
_COLUMNS = ("what", "controller", *_BY, "used_percent", "by", "before", "after", "change")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each run and for each pair of neighbours along each of the three axes; the runs without ProbeRTT."""
    found: Points = []
    for row in sweeps["main"].rows:
        rate, bytes_ = row["link.satellite.forward.rate_mbps"], row["flow.get.application.size_bytes"]
        found.append(_run("run", row, row["transport.controller"], rate, bytes_))
    found.extend(_pairs(found))
    steady = sweeps["steady"]
    (link,), (flow,) = steady.scenario["link"], steady.scenario["flow"]
    rate, bytes_ = (number(text) for text in (link["forward"]["rate"]["rate"], flow["application"]["size"]))
    for row in steady.rows:
        name = next(name for name in ("bbr1", "bbr3") if name in row["transport.controller"])
        found.append(_run("steady", row, name, rate, bytes_))
    return found


def _run(what: str, row: dict[str, Any], controller: str, rate: float, bytes_: float) -> dict[str, Any]:
    seconds = row["connection.get.completion_s"]
    used = 0.0 if seconds is None else 100 * 8e-6 * bytes_ / seconds / rate
    place = {"rtt_ms": 2 * row["link.satellite.delay_ms"], "rate_mbps": rate, "size_mb": bytes_ * 1e-6}
    return _point(what, controller=controller, **place, used_percent=used)


def _point(what: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(_COLUMNS), "what": what, **values}


def _pairs(runs: Points) -> Points:
    found: Points = []
    for axis in _BY:
        others = [name for name in _BY if name != axis]
        for (controller, *place), line in groups(runs, "controller", *others):
            line = sorted(line, key=lambda point: point[axis])
            for before, after in pairwise(line):
                change = after["used_percent"] / before["used_percent"]
                found.append(
                    _point(
                        "pair",
                        controller=controller,
                        by=_NAMES[axis],
                        before=before[axis],
                        after=after[axis],
                        change=change,
                        **dict(zip(others, place, strict=True)),
                    )
                )
    return found


def draw(points: Points) -> "Figure":
    """A panel for each size and version of BBR: used share of the link against the RTT, a line for each rate."""
    from matplotlib import pyplot

    runs = select(points, {"what": "run"})
    panels_of = list(groups(runs, "controller", "size_mb"))
    controllers = sorted({controller for (controller, _), _ in panels_of})
    sizes = sorted({size for (_, size), _ in panels_of})
    figure, panels = pyplot.subplots(
        len(controllers), len(sizes), figsize=(11, 6), sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    for (controller, size), of_panel in panels_of:
        axes = panels[controllers.index(controller)][sizes.index(size)]
        axes.set_title(f"{'BBRv1' if controller == 'bbr1' else 'BBRv3'}, {size:g} MB")
        for colour, ((rate,), line) in zip(style.PALETTE, groups(of_panel, "rate_mbps"), strict=False):
            line = sorted(line, key=lambda point: point["rtt_ms"])
            times, shares = column(line, "rtt_ms"), column(line, "used_percent")
            axes.plot(times, shares, marker="o", color=colour, label=f"{rate:g} Mbit/s")
        axes.margins(x=0.05)
    for row in panels:
        row[0].set_ylabel("used bandwidth in %")
    for axes in panels[-1]:
        axes.set_xlabel("RTT in ms")
    panels[0][0].set_ylim(0, 105)
    legend_above(figure, panels[0])
    return figure
