"""Plain JSON: a document with traces, which is read event by event and may be cut off."""

import json
import re
from typing import Any

from quiclab._quiclab import Error, ViewSplitter
from quiclab.records.qlog.events import Reader
from quiclab.records.qlog.header import header
from quiclab.records.qlog.source import LONGEST, Source
from quiclab.records.qlog.stated import stated
from quiclab.records.qlog.wrong import WRONG, QlogError, named, said

_MOST_WHOLE = 1 << 28
"""No longer document is held as a whole: 256 MiB. It is, if the splitter does not find its events."""

_LIST = re.compile(rb"\[[0-9]+$")
"""A list of events at the end of a document without its events."""


def read(source: Source) -> list[Reader]:
    """The readers of the traces of a document, which have read them.

    The document without its events is read first: what their times mean may stand behind them. Raises `Error` if it is
    no qlog, or if none of its traces can be read.
    """
    splitter = _passed(source)
    document, left_open, more = _document(source, splitter.skeleton)
    try:
        traces = _traces(document)
        if not _is_split(traces, splitter.lists, more):
            document, left_open = json.JSONDecoder().raw_decode(_whole(source).decode())[0], 0
            traces = _traces(document)
    except WRONG as error:
        raise named(str(source.path), error) from error
    # A trace is open if its own bracket is, within those of the list of traces and of the document.
    is_open = left_open >= (3 if "traces" in document else 2)
    readers, why = _readers(source, document, traces, is_open)
    if not any(readers):
        told = "; records that follow each other stand on one line each" if more else ""
        raise Error(f"{source.path}: {why}{told}")
    if more:
        note = "what stands behind its first document is left out"
        next(reader for reader in readers if reader is not None).log.notes.append(f"{source.path.name}: {note}")
    if _is_split(traces, splitter.lists, more):
        _events(
            source, [reader for reader, trace in zip(readers, traces, strict=True) if _has_events(trace)], left_open > 0
        )
    else:
        for reader, trace in zip(readers, traces, strict=True):
            for index, event in enumerate(trace["events"] if reader is not None else ()):
                assert reader is not None, "the list is empty without one"
                reader.take(f"{source.path.name}: event {index}", json.dumps(event).encode())
    if is_open and readers[-1] is not None:
        notes = _of_cut_trace(document, traces[-1])
        readers[-1].log.notes += [f"{source.path.name}: {note}" for note in notes]
    found = [reader for reader in readers if reader is not None]
    if why:
        found[0].log.notes.append(f"{source.path.name}: {why}; the trace is left out")
    return found


def _passed(source: Source) -> ViewSplitter:
    """The splitter after a whole pass over the document."""
    splitter = ViewSplitter()
    for chunk in source.chunks():
        at = 0
        while at < len(chunk):
            at, _ = splitter.feed(chunk, at, None)
        if splitter.held > LONGEST:
            raise Error(
                f"{source.path}:{splitter.line}: an event, or all but the events, of more than {LONGEST >> 20} MiB"
            )
    return splitter


def _document(source: Source, skeleton: bytes) -> tuple[Any, int, bool]:
    """The document without its events; how many brackets of a cut one were closed; whether more stands behind it."""
    for text, left_open in ((skeleton, 0), _closed(skeleton)):
        try:
            if text is not None:
                words = text.decode().lstrip()
                found, end = json.JSONDecoder().raw_decode(words)
                return found, left_open, bool(words[end:].strip())
        except WRONG:
            continue
    # The place of the first mistake is that in the whole document.
    try:
        json.loads(_whole(source))
    except json.JSONDecodeError as error:
        raise Error(f"{source.path}:{error.lineno}: {said(error)}") from error
    except WRONG as error:
        raise named(str(source.path), error) from error
    raise Error(f"{source.path}: not JSON in UTF-8")


def _whole(source: Source) -> bytes:
    text = bytearray()
    for chunk in source.chunks():
        text += chunk
        if len(text) > _MOST_WHOLE:
            raise QlogError(f"not JSON as qlog files have it, and longer than {_MOST_WHOLE >> 20} MiB")
    return bytes(text)


def _closed(text: bytes) -> tuple[bytes | None, int]:
    """A cut text with its brackets closed, without what is not complete, and how many they are; None if not cut."""
    pairs = {ord("["): b"]", ord("{"): b"}"}
    open_: list[bytes] = []
    # Every bracket is the end of something complete, so those that are open there are those at the end.
    complete: int | None = None
    is_string = is_escaped = False
    for at, byte in enumerate(text):
        if is_string:
            is_string = is_escaped or byte != ord('"')
            is_escaped = not is_escaped and byte == ord("\\")
        elif byte == ord('"'):
            is_string = True
        elif byte in pairs:
            open_.append(pairs[byte])
            complete = at + 1
        elif byte in b"]}":
            if not open_ or open_.pop()[0] != byte:
                return None, 0
            complete = at + 1
        elif byte == ord(","):
            complete = at
    if complete is None or not (open_ or is_string):
        return None, 0
    # The number of a list of events is complete: the splitter wrote it.
    end = len(text) if _LIST.search(text) else complete
    return text[:end] + b"".join(reversed(open_)), len(open_)


