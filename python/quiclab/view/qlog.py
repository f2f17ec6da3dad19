"""qlog files of this and of other stacks: packets, frames, losses and metrics, as columns.

Read are JSON text sequences and newline-delimited JSON (`.sqlog`) and plain JSON (`.qlog`), in the schema of
draft-ietf-quic-qlog-main-schema-14 and in the versions 0.3 and 0.4 that other stacks write.

Records of the usual form are read by the crate `view`, many at a time. Whatever it does not know is read here, one
record at a time: what is unusual and allowed, and what is wrong. Both read the same from the same record.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, overload

from quiclab._quiclab import Error, ViewLog, ViewSplitter

ENDINGS = (".sqlog", ".qlog")
"""What the names of qlog files end with."""

SPACES = {"initial": 0, "handshake": 1, "0rtt": 2, "1rtt": 2}
"""The packet number space of a packet type (RFC 9000 section 12.3)."""

METRICS = (
    "congestion_window",
    "bytes_in_flight",
    "ssthresh",
    "smoothed_rtt",
    "latest_rtt",
    "min_rtt",
    "pacing_rate",
)
"""The gauges of recovery that are kept: bytes, milliseconds, bit/s."""

_LARGEST = 1 << 62
"""One more than what a variable-length integer of RFC 9000 section 16 can say."""

_LONGEST = 1 << 32
"""More bytes than a packet could have, even if somebody logs several as one."""

_LATEST = 4e12
"""In milliseconds since 1970, the year 2096: what fits into nanoseconds of 64 bits, and twice."""

_NO_LIMIT = 1 << 42
"""From here on a gauge means "none": windows without a limit are written as the largest integer of some type."""


@dataclass(slots=True)
class Packet:
    """One packet as one end wrote it down."""

    time: int
    """In nanoseconds since the start of the log."""
    kind: str
    """Its type in lower case: "initial", "1rtt"."""
    number: int
    """Its packet number; -1 for types without one."""
    size: int
    """In bytes; -1 if the log does not say."""
    streams: list[tuple[int, int, int, bool]]
    """Its STREAM frames: stream, offset, length, FIN. DATAGRAM frames are of stream -1, with offset 0."""
    acks: list[tuple[int, list[tuple[int, int]]]]
    """Its ACK frames: delay in nanoseconds, and the ranges, both ends included."""
    resets: list[int]
    """The streams of its RESET_STREAM frames."""
    others: list[tuple[str, tuple[int, ...]]]
    """All other frames: a text with {} for each of the numbers."""
    credit: tuple[tuple[str, int, int], ...] = ()
    """Of those the ones of flow control: "max" or "blocked", the stream (-1 for the connection), and the limit."""


class Packets(Sequence[Packet]):
    """The packets that one end sent, or received, as they stand in the columns of a log."""

    def __init__(self, events: ViewLog, is_sent: bool) -> None:
        self._events = events
        self._is_sent = is_sent

    def __len__(self) -> int:
        return self._events.count(self._is_sent)

    @overload
    def __getitem__(self, at: int) -> Packet: ...
    @overload
    def __getitem__(self, at: slice) -> list[Packet]: ...
    def __getitem__(self, at: int | slice) -> Packet | list[Packet]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        return packet(self._events.packet(self._is_sent, at if at >= 0 else at + len(self)))

    def append(self, packet: Packet) -> None:
        """Adds a packet."""
        self._events.add(
            self._is_sent,
            (
                packet.time,
                packet.kind,
                packet.number,
                packet.size,
                packet.streams,
                packet.acks,
                packet.resets,
                [(text, list(values)) for text, values in packet.others],
                list(packet.credit),
            ),
        )


def packet(values: tuple[Any, ...]) -> Packet:
    """A packet from the values that stand for it in columns."""
    time, kind, number, size, streams, acks, resets, others, credit = values
    texts = [(text, tuple(numbers)) for text, numbers in others]
    return Packet(time, kind, number, size, streams, acks, resets, texts, tuple(credit))


@dataclass
class Log:
    """One trace: what one end of a connection wrote down."""

    name: str
    """How the trace calls itself, or its file is called."""
    side: str
    """"client" or "server"."""
    group: str
    """What both ends' traces have in common; empty if not said."""
    title: str
    events: ViewLog = field(default_factory=ViewLog)
    """Packets, losses, what the application wrote, and the gauges, in columns."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know about the file."""

    @property
    def sent(self) -> Packets:
        """The packets that it sent."""
        return Packets(self.events, True)

    @property
    def received(self) -> Packets:
        """The packets that it received."""
        return Packets(self.events, False)

    @property
    def metrics(self) -> dict[str, tuple[list[int], list[float]]]:
        """Times and values by the names in `METRICS`."""
        return {name: self.events.series(name) for name in self.events.gauges()}


