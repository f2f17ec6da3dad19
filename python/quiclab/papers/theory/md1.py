"""M/D/1: the mean wait of datagrams that come as a Poisson process, beside Pollaczek and Khinchine's formula."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.drawings.plots import style
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.reproduce.points import Points, column, groups
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SERVICE_MS = 1.0
"""1500 bytes at 12 Mbit/s."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each load: the mean wait over all repetitions, with its interval."""
    points: Points = []
    for (gap,), rows in groups(sweeps["main"].rows, "cross_traffic.datagrams.source.gap_ms"):
        load = round(_SERVICE_MS / gap, 4)
        wait, low, high = interval([row["link.bottleneck.forward.queue_delay_mean_ms"] for row in rows])
        points.append({"load": load, "wait_ms": wait, "low_ms": low, "high_ms": high, "theory_ms": _theory_ms(load)})
    return points


def _theory_ms(load: float) -> float:
    return load * _SERVICE_MS / (2 * (1 - load))


def draw(points: Points) -> "Figure":
    """The mean wait over the load: the formula as a curve, what was simulated as dots with their intervals."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4.6, 3.2), layout="constrained")
    loads = [0.3 + 0.005 * step for step in range(135)]
    axes.plot(loads, [_theory_ms(load) for load in loads], color=style.BLACK, label="rho / (2 mu (1 - rho))")
    means = column(points, "wait_ms")
    errors = [
        [mean - low for mean, low in zip(means, column(points, "low_ms"), strict=True)],
        [high - mean for mean, high in zip(means, column(points, "high_ms"), strict=True)],
    ]
    axes.errorbar(column(points, "load"), means, yerr=errors, fmt="o", color=style.BLUE, capsize=2, label="simulated")
    set_logarithmic(axes, "y")
    axes.set_xlabel("load")
    axes.set_ylabel("mean wait in ms")
    axes.legend(loc="upper left")
    return figure
