"""Reading files that people or results name: only files are read, and no more of them than has a use."""

import errno
import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from quiclab._quiclab import file_text

LONGEST = 256 << 20
"""Bytes of a text that is read whole."""
_DEEPEST = 100
"""Lists and tables within each other at most."""


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Opens a file for reading. A symbolic link counts as what it leads to.

    Raises `OSError`, also for a folder, and for a pipe, a socket or a device, which may have no end.
    """
    # First by name, since to open some devices has an effect; then what was opened, as a name may change.
    _check(Path(path).stat(), path)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    try:
        _check(os.fstat(descriptor), path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def check(path: str | os.PathLike[str]) -> None:
    """Raises `OSError` if a library would not find a file there."""
    opened(path).close()


def text(path: str | os.PathLike[str], most: int = LONGEST) -> str:
    """The text of a file. Raises `OSError`, or `ValueError` if it is no text in UTF-8, or longer than `most` bytes."""
    with opened(path) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise ValueError(f"longer than {most >> 20} MiB")
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError:
        # It says what the file is instead.
        return file_text(found)


def read_json(path: str | os.PathLike[str]) -> Any:
    """The values of a JSON file. Raises `OSError`, or `ValueError` if it is none, or has a number that is none."""
    found = text(path)
    try:
        return _shallow(json.loads(found, parse_constant=_no_number), "JSON")
    except RecursionError:
        raise ValueError("not JSON: nested too deep") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: line {error.lineno} column {error.colno}: {json_reason(error)}") from error


_NOT_JSON = {
    "Expecting value": "a value is missing",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting property name enclosed in double quotes": "a name in quotation marks is missing",
    "Extra data": "something stands behind the value",
    "Unterminated string starting at": "a text has no end",
    "Invalid control character at": "a text has a control character",
    "Invalid \\escape": "a text has an unknown escape",
    "Invalid \\uXXXX escape": "a text has an unknown escape",
    "Illegal trailing comma before end of object": "a value is missing behind a comma",
    "Illegal trailing comma before end of array": "a value is missing behind a comma",
}
"""What the module `json` says, as people say it."""


def json_reason(error: json.JSONDecodeError) -> str:
    """Why a text is no JSON."""
    known = (words for start, words in _NOT_JSON.items() if error.msg.startswith(start))
    return next(known, "it is cut off or changed there")


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The values of a TOML file. Raises `OSError`, or `ValueError` if it is none."""
    return toml_values(text(path))


def toml_values(text_: str) -> dict[str, Any]:
    """The values of a TOML document. Raises `ValueError` if it is none."""
    try:
        return _shallow(tomllib.loads(text_), "a TOML document")
    except RecursionError:
        raise ValueError("not a TOML document: nested too deep") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not a TOML document: {error}") from error


_Values = TypeVar("_Values")


def _shallow(values: _Values, what: str) -> _Values:
    """The same values. Raises `ValueError` if they are nested so deep that their readers could not go through them."""
    level: list[object] = [values]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return values
    raise ValueError(f"not {what}: nested too deep")


def reason(error: Exception) -> str:
    """An error of this module in a few words, without the name of the file."""
    if isinstance(error, OSError) and error.errno:
        return str(error.strerror) if error.errno in _OWN else os.strerror(error.errno)
    if isinstance(error, UnicodeEncodeError):
        return "its path is no text in UTF-8"
    return (str(error).splitlines() or [type(error).__name__])[0]


_OWN = (errno.EINVAL, errno.EISDIR)


def _no_number(word: str) -> float:
    raise ValueError(f"not JSON: {word} is no number")


def _check(found: os.stat_result, path: str | os.PathLike[str]) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "a folder, not a file", str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def is_file(path: Path) -> bool:
    """Whether there is a file that can be opened."""
    try:
        check(path)
    except OSError:
        return False
    return True