def read(path: Path, told: Callable[[int], object] | None = None) -> list[Log]:
    """The traces of a file. `told` hears now and then how many of its bytes were read.

    Raises `Error`, which names the file and the line, if it is no qlog of a known version, or breaks its format.
    """
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
            if not head.strip(b"\x1e \t\r\n"):
                raise Error(f"{path}: is empty")
            file.seek(0)
            return [_sequence(path, file, told)] if _is_sequence(head) else _contained(path, file, told)
    except OSError as error:
        raise Error(f"{path}: cannot be read: {error.strerror}") from error


def _is_sequence(head: bytes) -> bool:
    """Whether records follow each other, each on its line, rather than one document."""
    if head.lstrip()[:1] == b"\x1e":
        return True
    first, _, rest = head.partition(b"\n")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return bool(rest.strip())


_CHUNK = 1 << 22
"""So many bytes of a file are read at a time, and the rest of a line."""


def _sequence(path: Path, file: Any, told: Callable[[int], object] | None) -> Log:
    log: Log | None = None
    reader: _Reader | None = None
    line, seen = 0, 0
    while chunk := file.read(_CHUNK):
        if not chunk.endswith(b"\n"):
            chunk += file.readline()
        at = 0
        while at < len(chunk):
            if reader is not None:
                size, lines, is_stuck = reader.many(chunk, at)
                at, line = at + size, line + lines
                if not is_stuck:
                    break
            end = chunk.find(b"\n", at) + 1 or len(chunk)
            raw, at, line = chunk[at:end], end, line + 1
            text = raw.strip(b"\x1e \t\r\n")
            if not text:
                continue
            try:
                record = json.loads(text.decode("utf-8"))
                if reader is not None:
                    reader.event(record)
                else:
                    log = _header(path, record, record.get("trace") if isinstance(record, dict) else None)
                    reader = _Reader(log, _common(record["trace"]))
            except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
                # RFC 7464 section 2.3: a text sequence may be cut off in its last record, and the others stand.
                if log is not None and not raw.endswith(b"\n"):
                    log.notes.append(f"{path.name} is cut off in line {line}")
                    break
                raise Error(f"{path}:{line}: not JSON: {str(error).splitlines()[0]}") from error
            except _WRONG as error:
                raise _named(f"{path}:{line}", error) from error
        if log is not None and log.events.is_full:
            raise Error(f"{path}: has more packets than can be shown")
        seen += len(chunk)
        if told is not None:
            told(seen)
    if log is None:
        raise Error(f"{path}: is empty")
    return _complete(path, log)


def _contained(path: Path, file: Any, told: Callable[[int], object] | None) -> list[Log]:
    """Reads the document without its events first: what their times mean may stand behind them."""
    splitter = ViewSplitter()
    while chunk := file.read(_CHUNK):
        at = 0
        while at < len(chunk):
            at, _ = splitter.feed(chunk, at, None)
    place = str(path)
    try:
        document = _document(path, splitter.skeleton)
        traces = _traces(document)
        is_split = _is_split(traces, splitter.lists)
        if not is_split:
            file.seek(0)
            traces = _traces(_document(path, file.read()))
        logs = [_header(path, document, trace) for trace in traces]
        readers = []
        for log, trace in zip(logs, traces, strict=True):
            events = trace.get("events")
            if not isinstance(events, list):
                raise _QlogError("a trace has no list of events")
            readers.append(_Reader(log, _common(trace)))
            for index, event in enumerate(() if is_split else events):
                place = f"{path}: event {index}"
                readers[-1].event(event)
    except _WRONG as error:
        raise _named(place, error) from error
    if is_split:
        file.seek(0)
        _events(path, file, readers, told)
    return [_complete(path, log) for log in logs]


