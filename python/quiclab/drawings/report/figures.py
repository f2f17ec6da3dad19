"""What the figures of a run show: the series of each connection, reduced to what a page can hold."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from quiclab.drawings.plots.video import playback_of
from quiclab.drawings.plots.view import View, views
from quiclab.drawings.report.packed import shortened, steps
from quiclab.values.downsampling import Series, downsample

if TYPE_CHECKING:
    from quiclab.results.run import Run

COLUMNS = 500
"""Spans of time of a series: of each the first, the least, the greatest and the last value are kept."""
POINTS = 4 * COLUMNS
"""Points of a series at most."""
_MARKS = 1000
"""Marks of single events in a panel at most."""
_FAR = 5
"""From this multiple of the highest of the rates on, a capacity does not make the axis longer."""


@dataclass
class Panel:
    """One pair of axes."""

    title: str
    unit: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)

    def line(self, label: str, colour: str, points: tuple[Series, Series], style: str = "steps", **more: Any) -> None:
        """Adds a line if it has points. `style`: steps, line, area (steps and what is below) or ground (that alone)."""
        times, values = downsample(*points, COLUMNS)
        if len(times):
            one = {"label": label, "colour": colour, "style": style, "times": steps(times)}
            self.lines.append({**one, "values": shortened(values), **more})

    def mark(self, label: str, times: Series) -> None:
        """Adds a mark for each event: at most one for each thousandth of their time."""
        if not len(times):
            return
        shown = times
        if len(times) > _MARKS:
            span = float(times.max() - times.min()) or 1.0
            places = ((times - times.min()) * (_MARKS / span)).astype(np.int64)
            shown = times[np.unique(places, return_index=True)[1]]
        self.marks.append({"label": label, "count": len(times), "times": steps(shown)})

    def as_json(self) -> dict[str, Any]:
        """As `browser/panel.js` reads it."""
        return {"title": self.title, "unit": self.unit, "lines": self.lines, "marks": self.marks}


def figures(run: "Run", most: int) -> list[dict[str, Any]]:
    """The figures of the first connections of a run. Raises `Error` if it has no tables."""
    return [_figure(view) for view in views(run, None)[:most]]


def _figure(view: View) -> dict[str, Any]:
    panels = [_window(view), _rtt(view), _rate(view), _queue(view), *_playback(view)]
    return {
        "connection": view.connection,
        "sender": view.side,
        "end": float(view.run.summary.get("duration_s") or 0),
        "panels": [panel.as_json() for panel in panels if panel.lines or panel.marks],
    }


def _window(view: View) -> Panel:
    panel = Panel("Window", "kB")
    times, flight = view.gauge("bytes_in_flight")
    panel.line("in flight", "sky", (times, flight / 1e3), "area")
    times, window = view.window()
    panel.line("congestion window", "orange", (times, window / 1e3))
    panel.mark("declared lost", view.losses())
    return panel


def _rtt(view: View) -> Panel:
    panel = Panel("Round-trip time", "ms")
    panel.line("latest", "blue", view.gauge("latest_rtt_ms"))
    panel.line("smoothed", "ink", view.gauge("smoothed_rtt_ms"))
    panel.line("minimum", "green", view.gauge("min_rtt_ms"), dashed=True)
    return panel


def _rate(view: View) -> Panel:
    panel = Panel("Rate", "Mbit/s")
    lines = [("sent", "vermillion", view.rate("sent"))]
    if view.alone:
        lines.append(("delivered", "blue", view.rate("delivered")))
    else:
        # What the link carried belongs to all connections; one of them knows its part from its samples.
        lines += [("all connections", "soft", view.rate("delivered")), ("delivered", "blue", view.delivery_samples())]
    highest = max((float(np.nanmax(values)) for _, _, (_, values) in lines if len(values)), default=math.inf)
    times, capacity = view.rate("capacity")
    if len(times):
        panel.line(
            f"capacity of {view.link}", "pale", (times, capacity), "ground", far=bool(capacity.min() > _FAR * highest)
        )
    for label, colour, points in lines:
        panel.line(label, colour, points)
    return panel


def _queue(view: View) -> Panel:
    panel = Panel("Queue", "packets")
    panel.line(f"queue of {view.link}" if view.link else "queue", "green", view.queue(), "area")
    panel.mark("dropped", view.drops())
    return panel


def _playback(view: View) -> list[Panel]:
    playback = playback_of(view)
    if playback is None:
        return []
    bitrate, buffer = Panel("Bitrate", "Mbit/s"), Panel("Buffer", "s")
    bitrate.line("shown", "blue", playback.bitrates())
    for kind, colour in zip(playback.kinds, ("green", "orange"), strict=False):
        buffer.line(kind, colour, playback.buffer(kind), "line")
    buffer.mark("stalls", np.array([start for start, _ in playback.stalls()]))
    return [bitrate, buffer]
