"""The tables of applications: `message`, `object`, `segment`, `playback`, from the frames of streams and datagrams."""

import math
from dataclasses import dataclass
from typing import Any

from recomputed.sheet import Sheet
from recomputed.sources import OTHER, Case, End
from recomputed.transport import Stream


def seconds(text: str) -> float:
    """A duration of a scenario."""
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0}[unit]


def ready(end: End) -> float:
    """When an end can send data: with its first packet of 1-RTT."""
    return next(packet.time for packet in end.sent if packet.kind == "1RTT")


def message(case: Case, sheet: Sheet) -> None:
    """Messages of a constant size and gap: when the source made them, and when the reader had all of one."""
    if case.name not in ("messages", "datagrams", "mix"):
        return
    application, part = case.flow("get")["application"], 0
    if application["type"] == "mix":
        application, part = application["parts"][1], 1
    side = "server" if application["direction"] == "download" else "client"
    writer, reader = case.ends["get", side], case.ends["get", OTHER[side]]
    size, gap, count = application["source"]["size"], seconds(application["source"]["gap"]), application["count"]
    rows = case.rows("message")
    if application["over"] == "datagrams":
        sent = [packet for packet in writer.sent if packet.of_type("datagram")]
        came = {packet.number: packet.time for packet in reader.received if packet.of_type("datagram")}
        streams, start = [None] * count, sent[0].time
        delivered = [came.get(packet.number) for packet in sent]
    else:
        number = next(
            frame["stream_id"] for one in writer.sent for frame in one.of_type("stream") if frame["stream_id"] & 2
        )
        streams, start = [number] * count, ready(writer) + gap
        read = Stream(reader.received, number)
        delivered = [read.when(size * (at + 1)) for at in range(count)]
    written = [start + gap * at for at in range(count)]
    delays = [None if there is None else (there - here) * 1e3 for here, there in zip(written, delivered, strict=True)]
    deadline = seconds(application["deadline"]) * 1e3 if "deadline" in application else None
    wanted: dict[str, list[Any]] = {
        "connection": ["get"] * count,
        "side": [side] * count,
        "part": [part] * count,
        "message": list(range(count)),
        "stream": streams,
        "bytes": [size] * count,
        "written_s": written,
        "delivered_s": delivered,
        "delay_ms": delays,
        "deadline_ms": [deadline] * count,
        "missed": [None if delay is None or deadline is None else delay > deadline for delay in delays],
    }
    for column, cells in wanted.items():
        sheet.column(f"message.{column}", [row[column] for row in rows], cells, by=1e-5)


def _size(text: str) -> int:
    number, _, unit = text.partition(" ")
    return int(float(number) * {"": 1, "kB": 1000, "MB": 10**6}[unit])


@dataclass
class Download:
    """A response of HTTP/3: what came of its stream, and the bytes before the content."""

    asked: float
    read: Stream
    size: int

    @property
    def head(self) -> int:
        """The bytes before the content."""
        assert self.read.size is not None
        return self.read.size - self.size

    @property
    def first_byte(self) -> float | None:
        """When the first byte of the content was there."""
        return self.read.when(self.head + 1)


