"""The table `playback`, from the downloads of the table `segment`, which are computed from the packets."""

import math
from itertools import pairwise
from typing import Any

from recomputed.applications import seconds
from recomputed.sheet import Sheet
from recomputed.sources import Case

COLUMNS = ("time_s", "event", "position_s", "buffer_s", "representation", "bitrate_mbps", "playback_rate")


def playback(case: Case, sheet: Sheet) -> None:
    """A player on demand is replayed; of a live one each row follows from the one before, and from the filming."""
    rows = case.rows("playback")
    if case.name == "film":
        wanted = _film(case)
        for at, column in enumerate(COLUMNS):
            sheet.column(f"playback.{column}", [row[column] for row in rows], [row[at] for row in wanted], by=1e-6)
        sheet.column("playback.connection", [row["connection"] for row in rows], ["get"] * len(wanted))
    if case.name == "live":
        _live(case, sheet, rows)


def _film(case: Case) -> list[tuple[Any, ...]]:
    """Start, switches, the seek and the end, by the rules of docs/model/video.md."""
    application = case.flow("get")["application"]
    start_up, resume = seconds(application["start_up"]), seconds(application["resume"])
    seek, target = (seconds(text) for text in application["seeks"][0])
    whole = seconds(application["presentation"]["duration"])
    downloads = [row for row in case.rows("segment") if row["outcome"] == "complete"]
    video = {row["segment"]: row for row in downloads if row["kind"] == "video"}
    bounds = {"video": 3.0, "audio": 2.0}

    def reach(time: float, start: float, since: float) -> dict[str, float]:
        """Up to where the media of each track are there, downloads since a time counted."""
        found = dict.fromkeys(bounds, start)
        for row in downloads:
            if since - 1e-9 <= row["asked_s"] and row["ended_s"] <= time + 1e-9:
                end = row["segment"] * bounds[row["kind"]] + row["duration_s"]
                found[row["kind"]] = max(found[row["kind"]], end)
        return found

    def begins(start: float, since: float, least: float) -> float:
        times: list[float] = sorted(row["ended_s"] for row in downloads if row["asked_s"] >= since - 1e-9)
        return next(
            time for time in times if min(reach(time, start, since).values()) - start >= min(least, whole - start)
        )

    found: list[tuple[Any, ...]] = []

    def plays(word: str, time: float, position: float, since: float, until: float) -> None:
        """From a time on it plays: the first row and the switches before the end of this."""
        shown = None
        at = position
        while at < whole - 1e-9 and time + at - position < until - 1e-9:
            row = video[int(at // 3)]
            if row["representation"] != shown:
                moment = time + at - position
                buffer = min(reach(moment, position, since).values()) - at
                what = word if shown is None else "switch"
                shown = row["representation"]
                found.append((moment, what, at, buffer, shown, row["bitrate_mbps"], 1.0))
            at = (int(at // 3) + 1) * 3.0

    plays("start", begins(0.0, 0.0, start_up), 0.0, 0.0, seek)
    found.append((seek, "seek", target, 0.0, None, None, 0.0))
    again = begins(target, seek, resume)
    plays("resume", again, target, seek, math.inf)
    found.append((again + whole - target, "end", whole, 0.0, found[-1][4], found[-1][5], 0.0))
    return found


def _live(case: Case, sheet: Sheet, rows: list[dict[str, Any]]) -> None:
    """Position by the rate since the row before; latency by what is filmed; the rate by the sigmoid of dash.js."""
    application = case.flow("get")["application"]
    since, target, catch_up = seconds(application["since"]), seconds(application["latency"]), application["catch_up"]
    whole = {row["segment"]: row for row in case.rows("segment") if row["outcome"] == "complete"}
    positions, buffers, latencies = [], [], []
    for before, row in pairwise(rows):
        position = before["position_s"] + before["playback_rate"] * (row["time_s"] - before["time_s"])
        positions.append(position)
        ends = [3.0 * (number + 1) for number, one in whole.items() if one["ended_s"] <= row["time_s"] + 1e-9]
        buffers.append(min(max(ends), seconds(application["until"])) - position)
        latencies.append(since + row["time_s"] - position)
    later = rows[1:]
    sheet.column("playback.position_s", [row["position_s"] for row in later], positions, by=2e-6)
    sheet.column("playback.buffer_s", [row["buffer_s"] for row in later], buffers, by=2e-6)
    sheet.column("playback.latency_s", [row["latency_s"] for row in later], latencies, by=2e-6)
    for row in later:
        if row["event"] == "rate":
            raw = 1 - catch_up + 2 * catch_up / (1 + math.exp(-5 * (row["latency_s"] - target)))
            wanted = 1.0 if abs(row["latency_s"] - target) <= 0.02 else raw
            sheet.column("playback.playback_rate", [row["playback_rate"]], [wanted], by=1e-5)
        if row["event"] in ("stall", "end"):
            sheet.column("playback.playback_rate", [row["playback_rate"]], [0.0])
