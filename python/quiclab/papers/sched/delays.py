"""What the two figures of message delays have in common: numbers over repetitions, names, boxes."""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.reproduce.runs import Runs
from quiclab.values.units import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCHEDULER = "transport.scheduler"
NAMES = {"rr": "RR", "wrr": "WFQ\n(wrr)", "abs": "ABS"}
"""What the paper calls them."""
QUANTILES = ("p5", "p25", "p50", "p75", "p95", "p99")


def delays(rows: Sequence[dict[str, Any]], prefix: str) -> dict[str, Any]:
    """Delays and counts of the messages of several runs: quantiles are means of the runs' quantiles.

    Delays are those of the messages that came, and None where none did.
    """
    came = [row for row in rows if row[f"{prefix}.completed"] > 0]

    def of(name: str) -> list[Any]:
        return [row[f"{prefix}.{name}"] for row in came]

    found: dict[str, Any] = {f"{q}_ms": fmean(of(f"delay_{q}_ms")) if came else None for q in QUANTILES}
    done = of("completed")
    total = sum(mean * n for mean, n in zip(of("delay_mean_ms"), done, strict=True))
    found["mean_ms"] = total / sum(done) if came else None
    found["messages"] = sum(row[f"{prefix}.number"] for row in rows)
    found["missing"] = sum(row[f"{prefix}.missing"] for row in rows)
    found["missing_percent"] = 100 * found["missing"] / found["messages"]
    return found


def turn_ms(runs: Runs) -> float:
    """How long a full packet takes at the bottleneck."""
    (link,) = (link for link in runs.scenario["link"] if link["name"] == "bottleneck")
    way = {**link, **link.get("forward", {})}
    rate = way["rate"]["rate"] if isinstance(way["rate"], dict) else way["rate"]
    return float(way["mtu"]) * 8e-3 / number(rate)


def box(axes: "Axes", place: float, point: dict[str, Any], colour: str, width: float = 0.6) -> None:
    """The box of a point: quartiles, median, and whiskers at the 5th and 95th percentiles; if nothing came, a word."""
    if point["p50_ms"] is None:
        number = f"none of {point['messages']} came"
        axes.text(place, 0.02, number, rotation=90, ha="center", va="bottom", transform=axes.get_xaxis_transform())
        return
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
