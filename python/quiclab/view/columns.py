"""Columns of integers as few bytes: differences, zigzag, variable-length integers, DEFLATE, base64.

`browser/columns.js` reads them back.
"""

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

Integers = Sequence[int] | np.ndarray[Any, np.dtype[np.int64]]


class Columns:
    """Columns under names, to be packed together."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._index: dict[str, tuple[int, int]] = {}

    def add(self, name: str, values: Integers, *, deltas: bool = False) -> None:
        """Adds a column; `deltas` if neighbours are close to each other. The reader must say the same."""
        array = np.asarray(values, dtype=np.int64)
        if deltas:
            array = np.diff(array, prepend=np.int64(0))
        data = varints(array)
        self._index[name] = (len(array), len(data))
        self._parts.append(data)

    @property
    def index(self) -> dict[str, tuple[int, int]]:
        """Of each column its number of values and of bytes, in the order of the bytes."""
        return self._index

    def packed(self) -> str:
        """All of them as text."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")


def varints(values: "np.ndarray[Any, np.dtype[np.int64]]") -> bytes:
    """Integers in zigzag, seven bits in each byte, the lowest first, the highest bit set in all bytes but the last."""
    zigzag = ((values << 1) ^ (values >> 63)).astype(np.uint64)
    lengths = np.ones(len(zigzag), dtype=np.int64)
    for bits in range(7, 64, 7):
        lengths += zigzag >= np.uint64(1 << bits)
    starts = np.cumsum(lengths) - lengths
    out = np.zeros(int(lengths.sum()), dtype=np.uint8)
    for place in range(int(lengths.max(initial=0))):
        rows = lengths > place
        seven = (zigzag[rows] >> np.uint64(7 * place)).astype(np.uint8) & 0x7F
        out[starts[rows] + place] = seven | ((lengths[rows] > place + 1).astype(np.uint8) << 7)
    return out.tobytes()
