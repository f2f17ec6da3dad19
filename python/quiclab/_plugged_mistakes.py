"""Mistakes in a class that a scenario names: methods that nothing can call, attributes that nothing reads."""

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
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
_SURELY = 0.9
"""How alike two names are of which one is a slip: `window_byte` and `window_bytes`, but not `windows`."""
_SHORT = 8
"""Letters of a name that is too short to tell a slip from a word of its own: `state` and `stats`."""
_UNITS = {
    "bps",
    "kbps",
    "mbps",
    "gbps",
    "bits",
    "bit",
    "byte",
    "bytes",
    "kb",
    "mb",
    "packets",
    "segments",
    "rate",
    "size",
}
"""What may stand instead of the unit of an attribute: `pacing_rate` for `pacing_bps`."""
_EVENT = "on_"


def check(class_: "type[Plugged]", kind: "Part", module: ModuleType) -> None:
    """Raises `Error` if a class lacks what it needs, cannot be called, or has a name that was meant to be another."""
    own = _own(class_, kind.base)
    known = _public(kind.base)
    methods = [word for word in known if inspect.isfunction(getattr(kind.base, word, None))]
    _check_options(class_, known)
    for word, value in own.items():
        if word in methods:
            _check_method(class_, kind.base, word, value)
        elif isinstance(value, property) and word in known and value.fset is None:
            name = f"{_place(class_)}: {class_.__qualname__}.{word}"
            raise Error(f"{name} cannot be set; expected an attribute, or a property with a setter")
    _check_names(class_, kind.base, methods, _loaded(class_, kind.base, module))
    if kind.needed not in own:
        raise Error(f"{_place(class_)}: {class_.__qualname__} has no method {kind.needed}; expected {_signature(kind)}")
    _check_attributes(class_, kind, module)


def _check_options(class_: "type[Plugged]", known: list[str]) -> None:
    """Raises `Error` if the options are no names with defaults, or if the class cannot be made with them."""
    options: Any = class_.options
    where, name = _place(class_), class_.__qualname__
    if not isinstance(options, Mapping) or not all(isinstance(word, str) for word in options):
        raise Error(f'{where}: {name}.options is {options!r}; expected names with defaults, like {{"gain": 2.0}}')
    taken = next((word for word in options if word in known), None)
    if taken is not None:
        raise Error(f"{where}: an option of {name} cannot be called {taken}; the name has a meaning already")
    made = vars(class_).get("__init__")
    if isinstance(made, FunctionType) and not _fits(made, 1, options):
        words = ", ".join(["self", *options])
        raise Error(f"{_place(class_, made)}: {name}.__init__ does not take the options; expected ({words})")


def _check_method(class_: "type[Plugged]", base: "type[Plugged]", word: str, value: Any) -> None:
    """Raises `Error` if a method that the lab calls cannot be called as it does."""
    name = f"{class_.__qualname__}.{word}"
    if not callable(value) and not hasattr(value, "__get__"):
        raise Error(f"{_place(class_)}: {name} is {value!r}; expected a method")
    function = getattr(value, "__func__", value)
    if not isinstance(function, FunctionType):
        return
    real, where = inspect.unwrap(function), _place(class_, function)
    if inspect.iscoroutinefunction(real) or inspect.isasyncgenfunction(real):
        raise Error(f"{where}: {name} is async, so that nothing runs it; expected a method without async")
    if inspect.isgeneratorfunction(real):
        raise Error(f"{where}: {name} has a yield, so that nothing runs it; expected a method without yield")
    given = list(inspect.signature(getattr(base, word)).parameters)
    if not _fits(function, len(given) - isinstance(value, staticmethod)):
        raise Error(
            f"{where}: {name}{inspect.signature(function)} is called otherwise; expected {_called(word, given)}"
        )


def _fits(function: FunctionType, arguments: int, words: Iterable[str] = ()) -> bool:
    try:
        inspect.signature(function).bind(*range(arguments), **dict.fromkeys(words))
    except TypeError:
        return False
    return True


