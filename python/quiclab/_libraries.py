"""Libraries imported at less cost in a process that is a command, and does nothing else with them."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

_alone = False
_THREADS = "OPENBLAS_NUM_THREADS"
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
        with _one_thread():
            import_module("numpy")
        arrow = import_module("pyarrow")
        import_module("pyarrow.parquet")
        # Arrow's own allocators keep 25 MB more of what they had once.
        arrow.set_memory_pool(arrow.system_memory_pool())
        if figures:
            with _without_manuals():
                import_module("matplotlib.figure")
        yield


@contextmanager
def _one_thread() -> Iterator[None]:
    """Numpy starts threads for linear algebra when it is imported, which costs more than the rest of its import.

    The variable is restored for the programs that a command starts.
    """
    before = os.environ.get(_THREADS)
    os.environ.setdefault(_THREADS, "1")
    try:
        yield
    finally:
        if before is None:
            del os.environ[_THREADS]


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
