"""The command `quiclab`: exit codes, and every error as one line."""

import io
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
FAILED = 2

_LONGEST = 299 - len("quiclab: ")
"""Letters of an error."""

_OS_ERROR = re.compile(r" \(os error \d+\)")
"""What Rust adds to an error of the system, whose words say the same."""

_TRACEBACK = "QUICLAB_TRACEBACK"
_COMPLETE = "__complete"
"""In place of a command: see `quiclab.commands.complete`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line; returns its exit code: 0, 2 for an error, 130 for an interrupt, 143 for SIGTERM."""
    try:
        signal.signal(signal.SIGTERM, _terminated)
        _prepare_output()
        return _command(arguments)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except _Terminated:
        return _fail("terminated", 128 + signal.SIGTERM)
    except BrokenPipeError:
        # The reader of our output has enough, as `head` does.
        _drop_output()
        return 1
    except _OutputError as error:
        return _fail(str(error), FAILED)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else FAILED
    except BaseException as error:
        if _was_interrupt(error):
            return _fail("interrupted", INTERRUPTED)
        if os.environ.get(_TRACEBACK):
            raise
        return _fail(_one_line(error), FAILED)


class _Terminated(BaseException):
    """SIGTERM came: what is being written is removed as after Ctrl-C."""


class _OutputError(Exception):
    """Standard output is not there, or cannot be written."""


class _Output(io.TextIOWrapper):
    """Standard output, whose errors are told apart from those of files."""

    def write(self, text: str, /) -> int:
        # Libraries probe a stream by writing nothing, and ignore the error of a full disk.
        if text == "":
            return 0
        with _told_apart():
            return super().write(text)

    def flush(self) -> None:
        with _told_apart():
            super().flush()


@contextmanager
def _told_apart() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_output()
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise _OutputError(f"standard output: cannot be written: {reason}") from error


def _prepare_output() -> None:
    """Checks that there is an output, and makes it print any file name."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  (open until the process ends)
    if sys.stdout is None:
        raise _OutputError("standard output is closed; expected a file, a pipe or a terminal, like >/dev/null")
    # Only streams that Python itself made: the caller of `main` may have replaced them.
    if type(sys.stderr) is io.TextIOWrapper:
        sys.stderr.reconfigure(errors="backslashreplace")
    if type(sys.stdout) is io.TextIOWrapper:
        sys.stdout = _Output(
            sys.stdout.buffer,
            encoding=sys.stdout.encoding,
            errors="backslashreplace",
            line_buffering=sys.stdout.line_buffering,
            write_through=sys.stdout.write_through,
        )


def _drop_output() -> None:
    """Discards what is buffered, so that nothing is written at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminated(signum: int, frame: FrameType | None) -> None:
    raise _Terminated


def _command(arguments: Sequence[str] | None) -> int:
    # Here and not above, so that Ctrl-C during these imports is one line too.
    from quiclab import _libraries

    if arguments is None:
        _libraries.alone()
    with _libraries.importing():
        import typer

        from quiclab.commands import app

    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == [_COMPLETE]:
        return _complete(given[1:])
    code = typer.main.get_command(app).main(
        args=None if arguments is None else list(arguments), prog_name="quiclab", standalone_mode=False
    )
    sys.stdout.flush()
    if code == INTERRUPTED:
        # Typer makes this of a KeyboardInterrupt.
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _complete(words: Sequence[str]) -> int:
    """Answers a shell that completes a command line. Of what goes wrong nothing is printed."""
    from quiclab.commands.complete import answer

    try:
        print(answer(words[0], words[1:]) if words else "", end="", flush=True)
    except Exception:
        if os.environ.get(_TRACEBACK):
            raise
        return 1
    return 0


def _was_interrupt(error: BaseException | None) -> bool:
    """Whether a Ctrl-C is at the bottom of it: libraries that are being imported turn it into an ImportError."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _one_line(error: BaseException) -> str:
    from quiclab import Error
    from quiclab._lines import plain, short

    # Typer's own errors (a missing argument, an unknown option) know how to be told.
    told = getattr(error, "format_message", None)
    text = str(told() if callable(told) else error)
    if isinstance(error, UnicodeEncodeError) and isinstance(error.object, str):
        # Bytes of the command line that are no text reach Python as surrogates.
        return short(f"{plain(error.object)}: not text in UTF-8", _LONGEST)
    line = _OS_ERROR.sub("", plain(" ".join(text.split())))
    if isinstance(error, Error) or callable(told):
        return short(line, _LONGEST)
    kind = type(error).__name__
    told = short(line, _LONGEST // 2)
    return f"internal error: {kind}: {told} (set {_TRACEBACK}=1 to see where it comes from, and report it)"


def _fail(line: str, code: int) -> int:
    print(f"quiclab: {line}", file=sys.stderr, flush=True)
    return code