def object_(case: Case, sheet: Sheet) -> None:
    """The objects of a page of the file, each on the next stream: by the frames that the client sent and received."""
    if case.name != "page":
        return
    text = case.files["article.csv"]
    lines = [line for line in text.splitlines() if line and not line.startswith("#")][1:]
    items = [[cell.strip() for cell in line.split(",")] for line in lines]
    client = case.ends["get", "client"]
    asked = {number: Stream(client.sent, number).first for number in range(0, 4 * len(items), 4)}
    downloads: list[tuple[int, Download]] = []
    wanted: list[float] = []
    for size, _, after, parsing, *_ in items:
        parent = int(after.rstrip("*")) - 1 if after else None
        if parent is None:
            due = ready(client)
        else:
            before = downloads[parent][1]
            due = (before.first_byte if after.endswith("*") else before.read.whole) or math.nan
        due += seconds(parsing) if parsing else 0.0
        wanted.append(due)
        number = next(
            number
            for number, time in asked.items()
            if time and abs(time - due) < 1e-6 and number not in dict(downloads)
        )
        downloads.append((number, Download(due, Stream(client.received, number), _size(size))))
    rows = case.rows("object")
    columns: dict[str, list[Any]] = {
        "connection": ["get"] * len(items),
        "page": [0] * len(items),
        "object": list(range(len(items))),
        "stream": [number for number, _ in downloads],
        "size_bytes": [_size(item[0]) for item in items],
        "urgency": [int(item[4]) for item in items],
        "wanted_s": wanted,
        "asked_s": [asked[number] for number, _ in downloads],
        "first_byte_s": [one.first_byte for _, one in downloads],
        "complete_s": [one.read.whole for _, one in downloads],
    }
    for column, cells in columns.items():
        sheet.column(f"object.{column}", [row[column] for row in rows], cells, by=1.1e-9)


class Track:
    """One track of a player, replayed: its downloads in their order, and the media in its buffer."""

    def __init__(self, kind: str, bitrates: list[float], segment: float, whole: float) -> None:
        self.kind, self.bitrates, self.segment, self.whole = kind, bitrates, segment, whole
        self.averages = {half: [0.0, 0.0] for half in (3.0, 8.0)}

    def duration(self, number: int) -> float:
        """Of the media of a segment."""
        return min(self.segment, self.whole - number * self.segment)

    def size(self, number: int, representation: int) -> int:
        """Bitrate times duration."""
        return round(self.bitrates[representation] * 1e6 * self.duration(number) / 8)

    def estimate(self) -> float | None:
        """The lower of the two averages of docs/model/abr.md."""
        if not self.averages[3.0][1]:
            return None
        return min(mean / (1 - 2 ** (-weight / half)) for half, (mean, weight) in self.averages.items())

    def add(self, size: int, first: float, last: float) -> None:
        """A complete download."""
        span = max(last - first, 1e-3)
        for half, pair in self.averages.items():
            share = 2 ** (-span / half)
            pair[0] = share * pair[0] + (1 - share) * size * 8e-6 / span
            pair[1] += span


def _reads(read: Stream, head: int) -> list[tuple[float, int]]:
    """When how much of the content was there."""
    return [(time, reach - head) for time, reach in read.steps if reach > head]


