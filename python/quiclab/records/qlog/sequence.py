"""Records that follow each other: JSON text sequences (RFC 7464) and newline-delimited JSON."""

import json
from collections.abc import Iterator

from quiclab._quiclab import Error
from quiclab.records.qlog.events import Reader
from quiclab.records.qlog.header import header
from quiclab.records.qlog.source import LONGEST, Source
from quiclab.records.qlog.wrong import WRONG, named

_SPACE = b"\x1e \t\r\n"
_SEPARATOR = b"\x1e"


def is_sequence(head: bytes) -> bool:
    """Whether records follow each other rather than one document, by the beginning of a file."""
    if head.lstrip()[:1] == _SEPARATOR:
        return True
    first, _, rest = head.lstrip().partition(b"\n")
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    # A whole document may have something behind it.
    return bool(rest.strip()) and not (isinstance(record, dict) and "traces" in record)


def read(source: Source, head: bytes) -> list[Reader]:
    """The readers of the traces of a file, which have read them: a trace for each record that begins one.

    Raises `Error` if the first record begins none, or if something would change all that stands behind it.
    """
    return _Sequence(source, _is_spread(head)).read()


def _is_spread(head: bytes) -> bool:
    """Whether only separators end records: the first one has several lines, or no end of a line (RFC 7464)."""
    first, separator, _ = head.lstrip()[1:].partition(_SEPARATOR)
    has_no_end = bool(separator) and not first.rstrip(b" \t").endswith(b"\n")
    return head.lstrip()[:1] == _SEPARATOR and (has_no_end or b"\n" in first.strip(_SPACE))


class _Sequence:
    """The state of reading one file."""

    def __init__(self, source: Source, is_spread: bool) -> None:
        self._source = source
        self._is_spread = is_spread
        self._readers: list[Reader] = []
        self._line = 1
        """The line of what is read next."""
        self._has_cut = False
        """Whether a note names the line in which the file is cut off."""

    def read(self) -> list[Reader]:
        for block in self._blocks():
            if self._is_spread:
                self._spread(block)
            else:
                self._lines(block)
        if not self._readers:
            raise Error(f"{self._source.path}: is empty")
        if self._source.cut and not self._has_cut:
            self._note_cut(self._line)
        return self._readers

    def _blocks(self) -> Iterator[bytes]:
        """Pieces of the file that end where a record does, but for the last one."""
        rest = b""
        for chunk in self._source.chunks():
            rest += chunk
            end = max(rest.rfind(_SEPARATOR), 0) if self._is_spread else rest.rfind(b"\n") + 1
            if end:
                yield rest[:end]
                rest = rest[end:]
            elif len(rest) > LONGEST:
                raise Error(f"{self._source.path}:{self._line}: a record of more than {LONGEST >> 20} MiB")
        if rest:
            yield rest

    def _lines(self, block: bytes) -> None:
        at = 0
        while at < len(block):
            if self._readers:
                size, lines, is_stuck = self._readers[-1].events.feed(block, at)
                at, self._line = at + size, self._line + lines
                self._readers[-1].check()
                if not is_stuck:
                    break
            end = block.find(b"\n", at) + 1 or len(block)
            # RFC 7464 section 2.3: a record that was cut off ends at the next separator, and that begins a whole one.
            first = end - len(block[at:end].lstrip(_SPACE))
            cut = block.find(_SEPARATOR, first, end)
            self._record(block[at : cut + 1 or end], self._line)
            at, self._line = (cut, self._line) if cut >= 0 else (end, self._line + 1)

    def _spread(self, block: bytes) -> None:
        for record in block.split(_SEPARATOR):
            text = record.strip(_SPACE).replace(b"\n", b" ")
            if text and (not self._readers or self._readers[-1].events.feed(text, 0)[2]):
                before = len(record) - len(record.lstrip(_SPACE))
                self._record(record, self._line + record.count(b"\n", 0, before))
            self._line += record.count(b"\n")

    def _record(self, raw: bytes, line: int) -> None:
        text = raw.strip(_SPACE)
        if not text:
            return
        path = self._source.path
        if self._readers and not (b'"trace"' in text and _begins_trace(text)):
            # RFC 7464 section 2.3: a text sequence may be cut off in its last record, and the others stand.
            if not raw.endswith((b"\n", _SEPARATOR)) and not _is_whole(text):
                self._note_cut(line)
            else:
                self._readers[-1].take(f"{path.name}:{line}", text)
            return
        try:
            record = json.loads(text)
            self._readers.append(header(path, record, record.get("trace") if isinstance(record, dict) else None))
        except WRONG as error:
            raise named(f"{path}:{line}", error) from error

    def _note_cut(self, line: int) -> None:
        self._has_cut = True
        reason = f": {self._source.cut}" if self._source.cut else ""
        self._readers[-1].log.notes.append(f"{self._source.path.name} is cut off in line {line}{reason}")


def _begins_trace(text: bytes) -> bool:
    """Whether a record is the first of another trace: files are appended to, or put together."""
    try:
        record = json.loads(text)
    except WRONG:
        return False
    return isinstance(record, dict) and isinstance(record.get("trace"), dict) and "time" not in record


def _is_whole(text: bytes) -> bool:
    try:
        json.loads(text)
    except WRONG:
        return False
    return True
