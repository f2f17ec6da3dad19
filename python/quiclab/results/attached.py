"""What higher floors attach to results: how a run or a sweep is drawn, explained, and shown in a notebook.

A method that is attached has its arguments, its types and its manual in its class, where editors, type checkers and
the reference find them, and its body on the floor that can do it. The table `_ATTACHED` of `quiclab/__init__.py`, which
knows all floors, says where that is; the body is imported when the method is first called.

    class Run:
        @attached
        def plot(self, path: Path | None = None) -> Figure:
            "Draws the run."
            raise NotAttachedError

A test compares the table with the methods, and their arguments with those of the bodies.
"""

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

import quiclab

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class NotAttachedError(NotImplementedError):
    """The body of a method that is attached, where it is declared: it is never called."""


def attached(method: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """A method whose body is on a higher floor."""
    name = method.__qualname__

    @wraps(method)
    def called(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        result: _Result = body(name)(*arguments, **named)
        return result

    return called


@cache
def body(name: str) -> Callable[..., Any]:
    """The function that stands in for a method, `Run.plot`."""
    module, _, function = quiclab._ATTACHED[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(f"quiclab.{module}"), function)
    return found
