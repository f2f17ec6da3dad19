"""Table 1: how a video plays over a network that loses packets at random, by loss, transport and network."""

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.plots import style
from quiclab.plots.legends import legend_above
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NETWORKS = {"main": "link", "lte": "LTE", "wlan": "802.11g", "percent": "link, percent"}
COLOURS = {"QUIC, CUBIC": style.BLUE, "QUIC, BBRv3": style.GREEN, "TCP, CUBIC": style.VERMILLION}
WORDS = (("no stutter", 1.0), ("some freezes", 10.0), ("obvious freeze", 50.0), ("poor", float("inf")))
"""The paper's words, and up to which share of the time, in percent, the picture stands for each of them."""
PAPER = {10: 0, 20: 1, 30: 2, 40: 2, 50: 3}
"""The paper's word for each loss in percent, as a place in `WORDS`."""
COLUMNS = (
    "what",
    "network",
    "stack",
    "loss_percent",
    "next_loss_percent",
    "mean",
    "low",
    "high",
    "level",
    "word",
    "paper_level",
    "paper_word",
    "stalls",
    "start_up_s",
    "bitrate_mbps",
    "switches",
    "qoe_lin",
    "finished_percent",
    "runs",
)


def stack(row: dict[str, Any]) -> str:
    """Transport and controller of a run."""
    controller = "BBRv3" if "bbr3" in str(row["transport.controller"]) else "CUBIC"
    return f"{'TCP' if row['flow.film.protocol'] == 'tcp' else 'QUIC'}, {controller}"


def standing(row: dict[str, Any]) -> float:
    """The share of time in percent in which the picture stands, from the request of the video to its end.

    Of a video that does not play to its end, the time goes on to the end of the run.
    """
    end = row["connection.film.completion_s"]
    whole = float(row["duration_s"] if end is None else end)
    played = float(row["connection.film.playback.played_s"])
    return 100 * max(0.0, 1 - played / whole)


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The share of time in which the picture stands, other numbers of each kind of run, and the rise with the loss."""
    points: Points = []
    for sweep, network in NETWORKS.items():
        rows: dict[tuple[str, float], list[dict[str, Any]]] = {}
        for row in sweeps[sweep].rows:
            rows.setdefault((stack(row), 100 * float(row["link.network.forward.loss"])), []).append(row)
        found = {about: {row["repetition"]: standing(row) for row in some} for about, some in rows.items()}
        for (name, loss), values in found.items():
            points.append(_playback(network, name, loss, rows[name, loss], list(values.values())))
        for name in dict.fromkeys(name for name, _ in found):
            losses = sorted(loss for other, loss in found if other == name)
            for loss, after in pairwise(losses):
                rises = [value - found[name, loss][number] for number, value in found[name, after].items()]
                points.append(_point("rise", network, name, loss, rises, next_loss_percent=after))
            first, last = found[name, losses[0]], found[name, losses[-1]]
            rises = [value - first[number] for number, value in last.items()]
            points.append(_point("whole_rise", network, name, losses[0], rises, next_loss_percent=losses[-1]))
    return points


def _playback(network: str, name: str, loss: float, rows: list[dict[str, Any]], values: list[float]) -> dict[str, Any]:
    def mean(column: str) -> float | None:
        known = [
            float(row[f"connection.film.{column}"]) for row in rows if row[f"connection.film.{column}"] is not None
        ]
        return fmean(known) if known else None

    point = _point(
        "playback",
        network,
        name,
        loss,
        values,
        stalls=mean("playback.stalls"),
        start_up_s=mean("playback.start_up_s"),
        bitrate_mbps=mean("playback.bitrate_mean_mbps"),
        switches=mean("playback.switches"),
        qoe_lin=mean("playback.qoe_lin"),
        finished_percent=100 * fmean(bool(row["connection.film.completed"]) for row in rows),
    )
    level = next(place for place, (_, limit) in enumerate(WORDS) if point["mean"] < limit)
    paper = PAPER.get(round(loss))
    words = {"paper_level": paper, "paper_word": None if paper is None else WORDS[paper][0]}
    return {**point, "level": level, "word": WORDS[level][0], **words}


def _point(what: str, network: str, name: str, loss: float, values: list[float], **more: Any) -> dict[str, Any]:
    mean, low, high = interval(values)
    about = {"what": what, "network": network, "stack": name, "loss_percent": loss, "runs": len(values)}
    return {**dict.fromkeys(COLUMNS), **about, "mean": mean, "low": low, "high": high, **more}


def draw(points: Points) -> "Figure":
    """Above, the share of time in which the picture stands, with the paper's words; below, the bitrate."""
    from matplotlib import pyplot

    networks = ("link", "LTE", "802.11g")
    figure, panels = pyplot.subplots(2, 3, figsize=(10, 6), layout="constrained", sharex=True, sharey="row")
    for network, (above, below) in zip(networks, panels.T, strict=True):
        for (name,), line in groups(select(points, {"what": "playback", "network": network}), "stack"):
            # An interval by Student's t may reach over what a share can be.
            ends = [
                [point["mean"] - max(point["low"], 0.0) for point in line],
                [min(point["high"], 100.0) - point["mean"] for point in line],
            ]
            losses = column(line, "loss_percent")
            above.errorbar(losses, column(line, "mean"), ends, color=COLOURS[name], label=name, capsize=2)
            below.plot(losses, [value or 0 for value in column(line, "bitrate_mbps")], color=COLOURS[name], label=name)
        for (_, lower), (_, upper) in pairwise(WORDS):
            above.axhspan(lower, min(upper, 100.0), color=style.GREY, alpha=0.06, linewidth=0)
        above.set_title(network)
        below.set_xlabel("packet loss in %")
    above, below = panels[0][0], panels[1][0]
    above.set_ylabel("picture stands, % of time")
    for place, (word, _) in enumerate(WORDS):
        low = 0.0 if place == 0 else WORDS[place - 1][1]
        above.text(10, low + 1, word if place else "", fontsize=7, color=style.GREY, va="bottom")
    above.set_ylim(0, 100)
    below.set_ylabel("bitrate in Mbit/s")
    below.set_ylim(0, None)
    legend_above(figure, panels[0])
    return figure
