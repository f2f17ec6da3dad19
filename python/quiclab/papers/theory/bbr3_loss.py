"""What random losses leave of the rate of BBRv3: the endpoint beside an independent reading of the draft."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING

from quiclab.papers.theory.bbr3_draft import transfer
from quiclab.plots import style
from quiclab.plots.legends import legend_above
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEADERS = 28
_LOSS, _RATIO = "link.bottleneck.forward.loss.probability", "transport.ack_ratio"
_COLOURS = (style.BLUE, style.VERMILLION, style.GREEN)


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each link, loss rate and ratio of acknowledgements: shares of the link that arrived."""
    points: Points = []
    for (rate, delay, loss), rows in groups(
        sweeps["main"].rows, "link.bottleneck.rate_mbps", "link.bottleneck.delay_ms", _LOSS
    ):
        first, rtt_s = rows[0], 2e-3 * delay
        packets = 1e6 * rate / 8 / (first["transport.max_udp_payload"] + _HEADERS)
        seeds = range(1, 1 + len(rows) // len({row[_RATIO] for row in rows}))
        draft = fmean(transfer(packets, rtt_s, loss, first["duration_s"], seed) for seed in seeds)
        for (ratio,), of_it in groups(rows, _RATIO):
            carried = [8e-6 * row["link.bottleneck.forward.delivered_bytes"] / row["duration_s"] for row in of_it]
            share = fmean(carried) / rate
            points.append(
                {
                    "rate_mbps": rate,
                    "rtt_ms": 2 * delay,
                    "bdp_packets": packets * rtt_s,
                    "loss_percent": round(100 * loss, 6),
                    "ack_ratio": ratio,
                    "share_percent": 100 * share,
                    "draft_percent": 100 * draft,
                    "least_percent": 100 * draft - 10,
                    "off_percent": 100 * (share / draft - 1),
                    "is_judged": draft > 0.1,
                }
            )
    return points


def draw(points: Points) -> "Figure":
    """The share of the link over the loss rate, a panel for each RTT: the draft as curves, the endpoint as marks."""
    from matplotlib import pyplot

    rtts = sorted(set(column(points, "rtt_ms")))
    # The legend needs a width of its own, however few panels there are.
    size = (max(7.6, 3.0 * len(rtts) + 0.6), 3.8)
    figure, panels = pyplot.subplots(1, len(rtts), figsize=size, layout="constrained", sharey=True, squeeze=False)
    for axes, rtt in zip(panels[0], rtts, strict=True):
        rates = sorted({point["rate_mbps"] for point in points})
        for rate, colour in zip(rates, _COLOURS, strict=False):
            there = select(points, {"rtt_ms": rtt, "rate_mbps": rate})
            draft = select(there, {"ack_ratio": there[0]["ack_ratio"]})
            label = f"{rate:g} Mbit/s"
            axes.plot(
                column(draft, "loss_percent"), column(draft, "draft_percent"), color=colour, label=f"{label}, draft"
            )
            for ratio, mark in ((1, "o"), (2, "x")):
                shown = select(there, {"ack_ratio": ratio})
                axes.plot(
                    column(shown, "loss_percent"),
                    column(shown, "share_percent"),
                    mark,
                    color=colour,
                    fillstyle="none",
                    label=f"{label}, acknowledged 1:{ratio}",
                )
        axes.set_title(f"RTT {rtt:g} ms")
        axes.set_xlabel("loss in %")
        axes.set_ylim(0, 105)
    panels[0][0].set_ylabel("share of the link in %")
    legend_above(figure, panels[0], columns=3)
    return figure
