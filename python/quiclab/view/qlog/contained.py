"""Plain JSON: a document with traces, which is read event by event and may be cut off."""

import json
import re
from typing import Any

from quiclab._quiclab import Error, ViewSplitter
from quiclab.view.qlog.events import Reader
from quiclab.view.qlog.header import header
from quiclab.view.qlog.source import LONGEST, Source
from quiclab.view.qlog.wrong import WRONG, QlogError, named, said

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
    document, is_cut, more = _document(source, splitter.skeleton)
    try:
        traces = _traces(document)
        if not _is_split(traces, splitter.lists, more):
            document, is_cut = json.JSONDecoder().raw_decode(_whole(source).decode())[0], False
            traces = _traces(document)
    except WRONG as error:
        raise named(str(source.path), error) from error
    readers, why = _readers(source, document, traces)
    if not any(readers):
        told = "; records that follow each other stand on one line each" if more else ""
        raise Error(f"{source.path}: {why}{told}")
    if more:
        note = "what stands behind its first document is left out"
        next(reader for reader in readers if reader is not None).log.notes.append(f"{source.path.name}: {note}")
    if _is_split(traces, splitter.lists, more):
        _events(source, [reader for reader, trace in zip(readers, traces, strict=True) if _has_events(trace)], is_cut)
    else:
        for reader, trace in zip(readers, traces, strict=True):
            for index, event in enumerate(trace["events"] if reader is not None else ()):
                assert reader is not None, "the list is empty without one"
                reader.take(f"{source.path.name}: event {index}", json.dumps(event).encode())
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


def _document(source: Source, skeleton: bytes) -> tuple[Any, bool, bool]:
    """The document without its events; whether it was cut off and closed here; whether something stands behind it."""
    for text, is_cut in ((skeleton, False), (_closed(skeleton), True)):
        try:
            if text is not None:
                words = text.decode().lstrip()
                found, end = json.JSONDecoder().raw_decode(words)
                return found, is_cut, bool(words[end:].strip())
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


def _closed(text: bytes) -> bytes | None:
    """A text that was cut off, without what is not complete and with its brackets closed; None if it was not cut."""
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
                return None
            complete = at + 1
        elif byte == ord(","):
            complete = at
    if complete is None or not (open_ or is_string):
        return None
    # The number of a list of events is complete: the splitter wrote it.
    end = len(text) if _LIST.search(text) else complete
    return text[:end] + b"".join(reversed(open_))


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


def _readers(source: Source, document: Any, traces: list[Any]) -> tuple[list[Reader | None], str]:
    """A reader for each trace, None for one that cannot be read; and what is wrong with the first such trace."""
    readers: list[Reader | None] = []
    first = ""
    for index, trace in enumerate(traces):
        try:
            if isinstance(trace, dict) and "events" not in trace and "error_description" in trace:
                raise QlogError(f"error_description is {trace['error_description']!r:.120}")
            if not isinstance(trace, dict) or not isinstance(trace.get("events"), list):
                raise QlogError("it has no list of events")
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
        if error.pos < len(error.doc) - 1 and not error.msg.startswith("Unterminated string"):
            line = splitter.event_line + error.lineno - 1
            return f"{source.path.name}:{line}: event {splitter.events}: {said(error)}; nothing behind it is shown"
    except WRONG:
        pass
    why = f": {source.cut}" if source.cut else ""
    return f"{source.path.name} is cut off in line {splitter.line}, after {splitter.events} events{why}"
