"""Fig. 2: one BBR flow over a constant bottleneck: flight, window, pacing rate, RTT and queue, with the phases."""

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from quiclab.papers.ns3.traces import (
    NAMES,
    SERIES,
    legend_of_phases,
    over_time,
    phases,
    shade,
    spans,
)
from quiclab.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Trace, trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STEP_S = 0.05
_PACKET = {"quic": 1472, "tcp": 1448}
"""Bytes of a full packet as each transport counts it: of QUIC the UDP payload, of TCP the payload beside timestamps."""

_LATER = (
    "startup_gain",
    "drain_gain",
    "up_gain",
    "down_gain",
    "cycle_rtts",
    "cwnd_after_drain_kb",
    "probe_rtt_s",
    "probe_rtt_cwnd_packets",
    "probe_rtt_packets",
    "probe_rtt_every_s",
    "order",
    "goodput_mbps",
    "capacity_mbps",
    "quic_goodput_mbps",
    "mean_rtt_ms",
    "lost_packets",
)
_OVER_TIME = ("time_s", *SERIES, "queue_kb", "phase")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The traces of all runs on one clock, and one point for each run with what the paper says of it."""
    runs = sweeps["main"]
    points: Points = []
    for row in runs.rows:
        of = trace(runs, row["run"], "data client")
        queue = trace(runs, row["run"], "bottleneck forward")
        about = {"protocol": row["flow.data.protocol"], "controller": row["transport.controller"]}
        end = row["duration_s"]
        for sample in over_time(of, queue, end, _STEP_S):
            points.append({"what": "time", **about, **sample, **dict.fromkeys(_LATER)})
        points.append({"what": "run", **about, **dict.fromkeys(_OVER_TIME), **_summary(row, of, end)})
    for (controller,), both in groups(select(points, {"what": "run"}), "controller"):
        quic = select(both, {"protocol": "quic", "controller": controller})[0]["goodput_mbps"]
        for point in both:
            point["quic_goodput_mbps"] = quic
    return points


def _summary(row: dict[str, Any], of: Trace, end: float) -> dict[str, Any]:
    begun = phases(of)
    drained = next(time for time, name in begun if name == "probe_bw")
    gains = of["gauge", "pacing_gain"]
    steady = [gain for start, until in spans(begun, end, "probe_bw") for gain in gains.between(start, until)]
    probes = spans(begun, end, "probe_rtt")
    packet = _PACKET[row["flow.data.protocol"]]

    def least(quantity: str) -> float:
        """The least in PROBE_RTT, in packets."""
        series = of["connection", quantity]
        return min(value for start, until in probes for value in series.between(start, until)) / packet

    return {
        "startup_gain": gains.values[0],
        "drain_gain": next(gain for gain in gains.values if gain <= 0.5),
        "up_gain": max(steady),
        "down_gain": min(steady),
        "cycle_rtts": _cycle(of, drained, probes[0][0]),
        "cwnd_after_drain_kb": median(of["connection", "cwnd_bytes"].between(drained + 0.2, drained + 1)) * 1e-3,
        "probe_rtt_s": probes[0][0],
        "probe_rtt_cwnd_packets": least("cwnd_bytes"),
        "probe_rtt_packets": least("bytes_in_flight"),
        "probe_rtt_every_s": fmean(b[0] - a[0] for a, b in pairwise(probes)),
        "order": " ".join(name for _, name in begun[:4]),
        "goodput_mbps": row["connection.data.goodput_mbps"],
        "capacity_mbps": row["link.bottleneck.rate_mbps"],
        "mean_rtt_ms": row["connection.data.rtt_mean_ms"],
        "lost_packets": row["connection.data.packets_declared_lost"],
    }


def _cycle(of: Trace, start: float, end: float) -> float | None:
    """How many least RTTs lie between two probes for bandwidth, on the average; None if there are not two."""
    gains = of["gauge", "pacing_gain"]
    ups: list[float] = []
    last = 1.0
    for time, gain in zip(gains.times, gains.values, strict=True):
        if start <= time < end and gain > 1 and last <= 1:
            ups.append(time)
        last = gain
    least = of["gauge", "model_min_rtt_ms"].at(start)
    if len(ups) < 2 or not least:
        return None
    return (ups[-1] - ups[0]) / (len(ups) - 1) / (least / 1e3)


def draw(points: Points) -> "Figure":
    """A column for each protocol and version, a row for each quantity; the phases as colours behind."""
    from matplotlib import pyplot

    rows = (
        ("bytes in kB", (("cwnd_kb", "cwnd", style.VERMILLION), ("in_flight_kb", "bytes in flight", style.BLACK))),
        ("pacing in Mbit/s", (("pacing_mbps", "pacing rate", style.BLACK),)),
        ("RTT in ms", (("rtt_ms", "RTT", style.BLACK),)),
        ("queue in kB", (("queue_kb", "queue at the bottleneck", style.BLACK),)),
    )
    runs = list(groups(select(points, {"what": "time"}), "controller", "protocol"))
    figure, panels = pyplot.subplots(
        len(rows), len(runs), figsize=(11, 7), sharex=True, sharey="row", layout="constrained", squeeze=False
    )
    for place, ((controller, protocol), samples) in enumerate(runs):
        panels[0][place].set_title(f"{protocol.upper()}, {NAMES[controller]}")
        for axes, (label, lines) in zip(panels[:, place], rows, strict=True):
            shade(axes, samples)
            for name, what, colour in lines:
                values = [float("nan") if value is None else value for value in column(samples, name)]
                axes.plot(column(samples, "time_s"), values, color=colour, linewidth=0.8, label=what)
            axes.set_ylim(0, 12 if label.startswith("pacing") else None)
            if place == 0:
                axes.set_ylabel(label)
        panels[-1][place].set_xlabel("time in s")
    panels[0][0].legend(loc="upper right")
    figure.legend(handles=legend_of_phases(), loc="outside lower center", ncols=4)
    return figure
