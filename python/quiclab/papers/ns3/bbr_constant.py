"""Fig. 2: one BBR flow over a constant bottleneck: flight, window, pacing rate, RTT and queue, with the phases.

Below it the RTT over the least one with jitter on the way back, which is what takes BBRv1 to the limit of its window.
"""

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.drawings.plots.limits import from_zero
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.papers.ns3.traces import (
    NAMES,
    SERIES,
    legend_of_phases,
    over_time,
    phases,
    shade,
    spans,
)
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Trace, trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEP_S = 0.05
_JITTER_STEP_S = 0.5
_PACKET = {"quic": 1472, "tcp": 1448}
"""Bytes of a full packet as each transport counts it: of QUIC the UDP payload, of TCP the payload beside timestamps."""

_MTU = 1500
_JITTER = "link.bottleneck.backward.jitter_ms"
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
    "least_goodput_mbps",
    "quic_goodput_mbps",
    "mean_rtt_ms",
    "lost_packets",
)
_OVER_TIME = ("time_s", *SERIES, "queue_kb", "phase")
_ESTIMATES = ("bandwidth_mbps", "tcp_bandwidth_mbps", "counted_mbps", "counted_ratio", "wired_ratio")
_WITH_JITTER = ("jitter_ms", "rtt_ratio", "mean_rtt_ratio", "window_used_percent", *_ESTIMATES)


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
            points.append({"what": "time", **about, **sample, **dict.fromkeys((*_LATER, *_WITH_JITTER))})
        summary = {**_summary(row, of, end), **dict.fromkeys(_WITH_JITTER)}
        points.append({"what": "run", **about, **dict.fromkeys(_OVER_TIME), **summary})
    for (controller,), both in groups(select(points, {"what": "run"}), "controller"):
        quic = select(both, {"protocol": "quic", "controller": controller})[0]["goodput_mbps"]
        for point in both:
            point["quic_goodput_mbps"] = quic
    return points + _with_jitter(sweeps["jitter"])


def _with_jitter(runs: Runs) -> Points:
    """Of each run with jitter the RTT over the least one, over time and at the end of a long stay in PROBE_BW."""
    points: Points = []
    for row in runs.rows:
        of = trace(runs, row["run"], "data client")
        about = {
            "protocol": row["flow.data.protocol"],
            "controller": row["transport.controller"],
            "jitter_ms": row[_JITTER],
        }
        nothing = dict.fromkeys(("what", *about, *_OVER_TIME, *_LATER, *_WITH_JITTER))
        rtt = of["connection", "latest_rtt_ms"]
        least = min(rtt.values)
        for place in range(int(row["duration_s"] / _JITTER_STEP_S)):
            start = place * _JITTER_STEP_S
            values = rtt.between(start, start + _JITTER_STEP_S)
            ratio = fmean(values) / least if values else None
            points.append({**nothing, "what": "jitter over time", **about, "time_s": start, "rtt_ratio": ratio})
        points.append({**nothing, "what": "jitter", **about, **_at_its_end(row, of, least)})
    for point in select(points, {"what": "jitter"}):
        alike = {key: point[key] for key in ("what", "controller", "jitter_ms")}
        (tcp,) = select(points, {**alike, "protocol": "tcp"})
        point["tcp_bandwidth_mbps"] = tcp["bandwidth_mbps"]
        point["wired_ratio"] = point["bandwidth_mbps"] / tcp["bandwidth_mbps"]
        point["counted_ratio"] = point["counted_mbps"] / tcp["counted_mbps"]
    return points


def _at_its_end(row: dict[str, Any], of: Trace, least: float) -> dict[str, Any]:
    """RTT, estimate and window in the last cycle of gains before the last PROBE_RTT; the RTT of all cycles."""
    end = row["duration_s"]
    until = spans(phases(of), end, "probe_rtt")[-1][0]
    rtt = of["connection", "latest_rtt_ms"]
    cycles = [value for span in spans(phases(of), end, "probe_bw") for value in rtt.between(*span)]
    start = until - 8 * least * 1e-3
    flight, window = of["connection", "bytes_in_flight"], of["connection", "cwnd_bytes"]
    packet = _PACKET[row["flow.data.protocol"]]
    taken = [(time, value) for time, value in zip(flight.times, flight.values, strict=True) if start < time <= until]
    shares = [value / held for time, value in taken if (held := window.at(time))]
    counted = of["gauge", "max_bw_mbps"].at(until) or 0.0
    return {
        "rtt_ratio": fmean(rtt.between(start, until)) / least,
        "mean_rtt_ratio": fmean(cycles) / least,
        "counted_mbps": counted,
        "bandwidth_mbps": counted * _MTU / packet,
        "window_used_percent": 100 * fmean(shares),
    }


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
        "least_goodput_mbps": 0.9 * row["link.bottleneck.rate_mbps"],
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
        len(rows) + 1, len(runs), figsize=(11, 8.6), sharex=True, sharey="row", layout="constrained", squeeze=False
    )
    for place, ((controller, protocol), samples) in enumerate(runs):
        panels[0][place].set_title(f"{protocol.upper()}, {NAMES[controller]}")
        for axes, (label, lines) in zip(panels[:-1, place], rows, strict=True):
            shade(axes, samples)
            for name, what, colour in lines:
                values = [float("nan") if value is None else value for value in column(samples, name)]
                axes.plot(column(samples, "time_s"), values, color=colour, linewidth=0.8, label=what)
            if place == 0:
                axes.set_ylabel(label)
        of_it = select(points, {"what": "jitter over time", "controller": controller, "protocol": protocol})
        _jitter_panel(panels[-1][place], of_it)
        panels[-1][place].set_xlabel("time in s")
    panels[-1][0].set_ylabel("RTT / least RTT")
    from_zero([panels[0], *panels[2:]])
    # The first rate of all is two orders of magnitude above the others.
    set_logarithmic(panels[1][0], "y")
    legend_above(figure, (panels[0][0], panels[-1][0]))
    figure.legend(handles=legend_of_phases(), loc="outside lower center", ncols=4)
    return figure


def _jitter_panel(axes: "Axes", points: Points) -> None:
    colours = (style.GREEN, style.BLUE, style.VERMILLION)
    for colour, ((jitter,), of_it) in zip(colours, groups(points, "jitter_ms"), strict=False):
        told = [point for point in of_it if point["rtt_ratio"] is not None]
        times, ratios = column(told, "time_s"), column(told, "rtt_ratio")
        axes.plot(times, ratios, color=colour, linewidth=0.8, label=f"jitter of {jitter:g} ms")
    axes.axhline(2, color=style.GREY, linewidth=0.8, linestyle="--")
