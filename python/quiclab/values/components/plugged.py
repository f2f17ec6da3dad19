"""Components written in Python: the options that their classes have, and how classes are found, described and made."""

import importlib
import importlib.util
import linecache
import sys
import traceback
from collections import OrderedDict
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

from quiclab._quiclab import Error
from quiclab.values import folders
from quiclab.values.components import mistakes
from quiclab.values.components.parts import Option, Part, Plugged, part_of
from quiclab.values.plain_text import plain

_MOST_FILES = 64
"""Texts of files that are kept compiled."""


class Ready(dict[int, Any]):
    """The ready streams of a scheduler, which only the lab changes."""

    def _kept(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "self.ready cannot be changed; expected that the class only reads it, or a copy: dict(self.ready)"
        )

    __setitem__ = __delitem__ = __ior__ = _kept
    pop = popitem = clear = update = setdefault = _kept


def place_of(component: Plugged | type[Plugged]) -> tuple[str, dict[str, Option]]:
    """How a scenario names the class, and the options of the object."""
    class_ = component if isinstance(component, type) else type(component)
    name = f"{class_.__module__}:{class_.__qualname__}"
    if _found(sys.modules.get(class_.__module__), class_.__qualname__) is not class_:
        raise Error(f"{name} cannot be found again by its name; expected a class at the top of a module or a notebook")
    options = {} if isinstance(component, type) else {key: getattr(component, key) for key in class_.options}
    return name, options


_files: OrderedDict[tuple[str, str], ModuleType] = OrderedDict()


def describe_(word: str, path: str, text: str | None, name: str) -> tuple[str, list[tuple[str, Option]]]:
    """What a class is in one line, and its options with their defaults."""
    class_ = _class(word, path, text, name)
    about = (class_.__doc__ or "").strip().partition("\n")[0] if class_.__doc__ != part_of(word).base.__doc__ else ""
    return about or f"a {word} in Python: {name}", list(class_.options.items())


def make_(word: str, path: str, text: str | None, name: str, options: dict[str, Option]) -> tuple[Plugged, set[str]]:
    """A component, and which of the methods that need not be there it has."""
    return _made(_class(word, path, text, name), part_of(word), name, options)


def end_(application: Plugged, name: str) -> tuple[Plugged, set[str]]:
    """A component of a class that another one has as this attribute, and its methods as from `make_`."""
    class_ = getattr(type(application), name)
    kind = next(part_of(kind) for word, kind in part_of("application").classes.items() if word == name)
    return _made(class_, kind, class_.__qualname__, {})


def _made(class_: type[Plugged], kind: Part, name: str, options: dict[str, Option]) -> tuple[Plugged, set[str]]:
    known = _checked[class_]
    own = {method for method in kind.called if getattr(class_, method) is not getattr(kind.base, method)}
    try:
        return class_(**options), own | known.bound
    except Exception as error:
        if _lines(error.__traceback__):
            raise
        raise Error(f"{known.place}: {name} cannot be made: {_kind(error)}") from error


def told_(error: BaseException, where: TracebackType | None, object_: Plugged | None = None) -> str:
    """An exception in one line: where it was raised, or the class of the object, and what it is."""
    if isinstance(error, Error):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}"
    if own := _lines(where):
        return f"{own[-1]}: {_kind(error)}"
    known = _checked.get(type(object_)) if object_ is not None else None
    return f"{known.place}: {_kind(error)}" if known else _kind(error)


def place_(object_: Plugged, name: str) -> str:
    """Where a method of an object is, or its class: `mine.py:7`."""
    function = getattr(getattr(object_, name, None), "__func__", None)
    if isinstance(function, FunctionType):
        return mistakes.place(type(object_), None, function)
    return _checked[type(object_)].place


