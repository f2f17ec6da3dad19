"""CUBIC's window after one loss, after each acknowledgement, beside W_cubic(t) of RFC 9438."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.papers.theory.traces import Sample, samples
from quiclab.reproduce.points import Points, column, groups
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EVERY_S = 0.1
"""One point for so much time; each stands for the worst of the samples in it."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each tenth of a second: window, curve, and how far the worst sample is from each formula."""
    points: Points = []
    runs = sweeps["main"]
    for row in runs.rows:
        packet = row["transport.max_udp_payload"]
        told = [sample for sample in samples(runs, row["run"]) if "cubic_epoch_s" in sample]
        worst: dict[int, dict[str, Any]] = {}
        for t, window, curve, step in _beside_formulas(told, row):
            place = worst.setdefault(
                int(t / _EVERY_S),
                {
                    "lost_packet": int(str(row["link.path.forward.loss.packets"]).strip("[]")),
                    "t_s": t,
                    "window_packets": window / packet,
                    "w_cubic_packets": curve / packet,
                    "off_curve_percent": 0.0,
                    "off_steps_packets": 0.0,
                    "samples": 0,
                    "k_s": told[0]["cubic_k_s"],
                    "k_formula_s": _k(told[0], row),
                },
            )
            place["samples"] += 1
            place["off_curve_percent"] = max(place["off_curve_percent"], abs(100 * (window / curve - 1)))
            place["off_steps_packets"] = max(place["off_steps_packets"], abs(window - step) / packet)
        points.extend(worst.values())
    return points


def _k(first: Sample, row: dict[str, Any]) -> float:
    """K of section 4.2, from the window before and after the reduction."""
    packets = (first["cubic_w_max_bytes"] - first["ssthresh_bytes"]) / row["transport.max_udp_payload"]
    return float((packets / row["transport.controller.c"]) ** (1 / 3))


def _beside_formulas(told: list[Sample], row: dict[str, Any]) -> list[tuple[float, float, float, float]]:
    """For each acknowledgement: t, the window, W_cubic(t), and the window that the RFC's rule makes of the last one.

    The rule is that of section 4.2, cwnd += (target - cwnd) / cwnd for each packet, with target = W_cubic(t + RTT) not
    below cwnd and not above 1.5 cwnd. The computation begins with the window after the reduction, and is never set
    right.
    """
    packet, c = row["transport.max_udp_payload"], row["transport.controller.c"]
    first = told[0]
    k, w_max, start = _k(first, row), first["cubic_w_max_bytes"], first["time_s"]

    def w_cubic(t: float) -> float:
        return float(c * packet * (t - k) ** 3 + w_max)

    beside = []
    window = first["ssthresh_bytes"]
    for sample in told:
        t = sample["time_s"] - start
        target = min(max(w_cubic(t + 1e-3 * sample["smoothed_rtt_ms"]), window), 1.5 * window)
        window += (target - window) * packet / window
        beside.append((t, sample["cwnd_bytes"], w_cubic(t), window))
    return beside


def draw(points: Points) -> "Figure":
    """The window over time beside the curve, for each of the losses."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5.2, 3.4), layout="constrained")
    for colour, ((lost,), of_it) in zip((style.BLUE, style.VERMILLION), groups(points, "lost_packet"), strict=False):
        times = column(of_it, "t_s")
        axes.plot(times, column(of_it, "w_cubic_packets"), color=colour, linewidth=0.8)
        shown = slice(None, None, 5)
        axes.plot(times[shown], column(of_it, "window_packets")[shown], ".", color=colour, label=f"packet {lost} lost")
        axes.axvline(of_it[0]["k_formula_s"], color=colour, linewidth=0.5, linestyle=":")
    axes.set_xlabel("t in s")
    axes.set_ylabel("window in packets")
    axes.margins(x=0.03)
    axes.legend()
    return figure
