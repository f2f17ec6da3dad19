"""Arguments that callers of the package give: a wrong one is an error that says what would be right.

Every function begins its `Error` with `what`, which names the argument: "page_draws: count".
"""

import math
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from quiclab._quiclab import Error

_Kind = TypeVar("_Kind")
_Function = TypeVar("_Function")

LONGEST_NAME = 1000
"""Letters of a name at most."""
_LONGEST_PATH = 4096
"""Bytes of a path at most, as the system has it."""
_SHOWN = 60
"""Letters of a wrong value that an error shows."""


def wrong(what: str, value: Any, expected: str) -> Error:
    """The error of a wrong value."""
    return Error(f"{what} is {shown(value)}; expected {expected}")


def shown(value: Any) -> str:
    """A value as an error shows it, on one line, cut where it is long."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of many digits"
    if isinstance(value, str | bytes) and len(value) > _SHOWN:
        return f"{value[:_SHOWN]!r} and {len(value) - _SHOWN:,} more"
    found = repr(value)
    line = "".join(letter if letter.isprintable() else " " for letter in found[: _SHOWN + 1])
    return line if len(found) <= _SHOWN else f"{line[:_SHOWN]} ..."


def whole(what: str, value: Any, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    found = getattr(value, "__index__", None)
    number = None if found is None or isinstance(value, bool | type) else found()
    if number is None or not least <= number <= most:
        raise wrong(what, value, f"a whole number from {least} to {most}")
    return int(number)


def number(what: str, value: Any, least: float, most: float = math.inf) -> float:
    """A finite number from `least` to `most`."""
    expected = f"a number from {least:g} to {most:g}" if most < math.inf else f"a number of {least:g} or more"
    try:
        found = math.nan if isinstance(value, bool | str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not (math.isfinite(found) and least <= found <= most):
        raise wrong(what, value, expected)
    return found


def between(what: str, value: Any) -> float:
    """A number between 0 and 1, without these."""
    found = math.nan if isinstance(value, bool | str | bytes) else value
    try:
        if 0 < found < 1:
            return float(found)
    except (TypeError, ValueError):
        pass
    raise wrong(what, value, "a number between 0 and 1")


def text(what: str, value: Any, expected: str, most: int | None = LONGEST_NAME) -> str:
    """A text that can be written in UTF-8, of at most this many letters."""
    if not isinstance(value, str):
        raise wrong(what, value, expected)
    if most is not None and len(value) > most:
        raise wrong(what, value, f"{expected}, of at most {most:,} letters")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Error(f"{what} has half a character ({value[error.start]!a}); expected {expected}") from error
    return value


def texts(what: str, values: Any, expected: str) -> list[str]:
    """Texts, or one."""
    return [text(what, one, expected) for one in ([values] if isinstance(values, str) else listed(what, values))]


def listed(what: str, values: Any, expected: str = "a list") -> list[Any]:
    """The items of a list, or of anything else that has some."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise wrong(what, values, expected)
    return list(values)


def table(what: str, value: Any, expected: str) -> Mapping[Any, Any]:
    """A mapping."""
    if not isinstance(value, Mapping):
        raise wrong(what, value, expected)
    return value


def one_of(what: str, value: Any, words: Collection[str]) -> str:
    """One of these words."""
    if not isinstance(value, str) or value not in words:
        some = list(words)
        raise wrong(what, value, " or ".join(some) if len(some) == 2 else f"one of {', '.join(some)}")
    return value


def path(what: str, value: Any) -> Path:
    """A path that the system can have."""
    expected = "the path of a file or folder"
    found = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(found, str):
        raise wrong(what, value, expected)
    try:
        size = len(os.fsencode(found))
    except UnicodeEncodeError as error:
        raise Error(f"{what} has half a character ({found[error.start]!a}); expected {expected}") from error
    if size > _LONGEST_PATH:
        raise wrong(what, found, f"{expected}, of at most {_LONGEST_PATH:,} bytes")
    if "\0" in found:
        raise wrong(what, found, f"{expected}, without a zero byte")
    return Path(found)


def instance(what: str, value: Any, kind: type[_Kind], expected: str) -> _Kind:
    """An object of a class."""
    if not isinstance(value, kind):
        raise wrong(what, value, expected)
    return value


def function(what: str, value: _Function) -> _Function:
    """Something to call."""
    if not callable(value):
        raise wrong(what, value, "something to call, or True or False")
    return value
