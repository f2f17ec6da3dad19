"""Libraries imported at less cost in a process that is a command, and does nothing else with them."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module

_alone = False
_MMAP_THRESHOLD = -3
"""The option M_MMAP_THRESHOLD of `mallopt`."""
_MANUALS = "_update_set_signature_and_docstring"


def alone() -> None:
    """Says that the process is a command's: it multiplies no matrices, and nobody reads manuals of libraries in it."""
    global _alone
    _alone = True


@contextmanager
def importing() -> Iterator[None]:
    """Without garbage collection in a command: imports make many objects and little garbage.

    Nor are these objects looked through later, or once more at the end of the process.
    """
    if not _alone or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def loaded(*, figures: bool) -> Iterator[None]:
    """With numpy and pyarrow imported, and matplotlib if there are to be figures, for what is short and done once.

    Where the process is not a command's they are left to be imported as they are, because others use them too.
    """
    if not _alone:
        yield
        return
    with importing():
        # Numpy starts threads for linear algebra when it is imported, which costs more than the rest of its import.
        with _variable("OPENBLAS_NUM_THREADS", "1"):
            import_module("numpy")
        # Arrow's own allocators keep 50 MB more of what they had once. Not `set_memory_pool`: that is for Python alone,
        # while the library reads files by its own default, which it chooses when it is first asked for it.
        with _variable("ARROW_DEFAULT_MEMORY_POOL", "system"):
            import_module("pyarrow").default_memory_pool()
        import_module("pyarrow.parquet")
        if figures:
            with _without_manuals():
                import_module("matplotlib.figure")
        yield


def give_back() -> None:
    """In a command: whatever is large goes back to the system as soon as it is freed.

    The allocator of glibc raises the size from which on it does so with every large piece that is freed, and what is
    smaller leaves holes: 45 MB of them while a log of 1 GB is read. Other libraries of C have no such switch.
    """
    if _alone:
        import ctypes

        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 1 << 20)


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """An environment variable while a library is imported, unless the user has set it.

    It is restored for the programs that a command starts.
    """
    before = os.environ.get(name)
    os.environ.setdefault(name, value)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


@contextmanager
def _without_manuals() -> Iterator[None]:
    """Matplotlib lists the properties of every artist for the manual of its `set`, a quarter of its import.

    There is no public switch for that. A version that does it by another name is imported as it is.
    """
    from matplotlib.artist import Artist

    own = vars(Artist).get(_MANUALS)
    if own is None:
        yield
        return
    setattr(Artist, _MANUALS, classmethod(lambda artist: None))
    try:
        yield
    finally:
        setattr(Artist, _MANUALS, own)
