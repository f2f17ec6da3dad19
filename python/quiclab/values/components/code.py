"""What the code of a class sets, reads and calls: its functions, and all that they use, as far as that can be seen."""

import dis
import inspect
import linecache
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial, partialmethod
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_MOST = 20_000
"""Objects that are looked at; what is behind more of them is not known."""
_PLAIN = (int, float, complex, bytes, bool, type(None))
_KNOWN = {*sys.stdlib_module_names, "quiclab", "numpy", "scipy", "pandas", "torch"}
"""Modules that neither set nor call anything of a plug-in by a name of their own."""
_READERS = {"getattr", "attrgetter", "methodcaller", "getmembers", "__getattribute__"}
"""Names with which code reads attributes whose names are texts."""
_BOTH = {"vars", "__dict__", "exec", "eval", "import_module", "__import__"}
_WORDS = re.compile(r"\w+")
_MAKES_TEXT = ("BINARY_", "BUILD_STRING", "FORMAT_", "CONVERT_")
_LOADS = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD")


@dataclass
class Code:
    """What code does with attributes, of whatever object."""

    sets: dict[str, FunctionType] = field(default_factory=dict)
    """The attributes that it sets, with a function that does: by name, or by `setattr` with a text."""
    clears: dict[str, FunctionType] = field(default_factory=dict)
    """The same of those that it sets to None."""
    reads: set[str] = field(default_factory=set)
    """The attributes that it reads or calls, but for `x.name += 1`, which only sets."""
    texts: set[str] = field(default_factory=set)
    """The words of its texts, which may be names of attributes."""
    reads_texts: bool = False
    """It reads attributes whose names are texts, so that each of its texts may be read."""
    reads_any: bool = False
    """It reads attributes whose names are not known before it runs."""
    sets_any: bool = False
    """It sets such attributes."""
    is_whole: bool = True
    """All that it uses was seen."""
    kept: set[int] = field(default_factory=set)
    """Functions, by their ids, that lists and tables have: they are called by no name."""
    homes: frozenset[str] = frozenset()
    """The modules of the plug-in, whatever they are called."""

    def unseen(self) -> None:
        """Notes that it uses what is not seen, which may read and set anything."""
        self.reads_any = self.sets_any = True
        self.is_whole = False

    def may_read(self, word: str) -> bool:
        """Whether it reads or calls this attribute for all that can be seen."""
        return word in self.reads or (self.reads_texts and word in self.texts)

    def may_set(self, word: str) -> bool:
        """Whether it sets it for all that can be seen."""
        return word in self.sets or (self.sets_any and word in self.texts)


def of_class(classes: Iterable[type]) -> tuple[list[FunctionType], Code]:
    """The functions of a class and of those above it, and what they and all that they use do."""
    classes = list(classes)
    values = [value for one in classes for value in _inside(one)]
    homes = frozenset(one.__module__ for one in classes)
    own = list(_reached(values, Code(homes=homes), outside=False))
    found = Code(homes=homes)
    for function in _reached(values, found, outside=True):
        _add(found, function.__code__, function)
    return own, found


def of_functions(functions: Iterable[FunctionType]) -> Code:
    """What these functions do themselves."""
    found = Code()
    for function in functions:
        _add(found, function.__code__, function)
    return found


def of_module(module: ModuleType) -> Code:
    """What the whole text of a module does, or its functions and classes if the text is not known."""
    found = Code(homes=frozenset([module.__name__]))
    whole = getattr(module, "code", None)
    if isinstance(whole, CodeType):
        _add(found, whole, None)
        return found
    inside = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    for function in _reached(inside, found, outside=False):
        _add(found, function.__code__, function)
    return found


def functions_in(value: object, class_: type) -> list[FunctionType]:
    """The functions of Python in a value of a class: its own, or one that a decorator or descriptor holds."""
    return list(_reached([value], Code(homes=frozenset([class_.__module__])), outside=False))


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code, and the code of functions and classes in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


def _inside(one: type) -> list[Any]:
    """The functions of a class, and its data but for what Python notes of it."""
    return [value for word, value in vars(one).items() if word[:2] != "__" or callable(value)]


def _reached(roots: Iterable[Any], found: Code, outside: bool) -> Iterator[FunctionType]:
    """The functions of others than Python and quiclab in these values; if `outside`, also those that they use by name.

    Texts in the values become those of `found`, as does what cannot be seen.
    """
    waiting = list(roots)
    seen: dict[int, Any] = {}
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.texts.update(_WORDS.findall(value))
        if isinstance(value, (*_PLAIN, str, ModuleType)) or id(value) in seen:
            continue
        seen[id(value)] = value
        if len(seen) > _MOST:
            found.unseen()
            return
        if isinstance(value, FunctionType):
            waiting += _held(value)
            if not _is_known(value.__module__, found):
                yield value
                waiting += _used(value, found) if outside else ()
        else:
            waiting += _parts(value, found)