def _traces(document: Any) -> list[Any]:
    if not isinstance(document, dict):
        raise QlogError("not a qlog: no object")
    traces = document.get("traces", [document["trace"]] if "trace" in document else None)
    if not isinstance(traces, list) or not traces:
        raise QlogError("not a qlog: it has no traces")
    return traces


def _has_events(trace: Any) -> bool:
    return isinstance(trace, dict) and "events" in trace


def _is_split(traces: list[Any], lists: int, more: bool) -> bool:
    """Whether the events of each trace were found: not if a key is given twice, or in another way of writing."""
    found = [trace["events"] for trace in traces if _has_events(trace)]
    # More lists can be those of another document behind it.
    return (len(found) == lists or (more and len(found) < lists)) and found == [[at] for at in range(len(found))]


_HEAD = ("vantage_point", "common_fields", "configuration", "event_fields", "time_units", "time_unit")
"""What a trace has beside its events."""


def _of_cut_trace(document: dict[str, Any], trace: dict[str, Any]) -> list[str]:
    """A note if what says how times are read may be missing in a trace that was cut off.

    Raises `QlogError` if all of that is missing: stacks that write it behind the events often count microseconds.
    """
    common = trace.get("common_fields")
    if stated(document, trace).unit is not None or "configuration" in trace:
        return []
    if not any(key in trace for key in _HEAD):
        raise QlogError(
            "it is cut off before common_fields, configuration and all else that says the unit and form of its times"
        )
    form = "" if isinstance(common, dict) else ", which are no differences"
    return [f"the unit of its times may be said behind the cut: they are read as milliseconds{form}"]


def _readers(source: Source, document: Any, traces: list[Any], is_open: bool) -> tuple[list[Reader | None], str]:
    """A reader for each trace, None for one that cannot be read; and what is wrong with the first such trace.

    :param is_open: whether the document was cut off within the last trace.
    """
    readers: list[Reader | None] = []
    first = ""
    for index, trace in enumerate(traces):
        try:
            if isinstance(trace, dict) and "events" not in trace and "error_description" in trace:
                raise QlogError(f"error_description is {trace['error_description']!r:.120}")
            if not isinstance(trace, dict) or not isinstance(trace.get("events"), list):
                raise QlogError("it has no list of events")
            if is_open and index == len(traces) - 1:
                _of_cut_trace(document, trace)
            readers.append(header(source.path, document, trace))
        except WRONG as error:
            readers.append(None)
            first = first or (f"trace {index + 1}: {said(error)}" if len(traces) > 1 else said(error))
    return readers, first


def _events(source: Source, readers: list[Reader | None], is_cut: bool) -> None:
    """Reads the events of the lists, each by its reader."""
    splitter, name = ViewSplitter(), source.path.name
    for chunk in source.chunks():
        at = 0
        while at < len(chunk):
            reader = readers[splitter.lists - 1] if 0 < splitter.lists <= len(readers) else None
            at, event = splitter.feed(chunk, at, reader.events if reader is not None else None)
            if reader is not None and event is not None:
                reader.take(f"{name}:{splitter.event_line}: event {splitter.events - 1}", event)
        for reader in readers:
            if reader is not None:
                reader.check()
    last = next((reader for reader in reversed(readers[: splitter.lists]) if reader is not None), None)
    if is_cut and last is not None:
        last.log.notes.append(_cut(source, splitter))


def _cut(source: Source, splitter: ViewSplitter) -> str:
    """A sentence about where a document ends too early: in its last event, if that is broken before its end."""
    try:
        json.loads(splitter.unfinished)
    except json.JSONDecodeError as error:
        # A word may be cut, too.
        is_cut = any(word.startswith(error.doc[error.pos :]) for word in ("true", "false", "null"))
        if error.pos < len(error.doc) - 1 and not is_cut and not error.msg.startswith("Unterminated string"):
            line = splitter.event_line + error.lineno - 1
            return f"{source.path.name}:{line}: event {splitter.events}: {said(error)}; nothing behind it is shown"
    except WRONG:
        pass
    why = f": {source.cut}" if source.cut else ""
    return f"{source.path.name} is cut off in line {splitter.line}, after {splitter.events} events{why}"
