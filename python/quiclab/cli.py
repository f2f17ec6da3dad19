"""The command `quiclab`: exit codes, and every error as one line."""

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

INTERRUPTED = 130
FAILED = 2

_TRACEBACK = "QUICLAB_TRACEBACK"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line; returns its exit code: 0, 2 for an error, 130 for an interrupt, 143 for SIGTERM."""
    try:
        signal.signal(signal.SIGTERM, _terminated)
        return _command(arguments)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except _Terminated:
        return _fail("terminated", 128 + signal.SIGTERM)
    except BrokenPipeError:
        # Whoever read our output has enough, as `head` does. Nothing is left to be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
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


def _terminated(signum: int, frame: FrameType | None) -> None:
    raise _Terminated


def _command(arguments: Sequence[str] | None) -> int:
    # Here and not above, so that Ctrl-C during these imports is one line too.
    import typer

    from quiclab.commands import app

    code = typer.main.get_command(app).main(
        args=None if arguments is None else list(arguments), prog_name="quiclab", standalone_mode=False
    )
    sys.stdout.flush()
    if code == INTERRUPTED:
        # Typer makes this of a KeyboardInterrupt.
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _was_interrupt(error: BaseException | None) -> bool:
    """Whether a Ctrl-C is at the bottom of it: libraries that are being imported turn it into an ImportError."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _one_line(error: BaseException) -> str:
    from quiclab import Error

    # Typer's own errors (a missing argument, an unknown option) know how to be told.
    told = getattr(error, "format_message", None)
    text = str(told() if callable(told) else error)
    line = " ".join(text.split())
    if isinstance(error, Error) or callable(told):
        return line
    kind = type(error).__name__
    return f"internal error: {kind}: {line} (set {_TRACEBACK}=1 to see where it comes from, and report it)"


def _fail(line: str, code: int) -> int:
    # `quiclab` alone prints its help, and there is nothing to add.
    if line:
        print(f"quiclab: {line}", file=sys.stderr, flush=True)
    return code
