"""Fig. 7, blue lines, where packets take time on the way: what LDAD gains, and fewer acknowledgements without it."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.papers.semi.ways import COLOURS, NAMES, throughput
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACKS, ENDS, NODE, NARROW = "ACKs", "both ends", "one node", "15 kbit/s"
"""Where packets take time: at the server's host, which gets acknowledgements; at both ends; at one node between server
and base station, which gets all packets; on a narrow wired way back."""
PLACES = {ACKS: style.VERMILLION, ENDS: style.BLUE, NODE: style.GREEN}
COLUMNS = (
    "what",
    "place",
    "way",
    "other",
    "cost_ms",
    "errors",
    "mean",
    "low",
    "high",
    "time_s",
    "acks",
    "held",
    "timeouts",
    "runs",
)

_Case = tuple[str, float | None, float]
"""The place, the cost in ms, and the error rate."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """By place, cost and error rate: downloads, gains over CUBIC alone, and how gains compare, run by run.

    `gain`: in percent of the mean throughput without. `less`: the gain of thinned acknowledgements less that of LDAD.
    `more`: the gain of both less that of LDAD. `change`: the throughput with estimation errors less that without, in
    percent of the latter. The n-th runs of all ways share one seed.
    """
    rows: dict[_Case, dict[str, list[dict[str, Any]]]] = {}
    for sweep, runs in sweeps.items():
        for row in runs.rows:
            rows.setdefault(_case(sweep, row), {}).setdefault(_way(row), []).append(row)
    return [point for case, of_ways in rows.items() for point in _compared(case, of_ways)]


def _case(sweep: str, row: dict[str, Any]) -> _Case:
    errors = 100 * float(row.get("medium.cell.block_errors", 0.15))
    if sweep == "narrow":
        return NARROW, None, errors
    ends, node = (float(row.get(f"node.{name}.processing.packet_ms", 0)) for name in ("ue", "platform"))
    place = NODE if node else ENDS if ends else ACKS
    return place, node or float(row["node.host.processing.packet_ms"]), errors


def _way(row: dict[str, Any]) -> str:
    if "ldad" in str(row.get("node.host.kind")):
        return "server"
    kind, thinned = str(row["node.enb.kind"]), row["transport.ack_ratio"] == 3
    if "ldad" not in kind:
        return "thinned" if thinned else "none"
    if "tolerance" not in kind:
        return "cautious"
    return "error" if "error_probability" in kind else "both" if thinned else "ldad"


def _compared(case: _Case, of_ways: dict[str, list[dict[str, Any]]]) -> Points:
    found = {
        way: [throughput(row) for row in sorted(rows, key=lambda row: row["repetition"])]
        for way, rows in of_ways.items()
    }
    plain = found["none"]

    def gains(way: str, over: str = "none") -> list[float]:
        """The throughput of a way, run by run, less that of another, in percent of the mean of CUBIC alone."""
        return [100 * (here - there) / fmean(plain) for here, there in zip(found[way], found[over], strict=True)]

    points = [_point("download", case, way, found[way], **_means(rows)) for way, rows in of_ways.items()]
    points += [_point("gain", case, way, gains(way), other=NAMES["none"]) for way in found if way != "none"]
    for what, way in (("less", "thinned"), ("more", "both")):
        if way in found:
            points.append(_point(what, case, way, gains(way, over="ldad"), other=NAMES["ldad"]))
    if "error" in found:
        scale = fmean(plain) / fmean(found["ldad"])
        changes = [scale * gain for gain in gains("error", over="ldad")]
        points.append(_point("change", case, "error", changes, other=NAMES["ldad"]))
    return points


def _means(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds of a download, packets that the server's host got, and acknowledgements that LDAD held back.

    And how many of these it had to send because the probe timeout of the sender was near.
    """

    def mean(*columns: str) -> float:
        return fmean(sum(float(row.get(name) or 0) for name in columns) for row in rows)

    return {
        "time_s": mean("connection.get.completion_s"),
        "acks": mean("link.wired.backward.delivered_packets"),
        "held": mean("node.enb.held_packets", "node.host.held_packets"),
        "timeouts": mean("node.enb.timeout_packets", "node.host.timeout_packets"),
    }


def _point(what: str, case: _Case, way: str, values: list[float], **more: Any) -> dict[str, Any]:
    mean, low, high = interval(values)
    about = dict(zip(("place", "cost_ms", "errors"), case, strict=True))
    measured = {"mean": mean, "low": low, "high": high, "runs": len(values)}
    return {**dict.fromkeys(COLUMNS), **about, "what": what, "way": NAMES[way], **measured, **more}


def draw(points: Points) -> "Figure":
    """The gains over the cost, over the error rate, and by where packets take time; bars are 95 % intervals."""
    from matplotlib import pyplot

    figure, (costs, errors, places) = pyplot.subplots(1, 3, figsize=(13, 4.2), sharey=True, layout="constrained")
    gains = select(points, {"what": "gain", "place": ACKS})
    colours = {NAMES[way]: colour for way, colour in COLOURS.items()}
    for axes, over, where in ((costs, "cost_ms", {"errors": 15}), (errors, "errors", {"cost_ms": 20})):
        for (way,), line in groups(select(gains, where), "way"):
            _line(axes, line, over, way, colours[way])
    costs.legend(fontsize="small")
    of_ldad = {"what": "gain", "way": NAMES["ldad"], "errors": 15}
    for place, colour in PLACES.items():
        _line(places, select(points, {**of_ldad, "place": place}), "cost_ms", place, colour)
    places.legend(fontsize="small")
    for axes, label in (
        (costs, "time for each ACK in ms, 15 % block errors"),
        (errors, "block error rate in %, 20 ms for each ACK"),
        (places, "time for each packet in ms, LDAD, 15 % block errors"),
    ):
        axes.axhspan(20, 35, color=style.GREY, alpha=0.2, linewidth=0)
        axes.axhline(0, color=style.GREY, linewidth=0.8)
        axes.set_xlabel(label)
    costs.set_ylabel("gain in %")
    return figure


def _line(axes: "Axes", line: Points, over: str, label: str, colour: str) -> None:
    line = sorted(line, key=lambda point: point[over])
    ends = [[point["mean"] - point["low"] for point in line], [point["high"] - point["mean"] for point in line]]
    axes.errorbar(column(line, over), column(line, "mean"), ends, color=colour, label=label, capsize=2)
