"""DualPI2: what an L4S flow and a classic one get of a link, and how long their packets wait."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.limits import at_least
from quiclab.reproduce.points import Points, column, groups
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLASSIC = "flow.classic.transport.controller"
_LINK = "link.bottleneck.forward"


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each classic controller: both throughputs, their ratio, and delays of all and of L4S packets."""
    points: Points = []
    for (classic,), rows in groups(sweeps["main"].rows, _CLASSIC):
        pairs = [sorted(of_one, key=_length) for _, of_one in groups(rows, "repetition")]
        l4s, other = (fmean(_throughput_mbps(pair, name) for pair in pairs) for name in ("l4s", "classic"))
        longer = [pair[-1] for pair in pairs]
        points.append(
            {
                "classic": classic,
                "l4s_mbps": l4s,
                "classic_mbps": other,
                "ratio": l4s / other,
                "l4s_mean_ms": fmean(row[f"{_LINK}.l4s_delay_mean_ms"] for row in longer),
                "l4s_p99_ms": max(row[f"{_LINK}.l4s_delay_p99_ms"] for row in longer),
                "all_p99_ms": max(row[f"{_LINK}.queue_delay_p99_ms"] for row in longer),
            }
        )
    return points


def _length(row: dict[str, Any]) -> float:
    return float(row["duration_s"])


def _throughput_mbps(pair: list[dict[str, Any]], flow: str) -> float:
    short, long = (row[f"connection.{flow}.delivered_bytes"] for row in pair)
    return float((long - short) * 8e-6 / (_length(pair[1]) - _length(pair[0])))


def draw(points: Points) -> "Figure":
    """Throughputs as bars, and delays as bars with a logarithmic scale."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7.6, 3.2), layout="constrained")
    places = range(len(points))
    names = [f"Prague beside {name}" for name in column(points, "classic")]
    for axes, series in (
        (left, (("l4s_mbps", "L4S", style.BLUE), ("classic_mbps", "classic", style.ORANGE))),
        (right, (("l4s_mean_ms", "L4S, mean", style.SKY), ("l4s_p99_ms", "L4S, 99 %", style.BLUE))),
    ):
        for number, (name, label, colour) in enumerate(series):
            shifted = [place + (number - 0.5) * 0.35 for place in places]
            axes.bar(shifted, column(points, name), 0.35, color=colour, label=label)
        axes.set_xticks(list(places), names)
        axes.margins(x=0.1)
        axes.legend(loc="upper right", ncols=2)
    at_least(left, 0, 27)
    at_least(right, 0, 1.3)
    left.set_ylabel("throughput in Mbit/s")
    right.set_ylabel("queueing delay in ms")
    right.axhline(1.0, color=style.BLACK, linewidth=0.8)
    return figure
