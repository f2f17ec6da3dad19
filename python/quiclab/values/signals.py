"""The signals that end a command: the same ones for all commands, of which none leaves anything half-written."""

import atexit
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if name in signal.Signals.__members__
)
"""Those of Ctrl-C, of supervisors, of a terminal that closes, and of Ctrl-\\."""

Handler = Callable[[int, FrameType | None], object]


class Ended(BaseException):
    """A signal other than SIGINT has come: what is being written is removed, as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_SAME_S = 1.0
"""Signals that come so soon after another end nothing more: what that one ends may be removing what it began."""
_last_s = -_SAME_S


def end(number: int, frame: FrameType | None) -> None:
    """Ends a command. The handler while it has nothing to finish."""
    global _last_s
    now_s = time.monotonic()
    if now_s - _last_s < _SAME_S:
        return
    _last_s = now_s
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Ended(number)


def end_once() -> Handler:
    """A handler for what ends in good order: the first signal raises `KeyboardInterrupt`, and others do nothing."""
    came = False

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if not came:
            came = True
            raise KeyboardInterrupt

    return handler


def heed(handler: Handler) -> None:
    """Lets `handler` handle the signals from now on, except those that were ignored when the process began.

    After `nohup` that is SIGHUP; of a background job of a script, SIGINT and SIGQUIT.
    """
    global _last_s
    _last_s = -_SAME_S
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def ignore_at_exit() -> None:
    """Keeps the exit code: at its end Python gives signals back to the system, which would end the process by them."""

    def ignore() -> None:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)

    atexit.register(ignore)


@contextmanager
def ignored() -> Iterator[None]:
    """For a removal, which a second signal does not stop. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    # Python cannot put back a handler that it did not set.
    own = {number: handler for number, handler in before.items() if handler is not None}
    for number in own:
        signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in own.items():
            signal.signal(number, handler)
