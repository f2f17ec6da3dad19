"""Mistakes in a class that a scenario names: what cannot work is refused, what only may be a mistake is a warning."""

import inspect
import math
from collections.abc import Iterable, Mapping
from functools import partialmethod
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from quiclab._quiclab import Error, edits
from quiclab.values import folders
from quiclab.values.components import code as _plugged_code
from quiclab.values.components.code import Code

if TYPE_CHECKING:
    from quiclab.values.components.parts import Part, Plugged

_LONG = 10
"""Letters of a name in which two may be wrong; in a shorter one it is one."""
_SHORT = 7
"""Letters of an attribute's name that is one letter from words of their own, as `state` is from `stage` and `stats`."""
_UNITS = {
    *("bps", "kbps", "mbps", "gbps", "bits", "bit", "byte", "bytes", "kbytes", "kb", "mb", "packets", "segments"),
    *("rate", "size"),
}
"""What may stand instead of the unit of an attribute: `pacing_rate` for `pacing_bps`."""
_EVENT = "on_"
_MOST = (1 << 63) - 1
"""The largest whole number that an option can have."""


class _Seen(NamedTuple):
    """A class, and what is known of its code."""

    class_: "type[Plugged]"
    kind: "Part"
    module: ModuleType
    own: list[FunctionType]
    """Its functions."""
    ours: Code
    """What these do."""
    code: Code
    """What these and all that they use do."""
    file: Code
    """What the whole file does."""
    warnings: list[str]

    def is_read(self, word: str) -> bool:
        """Whether anything in the plug-in reads the attribute or calls the method."""
        return self.code.may_read(word) or self.file.may_read(word)

    def decided(self) -> set[str]:
        """The attributes by which an object decides that its code may set."""
        own = _own(self.class_, self.kind.base)
        descriptors = {word for word, value in own.items() if _is_method(value) or isinstance(value, property)}
        return {word for word in self.kind.decides if self.code.may_set(word) or word in descriptors}

    def problem(self, text: str, function: FunctionType | None = None, *, surely: bool) -> None:
        """Raises `Error` for what surely is a mistake, and keeps a warning of what may be none."""
        told = f"{place(self.class_, self.module, function)}: {text}"
        if surely:
            raise Error(told)
        self.warnings.append(told)


def check(class_: "type[Plugged]", kind: "Part", module: ModuleType) -> tuple[list[str], set[str]]:
    """Raises `Error` if a class cannot work: it lacks what it needs, cannot be called, or has a misspelt name.

    Returns warnings of what may be a mistake, and the methods that its objects get for themselves.
    """
    own, code = _plugged_code.of_class(_above(class_, kind.base))
    ours, file = _plugged_code.of_functions(own), _plugged_code.of_module(module)
    seen = _Seen(class_, kind, module, own, ours, code, file, [])
    known = _public(kind.base)
    methods = [word for word in known if inspect.isfunction(getattr(kind.base, word, None))]
    _check_options(seen, known)
    for word, value in _own(class_, kind.base).items():
        if word in methods:
            _check_method(seen, word, value)
        elif isinstance(value, property) and word in known and value.fset is None:
            text = f"{class_.__qualname__}.{word} cannot be set; expected an attribute, or a property with a setter"
            seen.problem(text, surely=True)
    _check_methods(seen, methods)
    for needed in kind.needed:
        if needed not in _own(class_, kind.base) and not code.may_set(needed):
            text = f"{class_.__qualname__} has no method {needed}; expected {_signature(kind, needed)}"
            seen.problem(text, surely=not code.sets_any)
    if lacking := sorted(getattr(class_, "__abstractmethods__", ())):
        text = f"{class_.__qualname__} is abstract; expected a class with the method {lacking[0]}"
        seen.problem(text, surely=True)
    _check_attributes(seen)
    return seen.warnings, {word for word in kind.called if code.may_set(word)}


def class_of(class_: "type[Plugged]", word: str, kind: "Part", module: ModuleType) -> "type[Plugged]":
    """The class that another one has as this attribute. Raises `Error` if it has none, or one of another kind."""
    found = getattr(class_, word, None)
    if isinstance(found, type) and issubclass(found, kind.base):
        return found
    name, expected = class_.__qualname__, f"a class derived from quiclab.{kind.base.__name__}"
    if found is not None:
        raise Error(f"{place(class_, module)}: {name}.{word} is {found!r}; expected {expected}")
    slips = [other for other in vars(class_) if _is_slip(other.lower(), word)]
    near = f", which is called {slips[0]} here" if slips else ""
    raise Error(f"{place(class_, module)}: {name} has no {word}{near}; expected {expected}")


