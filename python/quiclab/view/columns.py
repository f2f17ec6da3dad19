"""Columns of integers as few bytes: differences, zigzag, variable-length integers, DEFLATE, base64.

The crate `view` makes the bytes of a column, `browser/columns.js` reads them back.
"""

import base64
import zlib


class Columns:
    """Columns under names, packed together as they come."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(9)
        self._parts: list[bytes] = []
        self._index: dict[str, tuple[int, int]] = {}

    def add(self, name: str, count: int, data: bytes) -> None:
        """Adds a column: its number of values, and their bytes."""
        self._index[name] = (count, len(data))
        self._parts.append(self._deflate.compress(data))

    @property
    def index(self) -> dict[str, tuple[int, int]]:
        """Of each column its number of values and of bytes, in the order of the bytes."""
        return self._index

    def packed(self) -> str:
        """All of them as text. Nothing can be added any more."""
        self._parts.append(self._deflate.flush())
        return base64.b64encode(b"".join(self._parts)).decode("ascii")
