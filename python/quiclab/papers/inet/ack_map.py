"""What each ack ratio costs in goodput and saves on the return path, over RTT, rate and loss: a heat map."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.papers.inet.measures import RATIO
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CASE = (
    "link.bottleneck.rate_mbps",
    "link.bottleneck.forward.loss.probability",
    "link.bottleneck.delay_ms",
)
_MAPS = (
    ("goodput_percent", "goodput in %", "OrRd_r", (-60, 0)),
    ("return_percent", "return bytes in %", "Greens_r", (-100, 0)),
)


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """One point for each rate, loss rate, RTT and ratio: means over the repetitions, each against 1:1."""
    points: Points = []
    for (rate, loss, delay_ms), rows in groups(sweeps["main"].rows, *_CASE):
        first: dict[str, list[float]] = {}
        for (ratio,), of_ratio in groups(rows, RATIO):
            values = {key: [of(row) for row in of_ratio] for key, of in _MEASURES.items()}
            first = first or values
            points.append(
                {
                    "rate_mbps": rate,
                    "loss_percent": 100 * loss,
                    "rtt_ms": 2 * delay_ms,
                    "ack_ratio": ratio,
                    "asked_acks": 1 / ratio,
                    **{key: fmean(of_it) for key, of_it in values.items()},
                    "goodput_percent": _against(values["goodput_mbps"], first["goodput_mbps"]),
                    "return_percent": _against(values["return_bytes_per_byte"], first["return_bytes_per_byte"]),
                }
            )
    for (*_,), of_case in groups(points, "rate_mbps", "loss_percent", "rtt_ms"):
        tenth = select(of_case, {"ack_ratio": 10})
        for point in of_case:
            point["goodput_at_10_mbps"] = tenth[0]["goodput_mbps"] if tenth else None
    return points


def _acks(row: dict[str, Any]) -> float:
    return float(row["connection.data.ack_only_packets_received"] / row["connection.data.data_packets_sent"])


def _return_bytes(row: dict[str, Any]) -> float:
    return float(row["link.bottleneck.backward.delivered_bytes"] / max(1, row["connection.data.delivered_bytes"]))


_MEASURES = {
    "goodput_mbps": lambda row: float(row["connection.data.goodput_mbps"]),
    "acks_per_data_packet": _acks,
    "return_bytes_per_byte": _return_bytes,
}


def _against(values: list[float], base: list[float]) -> float:
    return fmean(100 * (a / b - 1) for a, b in zip(values, base, strict=True))


def draw(points: Points) -> "Figure":
    """A map of RTT and ratio for each rate and loss rate: above what it costs, below what it saves."""
    from matplotlib import pyplot

    cases = list(groups(points, "rate_mbps", "loss_percent"))
    size = (1.2 + 2.0 * len(cases), 4.8)
    figure, panels = pyplot.subplots(len(_MAPS), len(cases), figsize=size, layout="constrained", squeeze=False)
    for row, (value, title, colours, limits) in zip(panels, _MAPS, strict=True):
        for axes, ((rate, loss), of_case) in zip(row, cases, strict=True):
            image = _map(axes, of_case, value, colours, limits)
            axes.set_title(f"{rate:g} Mbit/s, loss {loss:g} %")
        row[0].set_ylabel("ack ratio 1:n")
        figure.colorbar(image, ax=list(row), label=title, fraction=0.02)
    for axes in panels[-1]:
        axes.set_xlabel("RTT in ms")
    figure.suptitle("Against 1:1: goodput, and bytes on the return path")
    return figure


def _map(axes: "Axes", points: Points, value: str, colours: str, limits: tuple[float, float]) -> Any:
    rtts, ratios = (sorted(set(column(points, name))) for name in ("rtt_ms", "ack_ratio"))
    table = [[select(points, {"rtt_ms": rtt, "ack_ratio": ratio})[0][value] for rtt in rtts] for ratio in ratios]
    image = axes.imshow(table, cmap=colours, vmin=limits[0], vmax=limits[1], origin="lower", aspect="auto")
    for y, line in enumerate(table):
        for x, number in enumerate(line):
            dark = number < limits[0] / 2
            axes.text(x, y, f"{number:.0f}", ha="center", va="center", fontsize=6, color="white" if dark else "black")
    axes.set_xticks(range(len(rtts)), [f"{rtt:g}" for rtt in rtts], fontsize=7)
    axes.set_yticks(range(len(ratios)), [str(ratio) for ratio in ratios])
    axes.grid(visible=False)
    return image
