"""The window in slow start, after each acknowledgement, beside a doubling in each round trip."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.drawings.plots import style
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.papers.theory.traces import samples
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each controller, initial window, RTT and round trip."""
    points: Points = []
    runs = sweeps["main"]
    for row in runs.rows:
        packet = row["transport.max_udp_payload"]
        rtt_s = 2e-3 * row["link.path.delay_ms"]
        # A packet carries some forty bytes less; while so much is sent by the end of a round, the window was full.
        data = row["flow.data.application.size_bytes"] / packet
        rounds = _rounds([(s["time_s"], s["cwnd_bytes"] / packet) for s in samples(runs, row["run"])], rtt_s)
        sent = 0.0
        for number, (before, window, least, most) in rounds.items():
            sent += window
            if sent > data:
                break
            points.append(
                {
                    "controller": row["transport.controller.type"],
                    "initial_window": row["transport.initial_window"],
                    "rtt_ms": 1e3 * rtt_s,
                    "round": number,
                    "window_packets": window,
                    "growth": window / before,
                    "short_packets": 2 * before - window,
                    "least_step_packets": least,
                    "most_step_packets": most,
                    "formula_packets": row["transport.initial_window"] * 2.0**number,
                }
            )
    return points


def _rounds(windows: list[tuple[float, float]], rtt_s: float) -> dict[int, tuple[float, float, float, float]]:
    """By round trip after the handshake: the windows at its beginning and its end, the least and the greatest step.

    The first round trip is that of the handshake.
    """
    ends: dict[int, tuple[float, float, float, float]] = {}
    window = windows[0][1]
    for time_s, now in windows:
        number = int((time_s + rtt_s / 4) / rtt_s) - 1
        if number > 0:
            before, _, least, most = ends.get(number, (window, 0.0, now - window, 0.0))
            ends[number] = (before, now, min(least, now - window), max(most, now - window))
        window = now
    return ends


def draw(points: Points) -> "Figure":
    """The window after each round trip, for each initial window, and the powers of two."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 3.4), layout="constrained")
    for colour, ((initial,), of_it) in zip(
        (style.BLUE, style.VERMILLION), groups(points, "initial_window"), strict=False
    ):
        shown = select(of_it, {"controller": of_it[0]["controller"], "rtt_ms": of_it[0]["rtt_ms"]})
        rounds = column(shown, "round")
        axes.plot(rounds, column(shown, "formula_packets"), color=colour, linewidth=0.8)
        axes.plot(rounds, column(shown, "window_packets"), ".", color=colour, label=f"{initial} packets at first")
    set_logarithmic(axes, "y", 2)
    axes.set_xlabel("round trips")
    axes.set_ylabel("window in packets")
    axes.margins(x=0.05)
    axes.legend()
    return figure
