"""Where slow start ends at a bottleneck: with HyStart++ before a loss, without it by one."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.papers.theory.traces import Sample, samples
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each run: what slow start left, and how."""
    runs = sweeps["main"]
    points = [_point(row, _exit(samples(runs, row["run"]), row["transport.max_udp_payload"])) for row in runs.rows]
    for point in points:
        same = {key: point[key] for key in ("controller", "queue_bdp", "rtt_ms")}
        standard = select(points, {**same, "slow_start": "standard"})
        point["lost_in_standard_packets"] = standard[0]["lost_packets"]
    return points


def _point(row: dict[str, Any], of_it: "_Exit") -> dict[str, Any]:
    rtt_ms = 2 * row["link.bottleneck.delay_ms"]
    product = row["link.bottleneck.rate_mbps"] * rtt_ms * 1e3 / 8 / row["transport.max_udp_payload"]
    return {
        "controller": row["transport.controller.type"],
        "slow_start": row["transport.controller.slow_start"],
        "queue_bdp": row["link.bottleneck.queue_bdp"],
        "rtt_ms": rtt_ms,
        "bdp_packets": product,
        "exit_s": of_it.at_s,
        "exit_bdp": of_it.window / product,
        "by_loss": of_it.by_loss,
        "css_entered_bdp": of_it.entered / product,
        "css_entered_above_rtt_ms": of_it.entered_rtt_ms - rtt_ms,
        "threshold_ms": min(max(rtt_ms / 8, 4.0), 16.0),
        "css_rounds": of_it.rounds,
        "css_limit_bdp": _grown(of_it.entered) / product,
        "css_step_packets": of_it.step,
        "lost_packets": row["connection.data.packets_declared_lost"],
    }


def _grown(entered: float, samples: int = 8) -> float:
    """What five rounds of a quarter's growth make of the window at the beginning, in packets.

    The first of them begins with the acknowledgement of its eighth packet: those before have counted in full.
    """
    round_began = entered - (samples - 1)
    return (entered + (round_began - (samples - 1)) / 4) * 1.25**4 if entered else 0.0


@dataclass
class _Exit:
    """How slow start ended."""

    at_s: float
    window: float
    """Before any reduction, in packets."""
    by_loss: int
    """1 if the threshold came with a smaller window, else 0."""
    entered: float = 0.0
    """The window when conservative slow start began; 0 if it did not."""
    entered_rtt_ms: float = 0.0
    rounds: float = 0.0
    """Round trips from there to the end of slow start."""
    step: float = 0.0
    """The mean growth for each packet acknowledged in it, in packets."""


def _exit(told: list[Sample], packet: float) -> _Exit:
    last = next(place for place, sample in enumerate(told) if "ssthresh_bytes" in sample)
    before, after = told[last - 1], told[last]
    found = _Exit(after["time_s"], before["cwnd_bytes"] / packet, int(after["cwnd_bytes"] < before["cwnd_bytes"]))
    steps = [(b["cwnd_bytes"] - a["cwnd_bytes"]) / packet for a, b in pairwise(told[:last])]
    # It may have begun and been given up again: what counts is the last stretch without a whole packet.
    whole = max(place for place, step in enumerate(steps) if step > 0.6)
    slow = steps[whole + 1 :]
    if slow:
        first = told[whole + 1]
        found.entered, found.entered_rtt_ms = first["cwnd_bytes"] / packet, first["latest_rtt_ms"]
        found.step = sum(slow) / len(slow)
        found.rounds = _rounds(told[whole + 1 : last + 1])
    return found


def _rounds(told: list[Sample]) -> float:
    """Round trips in a stretch: one lasts as long as the RTT of the packet that ends it."""
    rounds, start = 0.0, told[0]["time_s"]
    for sample in told:
        if sample["time_s"] - start >= 1e-3 * sample["latest_rtt_ms"]:
            rounds += 1
            start = sample["time_s"]
    return rounds + (told[-1]["time_s"] - start) / (1e-3 * told[-1]["latest_rtt_ms"])


def draw(points: Points) -> "Figure":
    """The window at the end of slow start in bandwidth-delay products, over the RTT."""
    from matplotlib import pyplot

    queues = sorted(set(column(points, "queue_bdp")))
    figure, panels = pyplot.subplots(
        1, len(queues), figsize=(3.6 * len(queues), 3.2), layout="constrained", squeeze=False
    )
    for axes, queue in zip(panels[0], queues, strict=True):
        for (kind,), of_it in groups(select(points, {"queue_bdp": queue, "controller": "cubic"}), "slow_start"):
            colour = style.VERMILLION if kind == "standard" else style.BLUE
            axes.plot(column(of_it, "rtt_ms"), column(of_it, "exit_bdp"), ".-", color=colour, label=kind)
        axes.set_title(f"buffer of {queue:g} BDP")
        axes.set_xlabel("RTT in ms")
        axes.margins(x=0.05)
        axes.set_ylim(0, 1.05 * max(column(select(points, {"queue_bdp": queue}), "exit_bdp")))
    panels[0][0].set_ylabel("window at the end of slow start in BDP")
    panels[0][0].legend()
    return figure
