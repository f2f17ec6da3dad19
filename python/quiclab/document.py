"""Python values as a TOML document: what `Scenario(...)` gives to the one reader of scenarios."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from quiclab._quiclab import ScenarioError
from quiclab.plugged import Plugged, place_of

_MOST_LEVELS = 32
"""The same as in the reader of scenarios."""
_SHOWN = 40
"""Characters of a long path in an error."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def to_toml(document: Mapping[str, Any]) -> str:
    """The document as TOML: mappings become tables, lists of mappings become arrays of tables.

    Keys whose value is None are left out. Raises `ScenarioError`, naming the key, for a value that TOML cannot hold.
    """
    lines: list[str] = []
    _table(document, (), lines)
    return "\n".join(lines) + "\n"


def literal(value: object, key: str = "value", levels: int = _MOST_LEVELS) -> str:
    """One value as it stands in TOML after the equals sign. `key` names it in errors.

    `levels`: how deeply tables and lists may be nested; a value that contains itself would never end.
    """
    if levels < 0:
        raise ScenarioError(f"{_shortened(key)}: nested too deeply; expected at most {_MOST_LEVELS} levels")
    # bool before int: a bool is an int in Python.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # numpy's doubles are floats too, and say so in their own repr.
        return float.__repr__(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return _string(value)
    if _is_plugged(value):
        name, options = place_of(value)
        value = {"type": name, **options}
    if isinstance(value, Mapping):
        pairs = (f"{_key(k, key)} = {literal(v, f'{key}.{k}', levels - 1)}" for k, v in value.items() if v is not None)
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "[" + ", ".join(literal(item, key, levels - 1) for item in value) + "]"
    number = _number(value)
    if number is not None:
        return literal(number, key)
    what = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
    wanted = "; expected text, a number, a list, a table, or what is derived from quiclab.Controller, Scheduler or Abr"
    raise ScenarioError(f"{key}: {what} cannot stand in a scenario{wanted}")


def _shortened(key: str) -> str:
    return key if len(key) <= _SHOWN else f"{key[:_SHOWN]}..."


def _is_plugged(value: object) -> TypeGuard[Plugged | type[Plugged]]:
    return isinstance(value, Plugged) or (isinstance(value, type) and issubclass(value, Plugged))


def _table(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    if len(path) > _MOST_LEVELS:
        raise ScenarioError(f"{_shortened('.'.join(path))}: nested too deeply; expected at most {_MOST_LEVELS} levels")
    # A key after a header belongs to that header, so plain values come first.
    nested = []
    for key, value in table.items():
        if value is None:
            continue
        name = ".".join((*path, str(key)))
        if _is_section(value):
            nested.append((key, value))
        else:
            lines.append(f"{_key(key, name)} = {literal(value, name)}")
    for key, value in nested:
        inner = (*path, _key(key, ".".join((*path, str(key)))))
        header = ".".join(inner)
        for item in [value] if isinstance(value, Mapping) else value:
            lines.append(f"\n[{header}]" if item is value else f"\n[[{header}]]")
            _table(item, inner, lines)


def _is_section(value: object) -> bool:
    if isinstance(value, Mapping):
        return True
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return False
    return len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _key(key: object, name: str) -> str:
    if not isinstance(key, str):
        raise ScenarioError(f"{name}: a key is text, not a {type(key).__name__}")
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    def escape(character: str) -> str:
        if character in _ESCAPES:
            return _ESCAPES[character]
        return f"\\u{ord(character):04x}" if ord(character) < 0x20 or character == "\x7f" else character

    return '"' + "".join(map(escape, text)) + '"'


def _number(value: object) -> int | float | None:
    # numpy's scalars and the like, without importing numpy.
    item = getattr(value, "item", None)
    number = item() if callable(item) else None
    return number if isinstance(number, (int, float)) else None
