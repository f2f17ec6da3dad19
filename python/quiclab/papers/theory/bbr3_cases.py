"""Test cases of the BBRv3 draft's appendix that a scenario can show: what the traces say of each, path by path."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import Trace, trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PACKET = 1472
"""Bytes of a full QUIC packet."""
_WIRE = 1500 / _PACKET
"""Of a packet on the wire, to one byte of QUIC."""
_CHANGE_S = 8.0
"""When the bandwidth changes."""
_STEP_S = 0.05
_DRAWN = ("pacing_mbps", "max_bw_mbps", "state")
_COLOURS = {
    "startup": style.VERMILLION,
    "drain": style.GREEN,
    "down": style.SKY,
    "cruise": style.PALE,
    "up": style.ORANGE,
    "probe_rtt": style.PURPLE,
}


@dataclass(frozen=True)
class Phase:
    """One stay in a state."""

    name: str
    start: float
    end: float


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each case, path and number that the case asks for; and the traces of one path of each kind."""
    points: Points = []
    for row in sweeps["main"].rows:
        of = trace(sweeps["main"], row["run"], "data client")
        round_trip = 2 * row["link.bottleneck.delay_ms"]
        path = f"{row['link.bottleneck.rate_mbps']:g} Mbit/s, {round_trip:g} ms"
        points.extend(_steady(of, path, row["link.bottleneck.rate_mbps"], row["duration_s"]))
        if row["link.bottleneck.rate_mbps"] == 10:
            points.extend(_drawn("a path with a deep queue", of, row["duration_s"]))
    for row in sweeps["small"].rows:
        of = trace(sweeps["small"], row["run"], "data client")
        path = f"{row['link.bottleneck.rate_mbps']:g} Mbit/s, {2 * row['link.bottleneck.delay_ms']:g} ms"
        window = of["connection", "cwnd_bytes"].between(1, row["duration_s"])
        used = _on_wire(row["link.bottleneck.forward.delivered_bytes"], row["link.bottleneck.rate_mbps"], row)
        points += [
            _point("A.14", "least window", path, min(window) / _PACKET, 4),
            _point("A.14", "share of the link used", path, used, 1),
        ]
    rise, fall = sweeps["changes"].rows
    points.extend(_rise(trace(sweeps["changes"], rise["run"], "data client"), rise["duration_s"]))
    points.extend(_fall(trace(sweeps["changes"], fall["run"], "data client"), fall["duration_s"]))
    for row in sweeps["policer"].rows:
        points.extend(_policer(trace(sweeps["policer"], row["run"], "data client"), row))
    return points


def _point(case: str, what: str, path: str, value: float | None, draft: float | str) -> dict[str, Any]:
    told = {"case": case, "what": what, "path": path, "value": value, "draft": draft, "time_s": None}
    return {**told, **dict.fromkeys(_DRAWN)}


def _drawn(path: str, of: Trace, end: float) -> Points:
    stays = _phases(of, end)
    rows: Points = []
    for place in range(round(end / _STEP_S)):
        time = place * _STEP_S
        state = next((stay.name for stay in stays if stay.start <= time < stay.end), None)
        values = (of["connection", "pacing_rate_mbps"].at(time), of["gauge", "max_bw_mbps"].at(time), state)
        point = _point("", "time", path, None, "")
        rows.append({**point, "time_s": time, **dict(zip(_DRAWN, values, strict=True))})
    return rows


def _state(pacing_gain: float, cwnd_gain: float) -> str:
    """The state with these gains; ProbeBW_CRUISE and ProbeBW_REFILL have the same."""
    if cwnd_gain < 1:
        return "probe_rtt"
    of = {0.5: "drain", 0.9: "down", 1.0: "cruise", 1.25: "up"}
    return of.get(pacing_gain, "startup")


def _phases(of: Trace, end: float) -> list[Phase]:
    pacing, window = of["gauge", "pacing_gain"], of["gauge", "cwnd_gain"]
    begun: list[tuple[float, str]] = []
    for time, *gains in zip(pacing.times, pacing.values, window.values, strict=True):
        name = _state(*gains)
        if not begun or begun[-1][1] != name:
            begun.append((time, name))
    return [Phase(name, start, until) for (start, name), (until, _) in pairwise([*begun, (end, "")])]


def _steady(of: Trace, path: str, rate: float, end: float) -> Points:
    stays = _phases(of, end)
    count, estimated = of["gauge", "full_bw_count"], of["gauge", "max_bw_mbps"]
    startup, drain = stays[0], stays[1]
    up = next(place for place, stay in enumerate(stays) if stay.name == "up" and stays[place + 1].name == "down")
    probe = next(place for place, stay in enumerate(stays) if stay.name == "probe_rtt")
    rtt = of["gauge", "model_min_rtt_ms"].at(stays[probe].start) or 0.0
    return [
        _point("A.1", "estimated bandwidth", path, (estimated.at(startup.end) or 0) * _WIRE / rate, 1),
        _point("A.1", "rounds without growth", path, count.at(startup.end), 3),
        _point("A.1", "to DRAIN", path, int(drain.name == "drain"), 1),
        _point("A.3", "gain of DRAIN", path, of["gauge", "pacing_gain"].at(drain.start), 0.5),
        _point("A.3", "in flight at the end of DRAIN", path, _flight(of, drain.end), 1),
        _point("A.3", "in flight before", path, _flight(of, drain.end - 1e-6), 1),
        _point("A.5", "rounds without growth in PROBE_UP", path, count.at(stays[up].end), 3),
        _point("A.8", "gain of PROBE_DOWN", path, of["gauge", "pacing_gain"].at(stays[up + 1].start), 0.9),
        _point("A.8", "in flight at the end of PROBE_DOWN", path, _flight(of, stays[up + 1].end), 1),
        _point("A.10", "PROBE_RTT entered", path, stays[probe].start, 5),
        _point("A.10", "window gain of PROBE_RTT", path, of["gauge", "cwnd_gain"].at(stays[probe].start), 0.5),
        _point("A.10", "PROBE_RTT held", path, stays[probe].end - stays[probe].start, max(0.2, rtt / 1e3)),
        _point("A.10", "back to PROBE_BW", path, int(stays[probe + 1].name == "cruise"), 1),
    ]


