"""What LDAD does over time: RTT samples, acknowledgements that are held back, pacing rate."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from quiclab.papers.semi.ways import COLOURS, NAMES, way
from quiclab.reproduce.points import Points, column, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Trace, trace
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PACKET = 1472
_COLUMNS = ("what", "way", "other", "time_s", "value", "mean", "low", "high", "runs")
_SERIES = ("latest_rtt_ms", "smoothed_rtt_ms", "pacing_rate_mbps", "bytes_in_flight", "cwnd_bytes")
_MEASURES = ("rtt", "pace", "full", "queue", "time")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The series of the server in the first run of each way, the times at which acknowledgements were held back, means.

    Of each run: the mean of the smoothed RTT in ms and of the pacing rate in Mbit/s, over time from the first byte on;
    the share of acknowledgements that found the window full, in percent; the mean delay in the base
    station's queue in ms; the duration in s. And how these change.
    """
    runs = sweeps["main"]
    points: Points = []
    found: dict[str, dict[str, list[float]]] = {}
    for row in runs.rows:
        name, server = way(row, "enb"), trace(runs, row["run"], "get server")
        end = float(row["connection.get.completion_s"])
        start = float(row["connection.get.first_byte_s"])
        values = found.setdefault(name, {measure: [] for measure in _MEASURES})
        values["rtt"].append(_mean(server, "smoothed_rtt_ms", start, end))
        values["pace"].append(_mean(server, "pacing_rate_mbps", start, end))
        values["full"].append(100 * _full(server))
        values["queue"].append(float(row["medium.cell.enb.ue.air.queue_delay_mean_ms"]))
        values["time"].append(end)
        if row["repetition"] == 1:
            points.extend(_over_time(server, name))
            gauges = [one for one in runs.tables["node"] if one["run"] == row["run"] and one["gauge"] == "held_ms"]
            points.extend(_point("held", name, time_s=one["time_s"], value=one["value"]) for one in gauges)
    for name, values in found.items():
        for measure, of_runs in values.items():
            points.append(_spread(measure, name, of_runs))
            if name != "none":
                plain = found["none"][measure]
                changes = [here - there for here, there in zip(of_runs, plain, strict=True)]
                points.append(_spread(f"{measure}_change", name, changes, other=NAMES["none"]))
    return points


def _over_time(server: Trace, name: str) -> Points:
    return [
        _point(quantity, name, time_s=time, value=value)
        for quantity in _SERIES
        for time, value in zip(server["connection", quantity].times, server["connection", quantity].values, strict=True)
        if value is not None
    ]


def _mean(server: Trace, quantity: str, start: float, end: float) -> float:
    """The mean over time."""
    series = server["connection", quantity]
    times = [start, *(time for time in series.times if start < time < end), end]
    pieces = [(series.at(time), after - time) for time, after in pairwise(times)]
    return sum(value * span for value, span in pieces if value is not None) / (end - start)


def _full(server: Trace) -> float:
    """Of the acknowledgements that came while there was data to send: the share that found the window full.

    There is a row after each acknowledgement. In slow start the window grows by what was acknowledged, if in use.
    """
    flight, window = server["connection", "bytes_in_flight"].values, server["connection", "cwnd_bytes"].values
    grown = [place for place in range(1, len(window)) if window[place] > window[place - 1]]
    places = range(1, grown[-1] + 1)
    full = [
        place for place in places if flight[place] + window[place] - window[place - 1] + _PACKET > window[place - 1]
    ]
    return len(full) / len(places)


def _point(what: str, name: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(_COLUMNS), "what": what, "way": NAMES[name], **values}


def _spread(what: str, name: str, values: list[float], **more: Any) -> dict[str, Any]:
    mean, low, high = interval(values)
    return _point(what, name, mean=mean, low=low, high=high, runs=len(values), **more)


def draw(points: Points) -> "Figure":
    """RTT samples as dots, smoothed RTTs as lines; pacing rates; ticks where acknowledgements were held back."""
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(2, 1, figsize=(7.5, 5.5), sharex=True, layout="constrained")
    for name in ("none", "ldad", "minimum"):
        mine, colour = select(points, {"way": NAMES[name]}), COLOURS[name]
        samples, smoothed = (select(mine, {"what": what}) for what in ("latest_rtt_ms", "smoothed_rtt_ms"))
        above.plot(column(samples, "time_s"), column(samples, "value"), ".", color=colour, markersize=3)
        above.step(column(smoothed, "time_s"), column(smoothed, "value"), where="post", color=colour, label=NAMES[name])
        rate = select(mine, {"what": "pacing_rate_mbps"})
        below.step(column(rate, "time_s"), column(rate, "value"), where="post", color=colour, label=NAMES[name])
        held = column(select(mine, {"what": "held"}), "time_s")
        below.plot(held, [0.0] * len(held), "|", color=colour, markersize=12)
    above.set_ylabel("RTT of the server in ms")
    above.legend()
    below.set_ylim(0, None)
    below.set_ylabel("pacing rate in Mbit/s; ticks: ACKs held")
    below.set_xlabel("time in s")
    return figure
