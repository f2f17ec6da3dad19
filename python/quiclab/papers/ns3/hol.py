"""Fig. 5: when the objects of a page are complete over three versions of HTTP, and how many a loss holds back."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.plots import style
from quiclab.reproduce.points import Points, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LATE_S = 0.010
"""A quarter of the RTT: an object that takes so much longer than without loss was held back."""
_SHOWN_PAGE = 1
_NAMES = {"http1.1": "HTTP/1.1, six TCP connections", "http2": "HTTP/2, one TCP connection", "http3": "HTTP/3"}
_OBJECT = ("object", "size_bytes", "wanted_s", "complete_s", "late_ms")
_SUMMARY = ("objects", "held_back", "held_back_percent", "http2_held_back", "fewer_limit", "load_mean_s")


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each object of each run, and one for each version and loss with the objects that were held back."""
    objects: Points = []
    loads: dict[tuple[str, float], list[float]] = {}
    runs = sweeps["main"]
    of_runs = {run: of_run for (run,), of_run in groups(runs.tables["object"], "run")}
    for row in runs.rows:
        over, loss = row["flow.page.application.over"], row["link.path.forward.loss.probability"]
        loads.setdefault((over, loss), []).append(row["connection.page.page.load_mean_s"])
        about = {"what": "object", "over": over, "loss_percent": 100 * loss, "page": row["seed"]}
        objects += [{**about, **one, **dict.fromkeys(_SUMMARY)} for one in _objects(of_runs[row["run"]])]
    _compare(objects)
    points: Points = []
    for (over, loss_percent), of_it in groups(objects, "over", "loss_percent"):
        held = sum(1 for one in of_it if one["late_ms"] > 1e3 * _LATE_S)
        mean = loads[over, loss_percent / 100]
        points.append(
            {
                "what": "held",
                "over": over,
                "loss_percent": loss_percent,
                "page": None,
                **dict.fromkeys(_OBJECT),
                "objects": len(of_it),
                "held_back": held,
                "held_back_percent": 100 * held / len(of_it),
                "load_mean_s": sum(mean) / len(mean),
            }
        )
    for point in points:
        (http2,) = select(points, {"over": "http2", "loss_percent": point["loss_percent"]})
        point["http2_held_back"] = http2["held_back"]
        point["fewer_limit"] = http2["held_back"] - 1
    return points + objects


def _objects(table: Points) -> Points:
    """The objects of a run."""
    return [
        {
            "object": one["object"],
            "size_bytes": one["size_bytes"],
            "wanted_s": one["wanted_s"],
            "complete_s": one["complete_s"],
            "late_ms": None,
        }
        for one in table
    ]


def _compare(objects: Points) -> None:
    """Says of each object how much longer it took from wanted to complete than without loss."""

    def took(one: dict[str, Any]) -> float:
        return float(one["complete_s"] - one["wanted_s"])

    without = {(one["over"], one["page"], one["object"]): took(one) for one in select(objects, {"loss_percent": 0})}
    for one in objects:
        one["late_ms"] = 1e3 * (took(one) - without[one["over"], one["page"], one["object"]])


def draw(points: Points) -> "Figure":
    """A page in each version and with each loss: a line for each object, from wanted to complete."""
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator

    shown = select(points, {"what": "object", "page": _SHOWN_PAGE})
    losses = list(groups(shown, "loss_percent"))
    figure, panels = pyplot.subplots(
        len(losses), len(_NAMES), figsize=(10, 6), sharex=True, sharey=True, layout="constrained", squeeze=False
    )
    for number, (line, ((loss,), of_loss)) in enumerate(zip(panels, losses, strict=True)):
        for axes, (over, name) in zip(line, _NAMES.items(), strict=True):
            for one in select(of_loss, {"over": over}):
                late = one["late_ms"] > 1e3 * _LATE_S
                colour = style.VERMILLION if late else style.BLUE
                axes.plot([one["wanted_s"], one["complete_s"]], [one["object"]] * 2, color=colour, linewidth=1.2)
                axes.plot(one["complete_s"], one["object"], "|", color=colour, markersize=5)
            if number == 0:
                axes.set_title(name)
            if number == len(losses) - 1:
                axes.set_xlabel("time in s")
        line[0].set_ylabel(f"object, {loss:g} % loss")
    first = panels[0][0]
    first.invert_yaxis()
    first.yaxis.set_major_locator(MaxNLocator(integer=True))
    first.set_xlim(0, 1.02 * max(one["complete_s"] for one in shown))
    first.plot([], [], color=style.BLUE, label="from wanted to complete")
    first.plot(
        [], [], color=style.VERMILLION, label=f"held back: {1e3 * _LATE_S:g} ms longer than without loss, or more"
    )
    figure.legend(loc="outside upper center", ncols=2)
    return figure
