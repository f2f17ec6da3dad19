"""Fig. 6: the throughput of three senders that share a bottleneck, second by second."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots.legends import legend_above
from quiclab.drawings.plots.limits import at_least
from quiclab.papers.inet.measures import COLOURS, IP_UDP, quic_bytes
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SENDERS = (1, 2, 3)

_QUEUE = "link.bottleneck.queue_packets"
_LATER = ("fair_mbps", "senders", "jain", "queue_packets", "farthest_percent")

Seconds = dict[int, list[list[float]]]
"""Of each sender and each run: what arrived in each second, in Mbit/s."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """What the figure shows, and the fairness in other queues.

    A point for each sender and second, for each sender and second half of a phase, for each of these halves; and for
    each queue one with the shares that are farthest from fair, and the least of the indices.
    """
    points = _phases(sweeps["main"])
    for (queue,), rows in groups(sweeps["queues"].rows, _QUEUE):
        phases = _phases(replace(sweeps["queues"], rows=rows))
        off = [abs(share["throughput_mbps"] / share["fair_mbps"] - 1) for share in select(phases, {"what": "share"})]
        jain = min(column(select(phases, {"what": "phase"}), "jain"))
        whole = _point("queue", None, phases[0]["from_s"], max(column(phases, "until_s")))
        points.append({**whole, "jain": jain, "queue_packets": queue, "farthest_percent": 100 * max(off)})
    return points


def _phases(runs: Runs) -> Points:
    first = runs.rows[0]
    active = {sender: _active(first, sender) for sender in _SENDERS}
    mtu, rate = first["link.bottleneck.mtu"], first["link.bottleneck.rate_mbps"]
    seconds = _seconds(runs, int(first["duration_s"]))
    points: Points = []
    for sender, of_runs in seconds.items():
        for second, values in enumerate(zip(*of_runs, strict=True)):
            points.append(_point("second", sender, second, second + 1, *interval(values)))
    changes = sorted({time for times in active.values() for time in times})
    for start, end in pairwise(changes):
        there = [sender for sender, (begins, ends) in active.items() if begins <= start and end <= ends]
        half = (start + end) // 2
        shares = {sender: [fmean(run[half:end]) for run in seconds[sender]] for sender in there}
        for sender, share in shares.items():
            fair = (mtu - IP_UDP) / mtu * rate / len(there)
            points.append({**_point("share", sender, half, end, *interval(share)), "fair_mbps": fair})
        jain = fmean(_jain(of_run) for of_run in zip(*shares.values(), strict=True))
        points.append({**_point("phase", None, half, end), "senders": len(there), "jain": jain})
    return points


def _point(
    what: str, sender: int | None, start: int, end: int, mean: float | None = None, *ends: float
) -> dict[str, Any]:
    low, high = ends or (None, None)
    times = {"what": what, "sender": sender, "from_s": start, "until_s": end}
    rates = {"throughput_mbps": mean, "low_mbps": low, "high_mbps": high}
    return {**times, **rates, **dict.fromkeys(_LATER)}


def _active(row: dict[str, Any], sender: int) -> tuple[int, int]:
    start, stop = (row[f"flow.sender-{sender}.{name}_ms"] for name in ("start", "stop"))
    return round(start / 1e3), round(stop / 1e3)


def _seconds(runs: Runs, duration: int) -> Seconds:
    """What arrived at each receiver, from the bytes that its access link took to it, without IP and UDP headers."""
    import pyarrow.compute as pc

    assert runs.series is not None, "the scenario keeps the series of rates"
    found: Seconds = {}
    for sender in _SENDERS:
        link = f"receiver-{sender}-access"
        mine = pc.equal(runs.series["subject"], f"{link} forward")
        of_link = runs.series.filter(pc.and_(mine, pc.equal(runs.series["quantity"], "delivered_mbps")))
        by_run: dict[int, list[float]] = {row["run"]: [0.0] * duration for row in runs.rows}
        for run, time, value in zip(*(of_link[name].to_pylist() for name in ("run", "time_s", "value")), strict=True):
            if run in by_run and round(time) < duration:
                by_run[run][round(time)] = value
        found[sender] = []
        for row in runs.rows:
            payload = quic_bytes(row, link) / row[f"link.{link}.forward.delivered_bytes"]
            found[sender].append([value * payload for value in by_run[row["run"]]])
    return found


def _jain(shares: tuple[float, ...]) -> float:
    """Jain's fairness index: 1 if all have the same."""
    return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))


def draw(points: Points) -> "Figure":
    """Throughput over time, a curve for each sender with its interval as a band; beside it the fairness by queue."""
    from matplotlib import pyplot

    figure, (axes, right) = pyplot.subplots(1, 2, figsize=(8.8, 3.4), layout="constrained", width_ratios=(3, 1))
    for colour, ((sender,), series) in zip(COLOURS, groups(select(points, {"what": "second"}), "sender"), strict=False):
        times = column(series, "from_s")
        axes.plot(times, column(series, "throughput_mbps"), color=colour, linewidth=0.9, label=f"sender {sender}")
        axes.fill_between(
            times, column(series, "low_mbps"), column(series, "high_mbps"), color=colour, alpha=0.3, linewidth=0
        )
    axes.set_ylim(0, None)
    axes.set_xlabel("time in s")
    axes.set_ylabel("throughput in Mbit/s")
    legend_above(figure, (axes,))
    queues = select(points, {"what": "queue"})
    right.plot(column(queues, "queue_packets"), column(queues, "jain"), ".-", color=COLOURS[0])
    at_least(right, 0.9, 1)
    right.margins(x=0.05)
    right.set_xlabel("queue in packets")
    right.set_ylabel("least of Jain's indices")
    return figure