def _held(function: FunctionType) -> list[Any]:
    """What a function holds: variables of the function around it, defaults, what decorators put there."""
    held: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:
            # Not set yet.
            continue
    return [*held, *vars(function).values()]


def _parts(value: Any, found: Code) -> list[Any]:
    """What is in a value that is no function."""
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        inside = [*value.keys(), *value.values()] if isinstance(value, Mapping) else list(value)
        found.kept.update(id(one) for one in inside if isinstance(one, FunctionType))
        return inside
    if isinstance(value, partial | partialmethod):
        return [value.func, value.args, value.keywords]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, type):
        return [] if _is_known(value.__module__, found) else _inside(value)
    if isinstance(value, staticmethod | classmethod | MethodType):
        return [value.__func__]
    kind, own = type(value), getattr(value, "__dict__", None)
    held = list(own.values()) if isinstance(own, dict) else []
    if _is_known(kind.__module__, found):
        return held
    # What is called and was not written in Python may set anything.
    called = next((vars(one)["__call__"] for one in kind.__mro__ if "__call__" in vars(one)), None)
    found.is_whole &= called is None or isinstance(called, FunctionType)
    return [kind, *held]


def _is_known(module: object, found: Code) -> bool:
    """Whether a module is of Python or of quiclab, and not the plug-in's own, which may be called `statistics`."""
    return isinstance(module, str) and module not in found.homes and module.partition(".")[0] in _KNOWN


def _used(function: FunctionType, found: Code) -> list[Any]:
    """What a function uses of its module and of other modules, by name."""
    used: list[Any] = []
    for code in codes(function.__code__):
        values = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
        for value in values:
            if not isinstance(value, ModuleType):
                used.append(value)
            elif not _is_known(value.__name__, found):
                # What a module would only load or make when asked for is not: that may fail, or take long.
                used += [vars(value)[name] for name in code.co_names if name in vars(value)]
    return used


def _add(found: Code, whole: CodeType, function: FunctionType | None) -> None:
    """Adds what code does."""
    for code in codes(whole):
        names = set(code.co_names)
        found.reads_texts |= bool(names & (_READERS | _BOTH))
        found.reads_any |= bool(names & (_READERS - {"getattr"} | _BOTH))
        found.sets_any |= bool(names & ({"__setattr__"} | _BOTH))
        steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "NOP", "EXTENDED_ARG")]
        set_texts: set[str] = set()
        for at, step in enumerate(steps):
            _add_step(found, steps, at, step, function or _none, set_texts)
        texts = {word for value in code.co_consts for text in _texts(value) for word in _WORDS.findall(text)}
        found.texts |= texts - (set_texts if "getattr" not in names else set())


def _none() -> None:
    """Stands for the code of a module."""


def _add_step(
    found: Code, steps: list[dis.Instruction], at: int, step: dis.Instruction, function: Any, set_texts: set[str]
) -> None:
    before = steps[max(at - 2, 0) : at]
    if step.opname == "STORE_ATTR":
        if len(before) == 2 and before[0].opname == "LOAD_CONST" and before[0].argval is None:
            found.clears.setdefault(step.argval, function)
        else:
            found.sets.setdefault(step.argval, function)
    elif step.opname in _LOADS:
        if not before or before[-1].opname not in ("COPY", "DUP_TOP"):
            found.reads.add(step.argval)
    elif step.opname == "IMPORT_NAME" and function is not _none and not _is_known(step.argval, found):
        found.unseen()
    elif step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in ("getattr", "setattr"):
        text = _named(steps[at + 1 :])
        if step.argval == "getattr":
            found.reads_any |= text is None
        elif text is None:
            found.sets_any = True
        else:
            found.sets.setdefault(text, function)
            set_texts.add(text)


def _named(steps: list[dis.Instruction]) -> str | None:
    """The text in a call like `setattr(x, "text", ...)`; None if it is no text, or one that is put together."""
    arguments: list[dis.Instruction] = []
    for step in steps:
        if step.opname.startswith("CALL"):
            break
        if step.opname.startswith(_MAKES_TEXT):
            return None
        arguments += [step] if step.opname not in ("PUSH_NULL", "PRECALL") else []
    if len(arguments) >= 2 and arguments[0].opname.startswith("LOAD_") and arguments[1].opname == "LOAD_CONST":
        return arguments[1].argval if isinstance(arguments[1].argval, str) else None
    return None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | frozenset):
        for one in value:
            yield from _texts(one)


def is_decorated(function: FunctionType) -> bool:
    """Whether a decorator stands before a function, which may have noted it somewhere."""
    code = function.__code__
    return linecache.getline(code.co_filename, code.co_firstlineno).lstrip().startswith("@")


def parameters(function: FunctionType) -> inspect.Signature:
    """What a function takes itself, whatever a decorator says of the function in it."""
    bare = FunctionType(function.__code__, {}, "", function.__defaults__, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare)
