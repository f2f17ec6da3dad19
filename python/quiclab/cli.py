"""The command `quiclab`: exit codes, and every error as one line."""

import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import TextIO, TypeVar

from quiclab._quiclab import Error
from quiclab.values import libraries, signals
from quiclab.values.plain_text import plain, short

INTERRUPTED = 128 + signal.SIGINT
FAILED = 2
_ENDED = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""What is printed after a signal; for others, the name of the signal."""

_LONGEST = 299 - len("quiclab: ")
"""The longest error, in letters."""

_OS_ERROR = re.compile(r" \(os error \d+\)")
"""What Rust appends to an error of the system; its words already say it."""

_TRACEBACK = "QUICLAB_TRACEBACK"
_Stream = TypeVar("_Stream", bound="_Told")

_COMPLETE = "__complete"
"""In place of a command: see `quiclab.commands.complete`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line; returns its exit code: 0, 2 for an error, 128 and the number of a signal that ended it."""
    try:
        if arguments is None:
            signals.ignore_at_exit()
        signals.heed(signals.end)
        _prepare_output()
        return _command(arguments)
    except BrokenPipeError:
        # The reader of our output has enough, as `head` does.
        _drop(sys.stdout)
        return 1
    except _OutputError as error:
        return _fail(str(error), FAILED)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else FAILED
    except BaseException as error:
        number = _signal_of(error)
        if number is not None:
            with signals.ignored():
                return _fail(_ENDED.get(number) or f"ended by {number.name}", 128 + number)
        if os.environ.get(_TRACEBACK):
            raise
        return _fail(_one_line(error), FAILED)


class _OutputError(Exception):
    """Standard output is not there, or cannot be written."""


class _Told(io.TextIOWrapper):
    """The error stream: what cannot be written is dropped. A closed window or a full disk ends no command."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self.fails(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self.fails(error)

    def fails(self, error: OSError) -> None:
        """What an error of the stream means."""
        _drop(self)


class _Output(_Told):
    """Standard output, whose errors are distinguished from those of files. A closed terminal needs no results."""

    is_terminal = False
    """Whether it was one when the command began; afterwards, a closed one cannot be recognized."""

    def write(self, text: str, /) -> int:
        # Libraries probe a stream by writing nothing, and ignore the error of a full disk.
        return 0 if text == "" else super().write(text)

    def fails(self, error: OSError) -> None:
        """A reader that has enough ends the command; so does any other error, but for the end of a terminal."""
        if isinstance(error, BrokenPipeError):
            raise error
        _drop(self)
        if not self.is_terminal:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise _OutputError(f"standard output: cannot be written: {reason}") from error


def _prepare_output() -> None:
    """Checks that there is an output, and makes it print any file name."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  (open until the process ends)
    # Only streams that Python itself made: the caller of `main` may have replaced them.
    elif type(sys.stderr) is io.TextIOWrapper:
        sys.stderr = _around(sys.stderr, _Told)
    if sys.stdout is None:
        raise _OutputError("standard output is closed; expected a file, a pipe or a terminal, like >/dev/null")
    if type(sys.stdout) is io.TextIOWrapper:
        sys.stdout = _around(sys.stdout, _Output)
        sys.stdout.is_terminal = sys.stdout.isatty()


def _around(stream: io.TextIOWrapper, kind: type[_Stream]) -> _Stream:
    return kind(
        stream.buffer,
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _drop(stream: TextIO) -> None:
    """Discards what is buffered and all later output, so that nothing is written at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _command(arguments: Sequence[str] | None) -> int:
    if arguments is None:
        libraries.alone()
    # Here and not above, so that Ctrl-C during these imports is one line too.
    with libraries.importing():
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
    """Answers a shell that completes a command line. Errors are not printed."""
    from quiclab.commands.complete import answer

    try:
        print(answer(words[0], words[1:]) if words else "", end="", flush=True)
    except Exception:
        if os.environ.get(_TRACEBACK):
            raise
        return 1
    return 0


def _signal_of(error: BaseException | None) -> signal.Signals | None:
    """The signal behind an error, if any: a library that it interrupts while it is imported raises an ImportError."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return signal.SIGINT
        if isinstance(error, signals.Ended):
            return signal.Signals(error.number)
        error = error.__cause__ or error.__context__
    return None


def _one_line(error: BaseException) -> str:
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