def segment(case: Case, sheet: Sheet) -> None:
    """Each download of a player by the streams that carried it, in the order of its requests."""
    if case.name != "film":
        return
    presentation = case.flow("get")["application"]["presentation"]
    whole = seconds(presentation["duration"])
    rates = {
        kind: [_mbps(rate) for rate in presentation[key]] for kind, key in (("video", "bitrates"), ("audio", "audio"))
    }
    tracks = {
        kind: Track(kind, rates[kind], seconds(presentation[key]), whole)
        for kind, key in (("video", "segment"), ("audio", "audio_segment"))
    }
    client, rows = case.ends["get", "client"], case.rows("segment")
    stops = {frame["stream_id"]: packet.time for packet in client.sent for frame in packet.of_type("stop_sending")}
    seek, target = (seconds(text) for text in case.flow("get")["application"]["seeks"][0])
    positions = _positions(case)
    contents: dict[int, list[tuple[float, int]]] = {}
    kinds, ends, heads = {}, {}, {}
    for row in rows:
        # What a stream carried, its size says: the responses have heads of less than 100 bytes.
        number, read = row["stream"], Stream(client.received, row["stream"])
        if read.size is not None and number not in stops:
            heads[row["size_bytes"]] = read.size - row["size_bytes"]
            assert 0 < heads[row["size_bytes"]] < 100, row
    for row in rows:
        number, read = row["stream"], Stream(client.received, row["stream"])
        ends[number] = stops.get(number, read.whole)
        kinds[number] = row["kind"]
        until = stops.get(number, math.inf)
        contents[number] = [one for one in _reads(read, heads[row["size_bytes"]]) if one[0] <= until]
    wanted: dict[str, list[Any]] = {column: [] for column in rows[0]}
    following = dict.fromkeys(tracks, 0)
    buffered = dict.fromkeys(tracks, 0.0)
    pending = sorted(ends.items(), key=lambda item: item[1] or math.inf)
    has_sought = False
    for at, row in enumerate(rows):
        number, track = 4 * at, tracks[row["kind"]]
        asked = Stream(client.sent, number).first
        assert asked is not None
        while pending and (pending[0][1] or math.inf) <= asked + 1e-9:
            done = pending.pop(0)[0]
            if done not in stops:
                buffered[kinds[done]] += tracks[kinds[done]].duration(
                    int(buffered[kinds[done]] // tracks[kinds[done]].segment)
                )
        if asked >= seek - 1e-9 and not has_sought:
            has_sought = True
            for kind, one in tracks.items():
                following[kind] = int(target // one.segment)
                buffered[kind] = following[kind] * one.segment
        content, end = contents[number], ends[number]
        came = content[-1][1]
        index = following[track.kind]
        representation = _nearest(track, index, content[-1][1]) if number not in stops else row["representation"]
        size = track.size(index, representation)
        outcome = "complete"
        if number in stops:
            outcome = "cancelled" if abs(stops[number] - seek) < 1e-9 else "abandoned"
        else:
            following[track.kind] += 1
        assert end is not None
        beside = sum(_between(contents[other], asked, end) for other, kind in kinds.items() if kind != track.kind)
        before = buffered[track.kind] - positions(asked)
        after = track.duration(index) + before - (positions(end) - positions(asked))
        if outcome != "complete":
            after = 0.0 if outcome == "cancelled" else after - track.duration(index)
        values = {
            "connection": "get",
            "kind": track.kind,
            "segment": index,
            "representation": representation,
            "bitrate_mbps": track.bitrates[representation],
            "duration_s": track.duration(index),
            "size_bytes": size,
            "received_bytes": came,
            "beside_bytes": beside,
            "urgency": case.flow("get")["application"][f"{track.kind}_urgency"],
            "stream": number,
            "asked_s": asked,
            "first_byte_s": content[0][0],
            "ended_s": end,
            "buffer_before_s": before,
            "buffer_after_s": after,
            "estimate_mbps": track.estimate() if track.kind == "video" else None,
            "outcome": outcome,
        }
        for column, value in values.items():
            wanted[column].append(value)
        if outcome == "complete":
            track.add(size, content[0][0], end)
    for column, cells in wanted.items():
        sheet.column(f"segment.{column}", [row[column] for row in rows], cells, by=1e-6)


def _mbps(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"kbit/s": 1e-3, "Mbit/s": 1.0}[unit]


def _nearest(track: Track, index: int, size: int) -> int:
    return min(range(len(track.bitrates)), key=lambda at: abs(track.size(index, at) - size))


def _between(content: list[tuple[float, int]], start: float, end: float) -> int:
    """The bytes that were read after a time and until another."""

    def until(time: float, is_in: bool) -> int:
        return max((reach for at, reach in content if at < time - 1e-9 or (is_in and at <= time + 1e-9)), default=0)

    return until(end, False) - until(start, False)


def _positions(case: Case) -> Any:
    """The position in the media at a time, by the events of the playback."""
    rows = case.rows("playback")

    def position(time: float) -> float:
        last = None
        for row in rows:
            if row["time_s"] <= time + 1e-9:
                last = row
        if last is None:
            return 0.0
        return float(last["position_s"] + last["playback_rate"] * (time - last["time_s"]))

    return position
