"""The mean window of NewReno and CUBIC over the loss rate, where nothing but losses limits them."""

import math
from collections.abc import Iterator, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PACKET = 1252
_C, _BETA = 0.4, 0.7
_COLOURS = {"newreno": style.BLUE, "cubic": style.VERMILLION}


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each controller, kind of loss, loss rate and RTT."""
    points: Points = []
    for name, runs in sweeps.items():
        controller, losses = name.split("_")
        told = [_with_loss(row) for row in runs.rows]
        for (delay_ms, loss), rows in groups(told, "link.bottleneck.delay_ms", "loss"):
            rtt_s = 2e-3 * delay_ms
            window, law = _mean_window(rows, rtt_s), formula(controller, loss, rtt_s)
            random = at_random(controller, loss, rtt_s)
            points.append(
                {
                    "controller": controller,
                    "losses": losses,
                    "loss": loss,
                    "rtt_ms": 2 * delay_ms,
                    "window_packets": window,
                    "formula_packets": law,
                    "random_packets": random,
                    "off_formula_percent": 100 * (window / law - 1),
                    "off_random_percent": 100 * (window / random - 1),
                    "random_over_formula_percent": 100 * (random / law - 1),
                }
            )
    return points


def _with_loss(row: dict[str, Any]) -> dict[str, Any]:
    every = row.get("link.bottleneck.forward.loss.every")
    return {**row, "loss": 1 / every if every else row["link.bottleneck.forward.loss.probability"]}


def _mean_window(rows: list[dict[str, Any]], rtt_s: float) -> float:
    """Packets that arrived in each RTT, between the ends of a shorter and a longer transfer of one seed."""
    short, long = sorted(rows, key=lambda row: float(row["flow.data.application.size_bytes"]))
    packets = long[_ARRIVED] - short[_ARRIVED]
    seconds = long["connection.data.completion_s"] - short["connection.data.completion_s"]
    return float(packets * rtt_s / seconds)


_ARRIVED = "link.receiver-access.forward.delivered_packets"


def formula(controller: str, loss: float, rtt_s: float) -> float:
    """1.22 / sqrt(p), and of CUBIC RFC 9438 section 5.1, which is not below it (section 4.3)."""
    reno = math.sqrt(3 / (2 * loss))
    if controller == "newreno":
        return reno
    return max(reno, math.pow(_C * (3 + _BETA) / (4 * (1 - _BETA)), 0.25) * math.pow(rtt_s / loss, 0.75))


def at_random(controller: str, loss: float, rtt_s: float, epochs: int = 4000) -> float:
    """The mean window of the same growth laws where each packet is lost with this probability.

    The formulas are those of a loss after every 1/p packets; here the packets between two losses are drawn from the
    exponential distribution, in a computation that knows nothing of packets, acknowledgements and recovery.
    """
    random = Random(1)
    packets = seconds = 0.0
    before = formula(controller, loss, rtt_s)
    for _ in range(epochs):
        left = random.expovariate(loss)
        for window in _windows(controller, before, rtt_s):
            share = min(1.0, left / window)
            packets += window * share
            seconds += rtt_s * share
            left -= window
            before = window
            if left <= 0:
                break
    return packets * rtt_s / seconds


def _windows(controller: str, before: float, rtt_s: float) -> Iterator[float]:
    """The windows of the round trips after a loss at this one."""
    if controller == "newreno":
        window = before / 2
        while True:
            yield window
            window += 1
    window = friendly = before * _BETA
    k = ((before - window) / _C) ** (1 / 3)
    t = 0.0
    while True:
        yield max(window, friendly, _C * (t - k) ** 3 + before)
        t += rtt_s
        friendly += 3 * (1 - _BETA) / (1 + _BETA) if friendly < before else 1


def draw(points: Points) -> "Figure":
    """Mean window over the loss rate: the formulas as curves, periodic losses as dots, random ones as circles."""
    from matplotlib import pyplot

    rtts = sorted(set(column(points, "rtt_ms")))
    size = (4.2 * len(rtts), 3.4)
    figure, panels = pyplot.subplots(1, len(rtts), figsize=size, layout="constrained", sharey=True, squeeze=False)
    for axes, rtt_ms in zip(panels[0], rtts, strict=True):
        for controller, colour in _COLOURS.items():
            # NewReno's window does not depend on the RTT.
            of_it = select(points, {"controller": controller})
            if controller == "cubic":
                of_it = select(of_it, {"rtt_ms": rtt_ms})
            losses = [10 ** (-2 - step / 20) for step in range(61)]
            curve = [formula(controller, loss, rtt_ms / 1e3) for loss in losses]
            axes.plot(losses, curve, color=colour, linewidth=0.8, label=f"{controller}, formula")
            for kind, marker in (("periodic", "."), ("random", "o")):
                shown = select(of_it, {"losses": kind})
                axes.plot(
                    column(shown, "loss"),
                    column(shown, "window_packets"),
                    marker,
                    color=colour,
                    fillstyle="none" if kind == "random" else "full",
                    label=f"{controller}, {kind} losses",
                )
        axes.margins(x=0.05)
        set_logarithmic(axes, "x")
        set_logarithmic(axes, "y")
        axes.set_title(f"RTT {rtt_ms:g} ms")
        axes.set_xlabel("loss rate")
    panels[0][0].set_ylabel("mean window in packets")
    legend_above(figure, panels[0], columns=2)
    return figure