def _check_names(
    class_: "type[Plugged]", base: "type[Plugged]", methods: list[str], loaded: Mapping[str, FunctionType]
) -> None:
    """Raises `Error` if the class has a name that was meant to be one that the lab knows."""
    name, known = class_.__qualname__, _public(base)
    for word, value in _own(class_, base).items():
        if word in known:
            continue
        bare = word.strip("_")
        if word not in loaded:
            near = get_close_matches(bare, methods, n=1, cutoff=_NEAR)
            if inspect.isfunction(value) and (near or bare.startswith(_EVENT)):
                raise Error(f"{_place(class_, value)}: nothing calls {name}.{word}; expected {_meant(near, methods)}")
        attributes = ["options", *_attributes(base)]
        near = _slip(word, attributes) if word in loaded else get_close_matches(bare.lower(), attributes, 1, _NEAR)
        if near and not callable(value) and not (isinstance(value, property) and word in loaded):
            raise Error(f"{_place(class_)}: nothing reads {name}.{word}; expected {near[0]}")


def _check_attributes(class_: "type[Plugged]", kind: "Part", module: ModuleType) -> None:
    """Raises `Error` if an object sets an attribute that nobody reads instead of one that the lab reads."""
    known, loaded = _attributes(kind.base), _loaded(class_, kind.base, module)
    functions = list(_functions(class_, kind.base, module))
    own = [function for one in _above(class_, kind.base) for function in _functions_of(dict(vars(one)))]
    named = dict(_texts(functions, everywhere=True))
    properties = [word for word, value in _own(class_, kind.base).items() if isinstance(value, property)]
    decided = {*_names(functions, "STORE_ATTR"), *named, *properties}.intersection(kind.decides)
    for word, function in {**_names(own, "STORE_ATTR"), **dict(_texts(own))}.items():
        if word[0] == "_" or word in known or word in class_.options:
            continue
        # What the class reads itself may be its own, unless it can only be a slip, or has another unit.
        is_read = word in loaded
        near = _slip(word, known) if is_read else get_close_matches(word, known, 1, _NEAR_ATTRIBUTE)
        near = near or [one for one in kind.decides if one not in decided and _other_unit(word, one, not decided)]
        if near:
            where = _place(class_, function)
            raise Error(f"{where}: nothing reads the attribute {word} of {class_.__qualname__}; expected {near[0]}")
    if kind.decides and not decided and not _calls_elsewhere(own):
        words = " or ".join(kind.decides)
        raise Error(f"{_place(class_)}: {class_.__qualname__} decides nothing; expected that it sets {words}")


def _slip(word: str, known: Iterable[str]) -> list[str]:
    """The name of which this is surely a misspelling."""
    long = [one for one in known if len(one) >= _SHORT]
    return [one for one in get_close_matches(word, long, 1, _SURELY) if one != word]


def _other_unit(word: str, known: str, or_none: bool) -> bool:
    """Whether a name is another with another unit: `pacing_rate`; or, if wanted, without one: `window`."""
    stem, _, _ = known.rpartition("_")
    return (or_none and word == stem) or (word.startswith(f"{stem}_") and word[len(stem) + 1 :].lower() in _UNITS)


def _calls_elsewhere(functions: list[FunctionType]) -> bool:
    """Whether the functions use modules whose code is not known here, which may set what they do not set themselves."""
    for function in functions:
        used = {name for code in _codes(function.__code__) for name in code.co_names}
        modules = (value for name in used if isinstance(value := function.__globals__.get(name), ModuleType))
        if any(one.__name__.partition(".")[0] not in {*sys.stdlib_module_names, "quiclab"} for one in modules):
            return True
    return False


def _meant(near: list[str], methods: list[str]) -> str:
    return near[0] if near else f"one of {', '.join(word for word in methods if word.startswith(_EVENT))}"


def _signature(kind: "Part") -> str:
    return _called(kind.needed, inspect.signature(getattr(kind.base, kind.needed)).parameters)


def _called(word: str, parameters: Iterable[str]) -> str:
    return f"def {word}({', '.join(parameters)})"


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
    """The functions of the class, of the classes above it, and of its module, without those of other components."""
    places: list[dict[str, Any]] = [dict(vars(one)) for one in _above(class_, base)]
    inside = dict(vars(module))
    places += [
        dict(vars(value))
        for value in inside.values()
        if isinstance(value, type) and value.__module__ != "builtins" and not issubclass(value, base)
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
    found.update(_texts(functions, everywhere=True))
    return found


def _texts(functions: list[FunctionType], everywhere: bool = False) -> Iterator[tuple[str, FunctionType]]:
    """Names of attributes as texts in code that uses `setattr` or `getattr`; texts of all code if wanted."""
    for function in functions:
        for code in _codes(function.__code__):
            if everywhere or {"setattr", "getattr", "hasattr"}.intersection(code.co_names):
                texts = (word for word in code.co_consts if isinstance(word, str) and word.isidentifier())
                yield from ((word, function) for word in texts)


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
