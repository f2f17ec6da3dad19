"""The segments of media files by their index, as a list of sizes: `python -m quiclab.sidx film.mpd > film.csv`.

An MPD of the on-demand profile says where each media file has its index (`indexRange`), the box `sidx` of ISO/IEC
14496-12 section 8.16.3. The files are looked for beside the MPD, by their BaseURL.
"""

import struct
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from quiclab._quiclab import Error
from quiclab.values import regular_files

_MOST = 1 << 24
"""No index is longer: 16 MiB."""


def segments(index: bytes) -> list[tuple[int, float]]:
    """The bytes and the seconds of each segment in an index, which begins with a box `sidx`.

    Raises `Error` if it is no such box, is not complete, or refers to other indices.
    """
    try:
        size, kind, version = struct.unpack_from(">I4sB", index)
        if kind != b"sidx":
            raise Error(f"the index begins with the box {kind!r}; expected b'sidx'")
        (timescale,) = struct.unpack_from(">I", index, 16)
        # Time and first offset have 32 bits in version 0, and 64 in version 1; then 16 reserved bits.
        at = 20 + (8 if version == 0 else 16) + 2
        (count,) = struct.unpack_from(">H", index, at)
        entries = [struct.unpack_from(">II", index, at + 2 + 12 * number) for number in range(count)]
    except struct.error:
        raise Error(f"the index is cut off: {len(index)} bytes") from None
    if timescale == 0 or not entries:
        raise Error("the index has no time scale, or no segment")
    if any(reference >> 31 for reference, _ in entries):
        raise Error("the index refers to other indices, which are not read")
    if size > len(index):
        raise Error(f"the index is cut off: {len(index)} of {size} bytes")
    return [(reference & 0x7FFF_FFFF, duration / timescale) for reference, duration in entries]


def rows(mpd: Path) -> Iterator[tuple[int, str, str, int, str]]:
    """The lines of a list of sizes: period, representation, segment, bytes, seconds.

    Raises `Error`, which names the file, if one cannot be read. Representations without an index are left out.
    """
    try:
        text = mpd.read_text(encoding="utf-8-sig")
        if "<!DOCTYPE" in text:
            raise Error(f"{mpd}: a document type definition, which an MPD does not need: remove it")
        root = ElementTree.fromstring(text)
    except (OSError, UnicodeDecodeError, ElementTree.ParseError) as error:
        raise Error(f"{mpd}: {getattr(error, 'strerror', None) or error}") from None
    for number, period in enumerate(root.iterfind("{*}Period"), 1):
        for representation in period.iterfind("{*}AdaptationSet/{*}Representation"):
            base, url = representation.find("{*}SegmentBase"), representation.findtext("{*}BaseURL")
            if base is None or url is None or "indexRange" not in base.attrib:
                continue
            name = representation.get("id", "")
            first, last = _range(mpd, base.attrib["indexRange"])
            yield number, name, "init", first, ""
            file = mpd.parent / url.strip().rpartition("/")[2]
            for at, (size, seconds) in enumerate(_read(file, first, last), 1):
                yield number, name, str(at), size, f"{seconds:.9f}".rstrip("0").rstrip(".")


def _range(mpd: Path, text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 0 <= int(last) - int(first) < _MOST):
        raise Error(f"{mpd}: indexRange is {text!r:.40}; expected the first and the last byte, as 708-1183")
    return int(first), int(last)


def _read(file: Path, first: int, last: int) -> list[tuple[int, float]]:
    try:
        with regular_files.opened(file) as media:
            media.seek(first)
            return segments(media.read(last - first + 1))
    except OSError as error:
        raise Error(f"{file}: {error.strerror}") from None
    except Error as error:
        raise Error(f"{file}: {error}") from None


def main() -> None:
    """Prints the list of the MPD that the command line names."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m quiclab.sidx film.mpd > film.csv")
    try:
        found = list(rows(Path(sys.argv[1])))
    except Error as error:
        sys.exit(f"error: {error}")
    if not found:
        sys.exit(f"error: {sys.argv[1]}: no representation with a SegmentBase, an indexRange and a BaseURL")
    print("period,representation,segment,bytes,seconds")
    for row in found:
        print(*row, sep=",")
