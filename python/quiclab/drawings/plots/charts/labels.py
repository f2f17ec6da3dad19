"""Names of columns and values as words: `connection.get.goodput_mbps` is "goodput (Mbit/s)"."""

from collections.abc import Sequence
from typing import Any

_UNITS = {
    "mbps": "Mbit/s",
    "bps": "bit/s",
    "ms": "ms",
    "us": "µs",
    "s": "s",
    "bytes": "bytes",
    "packets": "packets",
    "bdp": "BDP",
    "percent": "%",
}


def short(column: str, known: Sequence[str]) -> str:
    """The end of its name that no other column ends with."""
    parts = column.split(".")
    for first in range(len(parts) - 1, 0, -1):
        end = ".".join(parts[first:])
        if not any(other != column and (other == end or other.endswith(f".{end}")) for other in known):
            return end
    return column


def label(column: str, known: Sequence[str]) -> str:
    """The words of a name, with the unit behind."""
    words = short(column, known).replace(".", " ").replace("_", " ")
    unit = column.rsplit("_", 1)[-1].rsplit(".", 1)[-1]
    if unit in _UNITS and words.endswith(f" {unit}"):
        bare = words[: -len(unit) - 1]
        return f"{bare} ({_UNITS[unit]})"
    return words


def value_text(value: Any) -> str:
    """A value of a parameter as a tick or in a legend."""
    if isinstance(value, float):
        return format(value, ".6g")
    return "none" if value is None else str(value)


def tick(value: float) -> str:
    """A number in a cell of a heat map: three digits."""
    size = abs(value)
    if size and (size < 1e-2 or size >= 1e5):
        return format(value, ".1e").replace("e+0", "e").replace("e-0", "e-")
    return format(value, ".0f" if size >= 100 else ".1f" if size >= 10 else ".2f")
