"""PIE's target delay: the mean delay under long flows at several rates, with both ways of estimating it."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.limits import at_least
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.reproduce.points import Points, column, groups
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TARGET_MS = 15.0
_RATE = "link.bottleneck.rate_mbps"
_ESTIMATE = "link.bottleneck.both.queue.delay"
_LINK = "link.bottleneck.forward"


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each rate and estimate: the mean delay of the packets between the ends of two runs."""
    points: Points = []
    for (rate, estimate), rows in groups(sweeps["main"].rows, _RATE, _ESTIMATE):
        pairs = [of_one for _, of_one in groups(rows, "repetition")]
        delay = fmean(_delay_ms(pair) for pair in pairs)
        points.append({"rate_mbps": rate, "estimate": estimate, "delay_ms": delay, "target_ms": _TARGET_MS})
    return points


def _delay_ms(pair: list[dict[str, Any]]) -> float:
    short, long = sorted(pair, key=lambda row: float(row["duration_s"]))
    packets = [row[f"{_LINK}.delivered_packets"] for row in (short, long)]
    waited = [row[f"{_LINK}.queue_delay_mean_ms"] * count for row, count in zip((short, long), packets, strict=True)]
    return float((waited[1] - waited[0]) / (packets[1] - packets[0]))


def draw(points: Points) -> "Figure":
    """The mean delay over the rate, a series for each estimate, with the target as a line."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4.6, 3.2), layout="constrained")
    axes.axhline(_TARGET_MS, color=style.BLACK, linewidth=0.8, label="target")
    for colour, ((estimate,), series) in zip((style.BLUE, style.ORANGE), groups(points, "estimate"), strict=False):
        axes.plot(column(series, "rate_mbps"), column(series, "delay_ms"), "o-", color=colour, label=f"by {estimate}")
    set_logarithmic(axes, "x")
    rates = sorted(set(column(points, "rate_mbps")))
    axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.set_xticks([], minor=True)
    axes.margins(x=0.1)
    at_least(axes, 0, 20)
    axes.set_xlabel("rate in Mbit/s")
    axes.set_ylabel("mean queueing delay in ms")
    axes.legend(loc="lower left")
    return figure
