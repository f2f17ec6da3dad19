"""Figs. 13 to 15: a client comes back to a link that a TCP flow has taken meanwhile."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.papers.bdp.ways import NAMES, compared_with, completion, way
from quiclab.plots import style
from quiclab.plots.legends import legend_above
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.quantities import number
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Series, by_run
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLAIN = "zero_rtt"
"""What the others are compared with: slow start that begins at the same time."""
_MEASURES = {
    "completion_s": "seconds until it is complete",
    "lost_packets": "packets that it loses",
    "tcp_lost_packets": "packets that TCP loses",
    "tcp_missing_mb": "MB that TCP misses",
    "tcp_dip_percent": "percent that TCP misses at most over 5 s",
    "tcp_recovery_s": "seconds until TCP has 90 % again",
    "refused_percent": "RTT checks that refuse the saved capacity, in percent",
}
_COLUMNS = ("what", "way", "measure", "words", "time_s", "quic_mbps", "tcp_mbps", "mean", "low", "high", "runs")
_BACK = 0.9
"""TCP has recovered where it receives this share of what it receives alone, over so many seconds."""
_WINDOW_S = 5.0


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """Rates over time in one run of each way, means of each measure, and their differences from plain slow start.

    `tcp_lost_packets` and `tcp_missing_mb` are those from the return to the end beyond those of a run without the
    return, and `tcp_dip_percent` is the most that is missing over five seconds.
    """
    runs, alone = sweeps["main"], sweeps["alone"]
    start = _return(runs)
    points: Points = []
    without = {row["repetition"]: row["run"] for row in alone.rows}
    quics, tcps, others = _received(runs, "home"), _received(runs, "office"), _received(alone, "office")
    lost, lost_alone, refused = _lost(runs, start), _lost(alone, start), _refused(runs)
    step = number(runs.scenario["record"]["bin"])
    steps, after = _steps(runs), _steps(runs, start)
    found: dict[str, dict[str, dict[int, float]]] = {}
    for row in runs.rows:
        run, plain = row["run"], without[row["repetition"]]
        quic, tcp, other = quics[run], tcps[run], others[plain]
        if row["repetition"] == 1:
            points.extend(
                _point("time", way(row), time_s=time, quic_mbps=_rate(quic, time), tcp_mbps=_rate(tcp, time))
                for time in steps
            )
        recovery, dip = _dip(tcp, other, after)
        values = {
            "completion_s": completion(row),
            "lost_packets": float(row["connection.get@2.packets_declared_lost"]),
            "tcp_lost_packets": float(lost[run] - lost_alone[plain]),
            "tcp_missing_mb": sum(_rate(other, time) - _rate(tcp, time) for time in after) * step / 8,
            "tcp_dip_percent": dip,
            "tcp_recovery_s": recovery,
            "refused_percent": 100.0 * (run in refused),
        }
        for name, value in values.items():
            found.setdefault(way(row), {}).setdefault(name, {})[row["repetition"]] = value
    for name, measures in found.items():
        points.extend(_mean("mean", name, of, list(measures[of].values())) for of in _MEASURES)
    for name, measures in found.items():
        basis = compared_with(name, _PLAIN)
        if basis is not None:
            for of in _MEASURES:
                plain = found[basis][of]
                points.append(_mean("more", name, of, [value - plain[which] for which, value in measures[of].items()]))
    return points


def _point(what: str, name: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(_COLUMNS), "what": what, "way": NAMES[name], **values}


def _mean(what: str, name: str, of: str, values: list[float]) -> dict[str, Any]:
    mean, low, high = interval(values)
    return _point(what, name, measure=of, words=_MEASURES[of], mean=mean, low=low, high=high, runs=len(values))


def _return(runs: Runs) -> float:
    """When the client comes back, in seconds."""
    (visit,) = runs.scenario["flow"][0]["visits"]
    return number(visit["at"])


def _steps(runs: Runs, start: float = 0.0) -> list[float]:
    """The bins of the rates from then to the end of the runs, in seconds."""
    step, end = number(runs.scenario["record"]["bin"]), number(runs.scenario["duration"])
    return [place * step for place in range(round(start / step), round(end / step))]


def _received(runs: Runs, link: str) -> dict[int, Series]:
    """What a link took to its client, in Mbit/s, by run."""
    return by_run(runs, f"{link} forward", "rate", "delivered_mbps")


def _rate(received: Series, time: float) -> float:
    """The rate in the bin that begins then; a link that has not carried anything yet has no bins."""
    return received.at(time) or 0.0


def _lost(runs: Runs, start: float) -> Counter[int]:
    """How many packets TCP's server lost from then on, by run."""
    import pyarrow.compute as pc

    late = (pc.field("connection") == "tcp") & (pc.field("time_s") >= start)
    return Counter(runs.select("loss", ["run", "connection", "time_s"], late)["run"].to_pylist())


def _refused(runs: Runs) -> set[int]:
    """The runs in which the RTT check refused the saved capacity."""
    import pyarrow.compute as pc

    said = pc.match_substring(pc.field("detail").cast("string"), "rtt_not_validated")
    return set(runs.select("event", ["run", "detail"], said)["run"].to_pylist())


def _dip(tcp: Series, other: Series, steps: list[float]) -> tuple[float, float]:
    """When TCP has 90 % of what it has alone until the end, and the most that is missing in percent.

    Both over five seconds.
    """
    step = steps[1] - steps[0]
    width = round(_WINDOW_S / step)
    shares = []
    for place in range(len(steps) - width + 1):
        window = steps[place : place + width]
        there = sum(_rate(other, time) for time in window)
        shares.append(sum(_rate(tcp, time) for time in window) / there if there else 1.0)
    low = [place for place, share in enumerate(shares) if share < _BACK]
    recovery = (low[-1] + width) * step if low else 0.0
    return recovery, 100 * (1 - min(shares))


def draw(points: Points) -> "Figure":
    """A panel for each way: what the two connections of the client and the TCP flow receive, over time."""
    from matplotlib import pyplot

    ways = list(groups(select(points, {"what": "time"}), "way"))
    figure, panels = pyplot.subplots(len(ways), 1, figsize=(8, 7), sharex=True, sharey=True, layout="constrained")
    for axes, ((name,), line) in zip(panels, ways, strict=True):
        axes.set_title(name)
        times = column(line, "time_s")
        axes.plot(times, column(line, "quic_mbps"), color=style.BLUE, label="QUIC, and again", drawstyle="steps-post")
        axes.plot(times, column(line, "tcp_mbps"), color=style.GREEN, label="TCP", drawstyle="steps-post")
        axes.set_ylabel("Mbit/s")
    legend_above(figure, panels[:1])
    panels[-1].set_xlabel("time in s")
    return figure
