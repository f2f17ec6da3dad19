"""CoDel's control law: how many packets an overloaded queue has dropped, over time."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.drawings.plots import style
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.reproduce.points import Points, column
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIRST_S = 0.1258
"""When the wait has been above the target for an interval: see `chosen` of the figure."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each length of a run: the drops until its end, and what the law says."""
    points: Points = []
    for row in sorted(sweeps["main"].rows, key=lambda row: float(row["duration_s"])):
        time = row["duration_s"]
        drops = row["link.bottleneck.forward.drops.queue"]
        interval = row["link.bottleneck.queue.interval_ms"] / 1e3
        points.append({"time_s": time, "drops": drops, "theory": _drops(time, interval)})
    return points


def _drops(time: float, interval: float) -> int:
    """How many drops there are until `time`: the n-th is an interval over sqrt(n - 1) after the one before."""
    drops, at = 0, _FIRST_S
    while at <= time:
        drops += 1
        at += interval / math.sqrt(drops)
    return drops


def draw(points: Points) -> "Figure":
    """Drops over time, both axes logarithmic."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4.6, 3.2), layout="constrained")
    times = [0.13 * (9 / 0.13) ** (step / 200) for step in range(201)]
    axes.plot(times, [_drops(time, 0.1) for time in times], color=style.BLACK, linewidth=0.8, label="control law")
    seen = [point for point in points if point["drops"] > 0]
    axes.plot(column(seen, "time_s"), column(seen, "drops"), "o", color=style.BLUE, label="simulated")
    set_logarithmic(axes, "x")
    set_logarithmic(axes, "y")
    ticks = [0.2, 0.5, 1, 2, 5, 10]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(0.1, 12)
    axes.set_xlabel("time in s")
    axes.set_ylabel("packets dropped until then")
    axes.legend(loc="upper left")
    return figure
