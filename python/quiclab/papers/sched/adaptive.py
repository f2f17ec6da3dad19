"""Figs. 7 to 10, Table 2: the scheduler that chooses between absolute priority and round robin, on a mmWave link."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab import traces
from quiclab.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.quantities import number
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BIN_S = 1.0
"""Over time all is drawn as means of a second, as the paper does with the capacity."""
_CELL = ("rr_s", "abs_s", "first_s", "second_s", "lead")
_GRID = ("later", "longer")
_OVER_TIME = ("time_s", "capacity_mbps", "throughput_mbps", "cwnd_kb")


def _mean_mbps(link: dict[str, Any]) -> float:
    """The mean rate of the trace that a link plays."""
    return traces.read(Path(link["forward"]["rate"]["file"])).mean_mbps


def _link(runs: Runs) -> dict[str, Any]:
    """The link of a scenario."""
    (link,) = runs.scenario["link"]
    return dict(link)


def _buffer(queue_bytes: float, delay_ms: float, mean_mbps: float) -> float:
    """A buffer as Table 2 has it: in products of mean rate and delay, of 1 ms for none."""
    return round(queue_bytes / (mean_mbps * 1e3 / 8 * max(delay_ms, 1)), 2)


def _fixed(runs: Runs) -> dict[str, float]:
    """What stays while one of the three varies (Figs. 8 to 10): what the scenario has before anything is varied."""
    link = _link(runs)
    delay_ms = 1e3 * number(link["forward"]["delay"])
    buffer = _buffer(number(link["forward"]["queue"]["limit"]), delay_ms, _mean_mbps(link))
    target = number(runs.scenario["transport"]["scheduler"]["target"])
    return {"target_mbps": target, "delay_ms": delay_ms, "buffer_bdp": buffer}


def _place(row: dict[str, Any], mean_mbps: float) -> dict[str, float]:
    """Delay and buffer of a run."""
    delay_ms = row["link.mmwave.delay_ms"]
    buffer = _buffer(row["link.mmwave.forward.queue_bytes"], delay_ms, mean_mbps)
    return {"delay_ms": delay_ms, "buffer_bdp": buffer}


def _ends(row: dict[str, Any]) -> tuple[float, float]:
    """When the stream with priority was complete, and the other one."""
    return row["connection.data.parts.bulk.completion_s"], row["connection.data.parts.bulk-2.completion_s"]


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """The cells of Table 2, with what round robin and absolute priority alone give there; then Fig. 7 over time."""
    mean_mbps = _mean_mbps(_link(sweeps["main"]))
    alone: dict[tuple[float, float, str], tuple[float, float]] = {}
    for row in sweeps["ends"].rows:
        place = _place(row, mean_mbps)
        alone[place["delay_ms"], place["buffer_bdp"], row["transport.scheduler"]] = _ends(row)
    points: Points = []
    for row in sweeps["main"].rows:
        place = _place(row, mean_mbps)
        first, second = _ends(row)
        by_rr, by_abs = (alone[place["delay_ms"], place["buffer_bdp"], name] for name in ("rr", "abs"))
        cell = {
            "target_mbps": row["transport.scheduler.target_mbps"],
            **place,
            "first_s": first,
            "second_s": second,
            "rr_s": by_rr[0],
            "abs_s": by_abs[0],
            "lead": (second - first) / second,
        }
        points.append({"what": "cell", **cell, **dict.fromkeys(_GRID), **dict.fromkeys(_OVER_TIME)})
    points.extend([*_by_target(points), *_by_buffer(points)])
    fixed = _fixed(sweeps["main"])
    points.append({**dict.fromkeys(points[0]), "what": "fixed", **fixed})
    for row in sweeps["time"].rows:
        points.extend(_over_time(sweeps["time"], row))
    return points


def _by_target(cells: Points) -> Points:
    """For each delay and buffer: the end of the stream with priority, over that with the next lower target, at most."""
    found: Points = []
    for (delay_ms, buffer_bdp), of_it in groups(cells, "delay_ms", "buffer_bdp"):
        ends = [point["first_s"] for point in sorted(of_it, key=lambda point: point["target_mbps"])]
        later = max(after / before for before, after in pairwise(ends))
        found.append(_grid("targets", None, delay_ms, buffer_bdp, later=later))
    return found


def _by_buffer(cells: Points) -> Points:
    """For each target and delay: all of it with the largest buffer, over the time with the smallest."""
    found: Points = []
    for (target, delay_ms), of_it in groups(cells, "target_mbps", "delay_ms"):
        of_it = sorted(of_it, key=lambda point: point["buffer_bdp"])
        longer = of_it[-1]["second_s"] / of_it[0]["second_s"]
        found.append(_grid("buffers", target, delay_ms, None, longer=longer))
    return found


def _grid(what: str, target: float | None, delay_ms: float, buffer_bdp: float | None, **value: float) -> dict[str, Any]:
    place = {"what": what, "target_mbps": target, "delay_ms": delay_ms, "buffer_bdp": buffer_bdp}
    return {**place, **dict.fromkeys(_CELL), **dict.fromkeys(_GRID), **value, **dict.fromkeys(_OVER_TIME)}


def _over_time(runs: Runs, row: dict[str, Any]) -> Points:
    of, link = trace(runs, row["run"], "data client"), trace(runs, row["run"], "mmwave forward")
    arrived, window = link["rate", "delivered_mbps"], of["connection", "cwnd_bytes"]
    capacity = link["rate", "capacity_mbps"]
    place = {**_fixed(runs), "target_mbps": row["transport.scheduler.target_mbps"]}
    found: Points = []
    for at in range(int(row["duration_s"] / _BIN_S)):
        span = (at * _BIN_S, (at + 1) * _BIN_S)
        windows = window.between(*span) or [window.at(span[1]) or 0]
        found.append(
            {
                "what": "time",
                **place,
                **dict.fromkeys(_CELL),
                **dict.fromkeys(_GRID),
                "time_s": span[0],
                "capacity_mbps": fmean(capacity.between(*span)),
                "throughput_mbps": fmean(arrived.between(*span)),
                "cwnd_kb": fmean(windows) * 1e-3,
            }
        )
    return found


def draw(points: Points) -> "Figure":
    """Above Fig. 7: throughput, window and capacity over time; below Figs. 8 to 10: completion by each parameter."""
    from matplotlib import pyplot

    figure, (panels, lower) = pyplot.subplots(2, 3, figsize=(10, 7.5), sharey="row", layout="constrained")
    runs = groups(select(points, {"what": "time"}), "target_mbps")
    for axes, ((target,), samples) in zip(panels, runs, strict=True):
        _time_panel(axes, samples)
        axes.set_title(f"target {target:g} Mbit/s")
    panels[0].set_ylabel("Mbit/s")
    panels[0].legend(loc="upper right")
    cells = select(points, {"what": "cell"})
    (fixed,) = select(points, {"what": "fixed"})
    names = {"target_mbps": "target in Mbit/s", "delay_ms": "link delay in ms", "buffer_bdp": "buffer in BDP"}
    for axes, (name, label) in zip(lower, names.items(), strict=True):
        where = {key: fixed[key] for key in names if key != name}
        of_it = sorted(select(cells, where), key=lambda point: point[name])
        places = range(len(of_it))
        axes.bar(
            [at - 0.2 for at in places], column(of_it, "first_s"), 0.4, color=style.BLUE, label="stream with priority"
        )
        axes.bar([at + 0.2 for at in places], column(of_it, "second_s"), 0.4, color=style.ORANGE, label="other stream")
        axes.set_xticks(list(places), [f"{value:g}" for value in column(of_it, name)])
        axes.set_xlabel(label)
        axes.margins(x=0.05)
    lower[0].set_ylabel("completion in s")
    lower[0].legend(loc="upper right")
    return figure


def _time_panel(axes: "Axes", samples: Points) -> None:
    times = column(samples, "time_s")
    axes.fill_between(times, column(samples, "capacity_mbps"), step="post", color="0.85", label="capacity")
    axes.step(
        times, column(samples, "throughput_mbps"), where="post", color=style.BLUE, linewidth=1, label="throughput"
    )
    axes.set_xlabel("time in s")
    axes.set_ylim(bottom=0)
    window = axes.twinx()
    window.plot(times, [value * 1e-3 for value in column(samples, "cwnd_kb")], color=style.VERMILLION, linewidth=0.8)
    window.set_ylabel("congestion window in MB", color=style.VERMILLION)
    window.set_ylim(bottom=0)
