"""Fig. 5: the delays of control messages beside nine transfers, with each scheduler."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.drawings.plots import style
from quiclab.papers.sched.delays import NAMES, SCHEDULER, box, delays, turn_ms
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PREFIX = "connection.drone.parts.messages.messages"
_OVER = "flow.drone.application.parts.0.over"


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each controller, carrier and scheduler, without and with a send queue; beside it what RR has."""
    points: Points = []
    turn, others = turn_ms(sweeps["main"]), _others(sweeps["main"])
    for name, runs in sweeps.items():
        limit = "64 kB" if name == "queue" else "none"
        for (controller, over, scheduler), rows in groups(runs.rows, "transport.controller", _OVER, SCHEDULER):
            about = {"controller": controller, "over": over, "scheduler": scheduler, "send_queue": limit}
            carried = sum(row["connection.drone.delivered_bytes"] for row in rows) * 8e-6
            seconds = sum(row["duration_s"] for row in rows)
            points.append({**about, "runs": len(rows), **delays(rows, _PREFIX), "goodput_mbps": carried / seconds})
            points[-1]["messages_per_s"] = points[-1]["messages"] / seconds
    for point in points:
        alike = {key: point[key] for key in ("controller", "send_queue")}
        turns = select(points, {**alike, "over": "stream", "scheduler": "rr"})
        point["rr_p50_ms"], point["rr_p95_ms"] = turns[0]["p50_ms"], turns[0]["p95_ms"]
        came = point["p50_ms"] is not None
        point["less_ms"] = point["rr_p50_ms"] - point["p50_ms"] if came else None
        point["less_percent"] = 100 * point["less_ms"] / point["rr_p50_ms"] if came else None
        point["half_of_turns_ms"] = others * turn / 2
    return points


def _others(runs: Runs) -> int:
    """How many transfers the messages have beside them."""
    (flow,) = runs.scenario["flow"]
    return sum(part.get("streams", 1) for part in flow["application"]["parts"] if part["type"] == "bulk")


def draw(points: Points) -> "Figure":
    """The paper's three boxes; behind them those of the other schedulers and of datagrams; a send queue; BBRv3."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 2, figsize=(9, 5.6), layout="constrained", width_ratios=[10, 4])
    _boxes(panels[0][0], select(points, {"controller": "cubic", "send_queue": "none"}), "CUBIC")
    _boxes(panels[0][1], select(points, {"controller": "cubic", "send_queue": "64 kB"}), "CUBIC, send queue of 64 kB")
    _boxes(panels[1][0], select(points, {"controller": "bbr3"}), "BBRv3")
    panels[1][1].set_axis_off()
    return figure


def _boxes(axes: "Axes", points: Points, title: str) -> None:
    points = sorted(points, key=lambda point: bool(point["over"] != "stream"))
    labels: list[str] = []
    for place, point in enumerate(points):
        of_paper = title == "CUBIC" and point["scheduler"] in NAMES and point["over"] == "stream"
        box(axes, place, point, style.BLUE if of_paper else style.GREY)
        over_stream = point["over"] == "stream"
        labels.append(NAMES.get(point["scheduler"], str(point["scheduler"])) if over_stream else "datagrams")
    axes.set_xticks(range(len(points)), labels, fontsize=7)
    axes.set_ylabel("message delay in ms")
    axes.set_title(title, fontsize=9)
    axes.set_xlim(-0.6, len(points) - 0.4)
    axes.set_ylim(0, 1.05 * max(p95 for p95 in column(points, "p95_ms") if p95 is not None))
