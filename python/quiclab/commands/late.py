"""Modules that a command imports when it uses them, so that its `--help` and the completion of a shell do not wait."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_PACKAGE = "quiclab."
_LOCK = RLock()
_PROBED = {"__path__", "__file__", "__cached__"}
"""What the machinery of imports looks for in modules that may not have it."""


class Late(ModuleType):
    """A module that is executed when something is used that it does not have yet."""

    def __getattr__(self, name: str) -> object:
        """Executes it. Another thread waits meanwhile."""
        with _LOCK:
            spec = None if name in _PROBED or "is_executing" in self.__dict__ else self.__spec__
            if type(self) is Late and spec is not None and spec.loader is not None:
                self.__dict__["is_executing"] = True
                try:
                    spec.loader.exec_module(self)
                    self.__class__ = ModuleType  # type: ignore[assignment]
                finally:
                    del self.__dict__["is_executing"]
        return ModuleType.__getattribute__(self, name)


class _Loader:
    """Makes such a module, and leaves the rest to the loader that would have been its own."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Of the machinery of imports: a module without contents."""
        return Late(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Of the machinery of imports: what executes a module. Here that is put off."""
        module.__loader__ = self._own
        if module.__spec__ is not None:
            module.__spec__.loader = self._own


class _Finder:
    """Finds modules of the package for such loaders."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Of the machinery of imports: where a module is."""
        spec = PathFinder.find_spec(name, path, target) if name.startswith(_PACKAGE) else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


@contextmanager
def late() -> Iterator[None]:
    """Imports of modules of the package in this block, `import quiclab.drawings.plots as plots`, wait for their use.

    For what takes long and only the work of the command needs, not its `--help`. A module that is already there stays
    as it is.
    """
    sys.meta_path.insert(0, _Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(_Finder)
