"""Fig. 5: the delays of control messages beside nine transfers, with each scheduler."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.papers.sched.delays import NAMES, SCHEDULER, box, delays
from quiclab.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PREFIX = "connection.drone.parts.messages.messages"
_OVER = "flow.drone.application.parts.0.over"


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each controller, carrier and scheduler; beside it what RR has."""
    points: Points = []
    for runs in sweeps.values():
        for (controller, over, scheduler), rows in groups(runs.rows, "transport.controller", _OVER, SCHEDULER):
            about = {"controller": controller, "over": over, "scheduler": scheduler, "runs": len(rows)}
            carried = sum(row["connection.drone.delivered_bytes"] for row in rows) * 8e-6
            seconds = sum(row["duration_s"] for row in rows)
            points.append({**about, **delays(rows, _PREFIX), "goodput_mbps": carried / seconds})
    for point in points:
        turns = select(points, {"controller": point["controller"], "over": "stream", "scheduler": "rr"})
        point["rr_p50_ms"], point["rr_p95_ms"] = turns[0]["p50_ms"], turns[0]["p95_ms"]
    return points


def draw(points: Points) -> "Figure":
    """The paper's three boxes; behind them those of the other schedulers, of datagrams, and of BBRv3."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8.4, 3.4), layout="constrained")
    labels: list[str] = []
    for place, point in enumerate(points):
        of_paper = point["scheduler"] in NAMES and point["over"] == "stream" and point["controller"] == "cubic"
        box(axes, place, point, style.BLUE if of_paper else style.GREY)
        name = NAMES.get(point["scheduler"], str(point["scheduler"])) if point["over"] == "stream" else "datagrams"
        labels.append(name if point["controller"] == "cubic" else f"{name}\nBBRv3")
    axes.set_xticks(range(len(points)), labels, fontsize=7)
    axes.set_ylabel("message delay in ms")
    axes.set_ylim(0, 1.05 * max(column(points, "p95_ms")))
    axes.margins(x=0.02)
    return figure
