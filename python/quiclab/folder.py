"""The run folder: how it is named, how it is written beside its final name and moved there when complete."""

import errno
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from quiclab._quiclab import OutputError

SCENARIO = "scenario.toml"
SUMMARY = "summary.json"
CAPTURE = "capture.pcapng"
FIGURE = "figure.png"


@dataclass(frozen=True)
class Names:
    """The names that a run folder may get: the first that is free."""

    first: Path
    may_number: bool
    """Whether -2, -3 ... may be appended if the first is taken."""

    def __iter__(self) -> Iterator[Path]:
        yield self.first
        if self.may_number:
            yield from (self.first.with_name(f"{self.first.name}-{number}") for number in count(2))


@dataclass
class Place:
    """Where a complete run folder is; None while it is not complete."""

    final: Path | None = None


def only(path: Path) -> Names:
    """Just this name."""
    return Names(path, may_number=False)


def numbered(scenario: str, seed: int) -> Names:
    """The default names of a run: runs/NAME-seedN, then with -2, -3 ..."""
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in scenario).strip(".-")
    return Names(Path("runs") / f"{plain or 'run'}-seed{seed}", may_number=True)


@contextmanager
def complete(names: Names) -> Iterator[tuple[Path, Place]]:
    """A hidden folder to write into. It gets its final name at the end; after an error or an interrupt it is removed.

    Raises `OutputError`, before anything is run, if the folder exists and may not be numbered, or cannot be made.
    """
    first = names.first
    if not names.may_number and os.path.lexists(first):
        raise OutputError(f"{first}: exists already; choose another --out or remove it")
    made = None
    place = Place()
    try:
        with writing(first):
            made, partial = _make_partial(first)
        with writing(first):
            yield partial, place
        with writing(first):
            place.final = _move(partial, names)
    except BaseException as error:
        if made is not None:
            _remove(partial, made)
            if isinstance(error, OutputError) and str(partial) in str(error):
                # The simulator names a file of the hidden folder, which is gone now.
                raise OutputError(str(error).replace(str(partial), str(first))) from error
        raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns the errors of the operating system into `OutputError`s: "PATH: cannot be written: No space left ..."."""
    try:
        yield
    except OSError as error:
        what = os.strerror(error.errno) if error.errno else str(error).splitlines()[0]
        raise OutputError(f"{path}: cannot be written: {what}") from error


def write_whole(path: Path, text: str) -> None:
    """Writes a file beside its name and moves it there, so that it is never half of one, whatever interrupts.

    What is there and no plain file (a device, a link) is written to as it is. Raises `OutputError` if that fails.
    """
    if not path.name or path.is_dir():
        raise OutputError(f"{path}: is a folder; expected the name of a file")
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        with writing(path):
            if path.is_symlink() or (path.exists() and not path.is_file()):
                path.write_text(text, encoding="utf-8")
                return
            partial.write_text(text, encoding="utf-8")
            partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _make_partial(first: Path) -> tuple[list[Path], Path]:
    """Makes the parents that are not there, and the hidden folder; returns both."""
    parents = [parent for parent in first.absolute().parents if not parent.exists()]
    try:
        first.absolute().parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, "a parent is a file") from None
    base = f".{first.name}.partial-{os.getpid()}"
    for number in count(1):
        # Another thread of this process may be at the same name.
        partial = first.with_name(base if number == 1 else f"{base}-{number}")
        try:
            partial.mkdir()
        except FileExistsError:
            continue
        return parents, partial
    raise AssertionError("count() does not end")


def _move(partial: Path, names: Names) -> Path:
    for final in names:
        # os.rename replaces an empty folder silently, so look first; of two that finish at once, the second fails.
        if os.path.lexists(final):
            continue
        try:
            partial.rename(final)
        except FileExistsError:
            continue
        except OSError:
            if final.is_dir():
                continue
            raise
        return final
    raise OutputError(f"{names.first}: was made by somebody else meanwhile; the results are dropped")


def _remove(partial: Path, made: list[Path]) -> None:
    with _uninterrupted():
        shutil.rmtree(partial, ignore_errors=True)
        for parent in made:
            # Not ours any more if somebody else put something there.
            with suppress(OSError):
                parent.rmdir()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A second Ctrl-C does not stop the removal. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
