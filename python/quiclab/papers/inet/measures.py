"""What several figures of the paper measure in the same way."""

import math
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.reproduce.points import Points, column, groups, select

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE)
"""Of the series of a figure, in order."""

IP_UDP = 28
"""Bytes of the headers of IPv4 and UDP."""


def quic_bytes(row: dict[str, Any], link: str, direction: str = "forward") -> float:
    """Bytes of QUIC packets that a link took to its far end in a run: the packets without their IP and UDP headers."""
    name = f"link.{link}.{direction}"
    return float(row[f"{name}.delivered_bytes"] - IP_UDP * row[f"{name}.delivered_packets"])


SIZE = "flow.data.application.size_bytes"
RATIO = "transport.ack_ratio"
IN_PAIRS = (
    "link.bottleneck.forward.loss.probability",
    "link.bottleneck.delay_ms",
    "transport.max_udp_payload",
    "transport.max_ack_delay_ms",
)
"""What two runs have in common that are compared in pairs."""


def throughput_mbps(rows: list[dict[str, Any]]) -> float:
    """What the receiver got between the ends of two transfers of one seed, in QUIC bytes."""
    short, long = sorted(rows, key=lambda row: float(row[SIZE]))
    seconds = long["connection.data.completion_s"] - short["connection.data.completion_s"]
    return (quic_bytes(long, "receiver-access") - quic_bytes(short, "receiver-access")) * 8e-6 / float(seconds)


def throughputs(rows: list[dict[str, Any]]) -> list[float]:
    """The same for each repetition, in order."""
    return [throughput_mbps(of_one) for _, of_one in sorted(groups(rows, "repetition"))]


def mathis_mbps(packet: float, rtt_ms: float, loss: float) -> float:
    """Packet size / RTT x sqrt(3 / 2p), of Mathis et al."""
    return packet * 8e-6 / (1e-3 * rtt_ms) * math.sqrt(3 / (2 * loss))


def bars_by_rtt(axes: "Axes", points: Points, by: str, series: dict[Any, tuple[str, str]]) -> None:
    """Bars of throughput with intervals: a group for each RTT, in it a bar for each of the series (label, colour)."""
    rtts = sorted(set(column(points, "rtt_ms")))
    width = 0.8 / len(series)
    for number, (value, (label, colour)) in enumerate(series.items()):
        of_it = select(points, {by: value})
        places = [rtts.index(point["rtt_ms"]) + (number - (len(series) - 1) / 2) * width for point in of_it]
        means = column(of_it, "throughput_mbps")
        errors = [
            [mean - low for mean, low in zip(means, column(of_it, "low_mbps"), strict=True)],
            [high - mean for mean, high in zip(means, column(of_it, "high_mbps"), strict=True)],
        ]
        axes.bar(places, means, width, yerr=errors, color=colour, label=label, capsize=1.5, error_kw={"linewidth": 0.6})
    axes.set_xticks(range(len(rtts)), [f"{rtt:g}" for rtt in rtts])
    axes.margins(x=0.02)
    axes.set_xlabel("RTT in ms")
    axes.set_ylabel("throughput in Mbit/s")
    axes.legend()


def over_rtt(axes: "Axes", points: Points, *, series: str, simulated: str, label: str) -> None:
    """Theory as curves and what was simulated as dots, over the RTT, with a logarithmic scale of rates."""
    for colour, ((value,), of_series) in zip(COLOURS, groups(points, series), strict=False):
        rtts = column(of_series, "rtt_ms")
        axes.plot(rtts, column(of_series, "theory_mbps"), color=colour, linewidth=0.8)
        axes.plot(rtts, column(of_series, simulated), ".", color=colour, label=label.format(value))
    set_logarithmic(axes, "y")
    axes.margins(x=0.03)
    axes.set_xlabel("RTT in ms")
    axes.legend(title="line: theory, dots: simulated")