def _check_options(seen: _Seen, known: list[str]) -> None:
    """Raises `Error` if the options are no names with defaults, or if the class cannot be made with them."""
    class_ = seen.class_
    options: Any = class_.options
    name = class_.__qualname__
    if not isinstance(options, Mapping) or not all(isinstance(word, str) for word in options):
        text = f'{name}.options is {options!r}; expected names with defaults, like {{"gain": 2.0}}'
        seen.problem(text, surely=True)
    for word, default in options.items():
        if word in known:
            text = f"an option of {name} cannot be called {word}; the name has a meaning already"
            seen.problem(text, surely=True)
        if not _is_default(default):
            expected = "true or false, a whole number of 0 or more, a finite number with a point, or a text"
            text = f"option {word} of {name} has the default {default!r}; expected {expected}"
            seen.problem(text, surely=True)
    made = vars(class_).get("__init__")
    if isinstance(made, FunctionType) and not _fits(made, 1, options):
        words = ", ".join(["self", *options])
        seen.problem(f"{name}.__init__ does not take the options; expected ({words})", made, surely=True)


def _is_default(value: object) -> bool:
    if isinstance(value, bool | str):
        return True
    return math.isfinite(value) if isinstance(value, float) else isinstance(value, int) and 0 <= value <= _MOST


def _check_method(seen: _Seen, word: str, value: Any) -> None:
    """Raises `Error` if a method that the lab calls cannot be called as it does."""
    name = f"{seen.class_.__qualname__}.{word}"
    if not callable(value) and not hasattr(value, "__get__"):
        seen.problem(f"{name} is {value!r}; expected a method", surely=True)
    function = getattr(value, "__func__", value)
    if not isinstance(function, FunctionType):
        return
    for one in dict.fromkeys([function, inspect.unwrap(function)]):
        # What is inside of a decorator may be run by it.
        surely = one is function
        if inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one):
            text = f"{name} is async, so that nothing runs it; expected a method without async"
            seen.problem(text, one, surely=surely)
        elif inspect.isgeneratorfunction(one):
            text = f"{name} has a yield, so that nothing runs it; expected a method without yield"
            seen.problem(text, one, surely=surely)
    given = list(inspect.signature(getattr(seen.kind.base, word)).parameters)
    if not _fits(function, len(given) - isinstance(value, staticmethod)):
        taken = _plugged_code.parameters(function)
        text = f"{name}{taken} is called otherwise; expected {_called(word, given)}"
        seen.problem(text, function, surely=True)


def _fits(function: FunctionType, arguments: int, words: Iterable[str] = ()) -> bool:
    try:
        _plugged_code.parameters(function).bind(*range(arguments), **dict.fromkeys(words))
    except TypeError:
        return False
    return True


def _check_methods(seen: _Seen, methods: list[str]) -> None:
    """Looks for methods that nothing calls and that were meant to be some that the lab calls."""
    name, own = seen.class_.__qualname__, _own(seen.class_, seen.kind.base)
    events = [word for word in methods if word.startswith(_EVENT)]
    for word, value in own.items():
        if word in methods or not _is_method(value) or seen.is_read(word) or id(value) in seen.code.kept:
            continue
        function = next(iter(_plugged_code.functions_in(value, seen.class_)), None)
        plain = _plain(word, seen.class_)
        slips = [known for known in methods if _is_slip(plain, known)]
        # A decorator may note a function somewhere, so that it is called by no name.
        may_be_noted = isinstance(value, FunctionType) and _plugged_code.is_decorated(value)
        lacking = [known for known in slips if known not in own]
        may_be_called = may_be_noted or seen.code.reads_any
        is_event = word.startswith(_EVENT) and not may_be_called
        if near := lacking or slips or ([f"one of {', '.join(events or methods)}"] if is_event else []):
            # A helper may have a name like that, if it is no public one.
            surely = (bool(lacking) or word[0] != "_") and not may_be_called
            seen.problem(f"nothing calls {name}.{plain}; expected {near[0]}", function, surely=surely)


