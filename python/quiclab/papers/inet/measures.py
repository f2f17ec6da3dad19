"""What several figures of the paper measure in the same way."""

from typing import TYPE_CHECKING, Any

from quiclab.plots import style
from quiclab.reproduce.points import Points, column, groups

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


def over_rtt(axes: "Axes", points: Points, *, series: str, simulated: str, label: str) -> None:
    """Theory as curves and what was simulated as dots, over the RTT, with a logarithmic scale of rates."""
    for colour, ((value,), of_series) in zip(COLOURS, groups(points, series), strict=False):
        rtts = column(of_series, "rtt_ms")
        axes.plot(rtts, column(of_series, "theory_mbps"), color=colour, linewidth=0.8)
        axes.plot(rtts, column(of_series, simulated), ".", color=colour, label=label.format(value))
    axes.set_yscale("log")
    axes.margins(x=0.03)
    axes.set_xlabel("RTT in ms")
    axes.legend(title="line: theory, dots: simulated")