def _document(path: Path, text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Error(f"{path}: not JSON: {str(error).splitlines()[0]}") from error


def _traces(document: Any) -> list[Any]:
    if not isinstance(document, dict):
        raise _QlogError("not a qlog: no object")
    traces = document.get("traces", [document["trace"]] if "trace" in document else None)
    if not isinstance(traces, list) or not traces:
        raise _QlogError("not a qlog: it has no traces")
    return traces


def _is_split(traces: list[Any], lists: int) -> bool:
    """Whether the events of each trace were found: not if a key is given twice, or in another way of writing."""
    return [trace.get("events") if isinstance(trace, dict) else None for trace in traces] == [
        [at] for at in range(lists)
    ]


def _events(path: Path, file: Any, readers: list["_Reader"], told: Callable[[int], object] | None) -> None:
    splitter = ViewSplitter()
    seen = 0
    while chunk := file.read(_CHUNK):
        at = 0
        while at < len(chunk):
            reader = readers[splitter.lists - 1] if splitter.lists else None
            at, event = splitter.feed(chunk, at, reader.events if reader is not None else None)
            if reader is None or event is None:
                continue
            place = f"{path}: event {splitter.events - 1}"
            try:
                reader.event(json.loads(event))
            except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
                raise Error(f"{place}: not JSON: {str(error).splitlines()[0]}") from error
            except _WRONG as error:
                raise _named(place, error) from error
        if any(reader.events.is_full for reader in readers):
            raise Error(f"{path}: has more packets than can be shown")
        seen += len(chunk)
        if told is not None:
            told(seen)


def _header(path: Path, document: dict[str, Any], trace: Any) -> Log:
    if not isinstance(trace, dict):
        raise _QlogError("not a qlog: its first record has no trace")
    version = str(document.get("qlog_version", ""))
    schema = str(document.get("file_schema", ""))
    if version not in ("0.3", "0.4") and not schema.startswith("urn:ietf:params:qlog:file:"):
        what = f"qlog_version {version!r}" if version else "no qlog_version and no file_schema"
        raise _QlogError(f"{what}; supported are 0.3, 0.4 and urn:ietf:params:qlog:file:sequential or contained")
    point = trace.get("vantage_point")
    point = point if isinstance(point, dict) else {}
    side = str(point.get("type", ""))
    if side == "network" and point.get("flow") in ("client", "server"):
        side = str(point["flow"])
    if side not in ("client", "server"):
        raise _QlogError(f"vantage_point.type is {side!r}; expected client or server")
    common = _common(trace)
    group = common.get("group_id", common.get("ODCID", ""))
    name = _shown(point.get("name") or path.stem)
    title = _shown(document.get("title") or trace.get("title") or "")
    return Log(name, side, group if isinstance(group, str) else json.dumps(group), title)


def _shown(text: Any) -> str:
    """A name from outside: not longer than a line, and without the halves of characters that JSON can write."""
    return _whole(str(text)[:120])


def _whole(text: str) -> str:
    """A text without the halves of characters that JSON can write."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _common(trace: dict[str, Any]) -> dict[str, Any]:
    common = trace.get("common_fields", {})
    if not isinstance(common, dict):
        raise _QlogError("common_fields is not an object")
    return common


def _complete(path: Path, log: Log) -> Log:
    if not log.sent and not log.received:
        raise Error(f"{path}: has neither packet_sent nor packet_received events: no packet to show")
    return log


class _QlogError(Exception):
    """What is wrong, without the place."""


_WRONG = (_QlogError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)
"""What comes of a record that is not as it should be."""


def _named(place: str, error: Exception) -> Error:
    """What is wrong with a record, with its place."""
    return Error(f"{place}: {f'{error.args[0]!r} is missing' if isinstance(error, KeyError) else error}")


class _Clock:
    """Reads the times of a trace, whatever its time format."""

    def __init__(self, common: dict[str, Any]) -> None:
        kind = common.get("time_format", "relative" if "reference_time" in common else "absolute")
        self.is_delta = kind in ("delta", "relative_to_previous_event")
        if not self.is_delta and kind not in ("relative", "relative_to_epoch", "absolute"):
            raise _QlogError(f"time_format is {kind!r}; expected relative_to_epoch, relative_to_previous_event, ...")
        self.reference = 0 if kind == "absolute" else _reference(common.get("reference_time"))
        self.last = 0

    def read(self, value: Any) -> int:
        """A time in nanoseconds."""
        if isinstance(value, str):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LATEST:
            raise _QlogError(f"time is {value!r}: expected milliseconds")
        # The reference is added as an integer: a double has not enough digits for nanoseconds since 1970.
        time = round(value * 1_000_000)
        if self.is_delta:
            time += self.last
            self.last = time
        if not abs(time + self.reference) < _LATEST * 1_000_000:
            raise _QlogError(f"time is {value!r}, which is out of range")
        return time + self.reference


def _reference(value: Any) -> int:
    """The reference time in nanoseconds since 1970; 0 if it is not known."""
    if isinstance(value, dict):
        value = value.get("epoch", value.get("wall_clock_time"))
        if value == "unknown":
            return 0
    if value is None:
        return 0
    if isinstance(value, str):
        try:
            return round(datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() * 1e9)
        except ValueError:
            value = float(value)
    return _nanoseconds(value)


def _nanoseconds(value: Any) -> int:
    """A span of milliseconds in nanoseconds."""
    span = float(value)
    if not 0 <= span < _LATEST:
        raise _QlogError(f"{value!r} is not a number of milliseconds")
    return round(span * 1_000_000)


class _Reader:
    """Adds events to a log."""

    def __init__(self, log: Log, common: dict[str, Any]) -> None:
        self.events = log.events
        """The columns of the log."""
        self._clock = _Clock(common)
        self.events.clock(self._clock.is_delta, self._clock.reference)
        sent, received = log.sent, log.received
        add: dict[str, Callable[[int, dict[str, Any]], None]] = {
            "packet_sent": lambda time, data: sent.append(_packet(time, data)),
            "packet_received": lambda time, data: received.append(_packet(time, data)),
            "packet_lost": self._lost,
            "metrics_updated": self._metrics,
            "recovery_metrics_updated": self._metrics,
            "stream_data_moved": self._moved,
            "data_moved": self._moved,
        }
        self._add = add

    def many(self, text: bytes, start: int) -> tuple[int, int, bool]:
        """Adds the events of lines as far as they are of the usual form: bytes, lines, whether there is another."""
        return self.events.feed(text, start)

    def event(self, event: Any) -> None:
        """Adds an event, or nothing if the view does not need it."""
        self._clock.last = self.events.last
        time = self._clock.read(event["time"])
        self.events.last = self._clock.last
        # "quic:packet_sent", "transport:packet_sent".
        add = self._add.get(event["name"].rpartition(":")[2])
        if add is not None:
            if not isinstance(event["data"], dict):
                raise _QlogError(f"data of {event['name']!r} is not an object")
            add(time, event["data"])

    def _lost(self, time: int, data: dict[str, Any]) -> None:
        header = data.get("header", data)
        kind, trigger = _kind(data, header), _whole(str(data.get("trigger", "")))
        self.events.lose(time, kind, _number(header["packet_number"]), trigger)

    def _moved(self, time: int, data: dict[str, Any]) -> None:
        """Data that went from the application to the transport. Other moves, or without a place, tell nothing."""
        if data.get("from") != "application" or data.get("to") != "transport" or "stream_id" not in data:
            return
        length = data.get("length", (data.get("raw") or {}).get("length"))
        if length is not None and "offset" in data:
            self.events.write(time, _number(data["stream_id"]), _number(data["offset"]) + _number(length))

    def _metrics(self, time: int, data: dict[str, Any]) -> None:
        for name in METRICS:
            value = data.get(name)
            if value is None and name == "congestion_window":
                # So it is called by aioquic.
                value = data.get("cwnd")
            if value is None:
                continue
            if isinstance(value, str):
                value = float(value)
            if isinstance(value, bool) or not 0 <= value < _NO_LIMIT:
                continue
            self.events.gauge(name, time, value)


def _kind(data: dict[str, Any], header: dict[str, Any]) -> str:
    # aioquic says `type` in packet_lost.
    kind = header.get("packet_type", data.get("packet_type", data.get("type")))
    if not isinstance(kind, str):
        raise _QlogError(f"packet_type is {kind!r}: expected a word")
    return _whole(kind.lower())


def _number(value: Any) -> int:
    """An integer of the protocol, which some stacks write as text."""
    if type(value) is int and 0 <= value < _LARGEST:
        return value
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise _QlogError(f"{value!r:.60} is not a QUIC integer") from None
    if isinstance(value, float | bool) or not 0 <= number < _LARGEST:
        raise _QlogError(f"{value!r} is not a QUIC integer")
    return number


def _size(value: Any) -> int:
    """A number of bytes in a packet."""
    number = _number(value)
    if number > _LONGEST:
        raise _QlogError(f"{number} bytes are more than a packet can have")
    return number


def _packet(time: int, data: dict[str, Any]) -> Packet:
    # A stateless reset has no header that could be read.
    header = data.get("header", data)
    kind = _kind(data, header)
    number = _number(header["packet_number"]) if kind in SPACES else -1
    size = data.get("raw", {}).get("length", header.get("packet_size"))
    packet = Packet(time, kind, number, -1 if size is None else _size(size), [], [], [], [])
    for frame in data.get("frames", ()):
        name = frame["frame_type"]
        if name == "stream":
            # The FIN bit is left out by some when it is not set.
            packet.streams.append(
                (
                    _number(frame["stream_id"]),
                    _number(frame.get("offset", 0)),
                    _length(frame),
                    bool(frame.get("fin", False)),
                )
            )
        elif name == "ack":
            packet.acks.append(_ack(frame))
        elif name == "datagram":
            packet.streams.append((-1, 0, _length(frame), False))
        else:
            if name == "reset_stream":
                packet.resets.append(_number(frame["stream_id"]))
            elif name in _CREDIT:
                what, limit = _CREDIT[name]
                stream = _number(frame["stream_id"]) if "stream" in name else -1
                if limit in frame:
                    packet.credit = (*packet.credit, (what, stream, _number(frame[limit])))
            packet.others.append(_other(str(name), frame))
    return packet


_CREDIT = {
    "max_data": ("max", "maximum"),
    "max_stream_data": ("max", "maximum"),
    "data_blocked": ("blocked", "limit"),
    "stream_data_blocked": ("blocked", "limit"),
}
"""Frames of flow control (RFC 9000 sections 19.9 to 19.13): what they say, and the field with the limit."""


def _length(frame: dict[str, Any]) -> int:
    """The length of a frame's data: a field of its own until 0.3, part of `raw` since."""
    value = frame.get("length")
    if value is None:
        raw = frame.get("raw") or {}
        value = raw.get("payload_length", raw.get("length"))
    if value is not None:
        return _size(value)
    raise _QlogError(f"a frame {frame['frame_type']} has no length")


def _ack(frame: dict[str, Any]) -> tuple[int, list[tuple[int, int]]]:
    ranges = []
    for entry in frame.get("acked_ranges", ()):
        first, last = _number(entry[0]), _number(entry[-1])
        if first > last:
            raise _QlogError(f"an acknowledged range ends before it begins: {entry}")
        ranges.append((first, last))
    return _nanoseconds(frame.get("ack_delay", 0)), ranges


_PLAIN = re.compile(r"[^\x20-\x7e]|[{}]")


def _other(name: str, frame: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    """A frame as a text with places for its numbers, so that equal frames of different numbers share their text."""
    parts: list[str] = []
    numbers: list[int] = []

    def add(key: str, value: Any) -> None:
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST:
            numbers.append(value)
            parts.append("{} B" if key in ("length", "payload_length") else f"{_plain(key)} {{}}")
        elif isinstance(value, str | int | float):
            parts.append(f"{_plain(key)} {_plain(str(value))}")
        elif isinstance(value, dict):
            for inner, what in value.items():
                add(inner, what)

    for key, value in frame.items():
        if key != "frame_type":
            add(key, value)
    return f"{_plain(name).upper()} {', '.join(parts)}".rstrip(), tuple(numbers)


def _plain(text: str) -> str:
    """Outside text, without what would be read as a place, and not longer than a line of the page."""
    return _PLAIN.sub("?", text[:64])


def records(path: Path) -> Iterator[Path]:
    """The qlog files of a folder in the order of their names; or the file itself."""
    if path.is_dir():
        yield from sorted(file for file in path.iterdir() if file.suffix in ENDINGS and file.is_file())
    else:
        yield path
