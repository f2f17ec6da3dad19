"""What a player did: its rows of the tables `segment` and `playback`, and what follows from them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quiclab.records.stalls import stalls
from quiclab.values.columns import having, mask
from quiclab.values.downsampling import Series
from quiclab.values.units import number

if TYPE_CHECKING:
    from quiclab.drawings.plots.view import View

Spans = list[tuple[float, float]]


@dataclass(frozen=True)
class Playback:
    """The playback of one connection."""

    segments: list[dict[str, Any]]
    """Its rows of the table `segment`, without those of initialization segments."""
    events: list[dict[str, Any]]
    """Its rows of the table `playback`."""
    asked_s: float
    """When the player asked for the first time."""
    is_chunked: bool
    """Whether media can be played before their segment is complete."""
    target_s: float | None
    """Live: the latency that the player aims at."""

    @property
    def kinds(self) -> list[str]:
        """The kinds of its tracks: "video", "audio"."""
        return [kind for kind in ("video", "audio") if any(row["kind"] == kind for row in self.segments)]

    def bitrates(self) -> tuple[Series, Series]:
        """Times in seconds and Mbit/s of what is shown, a step at each; NaN where there is no picture."""
        times = np.array([event["time_s"] for event in self.events])
        shown = [np.nan if event["event"] == "end" else event["bitrate_mbps"] for event in self.events]
        return times, np.array(shown, dtype=np.float64)

    def stalls(self) -> Spans:
        """The spans without a picture: the buffer was empty, or media never came (a gap)."""
        return stalls(self.events)

    def waits(self) -> Spans:
        """The spans from the start of the player, and from each seek, until playback began."""
        begins = next((event["time_s"] for event in self.events if event["event"] in ("start", "end")), self.asked_s)
        after = [span for span in self._spans("seek") if span[0] >= begins]
        return [(self.asked_s, begins), *after]

    def seeks(self) -> Series:
        """The times at which playback jumped, in seconds."""
        return np.array([event["time_s"] for event in self.events if event["event"] == "seek"])

    def _spans(self, what: str) -> Spans:
        """The spans after these events in which playback stood."""
        pairs = zip(self.events, self.events[1:], strict=False)
        stood = [(one, after) for one, after in pairs if one["event"] == what and one["playback_rate"] == 0]
        return [(one["time_s"], after["time_s"]) for one, after in stood]

    def downloads(self, kind: str) -> tuple[Series, Series, Series]:
        """Of each complete download its first byte and its end in seconds, and its throughput in Mbit/s."""
        rows = [row for row in self.segments if row["kind"] == kind and row["outcome"] == "complete"]
        first = np.array([row["first_byte_s"] for row in rows], dtype=np.float64)
        ended = np.array([row["ended_s"] for row in rows], dtype=np.float64)
        megabits = np.array([row["size_bytes"] for row in rows], dtype=np.float64) * 8e-6
        # As rate adaptations count: a download takes at least 1 ms.
        return first, ended, megabits / np.maximum(ended - first, 1e-3)

    def estimates(self) -> tuple[Series, Series]:
        """Times in seconds and Mbit/s: the estimate with which each segment of video was asked for."""
        rows = [row for row in self.segments if row["kind"] == self.kinds[0] and row["estimate_mbps"] is not None]
        return np.array([row["asked_s"] for row in rows]), np.array([row["estimate_mbps"] for row in rows])

    def latency(self) -> tuple[Series, Series]:
        """Times and latency in seconds of a live presentation, as a line: it is straight between two events."""
        times: list[float] = []
        values: list[float] = []
        for event, after in zip(self.events, self.events[1:], strict=False):
            if event["latency_s"] is not None:
                times += [event["time_s"], after["time_s"]]
                grown = (1 - event["playback_rate"]) * (after["time_s"] - event["time_s"])
                values += [event["latency_s"], event["latency_s"] + grown]
        return np.array(times), np.array(values)

    def buffer(self, kind: str) -> tuple[Series, Series]:
        """Times and media in the buffer of a track in seconds, as a line from the first request to the end."""
        rows = [row for row in self.segments if row["kind"] == kind]
        if self.is_chunked:
            return self._as_measured(rows)
        # At one time, playback goes on before a download ends, and what is asked for comes last.
        moments = [(event["time_s"], 0, event) for event in self.events]
        moments += [(row["ended_s"], 1, row) for row in rows if row["outcome"] == "complete"]
        moments += [(row["asked_s"], 2, row) for row in rows]
        times, levels = [self.asked_s], [0.0]
        level, rate, since = 0.0, 0.0, self.asked_s
        # The position at the last event.
        position, noted = 0.0, self.asked_s
        for time, sort, row in sorted(moments, key=lambda moment: moment[:2]):
            before = max(level - rate * (time - since), 0.0)
            level = before
            if sort == 1:
                level = row["buffer_after_s"]
            elif sort == 2:
                level = row["buffer_before_s"]
            else:
                if row["event"] == "seek":
                    # A position that is in the buffer costs what is jumped over.
                    jumped = row["position_s"] - position - rate * (time - noted)
                    level = max(before - jumped, 0.0) if row["playback_rate"] else 0.0
                rate, position, noted = row["playback_rate"], row["position_s"], time
            since = time
            times += [time, time]
            levels += [before, level]
            if sort == 0 and row["event"] == "end":
                break
        return np.array(times), np.array(levels)

    def _as_measured(self, rows: list[dict[str, Any]]) -> tuple[Series, Series]:
        """A line through what the tables say: with chunks the buffer grows while a download goes on."""
        points = [(row["asked_s"], row["buffer_before_s"]) for row in rows]
        points += [(row["ended_s"], row["buffer_after_s"]) for row in rows if row["buffer_after_s"] is not None]
        if len(self.kinds) == 1:
            points += [(event["time_s"], event["buffer_s"]) for event in self.events]
        times, levels = np.array(sorted(points)).reshape(-1, 2).T
        return times, levels


def playback_of(view: "View") -> Playback | None:
    """The playback of a connection; None if it plays nothing, or if the run has no tables of it."""
    if not {"segment", "playback"} <= set(view.run.tables):
        return None
    segments, events = (_rows(view, name) for name in ("segment", "playback"))
    if not segments or not events:
        return None
    application = _application(view)
    target = application.get("latency")
    return Playback(
        [row for row in segments if row["segment"] is not None],
        events,
        asked_s=min(row["asked_s"] for row in segments),
        is_chunked=target is not None and "chunk" in application,
        target_s=None if target is None else number(str(target)),
    )


def _rows(view: "View", name: str) -> list[dict[str, Any]]:
    table = view.run.table(name).arrow
    if not len(table):
        return []
    rows: list[dict[str, Any]] = table.filter(mask(having(table["connection"], view.connection))).to_pylist()
    return rows


def _application(view: "View") -> dict[str, Any]:
    """The options of a flow's application, as the resolved scenario has them."""
    flows = view.run._document.get("flow", [])
    found = next((flow.get("application") for flow in flows if flow.get("name") == view.connection), None)
    return found if isinstance(found, dict) else {}
