"""Columns of tables as arrays of numpy, and back.

Not by the conversions of pyarrow itself: the first of them imports pandas wherever it is installed, for 0.2 s.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from quiclab.values.downsampling import Series

    Truths = npt.NDArray[np.bool_]


_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""The types that Arrow and numpy call by different names."""


def numbers(column: "pa.ChunkedArray") -> "Series":
    """A column of numbers as doubles; null is NaN."""
    import numpy as np

    parts = [_doubles(chunk) for chunk in column.chunks]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0)


def values(array: "pa.Array") -> "np.ndarray[Any, Any]":
    """The values of an array of numbers, not copied. Where there is a null, the value means nothing."""
    import numpy as np

    return _part(array, 1, np.dtype(_FLOATS.get(str(array.type), str(array.type))))[
        array.offset : array.offset + len(array)
    ]


def having(column: "pa.ChunkedArray", word: str | None) -> "Truths":
    """Which rows of a text column hold this word, by its code and without building a text per row."""
    import numpy as np

    parts = []
    for chunk in column.chunks:
        words = chunk.dictionary.to_pylist()
        code = words.index(word) if word in words else -1
        parts.append(values(chunk.indices) == code)
    return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


def mask(rows: "Truths") -> "pa.BooleanArray":
    """Rows to choose, for `Table.filter`."""
    import numpy as np
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(rows, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(rows), [None, bits])


def _doubles(array: "pa.Array") -> "Series":
    import numpy as np

    doubles = values(array).astype(np.float64, copy=False)
    if not array.null_count:
        return doubles
    valid = np.unpackbits(_part(array, 0, np.uint8), bitorder="little")[array.offset : array.offset + len(array)]
    return np.where(valid, doubles, np.nan)


def _part(array: "pa.Array", part: int, kind: Any) -> "np.ndarray[Any, Any]":
    import numpy as np

    buffer = array.buffers()[part]
    return np.frombuffer(buffer, kind, len(buffer) // np.dtype(kind).itemsize) if buffer else np.empty(0, kind)
