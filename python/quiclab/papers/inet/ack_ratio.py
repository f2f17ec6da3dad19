"""Fig. 7, without the immediate bit: throughput by ack ratio and RTT, and what is lost against 1:1."""

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

from quiclab.drawings.plots import style
from quiclab.papers.inet.measures import IN_PAIRS, RATIO, bars_by_rtt, mathis_mbps, throughputs
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {1: style.BLACK, 2: style.BLUE, 10: style.VERMILLION}


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each loss rate, RTT and ratio: means over the repetitions, with intervals."""
    points: Points = []
    for runs in sweeps.values():
        for (loss, delay_ms, packet, ack_delay_ms), rows in groups(runs.rows, *IN_PAIRS):
            every = {}
            for (ratio,), of_ratio in groups(rows, RATIO):
                mbps = every[ratio] = throughputs(of_ratio)
                mean, low, high = interval(mbps)
                first = every[min(every)]
                difference, least, most = interval([100 * (a / b - 1) for a, b in zip(mbps, first, strict=True)])
                points.append(
                    {
                        "loss_percent": 100 * loss,
                        "rtt_ms": 2 * delay_ms,
                        "ack_ratio": ratio,
                        "within_ack_delay": 2 * delay_ms <= ack_delay_ms,
                        "throughput_mbps": mean,
                        "low_mbps": low,
                        "high_mbps": high,
                        "difference_percent": difference,
                        "difference_low_percent": least,
                        "difference_high_percent": most,
                        "theory_mbps": mathis_mbps(packet, 2 * delay_ms, loss),
                        "repetitions": len(mbps),
                    }
                )
    _compare(points)
    return points


def _compare(points: Points) -> None:
    """Puts beside each point what came out at the smaller ratio, at the smaller RTT, and at the smallest RTT."""
    for (_, ratio), series in groups(points, "loss_percent", "ack_ratio"):
        for place, point in enumerate(series):
            peers = select(points, {key: point[key] for key in ("loss_percent", "rtt_ms")})
            smaller = [peer for peer in peers if peer["ack_ratio"] < ratio]
            point["smaller_ratio"] = smaller[-1]["ack_ratio"] if smaller else None
            point["smaller_ratio_percent"] = smaller[-1]["difference_percent"] if smaller else None
            point["smaller_rtt_percent"] = series[place - 1]["difference_percent"] if place else None
            point["smallest_rtt_percent"] = series[0]["difference_percent"]


def draw(points: Points) -> "Figure":
    """Bars by RTT and ratio at the highest loss rate, as in the paper; beside them what is lost, up to longer RTTs."""
    from matplotlib import pyplot

    losses = sorted(set(column(points, "loss_percent")), reverse=True)
    highest = losses[0]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained", width_ratios=(3, 2))
    shown = select(points, {"loss_percent": highest, "within_ack_delay": True})
    bars_by_rtt(left, shown, "ack_ratio", {ratio: (f"1:{ratio}", colour) for ratio, colour in COLOURS.items()})
    dashes = dict(zip(losses, cycle(("-", "--", ":", "-.")), strict=False))
    for (loss, ratio), series in groups(points, "loss_percent", "ack_ratio"):
        if ratio == 1:
            continue
        rtts, means = column(series, "rtt_ms"), column(series, "difference_percent")
        lows, highs = column(series, "difference_low_percent"), column(series, "difference_high_percent")
        errors = [
            [m - low for m, low in zip(means, lows, strict=True)],
            [h - m for m, h in zip(means, highs, strict=True)],
        ]
        label = f"1:{ratio}, p = {loss:g} %"
        right.errorbar(
            rtts, means, errors, fmt="." + dashes[loss], color=COLOURS[ratio], capsize=2, linewidth=0.8, label=label
        )
    left.set_title(f"p = {highest:g} %")
    right.axhline(0, color=COLOURS[1], linewidth=0.8)
    right.margins(x=0.05)
    right.set_xlabel("RTT in ms")
    right.set_ylabel("difference against 1:1 in %")
    right.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
