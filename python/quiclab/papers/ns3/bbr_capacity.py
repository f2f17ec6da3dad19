"""Fig. 3: one BBR flow while the bottleneck's capacity doubles and halves again."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.papers.ns3.traces import (
    NAMES,
    SERIES,
    legend_of_phases,
    over_time,
    shade,
)
from quiclab.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Trace, trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STEP_S = 0.1
_RISE_S, _FALL_S = 20.0, 45.0
_LOW_MBPS, _HIGH_MBPS = 2.0, 4.0

_LATER = (
    "used_after_s",
    "used_mbps",
    "kept_rounds",
    "kept_s",
    "most_rtt_ms",
    "most_queue_kb",
    "settled_rtt_ms",
    "settled_mbps",
    "high_mbps",
    "lost_packets",
)
_OVER_TIME = ("time_s", *SERIES, "queue_kb", "phase")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The traces of all runs on one clock, and one point for each run with what follows each change."""
    runs = sweeps["main"]
    points: Points = []
    for row in runs.rows:
        of = trace(runs, row["run"], "data client")
        link = trace(runs, row["run"], "bottleneck forward")
        about = {"protocol": row["flow.data.protocol"], "controller": row["transport.controller"]}
        for sample in over_time(of, link, row["duration_s"], _STEP_S):
            points.append({"what": "time", **about, **sample, **dict.fromkeys(_LATER)})
        points.append({"what": "run", **about, **dict.fromkeys(_OVER_TIME), **_summary(row, of, link)})
    return points


def _summary(row: dict[str, Any], of: Trace, link: Trace) -> dict[str, Any]:
    end = row["duration_s"]
    taken = link["rate", "delivered_mbps"]
    bins = [(time, value) for time, value in zip(taken.times, taken.values, strict=True) if time >= _RISE_S]
    width = bins[1][0] - bins[0][0]
    used = next((time for time, value in bins if value >= 0.9 * _HIGH_MBPS), end)
    bandwidth, rounds = of["gauge", "max_bw_mbps"], of["gauge", "round_count"]
    # A filter that still holds more than a tenth above the new capacity remembers the old one.
    estimates = zip(bandwidth.times, bandwidth.values, strict=True)
    forgot = next((time for time, value in estimates if time > _FALL_S and value < 1.1 * _LOW_MBPS), None)
    until = end if forgot is None else forgot
    # Until it is forgotten, and a round trip of a full queue more.
    meanwhile = (_FALL_S, until + 1.5)
    return {
        "used_after_s": used + width - _RISE_S,
        "used_mbps": fmean(value for time, value in bins if _RISE_S + 6 <= time < _FALL_S),
        "kept_rounds": (rounds.at(until) or 0) - (rounds.at(_FALL_S) or 0),
        "kept_s": until - _FALL_S,
        "most_rtt_ms": max(of["connection", "latest_rtt_ms"].between(*meanwhile)),
        "most_queue_kb": max(link["queue", "bytes"].between(*meanwhile)) * 1e-3,
        "settled_rtt_ms": fmean(of["connection", "latest_rtt_ms"].between(end - 10, end)),
        "settled_mbps": fmean(value for time, value in bins if time >= end - 10),
        "high_mbps": _HIGH_MBPS,
        "lost_packets": row["connection.data.packets_declared_lost"],
    }


def draw(points: Points) -> "Figure":
    """A column for each protocol and version: rate with the capacity, RTT, queue; the phases as colours behind."""
    from matplotlib import pyplot

    rows = (
        ("rate in Mbit/s", (("pacing_mbps", "pacing rate", style.BLACK), ("max_bw_mbps", "bandwidth", style.ORANGE))),
        ("RTT in ms", (("rtt_ms", "RTT", style.BLACK),)),
        ("bytes in kB", (("cwnd_kb", "cwnd", style.VERMILLION), ("in_flight_kb", "bytes in flight", style.BLACK))),
        ("queue in kB", (("queue_kb", "queue", style.BLACK),)),
    )
    runs = list(groups(select(points, {"what": "time"}), "controller", "protocol"))
    figure, panels = pyplot.subplots(
        len(rows), len(runs), figsize=(11, 7), sharex=True, sharey="row", layout="constrained", squeeze=False
    )
    for place, ((controller, protocol), samples) in enumerate(runs):
        panels[0][place].set_title(f"{protocol.upper()}, {NAMES[controller]}")
        end = samples[-1]["time_s"]
        for axes, (label, lines) in zip(panels[:, place], rows, strict=True):
            shade(axes, samples)
            for name, what, colour in lines:
                values = [float("nan") if value is None else value for value in column(samples, name)]
                axes.plot(column(samples, "time_s"), values, color=colour, linewidth=0.8, label=what)
            if place == 0:
                axes.set_ylabel(label)
        steps = ([0, _RISE_S, _RISE_S, _FALL_S, _FALL_S, end], [_LOW_MBPS] * 2 + [_HIGH_MBPS] * 2 + [_LOW_MBPS] * 2)
        panels[0][place].plot(*steps, color=style.GREY, linewidth=0.8, linestyle="--", label="capacity")
        panels[0][place].set_ylim(0, 7)
        panels[-1][place].set_xlabel("time in s")
    panels[0][0].legend(loc="upper right")
    panels[2][0].legend(loc="upper right")
    figure.legend(handles=legend_of_phases(), loc="outside lower center", ncols=4)
    return figure
