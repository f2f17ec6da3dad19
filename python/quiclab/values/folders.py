"""The run folder: how it is named, how it is written beside its final name and moved there when complete."""

import errno
import html
import json
import os
import re
import shutil
import sys
import unicodedata
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from quiclab._quiclab import OutputError
from quiclab.values import signals
from quiclab.values.suggestions import hint, listed

if TYPE_CHECKING:
    import tempfile

SCENARIO = "scenario.toml"
SUMMARY = "summary.json"
SWEEP = "sweep.json"
CAPTURE = "capture.pcapng"
FIGURE = "figure.png"
_RESULTS = ((SUMMARY, SCENARIO), (SWEEP,), ("sweep.toml", "finished"))
"""The names by which a folder is that of a run, of a sweep, or of a sweep that is not finished."""
_PARTIAL = re.compile(r"\.(.+)\.partial-\d+(-\d+)?")
_TEMPORARY = "quiclab-held-"


def instead(path: Path) -> str:
    """What a folder is that is not that of a run: that of a sweep, or one of runs and sweeps; else nothing."""
    if (path / SWEEP).exists() or (path / "finished").is_dir():
        return "it is that of a sweep, which `quiclab plot` and `quiclab report` take"
    with suppress(OSError):
        inside = [entry.name for entry in path.iterdir() if any((entry / name).exists() for name in (SUMMARY, SWEEP))]
        if inside:
            return f"it contains {listed(sorted(inside))}"
    return ""


def of_results(path: Path) -> bool:
    """Whether something is in the folder of a run or a sweep, or in a folder below, whether it is complete or not.

    What makes such a folder counts by its name: a link that leads nowhere, too.
    """
    return any(
        _PARTIAL.fullmatch(folder.name)
        or any(all(os.path.lexists(folder / name) for name in names) for names in _RESULTS)
        or (at == 0 and os.path.lexists(folder / SUMMARY))
        for at, folder in enumerate(path.parents)
    )


def file_instead(path: Path) -> str:
    """What is there where it is no folder, and what would be one; nothing where nothing is."""
    if not path.exists():
        return ""
    if path.suffix == ".toml" and path.name != SCENARIO:
        return "is a file, not a run folder; `quiclab run` makes one of a scenario"
    inside = f"; its folder is {path.parent}" if (path.parent / SUMMARY).exists() else ""
    return f"is a file, not a run folder{inside}"


def beside(path: Path) -> str:
    """`; did you mean 'runs/other'?`, if there is a file or folder of nearly this name beside it."""
    with suppress(OSError):
        return hint(str(path), map(str, path.parent.iterdir()))
    return ""


@dataclass(frozen=True)
class Names:
    """The candidate names of a run folder. The first free one is used."""

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

    A hidden folder left by a killed process is removed by the next run with the same folder name; the next run with a
    default name removes all of them in `runs/`.

    Raises `OutputError`, before anything is run, if the folder exists and may not be numbered, or cannot be made.
    """
    first = names.first
    if not names.may_number and os.path.lexists(first):
        raise OutputError(f"{first}: exists already; choose another --out or remove it")
    made, lock = None, None
    place = Place()
    _remove_abandoned(_partials(names))
    try:
        with writing(first):
            made, partial, lock = _make_partial(first)
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
    finally:
        if lock is not None:
            os.close(lock)


def temporary() -> "tempfile.TemporaryDirectory[str]":
    """A temporary folder for unsaved results, removed with its object. Those of killed processes are removed too."""
    import tempfile

    _remove_abandoned(Path(tempfile.gettempdir()).glob(f"{_TEMPORARY}*"))
    while True:
        made = tempfile.TemporaryDirectory(prefix=_TEMPORARY, ignore_cleanup_errors=True)
        with suppress(BlockingIOError, FileNotFoundError):
            lock = _hold(Path(made.name))
            if lock is not None:
                weakref.finalize(made, os.close, lock)
            return made


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns the errors of the operating system into `OutputError`s: "PATH: cannot be written: No space left ..."."""
    try:
        yield
    except OSError as error:
        what = os.strerror(error.errno) if error.errno else str(error).splitlines()[0]
        raise OutputError(f"{path}: cannot be written: {what}") from error
    except UnicodeEncodeError as error:
        raise OutputError(f"{path}: cannot be written: its path is no text in UTF-8") from error


def shown(path: str | Path) -> str:
    """A path for people, and for results that others read: from here, or from the user's home, where it is below."""
    for start, sign in ((Path.cwd, ""), (Path.home, "~/")):
        with suppress(ValueError, OSError, RuntimeError):
            return f"{sign}{Path(os.path.normpath(Path(path).absolute())).relative_to(start())}"
    return str(path)


def without_home(value: Any) -> Any:
    """A text for results, with `~` in place of the user's home; of lists and tables, the same with all their texts.

    A path that begins with `~/` is read again as what it was.
    """
    if isinstance(value, str):
        for pattern in _homes(os.environ.get("HOME")):
            value = pattern.sub(r"\1~", value)
        return value
    if isinstance(value, Mapping):
        return {without_home(key): without_home(one) for key, one in value.items()}
    return [without_home(one) for one in value] if isinstance(value, list) else value


