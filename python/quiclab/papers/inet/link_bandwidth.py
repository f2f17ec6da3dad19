"""Fig. 3: the throughput of a bottleneck at several MTUs, beside what the headers leave."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.drawings.plots import style
from quiclab.papers.inet.measures import IP_UDP, quic_bytes
from quiclab.reproduce.points import Points, column, groups
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MTU = "link.bottleneck.both.mtu"


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each MTU: what arrived between the ends of the shorter and the longer run."""
    points: Points = []
    for (mtu, rate), rows in groups(sweeps["main"].rows, _MTU, "link.bottleneck.rate_mbps"):
        first, last = sorted(rows, key=lambda row: float(row["scenario.duration_ms"]))
        seconds = (last["scenario.duration_ms"] - first["scenario.duration_ms"]) / 1e3
        arrived = quic_bytes(last, "receiver-access") - quic_bytes(first, "receiver-access")
        points.append(
            {
                "mtu_bytes": mtu,
                "throughput_mbps": arrived * 8e-6 / seconds,
                "theory_mbps": (mtu - IP_UDP) / mtu * rate,
                "measured_s": seconds,
            }
        )
    return points


def draw(points: Points) -> "Figure":
    """Throughput over the MTU: bars, and theory as lines across them."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4.6, 3.2), layout="constrained")
    places = range(len(points))
    # No bars, which would have to begin at zero.
    axes.plot(places, column(points, "throughput_mbps"), "D", color=style.BLUE, label="simulated")
    axes.hlines(
        column(points, "theory_mbps"),
        [place - 0.35 for place in places],
        [place + 0.35 for place in places],
        color=style.BLACK,
        label="theory: (MTU - 28) / MTU of the rate",
    )
    axes.set_xticks(list(places), [str(mtu) for mtu in column(points, "mtu_bytes")])
    axes.margins(x=0.1)
    axes.set_xlabel("MTU in bytes")
    axes.set_ylabel("throughput in Mbit/s")
    axes.legend(loc="lower right")
    return figure
