"""The kinds of components that can be written in Python, and the class from which all of them are derived."""

import importlib
from collections.abc import Mapping
from typing import ClassVar, NamedTuple

Option = bool | int | float | str


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


_MODULES = {
    "controller": "controller",
    "scheduler": "scheduler",
    "rate adaptation": "abr",
    "queue": "queue",
    "loss model": "loss",
    "jitter": "jitter",
    "rate": "rate",
    "middlebox": "middlebox",
    "cell scheduler": "cell_scheduler",
    "application": "application",
    "end of an application": "application",
}
"""The word for a kind of component, and the module of the package that declares it."""
_parts: dict[str, "Part"] = {}


class Part(NamedTuple):
    """A kind of component."""

    base: type[Plugged]
    """The class to derive from."""
    needed: tuple[str, ...]
    """The methods that a class must have."""
    called: tuple[str, ...]
    """The methods that are called only if a class has its own."""
    decides: tuple[str, ...]
    """The attributes by which an object says what it decides; it sets one of them at least."""
    classes: Mapping[str, str]
    """The attributes that are classes of another kind, and the word for that."""


def part(
    word: str,
    base: type[Plugged],
    needed: tuple[str, ...],
    called: tuple[str, ...] = (),
    decides: tuple[str, ...] = (),
    classes: Mapping[str, str] | None = None,
) -> None:
    """Adds a kind of component: see `Part`."""
    _parts[word] = Part(base, needed, called, decides, classes or {})


def part_of(word: str) -> Part:
    """The kind of component with this word. Its module is imported when it is first asked for."""
    if word not in _parts:
        importlib.import_module(f"quiclab.values.components.{_MODULES[word]}")
    return _parts[word]
