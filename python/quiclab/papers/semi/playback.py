"""Table 1: how a video plays over a network that loses packets at random, by loss, transport and network."""

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    "delay_ms",
    "words",
    "words_as_paper",
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
    return 100 * float(row["connection.film.playback.standing_ratio"])


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
    return points + _over_delay(sweeps["delay"])


def _over_delay(runs: Runs) -> Points:
    """The same for QUIC over the plain link by its delay, and for each delay how many words are the paper's."""
    rows: dict[tuple[float, float], list[dict[str, Any]]] = {}
    for row in runs.rows:
        place = (float(row["link.network.delay_ms"]), 100 * float(row["link.network.forward.loss"]))
        rows.setdefault(place, []).append(row)
    points: Points = []
    for (delay_ms, loss), some in rows.items():
        point = _playback("link", "QUIC, CUBIC", loss, some, [standing(row) for row in some])
        points.append({**point, "what": "delay", "delay_ms": delay_ms})
    for (delay_ms,), of_delay in groups(list(points), "delay_ms"):
        as_paper = sum(point["level"] == point["paper_level"] for point in of_delay)
        words = ", ".join(point["word"] for point in of_delay)
        about = {"delay_ms": delay_ms, "words": words, "words_as_paper": as_paper, "runs": of_delay[0]["runs"]}
        points.append({**dict.fromkeys(COLUMNS), "what": "words", **about})
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
    """Above, the share of time in which the picture stands, with the paper's words; then the bitrate.

    Below, the share of time over the delay.
    """
    from matplotlib import pyplot

    networks = ("link", "LTE", "802.11g")
    figure = pyplot.figure(figsize=(10, 9), layout="constrained")
    halves = figure.subfigures(2, 1, height_ratios=(2, 1), squeeze=False)
    panels = halves[0][0].subplots(2, 3, sharex=True, sharey="row")
    _over_the_delay(halves[1][0].subplots(), select(points, {"what": "delay"}))
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


def _over_the_delay(axes: "Axes", points: Points) -> None:
    """Over the plain link by its delay; a full mark is where the word is the paper's."""
    for colour, ((loss,), line) in zip(style.PALETTE, groups(points, "loss_percent"), strict=False):
        delays, means = column(line, "delay_ms"), column(line, "mean")
        axes.plot(delays, means, color=colour, marker="o", fillstyle="none", label=f"{loss:.0f} % lost")
        same = [point for point in line if point["level"] == point["paper_level"]]
        axes.plot(column(same, "delay_ms"), column(same, "mean"), color=colour, marker="o", linestyle="")
    for (_, lower), (_, upper) in pairwise(WORDS):
        axes.axhspan(lower, min(upper, 100.0), color=style.GREY, alpha=0.06, linewidth=0)
    axes.set_xscale("log")
    shown = sorted({point["delay_ms"] for point in points})
    axes.set_xticks(shown, [f"{delay:g}" for delay in shown])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("delay of the link each way in ms; full marks: the paper's word")
    axes.set_ylabel("picture stands, % of time")
    axes.set_ylim(0, 100)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
