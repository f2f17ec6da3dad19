"""What the two figures of message delays have in common: numbers over repetitions, names, boxes."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEDULER = "transport.scheduler"
NAMES = {"rr": "RR", "wrr": "WFQ\n(wrr)", "abs": "ABS"}
"""What the paper calls them."""
QUANTILES = ("p5", "p25", "p50", "p75", "p95", "p99")


def delays(rows: Sequence[dict[str, Any]], prefix: str) -> dict[str, Any]:
    """Delays and counts of the messages of several runs: quantiles are means of the runs' quantiles."""

    def of(name: str) -> list[Any]:
        return [row[f"{prefix}.{name}"] for row in rows]

    found: dict[str, Any] = {f"{q}_ms": fmean(of(f"delay_{q}_ms")) for q in QUANTILES}
    done = of("completed")
    found["mean_ms"] = sum(mean * n for mean, n in zip(of("delay_mean_ms"), done, strict=True)) / sum(done)
    found["messages"] = sum(of("number"))
    found["missing"] = sum(of("missing"))
    return found


def box(axes: "Axes", place: float, point: dict[str, Any], colour: str, width: float = 0.6) -> None:
    """The box of a point: quartiles, median, and whiskers at the 5th and 95th percentiles."""
    stats = {
        "med": point["p50_ms"],
        "q1": point["p25_ms"],
        "q3": point["p75_ms"],
        "whislo": point["p5_ms"],
        "whishi": point["p95_ms"],
    }
    line = {"color": colour}
    axes.bxp(
        [stats],
        positions=[place],
        widths=width,
        showfliers=False,
        boxprops=line,
        medianprops=line,
        whiskerprops=line,
        capprops=line,
    )
