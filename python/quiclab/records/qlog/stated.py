"""What a file says about its times, wherever it stands and however it is spelled: unit, format and reference.

The schemas put these into `common_fields` (since 0.3) or into the `configuration` (draft-01); stacks also write them
into the trace, the vantage point, the reference time, the summary or the document, in snake case, in camel case or in
capitals.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from quiclab.records.qlog.clock import FORMATS, UNITS, is_delta, unit_of
from quiclab.records.qlog.spelling import plain
from quiclab.records.qlog.wrong import QlogError

_WORDS = {
    "timeunits": "unit",
    "timeunit": "unit",
    "timeformat": "format",
    "referencetime": "reference",
    "timeoffset": "offset",
}
"""What a name says, in lower case without `_`, `-` and blanks."""

_IN_PLACE = {"units": "unit", "unit": "unit"}
"""Names that may be those of something else: they count if they have a unit of time."""

_WITHOUT = ("traces", "trace", "events", "eventfields")
"""What says nothing of this kind, and may be long."""

_DEEPEST = 4
_MOST = 10_000
"""The search ends after this many values."""


@dataclass
class Stated:
    """What is said about the times of a trace."""

    unit: int | None = None
    """The nanoseconds of the unit; None if it is not said."""
    format: str | None = None
    """The format; None if it is not said."""
    reference: Any = None
    """The reference time, in any of its forms."""
    offset: Any = 0
    """Added to all times, in units."""
    notes: list[str] = field(default_factory=list)
    """What is not used, and why."""


def stated(document: Any, trace: Any) -> Stated:
    """What a document and a trace in it say about the times of the trace.

    Raises `QlogError` for an unknown unit or format, and if two places contradict each other: nobody knows then which
    of them is right. A null or empty value says nothing, and is noted.
    """
    found: dict[str, dict[str, Any]] = {what: {} for what in _WORDS.values()}
    notes = []
    places = [*_statements(trace, "")]
    if document is not trace:
        places += _statements(document, " of the document")
    for place, what, value in places:
        if value is None or value == "":
            if what in ("unit", "format"):
                taken = "read as milliseconds" if what == "unit" else "taken for not said"
                notes.append(f"{place} is {'null' if value is None else 'empty'}: {taken}, if nothing else says it")
        else:
            found[what][place] = value
    units = {place: _unit(place, value) for place, value in found["unit"].items()}
    if len(set(units.values())) > 1:
        raise QlogError(f"the units of time differ between {' and '.join(units)}; expected one unit")
    formats = {place: _format(place, value) for place, value in found["format"].items()}
    if len({is_delta(word) for word in formats.values()}) > 1 or len(set(map(_is_absolute, formats.values()))) > 1:
        raise QlogError(f"the formats of time differ between {' and '.join(formats)}; expected one format")
    references = found["reference"]
    if any(value != next(iter(references.values())) for value in references.values()):
        notes.append(f"the reference times differ between {' and '.join(references)}: the first is taken")
    return Stated(
        next(iter(units.values()), None),
        next(iter(formats.values()), None),
        next(iter(references.values()), None),
        next(iter(found["offset"].values()), 0),
        notes,
    )


def of_event(event: dict[str, Any]) -> tuple[int | None, str | None]:
    """The unit and the format that an event states for itself alone."""
    unit = kind = None
    for key, value in event.items():
        what = _what(key, value)
        if value is None or value == "":
            continue
        if what == "unit":
            unit = _unit(key, value)
        elif what == "format":
            kind = _format(key, value)
    return unit, kind


def _statements(value: Any, root: str) -> Iterator[tuple[str, str, Any]]:
    """The statements in a value: their places, what they say and their values; those that are least deep first."""
    level, left = [(value, "")], _MOST
    for _ in range(_DEEPEST):
        deeper: list[tuple[Any, str]] = []
        for holder, place in level:
            items = holder.items() if isinstance(holder, dict) else enumerate(holder)
            for key, inner in items:
                left -= 1
                if left < 0:
                    return
                name = plain(key) if isinstance(key, str) else ""
                if name in _WITHOUT:
                    continue
                where = f"{place}[{key}]" if isinstance(key, int) else f"{place}.{key}" if place else key
                if isinstance(key, str) and (what := _what(key, inner)):
                    yield f"{where}{root}", what, inner
                if isinstance(inner, dict | list):
                    deeper.append((inner, where))
        level = deeper


def _what(key: str, value: Any) -> str:
    """What a member says about times; empty if nothing."""
    name = plain(key)
    if name in _IN_PLACE:
        return _IN_PLACE[name] if unit_of(value) is not None else ""
    return _WORDS.get(name, "")


def _unit(place: str, value: Any) -> int:
    unit = unit_of(value)
    if unit is None:
        raise QlogError(f"{place} is {value!r:.60}; expected one of {', '.join(UNITS)}")
    return unit


def _format(place: str, value: Any) -> str:
    word = next((word for word in FORMATS if isinstance(value, str) and plain(word) == plain(value)), None)
    if word is None:
        raise QlogError(f"{place} is {value!r:.60}; expected one of {', '.join(FORMATS)}")
    return word


def _is_absolute(word: str) -> bool:
    return word == "absolute"
