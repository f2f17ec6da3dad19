"""Players of videos: their downloads and stalls, from the tables of a run folder."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quiclab.records.stalls import stalls
from quiclab.values import stored_tables

SEGMENTS, PLAYBACK = "segment.parquet", "playback.parquet"

_COLUMNS = ("kind", "segment", "representation", "bitrate_mbps", "size_bytes", "received_bytes", "stream", "outcome")
_TIMES = ("asked_s", "first_byte_s", "ended_s")


@dataclass
class Player:
    """What the player of a connection did."""

    segments: list[dict[str, Any]] = field(default_factory=list)
    """Its downloads in the order of the requests, times in nanoseconds as `asked`, `first` and `ended`."""
    stalls: list[tuple[int, int]] = field(default_factory=list)
    """Start and end of each stall in nanoseconds."""

    def facts(self, start: int) -> dict[str, Any]:
        """As the page has it, with times from a start on."""

        def after(time: int | None) -> int | None:
            return None if time is None else time - start

        segments = [{**one, **{key: after(one[key]) for key in ("asked", "first", "ended")}} for one in self.segments]
        return {"segments": segments, "stalls": [[begin - start, end - start] for begin, end in self.stalls]}


def players(where: Path) -> dict[str, Player]:
    """The players of a run by the names of their connections; empty if the folder has no tables of any."""
    if not ((where / SEGMENTS).exists() and (where / PLAYBACK).exists()):
        return {}
    found: dict[str, Player] = {}
    for row in stored_tables.whole(where / SEGMENTS).to_pylist():
        times = {
            name: _nanoseconds(row[column]) for name, column in zip(("asked", "first", "ended"), _TIMES, strict=True)
        }
        segment = {column.split("_")[0]: row[column] for column in _COLUMNS}
        found.setdefault(row["connection"], Player()).segments.append({**segment, **times})
    events: dict[str, list[dict[str, Any]]] = {}
    for row in stored_tables.whole(where / PLAYBACK).to_pylist():
        events.setdefault(row["connection"], []).append(row)
    for name, rows in events.items():
        spans = [(round(start * 1e9), round(end * 1e9)) for start, end in stalls(rows)]
        found.setdefault(name, Player()).stalls.extend(spans)
    return found


def _nanoseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e9)
