"""Fig. 11: received data over time, by the way in which the client comes back."""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from quiclab.papers.bdp.ways import COLOURS, NAMES, compared_with, completion, rtt, way
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import trace
from quiclab.reproduce.spread import interval
from quiclab.values.units import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZES_MB = (1.0, 5.0, 10.0)
_FIRST = "bdp_frame"
_COLUMNS = ("what", "way", "other", "size_mb", "time_s", "received_mb", "mean", "low", "high", "runs")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """What was received over time in one run of each way; when each has received how much; and how much earlier one is.

    Means and intervals are in seconds, those of `zero_rtt` before `one_rtt` in RTTs, and those of `saved` in percent.
    """
    runs = sweeps["main"]
    points: Points = []
    reached: dict[tuple[str, float], list[float]] = {}
    for row in runs.rows:
        times, sizes = _received(runs, row["run"])
        if row["repetition"] == 1:
            points.extend(
                _point("time", way(row), time_s=time, received_mb=size)
                for time, size in zip(times, sizes, strict=True)
                if time <= completion(row)
            )
        for size in _SIZES_MB[:-1]:
            reached.setdefault((way(row), size), []).append(_when(times, sizes, size))
        reached.setdefault((way(row), _SIZES_MB[-1]), []).append(completion(row))
    for (name, size), seconds in reached.items():
        points.append(_mean("reached", name, seconds, size_mb=size))
    for (name, size), seconds in reached.items():
        if name != _FIRST:
            first = reached[_FIRST, size]
            points.append(_mean("earlier", _FIRST, _less(seconds, first), other=name, size_mb=size))
        if name in ("careful", "careful_bbr3"):
            other = compared_with(name, "zero_rtt")
            assert other is not None
            points.append(_mean("careful", name, _less(reached[other, size], seconds), other=other, size_mb=size))
    whole = {name: seconds for (name, size), seconds in reached.items() if size == _SIZES_MB[-1]}
    round_trips = [less / rtt(runs.scenario) for less in _less(whole["one_rtt"], whole["zero_rtt"])]
    points.append(_mean("round_trips", "zero_rtt", round_trips, other="one_rtt"))
    for name in ("zero_rtt", _FIRST, "careful", "careful_bbr3"):
        other = compared_with(name, "one_rtt")
        assert other is not None
        saved = [100 * (1 - here / plain) for plain, here in zip(whole[other], whole[name], strict=True)]
        points.append(_mean("saved", name, saved, other=other))
    return points


def _point(what: str, name: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(_COLUMNS), "what": what, "way": NAMES[name], **values}


def _mean(what: str, name: str, values: list[float], other: str | None = None, **more: Any) -> dict[str, Any]:
    mean, low, high = interval(values)
    found = {"mean": mean, "low": low, "high": high, "runs": len(values)}
    return _point(what, name, other=None if other is None else NAMES[other], **found, **more)


def _less(those: list[float], these: list[float]) -> list[float]:
    """How much earlier these are, run by run."""
    return [that - this for that, this in zip(those, these, strict=True)]


def _received(runs: Runs, run: int) -> tuple[list[float], list[float]]:
    """Seconds since the client has come back, and the megabytes on its link until then, headers included."""
    (flow,) = runs.scenario["flow"]
    (visit,) = flow["visits"]
    start, step = number(visit["at"]), number(runs.scenario["record"]["bin"])
    taken = trace(runs, run, "home forward")["rate", "delivered_mbps"]
    later = [(time, value) for time, value in zip(taken.times, taken.values, strict=True) if time >= start]
    sizes = accumulate(value * step / 8 for _, value in later)
    return [0.0, *(time + step - start for time, _ in later)], [0.0, *sizes]


def _when(times: list[float], sizes: list[float], size: float) -> float:
    """When so much was received; within a bin at the mean rate."""
    place = bisect_left(sizes, size)
    share = (size - sizes[place - 1]) / (sizes[place] - sizes[place - 1])
    return times[place - 1] + share * (times[place] - times[place - 1])


def draw(points: Points) -> "Figure":
    """Received data over time since the client has come back, a curve for each way."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.5, 4), layout="constrained")
    colours = {NAMES[name]: colour for name, colour in COLOURS.items()}
    for (name,), line in groups(select(points, {"what": "time"}), "way"):
        axes.plot(column(line, "time_s"), column(line, "received_mb"), color=colours[name], label=name)
    axes.set_xlim(0, None)
    axes.set_ylim(0, None)
    axes.set_xlabel("time in s")
    axes.set_ylabel("received in MB")
    axes.legend()
    return figure
