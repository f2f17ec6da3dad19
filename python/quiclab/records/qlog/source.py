"""The bytes of a qlog file, piece by piece. A file that gzip has packed is unpacked, whatever its name."""

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from quiclab._quiclab import Error
from quiclab.values import regular_files

_CHUNK = 1 << 22
"""The number of bytes of a file that are read at a time."""

_PACKED = 1 << 14
"""The same of a packed file: of a broken piece all is unpacked again byte by byte."""

_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"

_MOST = 1 << 36
"""No file is unpacked to more bytes: some hundred million packets, or an attack."""

LONGEST = 1 << 26
"""No record is longer, and no document without its events: 64 MiB."""


class Source:
    """A file whose bytes can be read more than once.

    :param told: hears now and then how many bytes of the file were read.
    """

    def __init__(self, path: Path, told: Callable[[int], object] | None = None) -> None:
        self.path = path
        self.cut = ""
        """Why the last reading ended before the end; empty if it did not."""
        self.notes: list[str] = []
        """What was passed over in the last reading."""
        self._told = told

    def chunks(self) -> Iterator[bytes]:
        """The bytes from the beginning, without a byte order mark. Raises `Error` if they cannot be read."""
        self.cut, total, nulls = "", 0, 0
        self.notes.clear()
        try:
            for chunk in self._unpacked():
                if total == 0 and (code := _other_code(chunk)):
                    raise Error(f"{self.path}: is {code}; expected UTF-8: save it as UTF-8")
                text = chunk.removeprefix(_MARK) if total == 0 else chunk
                if b"\0" in text:
                    # JSON has none; files that were not written to their end, or not in order, have.
                    nulls += text.count(0)
                    text = text.translate(None, b"\0")
                total += len(chunk)
                if total > _MOST:
                    raise Error(f"{self.path}: is unpacked more than {_MOST >> 30} GiB long")
                if text:
                    yield text
            if nulls:
                self.notes.append(f"{nulls} byte{'s' if nulls > 1 else ''} of 0 passed over")
        except OSError as error:
            raise Error(f"{self.path}: cannot be read: {error.strerror}") from error

    def _unpacked(self) -> Iterator[bytes]:
        with regular_files.opened(self.path) as file:
            packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            unpacker = zlib.decompressobj(wbits=31) if packed else None
            while chunk := file.read(_PACKED if packed else _CHUNK):
                if unpacker is None:
                    yield chunk
                while unpacker is not None and chunk:
                    if unpacker.eof:
                        # Another member of the same file (RFC 1952 section 2.2), or padding.
                        chunk = chunk.lstrip(b"\0")
                        if not _GZIP.startswith(chunk[:2]):
                            self.notes.append("what stands behind its gzip data is left out")
                            return
                        if not chunk:
                            break
                        unpacker = zlib.decompressobj(wbits=31)
                    before = unpacker.copy()
                    try:
                        text = unpacker.decompress(chunk, _CHUNK)
                    except zlib.error as error:
                        if "check" in str(error) and "header" not in str(error):
                            # The data are complete, and their sum is another (RFC 1952 section 2.3.1).
                            self.notes.append("the checksum of its gzip data is wrong: some of it may be changed")
                            yield from _until_broken(before, chunk)
                            return
                        self.cut = "its gzip data are broken there"
                        yield from _until_broken(before, chunk)
                        return
                    chunk = unpacker.unconsumed_tail or unpacker.unused_data
                    if text:
                        yield text
                if self._told is not None:
                    self._told(file.tell())
            if unpacker is not None and not unpacker.eof:
                self.cut = "its gzip data end there"


def _other_code(head: bytes) -> str:
    """What a text is, if not UTF-8: JSON begins with two letters of ASCII. Empty if nothing speaks against UTF-8."""
    if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "UTF-32"
    is_wide = len(head) > 3 and head[0] == head[2] == 0 != head[1] and head[3] != 0
    is_wide = is_wide or (len(head) > 3 and head[1] == head[3] == 0 != head[0] and head[2] != 0)
    if is_wide or head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    return ""


def _until_broken(unpacker: "zlib._Decompress", chunk: bytes) -> Iterator[bytes]:
    """What can be unpacked of a chunk before it is broken."""
    for byte in chunk:
        try:
            text = unpacker.decompress(bytes([byte]))
        except zlib.error:
            return
        if text:
            yield text
