"""What random losses leave of the rate of BBRv3: the endpoint beside an independent reading of the draft."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import hypot, inf, sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.papers.theory.bbr3_transfer import transfer
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HEADERS = 28
_LOSS, _RATIO = "link.bottleneck.forward.loss.probability", "transport.ack_ratio"
_CASE = ("link.bottleneck.rate_mbps", "link.bottleneck.delay_ms", _LOSS, _RATIO, "transport.max_ack_delay_ms")
_COLOURS = (style.BLUE, style.VERMILLION, style.GREEN)
_LINKS = ["main", "many"]
"""The sweeps over links, of which each case is in one."""
_CALM, _FEW = 0.01, 4
"""Up to this loss shares vary little, and the reading runs so many seeds; above it as many as the endpoint."""
_SHARE, _POINTS = 0.15, 0.1
"""The accepted deviation: this share of the reading, or two standard errors if that is more; at most so much."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each link, loss rate, ratio and delay of acknowledgements: shares of the link that arrived.

    Where there are many runs, they stand in the place of the fewer ones of the same case.
    """
    points: Points = []
    many = {case for case, _ in groups(sweeps["many"].rows, *_CASE)}
    for name, runs in sweeps.items():
        for case, rows in groups(runs.rows, *_CASE):
            if name == "main" and case in many:
                continue
            rate, delay, loss, ratio, held = case
            first, rtt_s = rows[0], 2e-3 * delay
            packets = 1e6 * rate / 8 / (first["transport.max_udp_payload"] + _HEADERS)
            read = partial(transfer, packets, rtt_s, loss, first["duration_s"], ratio=ratio, max_ack_delay=1e-3 * held)
            seeds = range(1, 1 + (min(_FEW, len(rows)) if loss <= _CALM else len(rows)))
            draft, draft_error = _mean([read(seed=seed) for seed in seeds])
            # What the time threshold of the loss detection does, where that takes little time to compute.
            is_shown = name != "delay" and ratio == 1 and rate <= 10 and loss == 0.03
            late = fmean(read(seed=seed, time_threshold=inf) for seed in seeds) if is_shown else None
            carried = [8e-6 * row["link.bottleneck.forward.delivered_bytes"] / row["duration_s"] for row in rows]
            share, share_error = _mean([mbps / rate for mbps in carried])
            off = min(max(_SHARE * draft, 2 * hypot(share_error, draft_error)), _POINTS)
            points.append(
                {
                    "sweep": name,
                    "rate_mbps": rate,
                    "rtt_ms": 2 * delay,
                    "bdp_packets": packets * rtt_s,
                    "loss_percent": round(100 * loss, 6),
                    "ack_ratio": ratio,
                    "max_ack_delay_ms": held,
                    "runs": len(rows),
                    "share_percent": 100 * share,
                    "share_error_percent": 100 * share_error,
                    "draft_percent": 100 * draft,
                    "draft_error_percent": 100 * draft_error,
                    "least_percent": 100 * (draft - off),
                    "most_percent": 100 * (draft + off),
                    "off_percent": 100 * (share / draft - 1),
                    "late_percent": None if late is None else 100 * (late / draft - 1),
                    "is_judged": name != "delay" and draft > 0.1,
                }
            )
    for point in points:
        same = {key: point[key] for key in ("rate_mbps", "rtt_ms", "loss_percent")}
        each = select(points, {**same, "sweep": _LINKS, "ack_ratio": 1})
        point["held_percent"] = 100 * (point["share_percent"] / each[0]["share_percent"] - 1) if each else None
    return points


def _mean(values: Sequence[float]) -> tuple[float, float]:
    return fmean(values), stdev(values) / sqrt(len(values))


def draw(points: Points) -> "Figure":
    """The share of the link over the loss rate, a panel for each RTT, and over the delay of acknowledgements.

    The reading is shown as curves, the endpoint as marks.
    """
    from matplotlib import pyplot

    main, delayed = select(points, {"sweep": _LINKS}), select(points, {"sweep": "delay"})
    main.sort(key=lambda point: point["loss_percent"])
    rtts = sorted(set(column(main, "rtt_ms")))
    size = (3.0 * len(rtts) + 3.6, 4.0)
    figure, panels = pyplot.subplots(1, len(rtts) + 1, figsize=size, layout="constrained", sharey=True)
    rates = sorted(set(column(main, "rate_mbps")))
    for axes, rtt in zip(panels, rtts, strict=False):
        for rate, colour in zip(rates, _COLOURS, strict=False):
            for ratio, mark, line in ((1, "o", "-"), (2, "x", ":")):
                shown = select(main, {"rtt_ms": rtt, "rate_mbps": rate, "ack_ratio": ratio})
                label = f"{rate:g} Mbit/s, 1:{ratio}"
                loss = column(shown, "loss_percent")
                axes.plot(loss, column(shown, "draft_percent"), line, color=colour, label=f"{label}, draft")
                shares = column(shown, "share_percent")
                axes.plot(loss, shares, mark, color=colour, fillstyle="none", label=label)
        axes.set_title(f"RTT {rtt:g} ms")
        axes.set_xlabel("loss in %")
        axes.set_ylim(0, 105)
    first, held = delayed[0], column(delayed, "max_ack_delay_ms")
    panels[-1].plot(held, column(delayed, "draft_percent"), ":", color=style.BLACK)
    panels[-1].plot(held, column(delayed, "share_percent"), "x", color=style.BLACK)
    panels[-1].set_title(f"{first['rate_mbps']:g} Mbit/s, RTT {first['rtt_ms']:g} ms, {first['loss_percent']:g} %, 1:2")
    panels[-1].set_xlabel("max_ack_delay in ms")
    panels[0].set_ylabel("share of the link in %")
    legend_above(figure, panels, columns=3)
    return figure
