"""Fig. 12: how long 500 kB take with three implementations of QUIC and with TCP."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.papers.bdp.ways import COLOURS, NAMES, compared_with, completion, rtt, way
from quiclab.reproduce.points import Points, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval
from quiclab.values.units import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = "flow.get.application.size_bytes"
_PROXIES = ("pep", "pep_ten")
_COMPARED = ("ngtcp2", "quicly")
"""The implementations that the paper calls as good as TCP with proxies."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """Means with intervals: of the time in seconds, and of what a way saves of QUIC's, in percent and in RTTs.

    `slower` is by how much two implementations exceed TCP with proxies, in percent, and `slower_round_trips` in RTTs.
    """
    points: Points = []
    times: dict[tuple[str, str], list[float]] = {}
    for stack, runs in sweeps.items():
        for (first,), rows in groups([{_SIZE: _first(runs), "stack": stack, **row} for row in runs.rows], _SIZE):
            seconds: dict[str, list[float]] = {}
            for row in rows:
                seconds.setdefault(_way(row), []).append(completion(row))
            for name, here in seconds.items():
                about = {"stack": stack, "way": name, "first_kb": 1e-3 * first, "other": None}
                times[stack, name] = here
                points.append(_mean("time", here, about))
                other = compared_with(name, "one_rtt")
                if other in seconds:
                    pairs = list(zip(seconds[other], here, strict=True))
                    points.append(_mean("saved", [100 * (1 - this / that) for that, this in pairs], about))
                    points.append(
                        _mean("round_trips", [(that - this) / rtt(runs.scenario) for that, this in pairs], about)
                    )
    round_trip = rtt(sweeps["tcp"].scenario)
    for (stack, name), here in times.items():
        for proxies in _PROXIES if stack in _COMPARED else ():
            pairs = list(zip(times["tcp", proxies], here, strict=True))
            about = {"stack": stack, "way": NAMES[name], "first_kb": None, "other": NAMES[proxies]}
            points.append(_mean("slower", [100 * (this / that - 1) for that, this in pairs], about))
            points.append(_mean("slower_round_trips", [(this - that) / round_trip for that, this in pairs], about))
    return points


def _first(runs: Runs) -> float:
    """The size of the first download in bytes, where it is the same in all runs."""
    (flow,) = runs.scenario["flow"]
    return number(flow["application"]["size"])


def _way(row: dict[str, Any]) -> str:
    if row["stack"] != "tcp":
        return way({"transport.resume": "none", **row})
    if "pep" not in row["node.terminal.kind"]:
        return "tcp"
    return "pep" if "client = " in row["node.terminal.kind"] else "pep_ten"


def _mean(what: str, values: list[float], about: dict[str, Any]) -> dict[str, Any]:
    mean, low, high = interval(values)
    return {"what": what, **about, "mean": mean, "low": low, "high": high, "runs": len(values)}


def draw(points: Points) -> "Figure":
    """Bars of the time with intervals, by stack and way; the picoquic ones after a first download of the same size."""
    from matplotlib import pyplot

    times = select(points, {"what": "time"})
    least = min(point["first_kb"] for point in times)
    bars = select(times, {"first_kb": least})
    figure, axes = pyplot.subplots(figsize=(7.5, 4), layout="constrained")
    names = [_label(point) for point in bars]
    errors = [[point["mean"] - point["low"] for point in bars], [point["high"] - point["mean"] for point in bars]]
    colours = [COLOURS[point["way"]] for point in bars]
    axes.barh(names, [point["mean"] for point in bars], xerr=errors, color=colours, error_kw={"linewidth": 0.6})
    axes.invert_yaxis()
    axes.set_xlabel("500 kB in s")
    return figure


def _label(point: dict[str, Any]) -> str:
    return NAMES[point["way"]].replace("QUIC", str(point["stack"]))
