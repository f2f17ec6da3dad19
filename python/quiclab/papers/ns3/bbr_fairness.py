"""Fig. 4: two BBR flows at one bottleneck, the second fifteen seconds behind the first: pacing rates and RTTs."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.drawings.plots.limits import from_zero
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.papers.ns3.traces import NAMES, SERIES, over_time
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STEP_S = 0.1
_FLOWS = (1, 2)
_COLOURS = {1: style.BLUE, 2: style.VERMILLION}
_LATER = ("repetition", "jain", "first_mbps", "second_mbps", "worst_jain", "runs", "lost_packets")
_OVER_TIME = ("flow", "time_s", *SERIES, "queue_kb", "phase")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The traces of one run of each kind; of each of the others the shares of its last third; and their means."""
    points: Points = []
    runs = sweeps["main"]
    for row in runs.rows:
        queue = trace(runs, row["run"], "bottleneck forward")
        for flow in _FLOWS:
            of = trace(runs, row["run"], f"flow-{flow} client")
            for sample in over_time(of, queue, row["duration_s"], _STEP_S):
                points.append({"what": "time", **_about(row), "flow": flow, **sample, **dict.fromkeys(_LATER)})
    repeated = sweeps["shares"]
    for row in repeated.rows:
        shares = [_share(repeated, row, flow) for flow in _FLOWS]
        found = {
            "repetition": row["repetition"],
            "jain": _jain(shares),
            "first_mbps": shares[0],
            "second_mbps": shares[1],
            "lost_packets": sum(row[f"connection.flow-{flow}.packets_declared_lost"] for flow in _FLOWS),
        }
        points.append({"what": "run", **_about(row), **dict.fromkeys(_OVER_TIME), **dict.fromkeys(_LATER), **found})
    for (protocol, controller), of_kind in groups(select(points, {"what": "run"}), "protocol", "controller"):
        mean = {
            name: fmean(point[name] for point in of_kind)
            for name in ("jain", "first_mbps", "second_mbps", "lost_packets")
        }
        points.append(
            {
                **dict.fromkeys(points[0]),
                "what": "mean",
                "protocol": protocol,
                "controller": controller,
                **mean,
                "worst_jain": min(point["jain"] for point in of_kind),
                "runs": len(of_kind),
            }
        )
    return points


def _about(row: dict[str, Any]) -> dict[str, Any]:
    return {"protocol": row["flow.flow-1.protocol"], "controller": row["transport.controller"]}


def _share(runs: Runs, row: dict[str, Any], flow: int) -> float:
    """What arrived at a receiver in the last third of the run, in Mbit/s on the wire."""
    end = row["duration_s"]
    taken = trace(runs, row["run"], f"receiver-{flow}-access forward")["rate", "delivered_mbps"]
    return fmean(value for time, value in zip(taken.times, taken.values, strict=True) if end * 2 / 3 <= time < end)


def _jain(shares: list[float]) -> float:
    """Jain's fairness index: 1 if all have the same."""
    return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))


def draw(points: Points) -> "Figure":
    """A column for each protocol and version: pacing rates, RTTs and the queue, a curve for each flow."""
    from matplotlib import pyplot

    rows = (("pacing in Mbit/s", "pacing_mbps"), ("RTT in ms", "rtt_ms"), ("queue in kB", "queue_kb"))
    kinds = list(groups(select(points, {"what": "time"}), "controller", "protocol"))
    figure, panels = pyplot.subplots(
        len(rows), len(kinds), figsize=(11, 5.5), sharex=True, sharey="row", layout="constrained", squeeze=False
    )
    for place, ((controller, protocol), samples) in enumerate(kinds):
        panels[0][place].set_title(f"{protocol.upper()}, {NAMES[controller]}")
        for axes, (label, name) in zip(panels[:, place], rows, strict=True):
            for (flow,), of_flow in groups(samples, "flow"):
                if name == "queue_kb" and flow != _FLOWS[0]:
                    continue
                values = [float("nan") if value is None else value for value in column(of_flow, name)]
                colour = style.BLACK if name == "queue_kb" else _COLOURS[flow]
                axes.plot(column(of_flow, "time_s"), values, color=colour, linewidth=0.8, label=f"flow {flow}")
            if place == 0:
                axes.set_ylabel(label)
        panels[-1][place].set_xlabel("time in s")
    from_zero(panels[1:])
    # The first rate of all is two orders of magnitude above the others.
    set_logarithmic(panels[0][0], "y")
    legend_above(figure, panels[0])
    return figure
