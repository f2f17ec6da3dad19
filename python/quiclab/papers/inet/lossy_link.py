"""Fig. 4: the throughput of a sender that losses limit, over the RTT, beside the equation of Mathis et al."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.papers.inet.measures import over_rtt, quic_bytes
from quiclab.reproduce.points import Points, groups
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = "flow.data.application.size_bytes"


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each loss rate and RTT: between the ends of the shorter and the longer transfer."""
    points: Points = []
    columns = ("link.bottleneck.forward.loss.every", "link.bottleneck.delay_ms", "transport.max_udp_payload")
    for (every, delay_ms, packet), rows in groups(sweeps["main"].rows, *columns):
        short, long = sorted(rows, key=lambda row: float(row[_SIZE]))
        seconds = long["connection.data.completion_s"] - short["connection.data.completion_s"]
        arrived = quic_bytes(long, "receiver-access") - quic_bytes(short, "receiver-access")
        lost = "link.bottleneck.forward.drops.loss"
        points.append(
            {
                "loss_percent": 100 / every,
                "rtt_ms": 2 * delay_ms,
                "throughput_mbps": arrived * 8e-6 / seconds,
                "theory_mbps": packet * 8e-6 / (2e-3 * delay_ms) * math.sqrt(3 * every / 2),
                "losses": long[lost] - short[lost],
            }
        )
    return points


def draw(points: Points) -> "Figure":
    """Throughput over the RTT: a curve of theory for each loss rate, and dots."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 3.6), layout="constrained")
    over_rtt(axes, points, series="loss_percent", simulated="throughput_mbps", label="p = {:g} %")
    axes.set_ylabel("throughput in Mbit/s")
    return figure
