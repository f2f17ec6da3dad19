"""What is wrong with a record, without its place; and the numbers that records have."""

import json
from typing import Any

from quiclab._quiclab import Error
from quiclab.values.regular_files import json_reason

LARGEST = 1 << 62
"""One more than what a variable-length integer of RFC 9000 section 16 can say."""

_LONGEST = 1 << 32
"""More bytes than a packet could have, even if somebody logs several as one."""

LATEST_MS = 4e12
"""In milliseconds since 1970, the year 2096: what fits into nanoseconds of 64 bits, and twice."""


class QlogError(Exception):
    """What is wrong, without the place."""


WRONG = (QlogError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)
"""What comes of a record that is not as it should be. That it is no JSON, or no UTF-8, is a ValueError."""


def said(error: Exception) -> str:
    """What is wrong, in a line and in words of qlog, not in those of Python."""
    if isinstance(error, QlogError):
        return str(error)
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    if isinstance(error, RecursionError):
        return "its values are nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {json_reason(error)}"
    if isinstance(error, UnicodeDecodeError):
        return f"not text in UTF-8 (byte {error.start})"
    return "a value has another type than the schema says"


def named(place: str, error: Exception) -> Error:
    """What is wrong with a file, with its place."""
    return Error(f"{place}: {said(error)}")


def number(value: Any) -> int:
    """An integer of the protocol, which some stacks write as text, or as `7.0`: JSON has one kind of numbers."""
    if type(value) is int and 0 <= value < LARGEST:
        return value
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise QlogError(f"{value!r:.60} is not a QUIC integer") from None
    is_broken = isinstance(value, bool) or (isinstance(value, float) and not value.is_integer())
    if is_broken or not 0 <= number < LARGEST:
        raise QlogError(f"{value!r:.60} is not a QUIC integer")
    return number


def size(value: Any) -> int:
    """A number of bytes in a packet."""
    bytes_ = number(value)
    if bytes_ > _LONGEST:
        raise QlogError(f"{bytes_} bytes are more than a packet can have")
    return bytes_


def nanoseconds(value: Any) -> int:
    """A span of milliseconds in nanoseconds."""
    try:
        span = float(value)
    except (TypeError, ValueError, OverflowError):
        span = -1.0
    if not 0 <= span < LATEST_MS:
        raise QlogError(f"{value!r:.60} is not a number of milliseconds")
    return round(span * 1_000_000)


def part(data: dict[str, Any], key: str, instead: dict[str, Any]) -> dict[str, Any]:
    """An object in an object; `instead` if it is not there or null."""
    found = data.get(key)
    if found is None:
        return instead
    if not isinstance(found, dict):
        raise QlogError(f"{key} is {found!r:.60}; expected an object")
    return found


def shown(text: Any) -> str:
    """A name from outside: not longer than a line, and without the halves of characters that JSON can write."""
    return whole(str(text)[:120])


def whole(text: str) -> str:
    """A text without the halves of characters that JSON can write."""
    return text.encode("utf-8", "replace").decode("utf-8")
