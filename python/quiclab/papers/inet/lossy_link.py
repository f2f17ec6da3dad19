"""Fig. 4: the throughput of a sender that losses limit, over the RTT, beside the equation of Mathis et al."""

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING

from quiclab.papers.inet.measures import mathis_mbps, over_rtt, throughput_mbps
from quiclab.reproduce.points import Points, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each loss rate and RTT: between the ends of a shorter and a longer transfer."""
    return _points(sweeps["main"], "cut") + _points(sweeps["overshoot"], "overshoot")


def _points(runs: Runs, slow_start: str) -> Points:
    points: Points = []
    columns = ("link.bottleneck.forward.loss.every", "link.bottleneck.delay_ms", "transport.max_udp_payload")
    for (every, delay_ms, packet), rows in groups(runs.rows, *columns):
        mbps, theory = throughput_mbps(rows), mathis_mbps(packet, 2 * delay_ms, 1 / every)
        lost = sorted(row["link.bottleneck.forward.drops.loss"] for row in rows)
        points.append(
            {
                "slow_start": slow_start,
                "loss_percent": 100 / every,
                "rtt_ms": 2 * delay_ms,
                "throughput_mbps": mbps,
                "theory_mbps": theory,
                "off_percent": 100 * (mbps / theory - 1),
                # From half of the top to the top, sqrt(8 / 3p), a packet in each.
                "tooth_rounds": sqrt(2 * every / 3),
                "losses": lost[-1] - lost[0],
            }
        )
    return points


def draw(points: Points) -> "Figure":
    """Throughput over the RTT: a curve of theory for each loss rate, and dots."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 3.6), layout="constrained")
    over_rtt(
        axes,
        select(points, {"slow_start": "cut"}),
        series="loss_percent",
        simulated="throughput_mbps",
        label="p = {:g} %",
    )
    axes.set_ylabel("throughput in Mbit/s")
    return figure
