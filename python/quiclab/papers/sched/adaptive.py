"""Figs. 7 to 10, Table 2: the scheduler that chooses between absolute priority and round robin, on a mmWave link."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error, generate_trace
from quiclab.drawings.plots import style
from quiclab.drawings.plots.legends import legend_above
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import trace
from quiclab.reproduce.spread import interval
from quiclab.values.traces import Capacity
from quiclab.values.units import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BIN_S = 1.0
"""Over time all is drawn as means of a second, as the paper does with the capacity."""
_HARDLY = 0.05
"""A share of the time: less counts as never, one minus it as always (a blocked link is below any target)."""
_MOMENTS = 4000
"""At so many of a run, at equal distances, the estimate is read."""
_STREAMS = ("priority", "other")

_PLACE = ("target_mbps", "delay_ms", "buffer_bdp")
_MEANS = ("first_s", "second_s", "position")
_SHARES = ("above", "data_above", "expected")
_ENDS = tuple(f"{name}_{end}" for name in _MEANS for end in ("low", "high"))
_CELL = (*_SHARES, "off", "reached", "rr_s", "abs_s", *_ENDS, *_MEANS)
_GRID = ("later", "longer", "risen", "risen_low", "risen_high", "risen_percent", "runs")
_OVER_TIME = ("time_s", "capacity_mbps", "priority_mbps", "other_mbps", "cwnd_kb")
_COLUMNS = ("what", *_PLACE, *_CELL, *_GRID, *_OVER_TIME)

_Key = tuple[float, float, int]
"""Delay, buffer, and which trace."""
_Cells = dict[tuple[float, float, float], dict[int, dict[str, Any]]]
"""The runs of a cell (target, delay, buffer) by their trace."""


def _mean_mbps(runs: Runs) -> float:
    """The mean rate of the trace of a scenario."""
    rate = _link(runs)["forward"]["rate"]
    return Capacity(*generate_trace(rate["model"], rate["seed"], round(1e9 * number(rate["duration"])))).mean_mbps


def _link(runs: Runs) -> dict[str, Any]:
    (link,) = runs.scenario["link"]
    return dict(link)


def _buffer(queue_bytes: float, delay_ms: float, mean_mbps: float) -> float:
    """A buffer as Table 2 has it: in products of mean rate and delay, of 1 ms for none."""
    return round(queue_bytes / (mean_mbps * 1e3 / 8 * max(delay_ms, 1)), 1)


def _fixed(runs: Runs) -> dict[str, float]:
    """What stays while one of the three varies (Figs. 8 to 10): what the scenario has before anything is varied."""
    link = _link(runs)
    delay_ms = 1e3 * number(link["forward"]["delay"])
    buffer = _buffer(number(link["forward"]["queue"]["limit"]), delay_ms, _mean_mbps(runs))
    target = number(runs.scenario["transport"]["scheduler"]["target"])
    return {"target_mbps": target, "delay_ms": delay_ms, "buffer_bdp": buffer}


def _by_cell(runs: Runs) -> Iterator[tuple[_Key, dict[str, Any]]]:
    mean_mbps = _mean_mbps(runs)
    for row in runs.rows:
        delay_ms = row["link.mmwave.delay_ms"]
        buffer = _buffer(row["link.mmwave.forward.queue_bytes"], delay_ms, mean_mbps)
        yield (delay_ms, buffer, row["link.mmwave.forward.rate.seed"]), row


def _first(row: dict[str, Any]) -> float:
    """When the stream with priority was complete."""
    return _end(row, "bulk")


def _second(row: dict[str, Any]) -> float:
    """When the other one was."""
    return _end(row, "bulk-2")


def _end(row: dict[str, Any], part: str) -> float:
    end = row[f"connection.data.parts.{part}.completion_s"]
    if end is None:
        raise Error(f"sched-adaptive: run {row['run']} is over before its transfers are; expected a longer duration")
    return float(end)


def _point(what: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(_COLUMNS), "what": what, **values}


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The cells of Table 2 beside round robin and absolute priority alone; then Fig. 7 over time."""
    alone: dict[tuple[_Key, str], dict[str, Any]] = {}
    for key, row in _by_cell(sweeps["ends"]):
        alone[key, row["transport.scheduler"]] = row
    rates = {
        key: _estimates(sweeps["ends"], row["run"], _first(alone[key, "rr"]))
        for (key, name), row in alone.items()
        if name == "abs" and (key, "rr") in alone
    }
    found: _Cells = {}
    for key, row in _by_cell(sweeps["main"]):
        target, (delay_ms, buffer_bdp, seed) = row["transport.scheduler.target_mbps"], key
        if (key, "rr") not in alone or key not in rates:
            # One of the runs that it is compared with has failed, which is a row of its own.
            continue
        by_rr, by_abs = (_first(alone[key, name]) for name in ("rr", "abs"))
        found.setdefault((target, delay_ms, buffer_bdp), {})[seed] = {
            "first_s": _first(row),
            "second_s": _second(row),
            "rr_s": by_rr,
            "abs_s": by_abs,
            "position": (by_rr - _first(row)) / (by_rr - by_abs),
            **_explained(rates[key], target),
        }
    cells = [_cell(dict(zip(_PLACE, place, strict=True)), list(runs.values())) for place, runs in found.items()]
    points = [*cells, *_by_target(cells), *_by_buffer(cells), *_by_delay(sweeps["delays"])]
    points.append(_point("fixed", **_fixed(sweeps["main"])))
    for row in sweeps["time"].rows:
        points.extend(_over_time(sweeps["time"], row))
    return points