def _lines(where: TracebackType | None) -> list[str]:
    """The lines of plug-ins through which an exception came, the last one at the end."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(where)]
    return [f"{name}:{line}" for name, line in frames if name != __file__ and not name.startswith("<frozen ")]


def _kind(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip().replace("\n", " ")


def _class(word: str, path: str, text: str | None, name: str) -> type[Plugged]:
    module = _module(path) if text is None else _file(path, text)
    class_, kind = _found(module, name), part_of(word)
    base = kind.base
    if not isinstance(class_, type) or not issubclass(class_, base):
        known = [key for key, value in vars(module).items() if _is_own(value, base)]
        if class_ is not None:
            raise Error(f"{name} is not a {word}: expected a class derived from quiclab.{base.__name__}")
        raise Error(f"no {word} {name}; {path} has: {', '.join(known) or 'none'}")
    if class_ not in _checked:
        for word, one in kind.classes.items():
            _check(mistakes.class_of(class_, word, part_of(one), module), part_of(one), module)
        _check(class_, kind, module)
    return class_


def _check(class_: type[Plugged], kind: Part, module: ModuleType) -> None:
    warnings, bound = mistakes.check(class_, kind, module)
    _checked[class_] = _Known(mistakes.place(class_, module), bound)
    for text in warnings:
        _warn(text)


class _Known(NamedTuple):
    """What is known of a class without mistakes in its names."""

    place: str
    """Where it is: `mine.py:3`."""
    bound: set[str]
    """Methods that its objects set for themselves, as in `self.on_loss = self.halve`."""


_checked: WeakKeyDictionary[type, _Known] = WeakKeyDictionary()
"""Classes that were checked."""

warnings: list[str] = []
"""What may be a mistake in the classes that were named in this process, each a line that begins with its place."""


def say_nothing() -> None:
    """Keeps this process quiet: another one has said what there is to say of the classes."""
    global _is_quiet
    _is_quiet = True


_is_quiet = False


def _warn(text: str) -> None:
    """Says on standard error what may be a mistake, once in a process."""
    if text not in warnings:
        warnings.append(text)
        if sys.stderr is not None and not _is_quiet:
            print(f"warning: {plain(text)}", file=sys.stderr, flush=True)


def _is_own(value: object, base: type[Plugged]) -> bool:
    return isinstance(value, type) and issubclass(value, base) and value is not base


def _found(module: ModuleType | None, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _module(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    # To find a module is to run the packages that it is in.
    for parent in accumulate(name.split("."), "{}.{}".format):
        if parent not in sys.modules:
            _announce(_file_of(parent))
    try:
        return importlib.import_module(name)
    except (ImportError, ValueError) as error:
        raise Error(
            f"module {name} cannot be imported ({error}); expected a module, or a file that ends in .py"
        ) from error


def _file_of(name: str) -> str | None:
    """The file of a module that was not imported yet; None if there is none."""
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    return None if found is None else found.origin


def _announce(path: str | None) -> None:
    """Says on standard error that code named by a scenario is about to run, as it may come from somebody else."""
    if path is None or path in _announced or sys.stderr is None or _is_quiet:
        return
    _announced.add(path)
    print(f"quiclab: the scenario runs Python code: {plain(folders.shown(path))}", file=sys.stderr, flush=True)


_announced: set[str] = set()
"""The files that were named: each once in a process."""


class _File(ModuleType):
    """A file that a scenario names, as a module."""

    code: CodeType
    """Its text, compiled."""


def _file(path: str, text: str) -> ModuleType:
    """The file as a module. It is run once for each text that it had."""
    if (known := _files.get((path, text))) is not None:
        _files.move_to_end((path, text))
        return known
    _announce(path)
    # Errors name the file as people see it, also in results that they pass on.
    shown = folders.shown(path)
    module = _File(Path(path).stem)
    module.__file__ = path
    module.code = compile(text, shown, "exec")
    linecache.cache[shown] = (len(text), None, text.splitlines(keepends=True), shown)
    exec(module.code, vars(module))
    _files[path, text] = module
    if len(_files) > _MOST_FILES:
        _files.popitem(last=False)
    return module
