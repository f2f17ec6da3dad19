"""The times of a trace, whatever their format and their unit."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from quiclab.records.qlog.wrong import LATEST_MS, QlogError

UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""The nanoseconds of a unit of time. The draft of version 01 knows ms and us (`configuration.time_units`)."""

_WORDS = {
    "second": "s",
    "sec": "s",
    "millisecond": "ms",
    "microsecond": "us",
    "µs": "us",
    "μs": "us",
    "nanosecond": "ns",
}
"""Other words for the units, in lower case and in the singular: the micro sign, and the Greek letter."""


def unit_of(word: Any) -> int | None:
    """The nanoseconds of a unit of time in any of its spellings; None if it is none."""
    word = word.strip().lower() if isinstance(word, str) else ""
    if word not in UNITS:
        word = _WORDS.get(word if word in _WORDS else word.removesuffix("s"), "")
    return UNITS.get(word)


FORMATS = {
    "absolute": False,
    "relative": False,
    "relative_to_epoch": False,
    "delta": True,
    "relative_to_previous_event": True,
}
"""The formats of times, and whether they are those since the event before."""


def is_delta(kind: str) -> bool:
    """Whether times of a format are those since the event before."""
    return FORMATS[kind]


_FRACTION = re.compile(r"[.,]([0-9]+)")
_DIGITS = re.compile(r"([.,][0-9]{6})[0-9]+")
"""Digits of a date below a microsecond, which Python's reader does not know."""


class Clock:
    """Reads the times of a trace.

    :param kind: its time format, where it is said.
    :param reference: the reference time in any of its forms, None if it is not said.
    :param unit: the nanoseconds of its unit.
    :param offset: its `time_offset`, in units.
    """

    def __init__(
        self, kind: str | None = None, reference: Any = None, unit: int = UNITS["ms"], offset: Any = 0
    ) -> None:
        kind = kind or ("absolute" if reference is None else "relative")
        self.is_delta = is_delta(kind)
        self.unit = unit
        self.reference = 0 if kind == "absolute" else _reference(reference, unit)
        self.reference += _units(offset, unit) or 0
        self.is_by_wall = kind != "absolute" and _is_by_wall(reference, unit)
        """Whether the date of its zero is that of a wall clock, which is approximate."""
        self.last = 0
        """The time of the last event without the reference."""

    def read(self, value: Any, is_delta: bool | None = None, unit: int | None = None) -> int:
        """A time in nanoseconds.

        :param is_delta: whether it is one since the event before. Default: as the others of the trace.
        :param unit: the nanoseconds of its unit. Default: that of the trace.
        """
        unit = unit or self.unit
        if isinstance(value, str):
            with suppress(ValueError):
                value = float(value)
        latest = LATEST_MS * UNITS["ms"]
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < latest / unit:
            name = next(name for name, one in UNITS.items() if one == unit)
            raise QlogError(f"time is {value!r:.60}: expected a number of {name}")
        # The reference is added as an integer: a double has not enough digits for nanoseconds since 1970.
        time = round(value * unit)
        if self.is_delta if is_delta is None else is_delta:
            time += self.last
        self.last = time
        if not abs(time + self.reference) < latest:
            raise QlogError(f"time is {value!r:.60}, which is out of range")
        return time + self.reference


def _reference(value: Any, unit: int) -> int:
    """The reference time in nanoseconds since 1970; 0 if it is not known: then only the place in the calendar is."""
    if isinstance(value, dict):
        # The epoch of a monotonic clock is "unknown": then the other field says the date of its zero.
        places = [_instant(value.get(key), unit) for key in ("epoch", "wall_clock_time")]
        return next((place for place in places if place is not None), 0)
    return _instant(value, unit) or 0


def _is_by_wall(value: Any, unit: int) -> bool:
    """Whether a reference time has no epoch and a date of a wall clock."""
    if not isinstance(value, dict) or _instant(value.get("epoch"), unit) is not None:
        return False
    return _instant(value.get("wall_clock_time"), unit) is not None


def _instant(value: Any, unit: int) -> int | None:
    """A date, or a number of units since 1970, in nanoseconds; None if it is neither."""
    if isinstance(value, str):
        try:
            date = datetime.fromisoformat(_DIGITS.sub(r"\1", value))
        except ValueError:
            return _units(value, unit)
        # Without a zone it is UTC, as the dates of RFC 3339 nearly always are.
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        digits = _FRACTION.search(value)
        nanos = int(digits[1][:9].ljust(9, "0")) if digits else 0
        return int(date.replace(microsecond=0).timestamp()) * UNITS["s"] + nanos
    return _units(value, unit)


def _units(value: Any, unit: int) -> int | None:
    """A number of units in nanoseconds; None if it is none."""
    try:
        # An integer keeps all its digits.
        span = value if type(value) is int else int(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        try:
            span = float(value)
        except (TypeError, ValueError, OverflowError):
            return None
    return round(span * unit) if 0 <= span * unit < LATEST_MS * UNITS["ms"] else None
