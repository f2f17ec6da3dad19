"""Columns of integers as few bytes: differences, zigzag, variable-length integers, DEFLATE, base64.

The crate `view` makes the bytes of most columns, `integers` those of the others; `browser/columns.js` reads them back.
"""

import base64
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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

    def differences(self, name: str, values: "NDArray[np.int64]") -> None:
        """Adds a column of integers as the difference of each from the one before."""
        import numpy as np

        self.add(name, len(values), integers(np.diff(values, prepend=0)))

    @property
    def index(self) -> dict[str, tuple[int, int]]:
        """Of each column its number of values and of bytes, in the order of the bytes."""
        return self._index

    def packed(self) -> str:
        """All of them as text. Nothing can be added any more."""
        self._parts.append(self._deflate.flush())
        return base64.b64encode(b"".join(self._parts)).decode("ascii")


def integers(values: "NDArray[np.int64]") -> bytes:
    """The bytes of integers of less than 2^62: zigzag, then seven bits in each byte, the lowest first.

    All bytes of a value but its last have the highest bit.
    """
    import numpy as np

    zigzag = np.where(values >= 0, 2 * values, -2 * values - 1).astype(np.uint64)
    places = np.arange(9, dtype=np.uint64)
    groups = (zigzag[:, None] >> (places * np.uint64(7))) & np.uint64(127)
    last = np.where(groups > 0, places, 0).max(axis=1)[:, None]
    octets = np.where(places < last, groups | np.uint64(128), groups).astype(np.uint8)
    return bytes(octets[places <= last].tobytes())