def _cell(place: dict[str, float], runs: list[dict[str, Any]]) -> dict[str, Any]:
    """A cell of Table 2 over all traces: means, and the ends of their 95 % intervals."""
    values: dict[str, Any] = {}
    for name in _MEANS:
        values[name], values[f"{name}_low"], values[f"{name}_high"] = interval([run[name] for run in runs])
    for name in ("rr_s", "abs_s", *_SHARES):
        values[name] = fmean(run[name] for run in runs)
    values["off"] = abs(values["position"] - values["expected"])
    shares = [run["above"] for run in runs]
    # Of every trace, and not in the mean.
    reached = "never" if max(shares) < _HARDLY else "always" if min(shares) > 1 - _HARDLY else "at times"
    return _point("cell", **place, **values, reached=reached)


def _estimates(runs: Runs, run: int, until: float) -> list[float]:
    """What the scheduler compares with its target, in Mbit/s, at equal distances of time up to `until`."""
    of = trace(runs, run, "data client")
    window, smoothed = of["connection", "cwnd_bytes"], of["connection", "smoothed_rtt_ms"]
    estimates = []
    for at in range(_MOMENTS):
        time = until * (at + 0.5) / _MOMENTS
        bytes_, rtt_ms = window.at(time), smoothed.at(time)
        estimates.append(1.25 * bytes_ * 8e-3 / rtt_ms if bytes_ and rtt_ms else 0.0)
    return estimates


def _explained(estimates: list[float], target: float) -> dict[str, float]:
    """How much of the time, and of the data, has an estimate above the target, and what position follows from that.

    Window over RTT is also the rate at which data goes. The stream with priority gets all of it while the estimate is
    at or below the target, and half of it above; it is complete when it has got half of what both are.
    """
    total = sum(estimates)
    above = [estimate for estimate in estimates if estimate > target]

    def end(limit: float) -> float:
        """When the stream with priority is complete, as a share of the time that both take."""
        got = 0.0
        for at, estimate in enumerate(estimates):
            got += estimate / 2 if estimate > limit else estimate
            if got >= total / 2:
                return (at + 1) / len(estimates)
        return 1.0

    expected = (1 - end(target)) / (1 - end(float("inf")))
    return {"above": len(above) / len(estimates), "data_above": sum(above) / total, "expected": expected}


def _by_target(cells: Points) -> Points:
    """For each delay and buffer: the end of the stream with priority, over that with the next lower target, at most."""
    found: Points = []
    for (delay_ms, buffer_bdp), of_it in groups(cells, "delay_ms", "buffer_bdp"):
        ends = [point["first_s"] for point in sorted(of_it, key=lambda point: point["target_mbps"])]
        later = max(after / before for before, after in pairwise(ends))
        found.append(_point("targets", delay_ms=delay_ms, buffer_bdp=buffer_bdp, later=later))
    return found


def _by_buffer(cells: Points) -> Points:
    """For each target and delay: all of it with the largest buffer, over the time with the smallest."""
    found: Points = []
    for (target, delay_ms), of_it in groups(cells, "target_mbps", "delay_ms"):
        of_it = sorted(of_it, key=lambda point: point["buffer_bdp"])
        longer = of_it[-1]["second_s"] / of_it[0]["second_s"]
        found.append(_point("buffers", target_mbps=target, delay_ms=delay_ms, longer=longer))
    return found


def _by_delay(runs: Runs) -> Points:
    """For each delay but the least: all of it, over the time with the next shorter delay, in the same trace."""
    ends: dict[float, dict[int, float]] = {}
    for (delay_ms, _, seed), row in _by_cell(runs):
        ends.setdefault(delay_ms, {})[seed] = _second(row)
    found: Points = []
    for before, after in pairwise(sorted(ends)):
        seeds = sorted(ends[before].keys() & ends[after].keys())
        if seeds:
            risen, low, high = interval([ends[after][seed] / ends[before][seed] for seed in seeds])
            place = {**_fixed(runs), "delay_ms": after, "runs": len(seeds)}
            ends_of = {"risen_low": low, "risen_high": high, "risen_percent": 100 * (risen - 1)}
            found.append(_point("delays", **place, risen=risen, **ends_of))
    return found


