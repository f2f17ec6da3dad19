"""Mistakes in the names of a class that a scenario names: methods that nothing calls, attributes that nothing reads."""

import inspect
from collections.abc import Iterator
from difflib import get_close_matches
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error

if TYPE_CHECKING:
    from quiclab._plugged import Part, Plugged

_NEAR = 0.72
"""How alike a mistyped name and the right one are: `on_los` and `on_loss`, but not `stats` and `start`."""
_NEAR_ATTRIBUTE = 0.6
"""The same for attributes that are set and never read: `window` and `window_bytes`."""
_EVENT = "on_"


def check(class_: "type[Plugged]", kind: "Part", module: ModuleType) -> None:
    """Raises `Error` if a class lacks what it needs, or has a name that was most probably meant to be another."""
    own = _own(class_, kind.base)
    name = class_.__qualname__
    known, loaded = _public(kind.base), _loaded(class_, kind.base, module)
    methods = [word for word in known if inspect.isfunction(getattr(kind.base, word, None))]
    for word, value in own.items():
        if word in known:
            if word in methods and not callable(value) and not isinstance(value, staticmethod | classmethod):
                raise Error(f"{_place(class_)}: {name}.{word} is {value!r}; expected a method")
            continue
        if word in loaded:
            continue
        bare = word.strip("_")
        near = get_close_matches(bare, methods, n=1, cutoff=_NEAR)
        if inspect.isfunction(value) and (near or bare.startswith(_EVENT)):
            raise Error(f"{_place(class_, value)}: nothing calls {name}.{word}; expected {_meant(near, methods)}")
        near = get_close_matches(bare.lower(), ["options", *_attributes(kind.base)], n=1, cutoff=_NEAR)
        if near and not callable(value):
            raise Error(f"{_place(class_)}: nothing reads {name}.{word}; expected {near[0]}")
    if kind.needed not in own:
        raise Error(f"{_place(class_)}: {name} has no method {kind.needed}; expected {_signature(kind)}")
    _check_attributes(class_, kind, module, {*loaded})


def _check_attributes(class_: "type[Plugged]", kind: "Part", module: ModuleType, loaded: set[str]) -> None:
    """Raises `Error` if an object sets an attribute that nobody reads instead of one that the lab reads."""
    known = _attributes(kind.base)
    functions = list(_functions(class_, kind.base, module))
    own = [function for one in _above(class_, kind.base) for function in _functions_of(dict(vars(one)))]
    stored = _names(own, "STORE_ATTR")
    for word, function in stored.items():
        near = get_close_matches(word, known, n=1, cutoff=_NEAR_ATTRIBUTE)
        is_own = word[0] == "_" or word in known or word in loaded or word in class_.options
        if near and not is_own:
            where = _place(class_, function)
            raise Error(f"{where}: nothing reads the attribute {word} of {class_.__qualname__}; expected {near[0]}")
    # One that sets nothing at all keeps the first window, and may want to.
    if kind.decides and stored and not loaded.union(_names(functions, "STORE_ATTR")).intersection(kind.decides):
        words = " or ".join(kind.decides)
        raise Error(f"{_place(class_)}: {class_.__qualname__} decides nothing; expected that it sets {words}")


def _meant(near: list[str], methods: list[str]) -> str:
    return near[0] if near else f"one of {', '.join(word for word in methods if word.startswith(_EVENT))}"


def _signature(kind: "Part") -> str:
    parameters = ", ".join(inspect.signature(getattr(kind.base, kind.needed)).parameters)
    return f"def {kind.needed}({parameters})"


def _public(base: "type[Plugged]") -> list[str]:
    return [word for word in dict.fromkeys([*dir(base), *_attributes(base)]) if word[0] != "_"]


def _attributes(base: "type[Plugged]") -> list[str]:
    """The attributes that the lab sets or reads."""
    return [word for word in inspect.get_annotations(base) if word[0] != "_"]


def _own(class_: "type[Plugged]", base: "type[Plugged]") -> dict[str, Any]:
    """What the class and the classes between it and the base have, by their names."""
    found: dict[str, Any] = {}
    for one in reversed(_above(class_, base)):
        found.update((word, value) for word, value in vars(one).items() if not word.startswith("__"))
    return found


def _above(class_: "type[Plugged]", base: "type[Plugged]") -> list[type]:
    return [one for one in class_.__mro__ if one not in base.__mro__]


def _functions(class_: "type[Plugged]", base: "type[Plugged]", module: ModuleType) -> Iterator[FunctionType]:
    """The functions of the class, of the classes above it, and of its module."""
    places: list[dict[str, Any]] = [dict(vars(one)) for one in _above(class_, base)]
    inside = dict(vars(module))
    places += [
        dict(vars(value)) for value in inside.values() if isinstance(value, type) and value.__module__ != "builtins"
    ]
    for place in [*places, inside]:
        yield from _functions_of(place)


def _functions_of(place: dict[str, Any]) -> Iterator[FunctionType]:
    for value in place.values():
        for function in (value, *_of_property(value)):
            found = inspect.unwrap(function) if callable(function) else getattr(function, "__func__", None)
            if isinstance(found, FunctionType):
                yield found


def _of_property(value: object) -> tuple[Any, ...]:
    return (value.fget, value.fset) if isinstance(value, property) else ()


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _loaded(class_: "type[Plugged]", base: "type[Plugged]", module: ModuleType) -> dict[str, FunctionType]:
    """The attributes that its code reads, by name or as a text, as `getattr` does."""
    functions = list(_functions(class_, base, module))
    found = _names(functions, "LOAD_ATTR", "LOAD_METHOD")
    for function in functions:
        for code in _codes(function.__code__):
            found.update((word, function) for word in code.co_consts if isinstance(word, str))
    return found


def _names(functions: list[FunctionType], *operations: str) -> dict[str, FunctionType]:
    import dis

    found: dict[str, FunctionType] = {}
    for function in functions:
        for code in _codes(function.__code__):
            for step in dis.get_instructions(code):
                if step.opname in operations and isinstance(step.argval, str):
                    found.setdefault(step.argval, function)
    return found


def _place(class_: type, function: FunctionType | None = None) -> str:
    """Where a class or a method of it is: `mine.py:7`; the module if that is not known."""
    first = function or next((value for value in vars(class_).values() if isinstance(value, FunctionType)), None)
    return class_.__module__ if first is None else f"{first.__code__.co_filename}:{first.__code__.co_firstlineno}"
