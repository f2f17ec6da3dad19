"""Components written in Python: the options that their classes have, and how classes are found, described and made."""

import importlib
import importlib.util
import sys
from collections import OrderedDict
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, ClassVar, NamedTuple
from weakref import WeakSet

from quiclab import _folder, _plugged_mistakes
from quiclab._lines import plain
from quiclab._quiclab import Error

Option = bool | int | float | str

_MOST_FILES = 64
"""Texts of files that are kept compiled."""


class Plugged:
    """What can be named in a scenario by where it is: a class with options."""

    options: ClassVar[dict[str, Option]] = {}
    """Names and defaults of its options, which become attributes: flags, whole numbers of 0 or more, numbers, texts."""

    def __init__(self, **options: Option) -> None:
        unknown = [name for name in options if name not in self.options]
        if unknown:
            known = ", ".join(self.options) or "none"
            raise TypeError(f"{type(self).__name__} has no option {unknown[0]!r}; its options: {known}")
        for name, value in {**self.options, **options}.items():
            setattr(self, name, value)


_MODULES = {"controller": "controller", "scheduler": "scheduler", "rate adaptation": "abr"}
"""The word for a kind of component, and the module of the package that declares it."""
_parts: dict[str, "Part"] = {}


class Part(NamedTuple):
    """A kind of component."""

    base: type[Plugged]
    """The class to derive from."""
    needed: str
    """The method that a class must have."""
    called: tuple[str, ...]
    """The methods that are called only if a class has its own."""
    decides: tuple[str, ...]
    """The attributes by which an object says what it decides; it sets one of them at least."""


def part(word: str, base: type[Plugged], needed: str, called: tuple[str, ...], decides: tuple[str, ...] = ()) -> None:
    """Adds a kind of component: see `Part`."""
    _parts[word] = Part(base, needed, called, decides)


def _part(word: str) -> Part:
    if word not in _parts:
        importlib.import_module(f"quiclab.{_MODULES[word]}")
    return _parts[word]


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
    for option, default in class_.options.items():
        if not isinstance(default, Option):
            kind = type(default).__name__
            raise Error(f"{name}: option {option} has a default of type {kind}; expected a flag, a number or a text")
    about = (class_.__doc__ or "").strip().partition("\n")[0] if class_.__doc__ != _part(word).base.__doc__ else ""
    return about or f"a {word} in Python: {name}", list(class_.options.items())


def make_(word: str, path: str, text: str | None, name: str, options: dict[str, Option]) -> tuple[Plugged, set[str]]:
    """A component, and which of the methods that need not be there it has."""
    class_ = _class(word, path, text, name)
    kind = _part(word)
    own = {method for method in kind.called if getattr(class_, method) is not getattr(kind.base, method)}
    return class_(**options), own


def told_(error: BaseException, where: TracebackType | None) -> str:
    """An exception in one line: where it was raised, and what it is."""
    import traceback

    kind = traceback.format_exception_only(error)[-1].strip().replace("\n", " ")
    if isinstance(error, Error):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}"
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(where)]
    own = [(name, line) for name, line in frames if name != __file__ and not name.startswith("<frozen ")]
    return f"{own[-1][0]}:{own[-1][1]}: {kind}" if own else kind


def _class(word: str, path: str, text: str | None, name: str) -> type[Plugged]:
    module = _module(path) if text is None else _file(path, text)
    class_, kind = _found(module, name), _part(word)
    base = kind.base
    if not isinstance(class_, type) or not issubclass(class_, base):
        known = [key for key, value in vars(module).items() if _is_own(value, base)]
        if class_ is not None:
            raise Error(f"{name} is not a {word}: expected a class derived from quiclab.{base.__name__}")
        raise Error(f"no {word} {name}; {path} has: {', '.join(known) or 'none'}")
    if class_ not in _checked:
        _plugged_mistakes.check(class_, kind, module)
        _checked.add(class_)
    return class_


_checked: "WeakSet[type[Plugged]]" = WeakSet()
"""Classes without mistakes in their names."""


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
    _announce(_file_of(name))
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
    if path is None or path in _announced or sys.stderr is None:
        return
    _announced.add(path)
    print(f"quiclab: the scenario runs Python code: {plain(_folder.shown(path))}", file=sys.stderr, flush=True)


_announced: set[str] = set()
"""The files that were named: each once in a process."""


def _file(path: str, text: str) -> ModuleType:
    """The file as a module. It is run once for each text that it had."""
    if (known := _files.get((path, text))) is not None:
        _files.move_to_end((path, text))
        return known
    _announce(path)
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    # Errors name the file as people see it, also in results that they pass on.
    exec(compile(text, _folder.shown(path), "exec"), vars(module))
    _files[path, text] = module
    if len(_files) > _MOST_FILES:
        _files.popitem(last=False)
    return module
