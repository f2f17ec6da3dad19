"""Fig. 5: the goodput of a sender that flow control limits, over the RTT, beside credit / RTT."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.papers.inet.measures import SIZE, over_rtt
from quiclab.reproduce.points import Points, groups
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CREDITS = {"stream": "transport.initial_max_stream_data_uni_bytes", "connection": "transport.initial_max_data_bytes"}


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each level, credit and RTT: between the ends of the shorter and the longer transfer."""
    points: Points = []
    for level, path in _CREDITS.items():
        for (credit, delay_ms), rows in groups(sweeps[level].rows, path, "link.bottleneck.delay_ms"):
            short, long = sorted(rows, key=lambda row: float(row[SIZE]))
            seconds = long["connection.data.completion_s"] - short["connection.data.completion_s"]
            points.append(
                {
                    "level": level,
                    "credit_kb": credit / 1e3,
                    "rtt_ms": 2 * delay_ms,
                    "goodput_mbps": (long[SIZE] - short[SIZE]) * 8e-6 / seconds,
                    "theory_mbps": credit * 8e-6 / (2e-3 * delay_ms),
                }
            )
    return points


def draw(points: Points) -> "Figure":
    """Goodput over the RTT, a curve of theory for each credit, and dots: one panel for each level."""
    from matplotlib import pyplot

    levels = list(groups(points, "level"))
    figure, panels = pyplot.subplots(1, len(levels), figsize=(7.2, 3.2), layout="constrained", sharey=True)
    for axes, ((level,), of_level) in zip(panels, levels, strict=True):
        over_rtt(
            axes,
            of_level,
            series="credit_kb",
            simulated="goodput_mbps",
            label="{:g} kB",
        )
        axes.set_title(f"credit of the {level}")
    panels[0].set_ylabel("goodput in Mbit/s")
    return figure
