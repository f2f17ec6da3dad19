"""The times of a trace, whatever their format and their unit."""

from contextlib import suppress
from datetime import datetime
from typing import Any

from quiclab.view.qlog.wrong import LATEST_MS, QlogError

UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""The nanoseconds of a unit of time. The draft of version 01 knows ms and us (`configuration.time_units`)."""

FORMATS = {
    "absolute": False,
    "relative": False,
    "relative_to_epoch": False,
    "delta": True,
    "relative_to_previous_event": True,
}
"""The formats of times, and whether they are those since the event before."""


class Clock:
    """Reads the times of a trace.

    :param common: the common fields of the trace.
    :param kind: its time format, where something else than they say it: the name of the field in old drafts.
    :param unit: the nanoseconds of its unit.
    :param offset: its `time_offset`, in units.
    """

    def __init__(
        self, common: dict[str, Any], kind: str | None = None, unit: int = UNITS["ms"], offset: Any = 0
    ) -> None:
        kind = kind or common.get("time_format") or ("relative" if "reference_time" in common else "absolute")
        if kind not in FORMATS:
            raise QlogError(f"time_format is {kind!r:.60}; expected one of {', '.join(FORMATS)}")
        self.is_delta = FORMATS[kind]
        self.unit = unit
        self.reference = 0 if kind == "absolute" else _reference(common.get("reference_time"), unit)
        self.reference += _units(offset, unit) or 0
        self.last = 0

    def read(self, value: Any) -> int:
        """A time in nanoseconds."""
        if isinstance(value, str):
            with suppress(ValueError):
                value = float(value)
        latest = LATEST_MS * UNITS["ms"]
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < latest / self.unit:
            unit = next(name for name, unit in UNITS.items() if unit == self.unit)
            raise QlogError(f"time is {value!r:.60}: expected a number of {unit}")
        # The reference is added as an integer: a double has not enough digits for nanoseconds since 1970.
        time = round(value * self.unit)
        if self.is_delta:
            time += self.last
            self.last = time
        if not abs(time + self.reference) < latest:
            raise QlogError(f"time is {value!r:.60}, which is out of range")
        return time + self.reference


def _reference(value: Any, unit: int) -> int:
    """The reference time in nanoseconds since 1970; 0 if it is not known: then only the place in the calendar is."""
    if isinstance(value, dict):
        value = value.get("epoch", value.get("wall_clock_time"))
    if isinstance(value, str):
        try:
            return round(datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() * 1e9)
        except (ValueError, OverflowError):
            pass
    return _units(value, unit) or 0


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
