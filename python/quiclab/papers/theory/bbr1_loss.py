"""The goodput of BBRv1 over the loss rate, beside the limit, CUBIC, and the TCP of Linux."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINUX_MBPS = {1.0: 36.7, 3.0: 35.1, 5.0: 32.8, 10.0: 30.1}
"""By the loss in percent: `bbr` of Linux 6.18 between two gates of `quiclab emulate`, 40 Mbit/s and 100 ms (2026)."""
_HEADERS = {"quic": 28 + 9 + 1 + 16 + 4, "tcp": 20 + 20 + 12}
"""Bytes of a packet of 1280 or 1500 bytes that are no data: headers, in QUIC also the tag and that of the frame."""
_PACKET = {"quic": 1280, "tcp": 1500}
_LOSS = "link.bottleneck.forward.loss.probability"
_COLOURS = {"quic": style.BLUE, "tcp": style.VERMILLION}
_LINES = {"bbr1": "-", "cubic": ":"}


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each case: means of its runs, with their interval, and the least of them."""
    points: Points = []
    case = ("flow.data.protocol", "transport.controller", "link.bottleneck.rate_mbps", _LOSS)
    for (protocol, controller, rate, loss), rows in groups(sweeps["main"].rows, *case):
        limit = rate * (1 - loss) * (1 - _HEADERS[protocol] / _PACKET[protocol])
        rates = [row["connection.data.goodput_mbps"] for row in rows]
        mean, low, high = interval(rates)
        percent = round(100 * loss, 6)
        points.append(
            {
                "protocol": protocol,
                "controller": controller,
                "rate_mbps": rate,
                "loss_percent": percent,
                "goodput_mbps": mean,
                "low_mbps": low,
                "high_mbps": high,
                "runs": len(rows),
                "limit_mbps": limit,
                "of_limit": mean / limit,
                "least_mbps": min(rates),
                "least_of_limit": min(rates) / limit,
                "linux_mbps": _LINUX_MBPS.get(percent) if rate == 40 else None,
            }
        )
    return points


def draw(points: Points) -> "Figure":
    """The figure of the article, and the link over which Linux was measured."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained", width_ratios=(3, 2))
    for axes, rate in zip(panels, (100, 40), strict=True):
        there = select(points, {"rate_mbps": rate})
        for protocol, colour in _COLOURS.items():
            for controller, line in _LINES.items():
                shown = select(there, {"protocol": protocol, "controller": controller})
                if shown:
                    values = column(shown, "loss_percent"), column(shown, "goodput_mbps")
                    label = f"{controller}, {protocol.upper()}"
                    axes.plot(*values, line, marker=".", color=colour, label=label)
        limits = sorted({(point["loss_percent"], point["limit_mbps"]) for point in select(there, {"protocol": "tcp"})})
        axes.plot(*zip(*limits, strict=True), color=style.GREY, linewidth=0.8, label="limit of TCP")
        axes.set_title(f"{rate} Mbit/s, 100 ms")
        axes.set_xlabel("loss in %")
        axes.set_ylim(bottom=0)
    set_logarithmic(panels[0], "x")
    linux = sorted((loss, rate) for loss, rate in _LINUX_MBPS.items())
    panels[1].plot(*zip(*linux, strict=True), "x", color=style.BLACK, label="Linux, TCP")
    panels[0].set_ylabel("goodput in Mbit/s")
    legend_above(figure, panels, columns=3)
    return figure