def _plain(word: str, class_: type) -> str:
    """A name as the class spells it: Python puts its name before one that begins with two underscores."""
    return word.removeprefix(f"_{class_.__name__.lstrip('_')}") if "__" in word else word


def _is_method(value: object) -> bool:
    if isinstance(value, property | type):
        return False
    return isinstance(value, partialmethod) or (hasattr(value, "__get__") and not inspect.ismemberdescriptor(value))


def _check_attributes(seen: _Seen) -> None:
    """Looks for attributes that are set instead of one that the lab reads."""
    class_, kind, name = seen.class_, seen.kind, seen.class_.__qualname__
    known, decided = _attributes(kind.base), seen.decided()
    own = _own(class_, kind.base)
    values = {word: None for word, value in own.items() if not _is_method(value) and not isinstance(value, type)}
    for word, function in {**values, **seen.ours.clears, **seen.ours.sets}.items():
        if word[:1] == "_" or word in known or word in class_.options or isinstance(own.get(word), property):
            continue
        is_read = seen.is_read(word)
        slip = next((one for one in known if _is_slip_of_attribute(word, one)), None)
        if slip is None and isinstance(own.get(word), Mapping) and word != "options" and _is_slip(word, "options"):
            slip = "options"
        other = next((one for one in kind.decides if _is_in_other_unit(word, one)), None)
        if slip is None and (other is None or (is_read and other in decided)):
            continue
        # The class has a use for what it reads, and for a note of what it decides, unless it then decides nothing.
        sure = bool(kind.decides and not decided) or (not is_read and (slip is not None or other not in decided))
        text = f"{'quiclab does not read' if is_read else 'nothing reads'} {name}.{word}"
        seen.problem(f"{text}; expected {slip or other}", function, surely=sure and not seen.code.reads_any)
    if kind.decides and not decided and seen.code.is_whole:
        words = " or ".join(kind.decides)
        seen.problem(f"{name} decides nothing; expected that it sets {words}", surely=not seen.code.sets_any)


def _is_slip_of_attribute(word: str, known: str) -> bool:
    if len(known) > _SHORT or not _is_slip(word, known):
        return _is_slip(word, known)
    # A letter lost within, doubled, or two in the wrong order: another letter makes a word of its own.
    swapped = sorted(word) == sorted(known)
    lost = len(word) < len(known) and word != known[:-1]
    doubled = len(word) > len(known) and _single(word) == _single(known)
    return swapped or lost or doubled


def _single(word: str) -> str:
    return "".join(letter for at, letter in enumerate(word) if word[at - 1 : at] != letter)


def _is_slip(word: str, known: str) -> bool:
    """Whether a word is another with one or two letters wrong, or with other capitals or underscores.

    Not one that has a further word, as `window_bytes_0`.
    """
    if word == known or word.startswith(f"{known}_") or (word.endswith(f"_{known}") and word.strip("_") != known):
        return False
    one, other = (text.replace("_", "").lower() for text in (word, known))
    return edits(one, other) <= (2 if len(other) >= _LONG else 1)


def _is_in_other_unit(word: str, known: str) -> bool:
    """Whether a name is another with another unit, or with none: `pacing_rate`, `window`."""
    stem, _, _ = known.rpartition("_")
    return word == stem or (word.startswith(f"{stem}_") and word[len(stem) + 1 :].lower() in _UNITS)


def _signature(kind: "Part", method: str) -> str:
    return _called(method, inspect.signature(getattr(kind.base, method)).parameters)


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


def place(class_: type, module: ModuleType | None, function: FunctionType | None = None) -> str:
    """Where a method or a class is: `mine.py:7`; its file or module if the line is not known."""
    if function is not None:
        return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
    whole = getattr(module, "code", None)
    for code in () if whole is None else _plugged_code.codes(whole):
        if code.co_qualname == class_.__qualname__:
            return f"{code.co_filename}:{code.co_firstlineno}"
    for value in vars(class_).values():
        for one in _plugged_code.functions_in(value, class_):
            return place(class_, module, one)
    file = getattr(module, "__file__", None)
    return folders.shown(file) if file else class_.__module__
