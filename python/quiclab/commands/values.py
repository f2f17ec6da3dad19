"""Values of the command line that need no library to be read.

Typer reads every value with pydantic, and also asks it about the options that were not given. Importing it takes longer
than most commands do. So plain values are read here, as typer would read them; typer gets all others, and so words the
errors.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_origin

_INTEGER = re.compile(r"[0-9]{1,15}")
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_NOT_PLAIN = object()


def read_plainly(parameter: Any) -> Any:
    """The same parameter, which now reads plain values itself. A typer that does not use pydantic is left alone."""
    theirs = getattr(parameter, "get_runtime_param", None)
    if theirs is not None and not isinstance(theirs, _Reader):
        parameter.get_runtime_param = _Reader(parameter, theirs)
    return parameter


class _Reader:
    """In place of a parameter's method that gives the reader of its values; is that reader too."""

    def __init__(self, parameter: Any, theirs: Callable[[], Any]) -> None:
        self._annotation = parameter.type_descriptor.annotation
        self._info = parameter.type_descriptor.parameter_info
        self._theirs = theirs

    def __call__(self) -> "_Reader":
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        plain = self._plain(value, several=param.multiple or param.nargs == -1)
        return self._theirs().coerce(value, param=param, ctx=ctx) if plain is _NOT_PLAIN else plain

    def _plain(self, value: Any, several: bool) -> Any:
        if value is None:
            return () if several else None
        if self._info.parser is not None:
            return _NOT_PLAIN
        if not several:
            return _one(self._annotation, value, self._info)
        if get_origin(self._annotation) is not list or not isinstance(value, list | tuple):
            return _NOT_PLAIN
        (kind,) = get_args(self._annotation)
        values = [_one(kind, one, self._info) for one in value]
        return _NOT_PLAIN if _NOT_PLAIN in values else values


def _one(kind: Any, value: Any, info: Any) -> Any:
    if kind in (bool, int, float) and type(value) is kind:
        # A default.
        return value
    if kind is Path and isinstance(value, str | Path):
        return Path(value) if _is_plain_path(value, info) else _NOT_PLAIN
    if not isinstance(value, str):
        return _NOT_PLAIN
    if kind is str:
        return value
    if (kind is int and _INTEGER.fullmatch(value)) or (kind is float and _NUMBER.fullmatch(value)):
        number = kind(value)
        if not info.clamp and (info.min is None or info.min <= number) and (info.max is None or number <= info.max):
            return number
    return _NOT_PLAIN


def _is_plain_path(path: str | Path, info: Any) -> bool:
    """Whether nothing is asked of a path but to be readable if it is there."""
    asked = info.exists or info.writable or info.resolve_path or info.allow_dash or info.path_type is not None
    if asked or not (info.file_okay and info.dir_okay):
        return False
    return not info.readable or os.access(path, os.R_OK) or not os.path.lexists(path)
