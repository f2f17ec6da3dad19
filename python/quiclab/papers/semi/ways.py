"""What is done about late acknowledgements, and what several figures measure of it."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.drawings.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {
    "none": "CUBIC",
    "ldad": "CUBIC, LDAD",
    "error": "CUBIC, LDAD with errors",
    "cautious": "CUBIC, LDAD with default limits",
    "server": "CUBIC, LDAD at the server",
    "thinned": "CUBIC, ACKs 1:3",
    "both": "CUBIC, LDAD and ACKs 1:3",
    "pacer": "CUBIC, paced ACKs",
    "minimum": "CUBIC, minimum RTT",
    "bbr": "BBR",
    "bbr_ldad": "BBR, LDAD",
}
COLOURS = {
    "none": style.BLUE,
    "ldad": style.VERMILLION,
    "error": style.BLACK,
    "cautious": style.ORANGE,
    "server": style.PURPLE,
    "thinned": style.GREEN,
    "both": style.SKY,
    "pacer": style.GREEN,
    "minimum": style.PURPLE,
    "bbr": style.SKY,
    "bbr_ldad": style.ORANGE,
}
SIZE_MBIT = 8 * 0.256
"""The download."""
COLUMNS = (
    "what",
    "way",
    "other",
    "errors",
    "next_errors",
    "mean",
    "low",
    "high",
    "time_s",
    "first_byte_s",
    "rtt_ms",
    "held",
    "runs",
)


def way(row: dict[str, Any], node: str) -> str:
    """What is done in a run, at the access node or at the server."""
    kind = str(row[f"node.{node}.kind"])
    if "bbr" in row["transport.controller"]:
        return "bbr_ldad" if "ldad" in kind else "bbr"
    if "windowed-min" in row["transport.controller"]:
        return "minimum"
    if "ldad" in kind:
        return "error" if "error_probability" in kind else "ldad"
    return "pacer" if "ack-pacer" in kind else "none"


def throughput(row: dict[str, Any]) -> float:
    """Mbit/s of a download, from the client's first packet to its last byte. Raises `Error` if it did not end."""
    time = row["connection.get.completion_s"]
    if time is None:
        raise Error(f"run {row['run']} is over before its download is; expected a longer duration")
    return SIZE_MBIT / float(time)


def measure(sweeps: Mapping[str, Runs], node: str, errors: Callable[[dict[str, Any]], float]) -> Points:
    """The throughput by way and error rate; what it gains over the same controller without; its fall at each step.

    A gain and its interval are in percent of the mean without, run by run: the n-th runs of all ways have one seed.
    """
    rows: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for row in sweeps["main"].rows:
        rows.setdefault((way(row, node), errors(row)), []).append(row)
    found = {about: {row["repetition"]: throughput(row) for row in some} for about, some in rows.items()}
    points: Points = []
    for (name, rate), values in found.items():
        points.append(_point("throughput", name, rate, list(values.values()), **_means(rows[name, rate], node)))
    for (name, rate), values in found.items():
        other = "bbr" if name == "bbr_ldad" else "none"
        if name not in (other, "bbr"):
            plain = found[other, rate]
            scale = 100 * len(plain) / sum(plain.values())
            gains = [scale * (value - plain[number]) for number, value in values.items()]
            points.append(_point("gain", name, rate, gains, other=NAMES[other]))
        if name == "error":
            exact = found["ldad", rate]
            scale = 100 * len(exact) / sum(exact.values())
            changes = [scale * (value - exact[number]) for number, value in values.items()]
            points.append(_point("change", name, rate, changes, other=NAMES["ldad"]))
    for name in dict.fromkeys(name for name, _ in found):
        rates = sorted(rate for other, rate in found if other == name)
        for rate, after in pairwise(rates):
            falls = [value - found[name, after][number] for number, value in found[name, rate].items()]
            points.append(_point("fall", name, rate, falls, next_errors=after))
        falls = [value - found[name, rates[-1]][number] for number, value in found[name, rates[0]].items()]
        points.append(_point("whole_fall", name, rates[0], falls, next_errors=rates[-1]))
    return points


def _means(rows: list[dict[str, Any]], node: str) -> dict[str, float]:
    """Seconds until the last and the first byte, the server's mean RTT, and acknowledgements that LDAD held back."""

    def mean(column: str) -> float:
        return fmean(float(row.get(column) or 0) for row in rows)

    return {
        "time_s": mean("connection.get.completion_s"),
        "first_byte_s": mean("connection.get.first_byte_s"),
        "rtt_ms": mean("connection.get.rtt_mean_ms"),
        "held": mean(f"node.{node}.held_packets"),
    }


def _point(what: str, name: str, errors: float, values: list[float], **more: Any) -> dict[str, Any]:
    mean, low, high = interval(values)
    about = {"what": what, "way": NAMES[name], "errors": 100 * errors}
    if "next_errors" in more:
        more["next_errors"] *= 100
    return {**dict.fromkeys(COLUMNS), **about, "mean": mean, "low": low, "high": high, "runs": len(values), **more}


def draw(points: Points, errors: str, paper: tuple[float, float]) -> "Figure":
    """The throughput over the error rate, and the gain over the same controller without; bars are 95 % intervals.

    `paper`: the gain of the paper in percent, from and to.
    """
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    colours = {NAMES[name]: colour for name, colour in COLOURS.items()}
    for axes, what in ((left, "throughput"), (right, "gain")):
        for (name,), line in groups(select(points, {"what": what}), "way"):
            ends = [
                [point["mean"] - point["low"] for point in line],
                [point["high"] - point["mean"] for point in line],
            ]
            axes.errorbar(
                column(line, "errors"), column(line, "mean"), ends, color=colours[name], label=name, capsize=2
            )
        axes.set_xlabel(f"{errors} in %")
        axes.margins(x=0.03)
    left.set_ylim(0, None)
    left.set_ylabel("throughput in Mbit/s")
    left.legend()
    right.axhspan(*paper, color=style.GREY, alpha=0.2, linewidth=0)
    right.axhline(0, color=style.GREY, linewidth=0.8)
    right.set_ylabel("gain in %")
    return figure
