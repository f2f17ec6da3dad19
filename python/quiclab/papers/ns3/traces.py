"""What a BBR flow does over time: the series of a run on a common clock, the phases, and how they are drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.reproduce.series import Series, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PHASES = ("startup", "drain", "probe_bw", "probe_rtt")
"""In the order of the paper's Fig. 1."""

COLOURS = {"startup": style.VERMILLION, "drain": style.GREEN, "probe_bw": style.BLUE, "probe_rtt": style.SKY}
"""The paper's: red, green, blue and cyan."""

NAMES = {"bbr1": "BBRv1", "bbr3": "BBRv3"}
"""Of the controllers."""

SERIES = {
    "in_flight_kb": ("connection", "bytes_in_flight", 1e-3),
    "cwnd_kb": ("connection", "cwnd_bytes", 1e-3),
    "pacing_mbps": ("connection", "pacing_rate_mbps", 1.0),
    "rtt_ms": ("connection", "latest_rtt_ms", 1.0),
    "max_bw_mbps": ("gauge", "max_bw_mbps", 1.0),
}
"""Columns of points: from which table and quantity, and by what factor."""


def phase(pacing_gain: float, cwnd_gain: float) -> str:
    """The phase with these gains, of either version."""
    if cwnd_gain <= 1:
        return "probe_rtt"
    if pacing_gain > 2:
        return "startup"
    return "drain" if pacing_gain <= 0.5 else "probe_bw"


def phases(of: Trace) -> list[tuple[float, str]]:
    """When each phase began."""
    pacing, window = of["gauge", "pacing_gain"], of["gauge", "cwnd_gain"]
    begun: list[tuple[float, str]] = []
    for time, gains in zip(pacing.times, zip(pacing.values, window.values, strict=True), strict=True):
        now = phase(*gains)
        if not begun or begun[-1][1] != now:
            begun.append((time, now))
    return begun


def spans(begun: Sequence[tuple[float, str]], end: float, wanted: str) -> list[tuple[float, float]]:
    """From when to when the phase was that one."""
    ends = [time for time, _ in begun[1:]] + [end]
    return [(time, until) for (time, name), until in zip(begun, ends, strict=True) if name == wanted]


def over_time(of: Trace, queue: Trace, end: float, step: float) -> list[dict[str, Any]]:
    """A row for each step: the last values known, the phase, and what waited at the bottleneck."""
    begun = phases(of)
    kept = Series([time for time, _ in begun], [float(PHASES.index(name)) for _, name in begun])
    waiting = queue["queue", "bytes"]
    rows: list[dict[str, Any]] = []
    for place in range(round(end / step)):
        time = place * step
        row: dict[str, Any] = {"time_s": time}
        for name, (table, quantity, factor) in SERIES.items():
            value = of[table, quantity].at(time)
            row[name] = None if value is None else value * factor
        row["queue_kb"] = (waiting.at(time) or 0.0) * 1e-3
        now = kept.at(time)
        row["phase"] = None if now is None else PHASES[int(now)]
        rows.append(row)
    return rows


def shade(axes: "Axes", rows: list[dict[str, Any]]) -> None:
    """The phases as colours of the background."""
    started: dict[str, Any] | None = None
    for row in [*rows, {"phase": None, "time_s": rows[-1]["time_s"]}]:
        if started is not None and row["phase"] != started["phase"]:
            if started["phase"] is not None:
                colour = COLOURS[started["phase"]]
                axes.axvspan(started["time_s"], row["time_s"], color=colour, alpha=0.18, linewidth=0)
            started = row
        elif started is None:
            started = row


def legend_of_phases() -> list[Any]:
    """What the colours mean."""
    from matplotlib.patches import Patch

    return [Patch(color=COLOURS[name], alpha=0.35, label=name.upper()) for name in PHASES]