@lru_cache(maxsize=8)
def _homes(named: str | None) -> list[re.Pattern[str]]:
    """The home as the system names it, and where links lead from there. `named` is that of the environment."""
    with suppress(RuntimeError):
        home = os.path.normpath(named or Path.home())
        places = [place for place in dict.fromkeys([home, os.path.realpath(home)]) if place.strip("/")]
        return [_in_text(place) for place in places if place.startswith("/")]
    return []


def below_home(path: str) -> bool:
    """Whether a path, in which no links are left, is the user's home or below it."""
    with suppress(RuntimeError):
        home = os.path.realpath(os.environ.get("HOME") or Path.home())
        return home != os.sep and f"{path}/".startswith(f"{home}/")
    return False


def _in_text(place: str) -> re.Pattern[str]:
    r"""A folder as it stands in texts: not as a part of a longer name. The first group is what stands before it.

    That may be the letters of an option (`-I/home/ada`), or of an escape (`\n/home/ada`).
    """
    names = "/(?:\\.?/)*".join(f"(?:{'|'.join(map(re.escape, _spelt(name)))})" for name in place.strip("/").split("/"))
    return re.compile(rf"((?<![\w./~-])--?\w[\w-]*|\\\w|(?<![\w.~-]))/+{names}(?![\w-]|\.\w)")


def _spelt(name: str) -> list[str]:
    """The ways in which texts have a name: as it is, and as JSON, TOML, HTML, addresses and shells write it."""
    forms = [unicodedata.normalize(form, name) for form in ("NFC", "NFD")]
    written = [name, *forms]
    for one in dict.fromkeys(written):
        written += [json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1], repr(one)[1:-1]]
        written += [quote(os.fsencode(one), safe=safe) for safe in ("", "!$&'()*+,;=:@")]
        written += [one.replace("'", "'\"'\"'"), one.replace("'", "\\'"), re.sub(r"([^\w.-])", r"\\\1", one)]
    written += [html.escape(one, quote=with_quotes) for one in written for with_quotes in (True, False)]
    # The longest first: one may begin as another does.
    return sorted(dict.fromkeys(written), key=len, reverse=True)


def default_file(path: Path) -> Path:
    """The same path. Raises `OutputError` if writing there would change something else: a link, a device.

    For files that nobody named: the folder may be that of a stranger.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OutputError(f"{path}: is not a plain file; expected one, or --out FILE")
    return path


def write_new(path: Path, content: bytes) -> None:
    """Writes a file that was not there: what has its name by now is removed, and no link is followed."""
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(content)


def write_whole(path: Path, text: str) -> int:
    """Writes a file beside its name and moves it there, so that it is never half of one, whatever interrupts.

    What is there and no plain file (a device, a link) is written to as it is. Returns the number of bytes. Raises
    `OutputError` if that fails.
    """
    if not path.name or path.is_dir():
        raise OutputError(f"{path}: is a folder; expected the name of a file")
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    # Names of files may have bytes that are no text.
    content = text.encode("utf-8", "backslashreplace")
    try:
        with writing(path):
            if path.is_symlink() or (path.exists() and not path.is_file()):
                path.write_bytes(content)
            else:
                write_new(partial, content)
                partial.replace(path)
            return len(content)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _make_partial(first: Path) -> tuple[list[Path], Path, int | None]:
    """Create the missing parents and the hidden folder. Return both, and the lock of the folder."""
    parents = [parent for parent in first.absolute().parents if not parent.exists()]
    try:
        first.absolute().parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, "a parent is a file") from None
    base = f".{first.name}.partial-{os.getpid()}"
    for number in count(1):
        # Another thread of this process may be writing to the same name.
        partial = first.with_name(base if number == 1 else f"{base}-{number}")
        try:
            partial.mkdir()
        except FileExistsError:
            continue
        with suppress(BlockingIOError, FileNotFoundError):
            return parents, partial, _hold(partial)
    raise AssertionError("count() does not end")


def _hold(path: Path) -> int | None:
    """Takes the lock of a folder; None where the system has no such locks.

    The system frees it when the descriptor is closed or this process ends, however it ends. Raises `BlockingIOError` if
    somebody has it, and `FileNotFoundError` if the folder is gone.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), path.stat()):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError | FileNotFoundError):
            raise
        return None
    return descriptor


def _partials(names: Names) -> Iterator[Path]:
    """The hidden folders with these names; where quiclab chooses the names, all of them."""
    with suppress(OSError):
        for path in names.first.parent.iterdir():
            found = _PARTIAL.fullmatch(path.name)
            if found and (names.may_number or found[1] == names.first.name):
                yield path


def _remove_abandoned(folders: Iterable[Path]) -> None:
    """Remove those of our folders that no process has locked."""
    if sys.platform == "win32":
        return
    for path in folders:
        with suppress(OSError):
            if path.lstat().st_uid != os.getuid():
                continue
            lock = _hold(path)
            if lock is not None:
                _remove_tree(path)
                os.close(lock)


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
    raise OutputError(f"{names.first}: was created by another process meanwhile; the results are dropped")


def _remove(partial: Path, made: list[Path]) -> None:
    with signals.ignored():
        _remove_tree(partial)
        for parent in made:
            # The folder is no longer ours if another process has written to it.
            with suppress(OSError):
                parent.rmdir()


def _remove_tree(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
