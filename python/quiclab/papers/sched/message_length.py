"""Fig. 6 and Table 1: the delays of messages of several packets, and what WFQ and ABS gain over RR."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.papers.sched.delays import NAMES, SCHEDULER, box, delays, turn_ms
from quiclab.reproduce.points import Points, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PREFIX = "connection.data.parts.messages.messages"
_LENGTH = "flow.data.application.parts.0.source.smallest"
_LOSS = "link.bottleneck.forward.loss.probability"
_PACKET_BYTES = 1430
"""A message has so many bytes for each of its packets.

A full packet has room for 1440, and for 1430 beside a short frame: a UDP payload of 1472 B less a short header
(1 + 8 + 1), the header of a STREAM frame (1 + 1 + 4) and a tag (16).
"""
_PAPER_MARK: dict[str, Any] = {
    "marker": "D",
    "linestyle": "",
    "color": "white",
    "markeredgecolor": style.BLACK,
    "markersize": 5,
}
_LOSSES = (0, 5, 10)
_LENGTHS = (2, 4, 8, 16)
_MARKERS = "osv^D<>ph*"
_PAPER = {
    "abs": {2: (0.171, 0.229, 0.288), 4: (0.210, 0.282, 0.301), 8: (0.309, 0.339, 0.360), 16: (0.307, 0.340, 0.376)},
    "wrr": {2: (0.113, 0.083, 0.167), 4: (0.085, 0.134, 0.157), 8: (0.217, 0.216, 0.229), 16: (0.130, 0.176, 0.210)},
}
"""Table 1, by packets, at losses of 0, 5 and 10 %."""
_OFF_SHARE, _OFF = 0.2, 0.03
"""A gain agrees with the paper's within this share of it, or within this, whichever is more."""
_COLOURS = {"rr": style.BLACK, "wrr": style.VERMILLION, "abs": style.BLUE}


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each controller, scheduler, length and loss, with its gain over RR and that of the paper.

    DATAGRAM frames stand where the scheduler does: none of them heeds those.
    """
    points: Points = []
    turn = turn_ms(sweeps["main"])
    keys = ("transport.controller", SCHEDULER, _LENGTH, _LOSS)
    for name, runs in sweeps.items():
        for (controller, scheduler, length, loss), rows in groups(runs.rows, *keys):
            points.append(
                {
                    "controller": controller,
                    "scheduler": "datagrams" if name == "datagrams" else scheduler,
                    "send_queue": "64 kB" if name == "queue" else "none",
                    "packets": length // _PACKET_BYTES,
                    "loss_percent": round(100 * loss),
                    "runs": len(rows),
                    **delays(rows, _PREFIX),
                }
            )
    for point in points:
        point["gain"] = _gain(points, point, point["packets"])
        point["turn_ms"] = turn
    for point in points:
        point["gain_percent"] = None if point["gain"] is None else 100 * point["gain"]
        point["less_ms"] = _less_ms(points, point)
        point["less_turns"] = None if point["less_ms"] is None else point["less_ms"] / turn
        point["paper_gain"] = paper = _paper(point)
        off = 0.0 if paper is None else max(_OFF_SHARE * paper, _OFF)
        point["paper_gain_low"] = None if paper is None else paper - off
        point["paper_gain_high"] = None if paper is None else paper + off
        point["beyond"] = None if paper is None else abs(point["gain"] - paper) > off
        point["wrr_gain"] = _peer(points, point, "wrr").get("gain")
        point["gain_of_2"] = _gain(points, {**point, "mean_ms": _same(points, point, 2)["mean_ms"]}, 2)
    return points


def _same(points: Points, point: dict[str, Any], packets: int) -> dict[str, Any]:
    """The point of the same kind with messages of another length."""
    alike = {key: point[key] for key in ("controller", "scheduler", "send_queue", "loss_percent")}
    return select(points, {**alike, "packets": packets})[0]


def _peer(points: Points, point: dict[str, Any], scheduler: str, packets: int | None = None) -> dict[str, Any]:
    """The point of another scheduler."""
    alike = {key: point[key] for key in ("controller", "send_queue", "loss_percent")}
    found = select(points, {**alike, "packets": packets or point["packets"], "scheduler": scheduler})
    return found[0] if found else {}


def _gain(points: Points, point: dict[str, Any], packets: int) -> float | None:
    if point["mean_ms"] is None:
        return None
    return float(1 - point["mean_ms"] / _peer(points, point, "rr", packets)["mean_ms"])


def _less_ms(points: Points, point: dict[str, Any]) -> float | None:
    """By how much the mean delay is below that under RR."""
    return None if point["mean_ms"] is None else float(_peer(points, point, "rr")["mean_ms"] - point["mean_ms"])


def _paper(point: dict[str, Any]) -> float | None:
    table = _PAPER.get(point["scheduler"], {}).get(point["packets"])
    in_paper = point["controller"] == "cubic" and point["send_queue"] == "none"
    return table[_LOSSES.index(point["loss_percent"])] if table and in_paper else None


def draw(points: Points) -> "Figure":
    """Above the paper's boxes, a panel for each loss, and the gains, ours as bars; below all the rest."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(4, 3, figsize=(9, 10.4), sharey="row", layout="constrained", squeeze=False)
    for place, loss in enumerate(_LOSSES):
        of_loss = select(points, {"loss_percent": loss})
        of_paper = select(of_loss, {"controller": "cubic", "scheduler": list(NAMES), "send_queue": "none"})
        _of_paper(panels[0][place], panels[1][place], of_paper)
        panels[0][place].set_title(f"loss {loss} %")
        _means(panels[2][place], select(of_loss, {"controller": "cubic"}))
        _means(panels[3][place], select(of_loss, {"controller": "bbr3"}))
        panels[3][place].set_xlabel("packets of a message")
    panels[0][0].set_ylabel("message delay in ms")
    panels[1][0].set_ylabel("gain over RR")
    panels[1][0].plot([], [], label="paper, Table 1", **_PAPER_MARK)
    panels[1][0].legend(loc="upper left")
    panels[2][0].set_ylabel("mean delay in ms, CUBIC")
    panels[3][0].set_ylabel("mean delay in ms, BBRv3")
    for scheduler, name in NAMES.items():
        panels[0][0].plot([], [], color=_COLOURS[scheduler], label=name.replace("\n", " "))
    panels[0][0].legend(loc="upper left")
    panels[2][2].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=6)
    panels[3][2].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=6)
    return figure


