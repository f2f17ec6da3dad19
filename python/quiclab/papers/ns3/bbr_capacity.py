"""Fig. 3: one BBR flow while the bottleneck's capacity doubles and halves again."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.drawings.plots.limits import from_zero
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.papers.ns3.traces import (
    NAMES,
    SERIES,
    legend_of_phases,
    over_time,
    shade,
)
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Trace, trace
from quiclab.values.units import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STEP_S = 0.1
_LINK = "bottleneck"
_WITHIN_S = 6.0
"""So long after the rise the new capacity is to be used: our target."""

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
    "low_mbps",
    "used_target_mbps",
    "settled_target_mbps",
    "least_rtt_ms",
    "double_rtt_ms",
    "settled_limit_ms",
    "lost_packets",
)
_OVER_TIME = ("time_s", "capacity_mbps", *SERIES, "queue_kb", "phase")


@dataclass(frozen=True)
class _Capacity:
    """The steps of the bottleneck's rate: up, and down again to what it was."""

    rise_s: float
    fall_s: float
    low_mbps: float
    high_mbps: float
    least_rtt_ms: float
    """Of the path, without the time that sending takes."""

    @staticmethod
    def of(scenario: dict[str, Any]) -> "_Capacity":
        """That of a scenario."""
        (link,) = (link for link in scenario["link"] if link["name"] == _LINK)
        steps = [(number(time), number(rate)) for time, rate in link["forward"]["rate"]["steps"]]
        if len(steps) != 3 or not steps[0][1] == steps[2][1] < steps[1][1]:
            raise Error(f"ns3-bbr-capacity: rate of {_LINK}: expected three steps: low, high, and the same low again")
        (_, low), (rise, high), (fall, _) = steps
        there_and_back = sum(number(link[way]["delay"]) for link in scenario["link"] for way in ("forward", "backward"))
        return _Capacity(rise, fall, low, high, 1e3 * there_and_back)

    def at(self, time: float) -> float:
        """The rate at that time."""
        return self.high_mbps if self.rise_s <= time < self.fall_s else self.low_mbps


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The traces of all runs on one clock, and one point for each run with what follows each change."""
    runs = sweeps["main"]
    capacity = _Capacity.of(runs.scenario)
    points: Points = []
    for row in runs.rows:
        of = trace(runs, row["run"], "data client")
        link = trace(runs, row["run"], "bottleneck forward")
        about = {"protocol": row["flow.data.protocol"], "controller": row["transport.controller"]}
        for sample in over_time(of, link, row["duration_s"], _STEP_S):
            sample["capacity_mbps"] = capacity.at(sample["time_s"])
            points.append({"what": "time", **about, **sample, **dict.fromkeys(_LATER)})
        points.append({"what": "run", **about, **dict.fromkeys(_OVER_TIME), **_summary(row, of, link, capacity)})
    return points


def _summary(row: dict[str, Any], of: Trace, link: Trace, capacity: _Capacity) -> dict[str, Any]:
    end = row["duration_s"]
    taken = link["rate", "delivered_mbps"]
    bins = [(time, value) for time, value in zip(taken.times, taken.values, strict=True) if time >= capacity.rise_s]
    width = bins[1][0] - bins[0][0]
    used = next((time for time, value in bins if value >= 0.9 * capacity.high_mbps), end)
    bandwidth, rounds = of["gauge", "max_bw_mbps"], of["gauge", "round_count"]
    # A filter that still holds more than a tenth above the new capacity remembers the old one.
    estimates = zip(bandwidth.times, bandwidth.values, strict=True)
    forgot = next(
        (time for time, value in estimates if time > capacity.fall_s and value < 1.1 * capacity.low_mbps), None
    )
    until = end if forgot is None else forgot
    # Until it is forgotten, and a round trip of a full queue more.
    meanwhile = (capacity.fall_s, until + 1.5)
    return {
        "used_after_s": used + width - capacity.rise_s,
        "used_mbps": fmean(value for time, value in bins if capacity.rise_s + _WITHIN_S <= time < capacity.fall_s),
        "kept_rounds": (rounds.at(until) or 0) - (rounds.at(capacity.fall_s) or 0),
        "kept_s": until - capacity.fall_s,
        "most_rtt_ms": max(of["connection", "latest_rtt_ms"].between(*meanwhile)),
        "most_queue_kb": max(link["queue", "bytes"].between(*meanwhile)) * 1e-3,
        "settled_rtt_ms": fmean(of["connection", "latest_rtt_ms"].between(end - 10, end)),
        "settled_mbps": fmean(value for time, value in bins if time >= end - 10),
        "high_mbps": capacity.high_mbps,
        "low_mbps": capacity.low_mbps,
        "used_target_mbps": 0.9 * capacity.high_mbps,
        "settled_target_mbps": 0.9 * capacity.low_mbps,
        "least_rtt_ms": capacity.least_rtt_ms,
        "double_rtt_ms": 2 * capacity.least_rtt_ms,
        "settled_limit_ms": 1.5 * capacity.least_rtt_ms,
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
        for axes, (label, lines) in zip(panels[:, place], rows, strict=True):
            shade(axes, samples)
            for name, what, colour in lines:
                values = [float("nan") if value is None else value for value in column(samples, name)]
                axes.plot(column(samples, "time_s"), values, color=colour, linewidth=0.8, label=what)
            if place == 0:
                axes.set_ylabel(label)
        panels[0][place].plot(
            column(samples, "time_s"),
            column(samples, "capacity_mbps"),
            color=style.GREY,
            linewidth=0.8,
            linestyle="--",
            drawstyle="steps-post",
            label="capacity",
        )
        panels[-1][place].set_xlabel("time in s")
    from_zero(panels[1:])
    # The first rate of all is two orders of magnitude above the others.
    set_logarithmic(panels[0][0], "y")
    legend_above(figure, (panels[0][0], panels[2][0]))
    figure.legend(handles=legend_of_phases(), loc="outside lower center", ncols=4)
    return figure
