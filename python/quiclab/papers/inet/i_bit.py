"""Fig. 7 with the immediate bit, and with IMMEDIATE_ACK and ACK_FREQUENCY: throughput by RTT and way of asking."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.papers.inet.measures import IN_PAIRS, RATIO, bars_by_rtt, throughputs
from quiclab.reproduce.points import Points, column, groups
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ASKED = "transport.peer_ack_ratio"
_IMMEDIATE = "transport.immediate_ack"
_WORDS = {"never": "", "bit": ", I-bit", "frame": ", IMMEDIATE_ACK"}

# Light colours are those of the bit, as in the paper.
_BARS = {
    "1:1": ("1:1", style.BLACK),
    "1:2": ("1:2", style.BLUE),
    "1:2, I-bit": ("1:2, I-bit", "#9CCBE8"),
    "1:10": ("1:10", style.VERMILLION),
    "1:10, I-bit": ("1:10, I-bit", "#F4B183"),
}
_MARKS = "osv^D*PX<>"


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each RTT and way of asking: means over the repetitions, and differences in pairs against 1:1."""
    rows = [row for runs in sweeps.values() for row in runs.rows]
    points: Points = []
    for (loss, delay_ms, *_), of_case in groups(rows, *IN_PAIRS):
        by_way: dict[str, list[dict[str, Any]]] = {}
        for row in of_case:
            by_way.setdefault(_way(row), []).append(row)
        first = throughputs(by_way["1:1"])
        for way, of_way in by_way.items():
            mbps = throughputs(of_way)
            mean, low, high = interval(mbps)
            difference, least, most = interval([100 * (a / b - 1) for a, b in zip(mbps, first, strict=True)])
            acks, data = (sum(row[f"connection.data.{name}"] for row in of_way) for name in _COUNTS)
            points.append(
                {
                    "loss_percent": 100 * loss,
                    "rtt_ms": 2 * delay_ms,
                    "way": way,
                    "throughput_mbps": mean,
                    "low_mbps": low,
                    "high_mbps": high,
                    "difference_percent": difference,
                    "difference_low_percent": least,
                    "difference_high_percent": most,
                    "data_packets_per_ack": data / acks,
                    "repetitions": len(mbps),
                }
            )
    return points


_COUNTS = ("ack_only_packets_received", "data_packets_sent")


def _way(row: dict[str, Any]) -> str:
    """`1:10, I-bit`; `ACK_FREQUENCY 1:10` where the sender asked for the ratio."""
    ratio = f"ACK_FREQUENCY 1:{row[_ASKED]}" if _ASKED in row else f"1:{row[RATIO]}"
    return ratio + _WORDS[row[_IMMEDIATE]]


def draw(points: Points) -> "Figure":
    """Bars by RTT as in the paper; beside them the difference against 1:1 for every way, and what it takes in acks."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    bars_by_rtt(left, points, "way", _BARS)
    left.set_title(f"p = {points[0]['loss_percent']:g} %")
    ways = list(groups(points, "way"))
    for number, (mark, ((way,), series)) in enumerate(zip(_MARKS, ways, strict=False)):
        acks = sum(column(series, "data_packets_per_ack")) / len(series)
        colour = _BARS.get(way, ("", style.GREEN if "FREQUENCY" in way else style.ORANGE))[1]
        # Side by side, since many are equal.
        places = [place + 0.8 * (number / len(ways) - 0.5) for place in range(len(series))]
        label = f"{way} ({acks:.1f} data packets per ack)"
        right.plot(places, column(series, "difference_percent"), mark, color=colour, label=label, markersize=4)
    right.set_xticks(range(len(ways[0][1])), [f"{rtt:g}" for rtt in column(ways[0][1], "rtt_ms")])
    right.margins(x=0.05, y=0.1)
    right.set_xlabel("RTT in ms")
    right.set_ylabel("difference against 1:1 in %")
    right.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
