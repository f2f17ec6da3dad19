"""Python values as a TOML document: what `Scenario(...)` gives to the one reader of scenarios."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from quiclab import _quiclab
from quiclab._quiclab import ScenarioError
from quiclab.values.components.parts import Plugged
from quiclab.values.components.plugged import place_of


def to_toml(document: Mapping[str, Any]) -> str:
    """The document as TOML: mappings become tables, lists of mappings become arrays of tables.

    Keys whose value is None are left out. Raises `ScenarioError`, naming the key, for a value that TOML cannot hold.
    """
    return _quiclab.document_to_toml(dict(document))


def literal(value: object, key: str = "value") -> str:
    """One value as it stands in TOML after the equals sign. `key` names it in errors."""
    return _quiclab.value_to_toml(value, key)


def plain(value: object, key: str) -> object:
    """A value of another type than Python's own as one of those; only the outermost of a table or a list.

    `key` names it in the `ScenarioError` of a value that cannot be used in a scenario.
    """
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        # numpy's doubles are floats too, and say so in their own repr.
        return float(value)
    if _is_plugged(value):
        name, options = place_of(value)
        return {"type": name, **options}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return list(value)
    number = _number(value)
    if number is not None:
        return number
    what = f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
    wanted = (
        "; expected text, a number, a list, a table, or a class derived from quiclab.Controller, Queue or another part"
    )
    raise ScenarioError(f"{key}: {what} cannot be used in a scenario{wanted}")


def is_tables(value: object) -> bool:
    """Whether it is a list of tables, each of which gets a header."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return False
    return len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _is_plugged(value: object) -> TypeGuard[Plugged | type[Plugged]]:
    return isinstance(value, Plugged) or (isinstance(value, type) and issubclass(value, Plugged))


def _number(value: object) -> int | float | None:
    # numpy's scalars and the like, without importing numpy.
    item = getattr(value, "item", None)
    number = item() if callable(item) else None
    return number if isinstance(number, (int, float)) else None
