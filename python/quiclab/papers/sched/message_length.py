"""Fig. 6 and Table 1: the delays of messages of several packets, and what WFQ and ABS gain over RR."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.papers.sched.delays import NAMES, SCHEDULER, box, delays
from quiclab.plots import style
from quiclab.reproduce.points import Points, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PREFIX = "connection.data.parts.messages.messages"
_LENGTH = "flow.data.application.parts.0.source.smallest"
_LOSS = "link.bottleneck.forward.loss.probability"
_PACKET_BYTES = 1200
_LOSSES = (0, 5, 10)
_PAPER = {
    "abs": {2: (0.171, 0.229, 0.288), 4: (0.210, 0.282, 0.301), 8: (0.309, 0.339, 0.360), 16: (0.307, 0.340, 0.376)},
    "wrr": {2: (0.113, 0.083, 0.167), 4: (0.085, 0.134, 0.157), 8: (0.217, 0.216, 0.229), 16: (0.130, 0.176, 0.210)},
}
"""Table 1, by packets, at losses of 0, 5 and 10 %."""
_COLOURS = {"rr": style.BLACK, "wrr": style.VERMILLION, "abs": style.BLUE}


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each controller, scheduler, length and loss, with its gain over RR and that of the paper."""
    points: Points = []
    keys = ("transport.controller", SCHEDULER, _LENGTH, _LOSS)
    for runs in sweeps.values():
        for (controller, scheduler, length, loss), rows in groups(runs.rows, *keys):
            points.append(
                {
                    "controller": controller,
                    "scheduler": scheduler,
                    "packets": length // _PACKET_BYTES,
                    "loss_percent": round(100 * loss),
                    "runs": len(rows),
                    **delays(rows, _PREFIX),
                }
            )
    for point in points:
        point["gain"] = _gain(points, point, point["packets"])
    for point in points:
        point["paper_gain"] = _paper(point)
        point["wrr_gain"] = _peer(points, point, "wrr").get("gain")
        point["gain_of_2"] = _gain(points, {**point, "mean_ms": _same(points, point, 2)["mean_ms"]}, 2)
    return points


def _same(points: Points, point: dict[str, Any], packets: int) -> dict[str, Any]:
    """The point of the same kind with messages of another length."""
    alike = {key: point[key] for key in ("controller", "scheduler", "loss_percent")}
    return select(points, {**alike, "packets": packets})[0]


def _peer(points: Points, point: dict[str, Any], scheduler: str, packets: int | None = None) -> dict[str, Any]:
    """The point of another scheduler."""
    alike = {"controller": point["controller"], "loss_percent": point["loss_percent"]}
    found = select(points, {**alike, "packets": packets or point["packets"], "scheduler": scheduler})
    return found[0] if found else {}


def _gain(points: Points, point: dict[str, Any], packets: int) -> float:
    return float(1 - point["mean_ms"] / _peer(points, point, "rr", packets)["mean_ms"])


def _paper(point: dict[str, Any]) -> float | None:
    table = _PAPER.get(point["scheduler"], {}).get(point["packets"])
    return table[_LOSSES.index(point["loss_percent"])] if table and point["controller"] == "cubic" else None


def draw(points: Points) -> "Figure":
    """Above the paper's boxes, a panel for each loss; below the gains, ours as bars and the paper's as points."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(2, 3, figsize=(9, 5.4), sharey="row", layout="constrained", squeeze=False)
    of_paper = select(points, {"controller": "cubic", "scheduler": list(NAMES)})
    for place, (loss,) in enumerate((loss,) for loss in _LOSSES):
        above, below = panels[0][place], panels[1][place]
        lengths = list(groups(select(of_paper, {"loss_percent": loss}), "packets"))
        for at, (_, of_length) in enumerate(lengths):
            for offset, scheduler in zip((-0.25, 0, 0.25), NAMES, strict=True):
                point = select(of_length, {"scheduler": scheduler})[0]
                box(above, at + offset, point, _COLOURS[scheduler], 0.2)
                if scheduler != "rr":
                    place_x = at + (-0.15 if scheduler == "wrr" else 0.15)
                    below.bar(place_x, point["gain"], 0.28, color=_COLOURS[scheduler])
                    below.plot(
                        place_x, point["paper_gain"], "D", color="white", markeredgecolor=style.BLACK, markersize=5
                    )
        ticks = range(len(lengths)), [str(packets) for (packets,), _ in lengths]
        above.set_xticks(*ticks)
        below.set_xticks(*ticks)
        above.set_title(f"loss {loss} %")
        below.set_xlabel("packets of a message")
        for axes in (above, below):
            axes.margins(x=0.05)
    panels[0][0].set_ylabel("message delay in ms")
    panels[1][0].set_ylabel("gain over RR")
    panels[1][0].plot([], [], "D", color="white", markeredgecolor=style.BLACK, markersize=5, label="paper, Table 1")
    panels[1][0].legend(loc="upper left")
    for scheduler, name in NAMES.items():
        panels[0][0].plot([], [], color=_COLOURS[scheduler], label=name.replace("\n", " "))
    panels[0][0].legend(loc="upper left")
    return figure