def _over_time(runs: Runs, row: dict[str, Any]) -> Points:
    window = trace(runs, row["run"], "data client")["connection", "cwnd_bytes"]
    capacity = trace(runs, row["run"], "mmwave forward")["rate", "capacity_mbps"]
    came = [_arrivals(runs, row["run"], part) for part in range(len(_STREAMS))]
    place = {**_fixed(runs), "target_mbps": row["transport.scheduler.target_mbps"]}
    found: Points = []
    for at in range(int(row["duration_s"] / _BIN_S)):
        span = (at * _BIN_S, (at + 1) * _BIN_S)
        windows = window.between(*span) or [window.at(span[1]) or 0]
        rates = [(_by(arrived, span[1]) - _by(arrived, span[0])) * 8e-6 / _BIN_S for arrived in came]
        values = {"capacity_mbps": fmean(capacity.between(*span)), "cwnd_kb": fmean(windows) * 1e-3}
        streams = {f"{name}_mbps": rate for name, rate in zip(_STREAMS, rates, strict=True)}
        found.append(_point("time", **place, time_s=span[0], **values, **streams))
    return found


def _arrivals(runs: Runs, run: int, part: int) -> list[tuple[float, float]]:
    """When how many bytes of a stream had come: at the end of each of its messages."""
    rows = [row for row in runs.tables["message"] if row["run"] == run and row["part"] == part]
    rows.sort(key=lambda row: row["message"])
    total, found = 0.0, [(0.0, 0.0)]
    for row in rows:
        if row["delivered_s"] is not None:
            total += row["bytes"]
            found.append((row["delivered_s"], total))
    return found


def _by(arrived: list[tuple[float, float]], time: float) -> float:
    """The bytes that had come by a time: within a message in proportion."""
    place = bisect_right(arrived, (time, float("inf")))
    if place == len(arrived):
        return arrived[-1][1]
    (before, had), (after, has) = arrived[place - 1], arrived[place]
    return had + (has - had) * (time - before) / (after - before)


def draw(points: Points) -> "Figure":
    """Above Fig. 7: throughput by stream, window and capacity; in the middle Figs. 8 to 10; below the position."""
    from matplotlib import pyplot

    figure, (panels, middle, lower) = pyplot.subplots(3, 3, figsize=(10, 10.5), layout="constrained")
    runs = groups(select(points, {"what": "time"}), "target_mbps")
    for axes, ((target,), samples) in zip(panels, runs, strict=True):
        _time_panel(axes, samples)
        axes.set_title(f"target {target:g} Mbit/s")
    panels[0].set_ylabel("Mbit/s")
    legend_above(figure, panels)
    cells = select(points, {"what": "cell"})
    (fixed,) = select(points, {"what": "fixed"})
    names = {"target_mbps": "target in Mbit/s", "delay_ms": "link delay in ms", "buffer_bdp": "buffer in BDP"}
    for above, below, (name, label) in zip(middle, lower, names.items(), strict=True):
        where = {key: fixed[key] for key in names if key != name}
        of_it = sorted(select(cells, where), key=lambda point: point[name])
        _completion(above, of_it)
        _position(below, of_it)
        for axes in (above, below):
            axes.set_xticks(range(len(of_it)), [f"{value:g}" for value in column(of_it, name)])
            axes.set_xlabel(label)
            axes.margins(x=0.05)
    middle[0].set_ylabel("completion in s")
    lower[0].set_ylabel("position: 0 as under RR, 1 as under ABS")
    return figure


def _bars(of_it: Points, name: str) -> dict[str, Any]:
    """Means with the ends of their intervals."""
    means = column(of_it, name)
    low = [mean - end for mean, end in zip(means, column(of_it, f"{name}_low"), strict=True)]
    high = [end - mean for mean, end in zip(means, column(of_it, f"{name}_high"), strict=True)]
    return {"height": means, "yerr": [low, high], "capsize": 2, "error_kw": {"linewidth": 0.8}}


def _completion(axes: "Axes", of_it: Points) -> None:
    for shift, name, colour, label in (
        (-0.2, "first_s", style.BLUE, "stream with priority"),
        (0.2, "second_s", style.ORANGE, "other stream"),
    ):
        places = [at + shift for at in range(len(of_it))]
        axes.bar(places, width=0.4, color=colour, label=label, **_bars(of_it, name))


def _position(axes: "Axes", of_it: Points) -> None:
    axes.bar(range(len(of_it)), width=0.6, color=style.GREEN, **_bars(of_it, "position"))
    axes.axhline(1, color="0.5", linewidth=0.6)


def _time_panel(axes: "Axes", samples: Points) -> None:
    times = column(samples, "time_s")
    axes.fill_between(times, column(samples, "capacity_mbps"), step="post", color="0.85", label="capacity")
    for name, colour, label in (
        ("priority_mbps", style.BLUE, "stream with priority"),
        ("other_mbps", style.ORANGE, "other stream"),
    ):
        axes.step(times, column(samples, name), where="post", color=colour, linewidth=1, label=label)
    axes.set_xlabel("time in s")
    axes.set_ylim(bottom=0)
    window = axes.twinx()
    window.plot(times, [value * 1e-3 for value in column(samples, "cwnd_kb")], color=style.VERMILLION, linewidth=0.8)
    window.set_ylabel("congestion window in MB", color=style.VERMILLION)
    window.set_ylim(bottom=0)
