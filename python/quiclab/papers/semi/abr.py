"""Beyond the paper: bitrate against stalls for each rate adaptation, transport and kind of network."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRACES = {"changes": "steps", "lte-driving": "LTE, driving", "mmwave": "mmWave, walking"}
COLOURS = {
    "throughput": style.BLUE,
    "bba": style.ORANGE,
    "bola": style.GREEN,
    "dynamic": style.BLACK,
    "mpc": style.VERMILLION,
}
MARKERS = {"QUIC, CUBIC": "o", "QUIC, BBRv3": "s", "TCP, CUBIC": "^"}
MODEL_BASED = "mpc"
COLUMNS = (
    "what",
    "abr",
    "other",
    "stack",
    "trace",
    "mean",
    "low",
    "high",
    "bitrate_mbps",
    "bitrate_low_mbps",
    "bitrate_high_mbps",
    "stall_percent",
    "stall_low_percent",
    "stall_high_percent",
    "start_up_s",
    "switches",
    "runs",
)


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """Bitrate, stalls and QoE of each kind of run; what mpc gains in QoE over the others, run by run."""
    rows: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in sweeps["main"].rows:
        rows.setdefault((str(row["flow.film.application.abr"]), _stack(row), _trace(row)), []).append(row)
    points: Points = []
    quality: dict[tuple[str, str, str], dict[int, float]] = {}
    for about, some in rows.items():
        quality[about] = {row["repetition"]: float(row["connection.film.playback.qoe_lin"]) for row in some}
        bitrate = interval([float(row["connection.film.playback.bitrate_mean_mbps"]) for row in some])
        stalls = interval([100 * float(row["connection.film.playback.stall_ratio"]) for row in some])
        points.append(
            _point(
                "playback",
                about,
                list(quality[about].values()),
                **dict(zip(("bitrate_mbps", "bitrate_low_mbps", "bitrate_high_mbps"), bitrate, strict=True)),
                **dict(zip(("stall_percent", "stall_low_percent", "stall_high_percent"), stalls, strict=True)),
                start_up_s=fmean(float(row["connection.film.playback.start_up_s"]) for row in some),
                switches=fmean(float(row["connection.film.playback.switches"]) for row in some),
            )
        )
    for (abr, stack, trace), values in quality.items():
        if abr != MODEL_BASED:
            best = quality[MODEL_BASED, stack, trace]
            gains = [best[number] - value for number, value in values.items()]
            points.append(_point("gain", (MODEL_BASED, stack, trace), gains, other=abr))
    return points


def _stack(row: dict[str, Any]) -> str:
    controller = "BBRv3" if "bbr3" in str(row["transport.controller"]) else "CUBIC"
    return f"{'TCP' if row['flow.film.protocol'] == 'tcp' else 'QUIC'}, {controller}"


def _trace(row: dict[str, Any]) -> str:
    rate = str(row["link.network.forward.rate"])
    return next(name for word, name in TRACES.items() if word in rate)


def _point(what: str, about: tuple[str, str, str], values: list[float], **more: Any) -> dict[str, Any]:
    mean, low, high = interval(values)
    abr, stack, trace = about
    known = {"what": what, "abr": abr, "stack": stack, "trace": trace, "runs": len(values)}
    return {**dict.fromkeys(COLUMNS), **known, "mean": mean, "low": low, "high": high, **more}


def draw(points: Points) -> "Figure":
    """A panel for each kind of network: better is to the right and below; bars are 95 % intervals."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
    for axes, trace in zip(panels, TRACES.values(), strict=True):
        for (abr, stack), some in groups(select(points, {"what": "playback", "trace": trace}), "abr", "stack"):
            (point,) = some
            x, y = point["bitrate_mbps"], point["stall_percent"]
            # An interval by Student's t may reach over what a share or a rate can be.
            across = [[x - max(point["bitrate_low_mbps"], 0.0)], [point["bitrate_high_mbps"] - x]]
            along = [[y - max(point["stall_low_percent"], 0.0)], [point["stall_high_percent"] - y]]
            axes.errorbar(
                [x], [y], along, across, color=COLOURS[abr], marker=MARKERS[stack], markersize=5, linewidth=0.8
            )
        axes.set_title(trace)
        axes.set_xlabel("mean bitrate in Mbit/s")
        shown = select(points, {"what": "playback", "trace": trace})
        axes.set_ylim(0, 1.08 * max(1.0, *column(shown, "stall_high_percent")))
        axes.set_xlim(0, 1.05 * max(column(shown, "bitrate_high_mbps")))
    panels[0].set_ylabel("stalled, % of time after the first picture")
    for abr, colour in COLOURS.items():
        panels[0].plot([], [], color=colour, linewidth=3, label=abr)
    for stack, marker in MARKERS.items():
        panels[0].plot([], [], color=style.GREY, marker=marker, linestyle="", label=stack)
    panels[0].legend(fontsize=7)
    return figure