def _of_paper(above: "Axes", below: "Axes", points: Points) -> None:
    """The boxes of one loss, and the gains."""
    lengths = list(groups(points, "packets"))
    for at, (_, of_length) in enumerate(lengths):
        for offset, scheduler in zip((-0.25, 0, 0.25), NAMES, strict=True):
            point = select(of_length, {"scheduler": scheduler})[0]
            box(above, at + offset, point, _COLOURS[scheduler], 0.2)
            if scheduler != "rr":
                at_bar = at + (-0.15 if scheduler == "wrr" else 0.15)
                below.bar(at_bar, point["gain"], 0.28, color=_COLOURS[scheduler])
                below.plot(at_bar, point["paper_gain"], **_PAPER_MARK)
    for axes in (above, below):
        axes.set_xticks(range(len(lengths)), [str(packets) for (packets,), _ in lengths])
        axes.margins(x=0.05)


def _means(axes: "Axes", points: Points) -> None:
    """Mean delays of those that came, by length; of whom nothing came, the legend says so."""
    for number, ((scheduler, queue), of_scheduler) in enumerate(groups(points, "scheduler", "send_queue")):
        came = [point for point in of_scheduler if point["mean_ms"] is not None]
        name = NAMES.get(scheduler, scheduler).replace("\n", " ")
        label = name if queue == "none" else f"{name}, {queue} queue"
        if not came:
            label = f"{label}: none of {sum(point['messages'] for point in of_scheduler)}"
        places = [_LENGTHS.index(point["packets"]) for point in came]
        marker = _MARKERS[number % len(_MARKERS)]
        means = [point["mean_ms"] for point in came]
        line = "-" if queue == "none" else ":"
        axes.plot(
            places, means, marker=marker, linestyle=line, linewidth=0.8, markersize=4, fillstyle="none", label=label
        )
    axes.set_xticks(range(len(_LENGTHS)), [str(packets) for packets in _LENGTHS])
    set_logarithmic(axes, "y")