def _flight(of: Trace, time: float) -> float:
    """In units of Inflight(1.0): of the estimated product, a send quantum or four packets, whichever is the most."""
    bandwidth, rtt = of["gauge", "bw_mbps"].at(time) or 0.0, of["gauge", "model_min_rtt_ms"].at(time) or 0.0
    quantum = min((of["connection", "pacing_rate_mbps"].at(time) or 0.0) * 1e3 / 8, 64 * 1024)
    cap = max(bandwidth * rtt * 1e3 / 8, quantum, 4 * _PACKET)
    return (of["connection", "bytes_in_flight"].at(time) or 0.0) / cap


def _on_wire(delivered: float, rate: float, row: dict[str, Any]) -> float:
    return delivered * 8e-6 / rate / float(row["duration_s"])


def _rise(of: Trace, end: float) -> Points:
    path = "10 to 100 Mbit/s"
    estimated, rounds = of["gauge", "max_bw_mbps"], of["gauge", "round_count"]
    reached = next(
        (time for time, value in zip(estimated.times, estimated.values, strict=True) if value * _WIRE >= 98), end
    )
    return [
        _point("A.15", "estimated bandwidth at the end", path, (estimated.at(end) or 0) * _WIRE / 100, 1),
        _point("A.15", "probes until it is known", path, _ups(of, _CHANGE_S, reached, end), "few"),
        _point("A.15", "round trips", path, (rounds.at(reached) or 0) - (rounds.at(_CHANGE_S) or 0), "63 a probe"),
        *_drawn("ten times the bandwidth from 8 s on", of, end),
    ]


def _fall(of: Trace, end: float) -> Points:
    path = "100 to 10 Mbit/s"
    estimated, short = of["gauge", "max_bw_mbps"], of["gauge", "bw_shortterm_mbps"]
    adapted = next(
        (time for time, value in zip(short.times, short.values, strict=True) if time > _CHANGE_S and value < 50), end
    )
    known = next(
        (
            time
            for time, value in zip(estimated.times, estimated.values, strict=True)
            if time > _CHANGE_S and value * _WIRE < 11
        ),
        end,
    )
    return [
        _point("A.16", "bw_shortterm below 50 Mbit/s after", path, adapted - _CHANGE_S, "rapidly"),
        _point("A.16", "probes until it is known", path, _ups(of, _CHANGE_S, known, end), 2),
        _point("A.16", "estimated bandwidth at the end", path, (estimated.at(end) or 0) * _WIRE / 10, 1),
        *_drawn("a tenth of the bandwidth from 8 s on", of, end),
    ]


def _ups(of: Trace, start: float, until: float, end: float) -> int:
    return sum(stay.name == "up" and start < stay.end and stay.start < until for stay in _phases(of, end))


def _policer(of: Trace, row: dict[str, Any]) -> Points:
    path = "policer of 10 Mbit/s"
    used = _on_wire(row["link.bottleneck.forward.delivered_bytes"], row["link.bottleneck.forward.queue.rate_mbps"], row)
    lost = row["connection.data.packets_declared_lost"]
    bounded = [("gauge", name) in of for name in ("bw_shortterm_mbps", "inflight_shortterm_bytes")]
    return [
        _point("A.17", "short-term bounds set", path, sum(bounded), 2),
        _point("A.17", "share of the token rate used", path, used, 1),
        _point("A.17", "packets lost, in %", path, 100 * lost / row["connection.data.data_packets_sent"], ""),
        *_drawn("a policer of 10 Mbit/s", of, row["duration_s"]),
    ]


def draw(points: Points) -> "Figure":
    """Pacing rate and estimated bandwidth over time on four paths, with the states behind."""
    from matplotlib import pyplot
    from matplotlib.patches import Patch

    kinds = list(groups(select(points, {"what": "time"}), "path"))
    figure, panels = pyplot.subplots(len(kinds), 1, figsize=(8.8, 9), layout="constrained")
    for axes, ((path,), samples) in zip(panels, kinds, strict=True):
        axes.set_title(path)
        times = column(samples, "time_s")
        began = 0
        for place in range(1, len(samples) + 1):
            if place == len(samples) or samples[place]["state"] != samples[began]["state"]:
                state = samples[began]["state"]
                if state is not None:
                    until = times[min(place, len(samples) - 1)]
                    axes.axvspan(times[began], until, color=_COLOURS[state], alpha=0.3, linewidth=0)
                began = place
        for name, colour, label in (
            ("pacing_mbps", style.BLACK, "pacing rate"),
            ("max_bw_mbps", style.BLUE, "max_bw"),
        ):
            values = [float("nan") if value is None else value for value in column(samples, name)]
            axes.plot(times, values, color=colour, linewidth=0.8, label=label)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("Mbit/s")
    panels[0].legend(loc="upper right")
    panels[-1].set_xlabel("time in s")
    handles = [Patch(color=colour, alpha=0.5, label=name) for name, colour in _COLOURS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure
