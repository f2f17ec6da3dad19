"""What a real player told, as the tables `segment` and `playback` and the numbers of a run."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import experience
from quiclab.records.stalls import stalls

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]

_NEAR_S = 0.05
"""Positions and boundaries of segments that are nearer than this are the same."""


@dataclass
class Record:
    """A playback. Times are seconds from the start of the run."""

    begins_s: float
    """When the player asked for the first time."""
    end_s: float
    """When playback ended, or the record does."""
    has_ended: bool
    """Whether the presentation was played to its end."""
    segments: list[Row] = field(default_factory=list)
    """The rows of the table `segment`; `starts_s`, the position of the media, is no column of it."""
    events: list[Row] = field(default_factory=list)
    """The rows of the table `playback`."""
    positions: list[tuple[float, float]] = field(default_factory=list)
    """Times and positions of playback, as they were told."""
    latencies: list[tuple[float, float]] = field(default_factory=list)
    """Of a live presentation: how far behind playback was, and how long it was that."""

    @property
    def has_started(self) -> bool:
        """Whether there was a picture."""
        return any(event["event"] == "start" for event in self.events)

    def numbers(self) -> dict[str, Any]:
        """The entry `playback` of a connection."""
        start = next((event["time_s"] for event in self.events if event["event"] == "start"), None)
        start_up_s = None if start is None else start - self.begins_s
        stood = [(since - self.begins_s, until - since) for since, until in stalls(self.events)]
        lowest = min((row["bitrate_mbps"] for row in self.segments), default=0.0)
        played = [
            (round(1e6 * row["bitrate_mbps"]), round(1e6 * lowest), seconds)
            for _, row, seconds in self.shown()
            if seconds
        ]
        whole_s = self.end_s - self.begins_s
        numbers = experience(start_up_s=start_up_s, end_s=whole_s, played=played, stalls=stood, behind=self.latencies)
        played_s = 0.0 if start is None else self.end_s - start - sum(length for _, length in stood)
        media = [row for row in self.segments if row["segment"] is not None]
        lost = [row for row in self.segments if row["outcome"] != "complete"]
        return {
            **numbers,
            "end_s": whole_s if self.has_ended else None,
            "played_s": played_s,
            "missing_s": 0.0,
            "seeking_s": 0.0,
            "standing_ratio": 1 - played_s / whole_s if whole_s > 0 else None,
            "abandoned": sum(row["outcome"] == "abandoned" for row in media),
            "cut": 0,
            "wasted_bytes": sum(row["received_bytes"] for row in lost),
        }

    def shown(self) -> Iterator[tuple[float, Row, float]]:
        """The segments of which something was shown: when, the download, and the seconds of media."""
        reached = max((position for _, position in self.positions), default=0.0)
        # A live presentation begins where it is.
        began = self.positions[0][1] if self.positions else 0.0
        chosen: dict[int, Row] = {}
        kind = "video" if any(row["kind"] == "video" for row in self.segments) else "audio"
        for row in self.segments:
            if row["kind"] != kind or row["segment"] is None or row["outcome"] != "complete":
                continue
            came = self._time_of(row["starts_s"])
            # A better one that replaces it counts if it came in time.
            if row["segment"] not in chosen or (came is not None and row["ended_s"] <= came):
                chosen[row["segment"]] = row
        for row in sorted(chosen.values(), key=lambda row: float(row["starts_s"])):
            when = self._time_of(row["starts_s"])
            if when is not None:
                ends = min(row["starts_s"] + row["duration_s"], reached)
                yield when, row, max(0.0, ends - max(row["starts_s"], began))

    def _time_of(self, position: float) -> float | None:
        """When playback went over a position; None if it never did."""
        before: tuple[float, float] | None = None
        for time_s, at in self.positions:
            if at > position + _NEAR_S:
                if before is None:
                    return time_s
                part = max(0.0, position - before[1]) / (at - before[1])
                return before[0] + part * (time_s - before[0])
            before = time_s, at
        return None

    def added(self, name: str, connection: str, table: "pa.Table") -> "pa.Table":
        """The table `segment` or `playback` of a run, with the rows of this player.

        What a browser does not tell is null.
        """
        import pyarrow as pa

        schema = pa.schema([column.with_nullable(True) for column in table.schema], table.schema.metadata)
        rows = self.segments if name == "segment" else self.events
        ours = [{key: row.get(key) for key in schema.names} | {"connection": connection} for row in rows]
        return pa.concat_tables([table.cast(schema), pa.Table.from_pylist(ours, schema)])


def read(path: Path, zero_s: float, end_s: float) -> Record | None:
    """What a player told in a file; None if it never began.

    :param zero_s: the start of the run by the system's clock.
    :param end_s: the end of the run in seconds from then.
    """
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    told = []
    for line in lines:
        try:
            one = json.loads(line)
        except ValueError:
            # The last one of a player that was ended.
            continue
        told.append({**one, "at_s": one["at_s"] - zero_s})
    # As a simulated player, it begins when it has the manifest: with its first request.
    begins = next((one["at_s"] for one in told if one["what"] == "asked"), None)
    if begins is None:
        return None
    ended = next((one["at_s"] for one in told if one["what"] == "ended"), None)
    record = Record(begins, min(end_s, told[-1]["at_s"]) if ended is None else ended, ended is not None)
    record.segments = _downloads(told, zero_s, end_s)
    _play(record, told)
    return record


def _downloads(told: Sequence[Mapping[str, Any]], zero_s: float, end_s: float) -> list[Row]:
    """The rows of `segment`: a download is reported when it begins and when it ends."""
    rows: list[Row] = []
    underway: dict[tuple[Any, ...], Row] = {}
    for one in told:
        what = one["what"]
        if what not in ("asked", "complete", "abandoned", "failed"):
            continue
        key = one["kind"], one["is_media"], one["segment"], one["representation"], one["url"]
        if what == "asked":
            row = underway[key] = {
                "kind": one["kind"],
                "segment": one["segment"] if one["is_media"] else None,
                "representation": one["representation"],
                "bitrate_mbps": one["bitrate_bps"] / 1e6,
                "starts_s": one["starts_s"],
                "duration_s": one["duration_s"] if one["is_media"] else 0.0,
                "size_bytes": None,
                "received_bytes": 0,
                "asked_s": one["at_s"],
                "first_byte_s": None,
                "ended_s": None,
                "buffer_before_s": one["track_s"],
                "buffer_after_s": None,
                "estimate_mbps": one["estimate_mbps"],
                "outcome": "underway",
            }
            rows.append(row)
            continue
        row_of = underway.pop(key, None)
        if row_of is None:
            continue
        ended = one.get("ended_s")
        row_of.update(
            outcome=what,
            received_bytes=one.get("bytes", 0),
            ended_s=one["at_s"] if ended is None else ended - zero_s,
            buffer_after_s=one["track_s"],
        )
        first = one.get("first_byte_s")
        row_of["first_byte_s"] = None if first is None else first - zero_s
        if first is not None and first - zero_s <= row_of["asked_s"]:
            # All came at once: the browser told of nothing before the end.
            row_of["first_byte_s"] = row_of["ended_s"]
        if what == "complete":
            row_of["size_bytes"] = row_of["received_bytes"]
            if row_of["segment"] is not None:
                # It is told before the media are in the buffer.
                row_of["buffer_after_s"] = one["track_s"] + row_of["duration_s"]
    return rows


def _play(record: Record, told: Sequence[Mapping[str, Any]]) -> None:
    """The events of playback: what the browser tells, and the switches that follow from the downloads."""
    has_started = stands = False
    events: list[Row] = []

    def note(what: str, one: Mapping[str, Any], rate: float) -> None:
        events.append(
            {
                "time_s": one["at_s"],
                "event": what,
                "position_s": one["position_s"],
                "buffer_s": one["buffer_s"],
                "playback_rate": rate,
                "latency_s": one["latency_s"],
            }
        )

    last: Mapping[str, Any] | None = None
    for one in told:
        what = one["what"]
        if one["at_s"] > record.end_s:
            break
        if has_started and last is not None and last["latency_s"] is not None:
            record.latencies.append((max(0.0, last["latency_s"]), max(0.0, one["at_s"] - last["at_s"])))
        last = one
        if has_started:
            record.positions.append((one["at_s"], one["position_s"]))
        if what == "playing" and not has_started:
            has_started = True
            record.positions.append((one["at_s"], one["position_s"]))
            note("start", one, one["rate"])
        elif what == "playing" and stands:
            stands = False
            note("resume", one, one["rate"])
        elif what == "waiting" and has_started and not stands:
            stands = True
            note("stall", one, 0.0)
        elif what == "ratechange" and has_started and not stands:
            note("rate", one, one["rate"])
    if last is not None:
        note("end", {**last, "at_s": record.end_s}, 0.0)
    shown = list(record.shown())
    before: Row | None = None
    for when, row, _ in shown:
        if before is not None and row["representation"] != before["representation"]:
            near = next((one for one in reversed(told) if one["at_s"] <= when), told[0])
            buffer_s = max(0.0, near["buffer_s"] - near["rate"] * (when - near["at_s"]))
            note("switch", {**near, "at_s": when, "position_s": row["starts_s"], "buffer_s": buffer_s}, near["rate"])
        before = row
    events.sort(key=lambda event: float(event["time_s"]))
    for event in events:
        now = [row for when, row, _ in shown if when <= event["time_s"] + _NEAR_S]
        event["representation"] = now[-1]["representation"] if now else None
        event["bitrate_mbps"] = now[-1]["bitrate_mbps"] if now else None
    record.events = events
