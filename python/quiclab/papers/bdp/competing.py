"""Beyond the paper: what Careful Resume costs a competing flow, for saved capacities that are right and too large."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.drawings.plots.limits import from_zero
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Series, trace
from quiclab.reproduce.spread import interval
from quiclab.values.units import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GAP = "flow.other.application.source.gap_ms"
_PACKET = 1252
"""Bytes of a full QUIC packet, in which windows are counted."""
_LINK_PACKET = _PACKET + 28
"""The same on the link."""
_MEASURES = {
    "lost_packets": "packets that it loses",
    "other_lost_packets": "packets that the other flow loses",
    "other_dip_percent": "percent of its rate that the other flow misses at most over 2 s",
    "completion_s": "seconds until it is complete",
}
_COLUMNS = ("what", "controller", "load_percent", "factor", "measure", "words", "mean", "low", "high", "runs", "bound")
_WINDOW_S = 2.0
_IDLE_MS = 1000.0
"""Messages that are farther apart are no load."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """Means of each measure, and what is more than in runs of the same seeds with nothing saved.

    `factor` is the saved capacity over that of the path, 0 with nothing saved. `bound`: the packets of the jump that
    neither the path nor its queue can hold.
    """
    runs = sweeps["main"]
    path = _path(runs)
    points: Points = []
    for (options, gap), rows in groups(runs.rows, "transport.controller", _GAP):
        controller = "cubic" if "cubic" in options else options
        found: dict[float, dict[str, dict[int, float]]] = {}
        load = 0.0 if gap > _IDLE_MS else 100 * _message_mbps(runs, gap) / path["rate_mbps"]
        for row in rows:
            saved = row["transport.resume"] != "none"
            factor = row["memory.saved.capacity_bytes"] / path["bytes"] if saved else 0.0
            for name, value in _measured(runs, row, load).items():
                found.setdefault(factor, {}).setdefault(name, {})[row["repetition"]] = value
        about = {"controller": controller, "load_percent": round(load, 6)}
        for factor, measures in found.items():
            bound = _bound(controller, factor, load, path)
            for name, values in measures.items():
                of = {**about, "factor": factor, "measure": name, "words": _MEASURES[name], "bound": bound}
                points.append(_mean("mean", list(values.values()), of))
                if factor:
                    without = found[0.0][name]
                    points.append(_mean("more", [value - without[which] for which, value in values.items()], of))
    return points


def _mean(what: str, values: list[float], about: dict[str, Any]) -> dict[str, Any]:
    mean, low, high = interval(values)
    found = {"what": what, **about, "mean": mean, "low": low, "high": high, "runs": len(values)}
    return {name: found[name] for name in _COLUMNS}


def _path(runs: Runs) -> dict[str, float]:
    """The rate of the satellite in Mbit/s, the least RTT in seconds, and their product, which the queue holds, too."""
    (link,) = (link for link in runs.scenario["link"] if link["name"] == "satellite")
    (saved,) = runs.scenario["memory"]
    rate, rtt = number(link["forward"]["rate"]["rate"]), number(saved["rtt"])
    return {"rate_mbps": rate, "rtt_s": rtt, "bytes": rate * 1e6 / 8 * rtt}


def _message_mbps(runs: Runs, gap_ms: float) -> float:
    (flow,) = (flow for flow in runs.scenario["flow"] if flow["name"] == "other")
    return float(flow["application"]["source"]["size"]) * 8e-3 / gap_ms


def _bound(controller: str, factor: float, load: float, path: dict[str, float]) -> float:
    """The packets of a jump that neither the path nor its queue can hold, of which the other flow has its share.

    A window jumps to half of the saved capacity. BBR sends at half of the saved rate for two rounds (RFC 9959
    appendix B), the second of them with a full queue: three times the least RTT.
    """
    round_trips = 3 if controller == "bbr3" else 1
    sent = round_trips * factor / 2 * path["bytes"] / _PACKET
    held = (round_trips + 1) * (1 - load / 100) * path["bytes"] / _LINK_PACKET
    return max(0.0, sent - held)


def _measured(runs: Runs, row: dict[str, Any], load: float) -> dict[str, float]:
    values = {
        "lost_packets": float(row["connection.get.packets_lost"]),
        "completion_s": float(row["connection.get.completion_s"]),
    }
    if load:
        values["other_lost_packets"] = float(row["connection.other.packets_lost"])
        rates = trace(runs, row["run"], "office forward")["rate", "delivered_mbps"]
        values["other_dip_percent"] = _dip(rates, _start(runs), number(runs.scenario["record"]["bin"]))
    return values


def _start(runs: Runs) -> float:
    """When the client comes back, in seconds."""
    (flow,) = (flow for flow in runs.scenario["flow"] if flow["name"] == "get")
    return number(flow["start"])


def _dip(rates: Series, start: float, step: float) -> float:
    """How much less the other flow receives over two seconds than it did before the return, in percent."""
    before = [value for time, value in zip(rates.times, rates.values, strict=True) if start / 2 <= time < start]
    usual = sum(before) / len(before)
    width = round(_WINDOW_S / step)
    after = [value for time, value in zip(rates.times, rates.values, strict=True) if time >= start]
    least = min(sum(after[place : place + width]) / width for place in range(len(after) - width))
    return 100 * (1 - least / usual)


def draw(points: Points) -> "Figure":
    """A column for each controller: what the other flow loses and misses, by its load, a line for each factor."""
    from matplotlib import pyplot

    means = select(points, {"what": "mean"})
    shown = ("other_dip_percent", "other_lost_packets", "lost_packets")
    labels = ("other flow: dip in %", "other flow: packets lost", "returning flow: packets lost")
    controllers = list(dict.fromkeys(column(means, "controller")))
    figure, panels = pyplot.subplots(
        3, len(controllers), figsize=(8, 8), sharex=True, sharey="row", layout="constrained"
    )
    for across, controller in enumerate(controllers):
        panels[0][across].set_title({"cubic": "CUBIC", "bbr3": "BBRv3"}[controller])
        panels[-1][across].set_xlabel("load of the other flow in %")
        for axes, name, label in zip(panels[:, across], shown, labels, strict=True):
            of_panel = select(means, {"controller": controller, "measure": name})
            for colour, ((factor,), line) in zip(style.PALETTE, groups(of_panel, "factor"), strict=False):
                line = sorted(line, key=lambda point: point["load_percent"])
                ends = [
                    [point["mean"] - max(0.0, point["low"]) for point in line],
                    [point["high"] - point["mean"] for point in line],
                ]
                words = f"saved: {factor:g} times" if factor else "nothing saved"
                loads = column(line, "load_percent")
                axes.errorbar(loads, column(line, "mean"), ends, marker="o", color=colour, label=words, capsize=2)
            if across == 0:
                axes.set_ylabel(label)
            axes.margins(x=0.05)
    from_zero(panels)
    legend_above(figure, panels[0])
    return figure
