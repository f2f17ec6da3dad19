"""Fig. 5: when the objects of a page are complete over three versions of HTTP, and how many a loss holds back.

Which objects lost something of their own over HTTP/3, and what the others waited for, is read from the packets: these
runs are made once more for it, with a qlog of both ends.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots import style
from quiclab.reproduce.points import Points, groups, select
from quiclab.reproduce.runs import Runs
from quiclab.results.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LATE_S = 0.010
"""A quarter of the RTT: an object that takes so much longer than without loss was held back."""
_SHOWN_PAGE = 1
_NAMES = {"http1.1": "HTTP/1.1, six TCP connections", "http2": "HTTP/2, one TCP connection", "http3": "HTTP/3"}
_PACKETS = ("own_loss", "sent_late_ms", "pause_ms")
_OBJECT = ("object", "stream", "size_bytes", "wanted_s", "complete_s", "late_ms", *_PACKETS)
_SUMMARY = (
    "objects",
    "held_back",
    "held_back_percent",
    "http2_held_back",
    "fewer_limit",
    "http3_held_back",
    "more_limit",
    "held_without_loss",
    "unexplained",
    "load_mean_s",
)


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
    _look_at_packets(runs, objects)
    points: Points = []
    for (over, loss_percent), of_it in groups(objects, "over", "loss_percent"):
        held = sum(one["held_back"] for one in of_it)
        alone = [one for one in of_it if one["held_back"] and one["own_loss"] is False]
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
                # What was lost of whom is known over QUIC alone.
                "held_without_loss": len(alone) if over == "http3" else None,
                "unexplained": sum(not _held_by_window(one) for one in alone) if over == "http3" else None,
                "load_mean_s": sum(mean) / len(mean),
            }
        )
    for point in points:
        (http2,) = select(points, {"over": "http2", "loss_percent": point["loss_percent"]})
        point["http2_held_back"] = http2["held_back"]
        point["fewer_limit"] = http2["held_back"] - 1
        (http3,) = select(points, {"over": "http3", "loss_percent": point["loss_percent"]})
        point["http3_held_back"] = http3["held_back"]
        point["more_limit"] = http3["held_back"] + 1
    return points + objects


def _objects(table: Points) -> Points:
    """The objects of a run."""
    return [
        {
            "object": one["object"],
            "stream": one["stream"],
            "size_bytes": one["size_bytes"],
            "wanted_s": one["wanted_s"],
            "complete_s": one["complete_s"],
            "late_ms": None,
            **dict.fromkeys(_PACKETS),
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
        one["held_back"] = one["late_ms"] > 1e3 * _LATE_S


@dataclass(frozen=True)
class _Packets:
    """What the server sent in a run over HTTP/3."""

    lost: set[int]
    """The streams that had data in a packet that did not arrive."""
    last_ms: dict[int, float]
    """When the last data of each stream went."""
    times_ms: list[float]
    """When packets went."""

    @staticmethod
    def of(runs: Runs, page: int, loss: float) -> "_Packets":
        """Those of one of the runs, which is made once more."""
        changes = {
            "seed": page,
            "flow.page.protocol": "quic",
            "flow.page.application.over": "http3",
            "link.path.forward.loss.probability": loss,
        }
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            Scenario(runs.scenario).with_(changes).run(qlog=True, out=out, figure=False, tables=False)
            sent = dict(_of_one_rtt(out / "page-server.sqlog", "quic:packet_sent"))
            came = {number for number, _ in _of_one_rtt(out / "page-client.sqlog", "quic:packet_received")}
        lost = {stream for number in sent.keys() - came for stream in sent[number][1]}
        last = {stream: time for time, streams in sent.values() for stream in streams}
        return _Packets(lost, last, sorted(time for time, _ in sent.values()))

    def pause_ms(self, start: float, end: float) -> float:
        """The longest time between two packets that went in this span."""
        times = [time for time in self.times_ms if start <= time <= end]
        return max((after - before for before, after in pairwise([start, *times, end])), default=0.0)


def _of_one_rtt(path: Path, name: str) -> Iterator[tuple[int, tuple[float, list[int]]]]:
    """Number, time in ms and streams of the 1-RTT packets of a qlog with this event."""
    for record in path.read_text(encoding="utf-8").split("\x1e"):
        event = json.loads(record) if record else {}
        if event.get("name") == name and event["data"]["header"]["packet_type"] == "1RTT":
            frames = event["data"].get("frames", [])
            streams = [frame["stream_id"] for frame in frames if frame["frame_type"] == "stream"]
            yield event["data"]["header"]["packet_number"], (event["time"], streams)


def _held_by_window(one: dict[str, Any]) -> bool:
    """Whether the last data of an object went as much later as it came, after a pause: the window was full."""
    late = 1e3 * _LATE_S
    return bool(one["pause_ms"] > late and abs(one["sent_late_ms"] - one["late_ms"]) < late / 2)


def _look_at_packets(runs: Runs, objects: Points) -> None:
    """Says of each object over HTTP/3 whether data of its own was lost.

    And of its last data how much later it was sent than without loss, counted from when the object was wanted, and
    the longest pause of the sender before that.
    """
    of_http3 = select(objects, {"over": "http3"})
    for (page,), of_page in groups(of_http3, "page"):
        plain = select(of_page, {"loss_percent": 0})
        without = _Packets.of(runs, page, 0.0)
        due = {one["object"]: without.last_ms[one["stream"]] - 1e3 * one["wanted_s"] for one in plain}
        for (loss_percent,), of_run in groups(of_page, "loss_percent"):
            if loss_percent == 0:
                continue
            packets = _Packets.of(runs, page, loss_percent / 100)
            for one in of_run:
                expected = 1e3 * one["wanted_s"] + due[one["object"]]
                went = packets.last_ms[one["stream"]]
                one["own_loss"] = one["stream"] in packets.lost
                one["sent_late_ms"] = went - expected
                one["pause_ms"] = packets.pause_ms(expected, went) if went > expected else 0.0


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
                colour = style.VERMILLION if one["held_back"] else style.BLUE
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
