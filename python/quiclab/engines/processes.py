"""The runs of a sweep on processes of this machine, for parts in Python.

Threads of one process take turns in Python. A process has a Python of its own: it gets runs with the files that they
name, as the workers of a cluster do, and gives back what is kept of them. It does not import the calling script, so
that a script needs no `if __name__ == "__main__":`.
"""

import os
import pickle
import queue
import re
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from quiclab import _quiclab
from quiclab.values import signals
from quiclab.values.components import plugged

_NAMED = re.compile(r"([^\s\"'=,\[{]+):[A-Za-z_][\w.]*")
"""A class by its place: `mine.py:Mine`, `package.module:Mine`."""
_MOST_RUNS = 16
"""Runs that a process is given at once."""
_SECONDS_BETWEEN_REPORTS = 0.1
_LENGTH = struct.Struct("<Q")
_CODE = "import sys; sys.path[:] = {path!r}; from quiclab.engines.processes import work; work()"

Report = Callable[..., object]
_Order = tuple[int, str, int, dict[Path, str]]
"""The number of a run, its resolved scenario, its seed, the files in it by path."""
_Keep = tuple[list[str], list[str]]
"""The tables of which the series are kept, and those that are kept whole."""
_Kept = list[tuple[bytes | None, str | None]]
"""What is kept of each run, or why there is nothing."""


def are_for(texts: list[str]) -> bool:
    """Whether a scenario, in these texts, has classes of files, and no other classes.

    A class of a module is looked up where it is: the script or the notebook may have changed it since it was imported.
    """
    places = [found for text in texts for found in _NAMED.findall(text)]
    modules = [place for place in places if not place.endswith(".py") and place in sys.modules]
    return any(place.endswith(".py") for place in places) and not modules


def run(sweep: _quiclab.Sweep, folder: Path, jobs: int, report: Report) -> _quiclab.FinishedSweep:
    """Makes the runs that the folder does not have, on `jobs` processes."""
    pool = _Pool(sweep.session(folder), (sweep.series, sweep.keep), jobs)
    try:
        while pool.hand_out():
            report(*pool.session.counts)
            pool.take()
    finally:
        pool.end()
    report(*pool.session.counts)
    return pool.session.finish()


class _Pool:
    """The processes, what they have to do, and what comes back."""

    def __init__(self, session: _quiclab.SweepSession, keep: _Keep, jobs: int) -> None:
        self.session = session
        self._keep = keep
        self._jobs = jobs
        self._workers: list[_Worker] = []
        self._back: queue.SimpleQueue[tuple[_Worker, _Kept | None]] = queue.SimpleQueue()
        self._again: list[_Order] = []
        """Runs of a process that died during one of them: each is repeated in a process of its own."""

    def hand_out(self) -> bool:
        """Gives runs to each process that has none, and starts a process for runs. Returns whether there are any."""
        idle = [worker for worker in self._workers if not worker.orders]
        while len(self._workers) - len(idle) < self._jobs and (orders := self._next()):
            if not idle:
                idle.append(_Worker(self._back))
                self._workers.append(idle[0])
            idle.pop().begin(orders, self._keep)
        return any(worker.orders for worker in self._workers)

    def _next(self) -> list[_Order]:
        if self._again:
            return [self._again.pop()]
        done, _, _, total = self.session.counts
        left = total - done - sum(len(worker.orders) for worker in self._workers)
        # Less and less towards the end, so that all processes are finished at about the same time.
        most = max(1, min(_MOST_RUNS, left // (4 * self._jobs)))
        orders: list[_Order] = []
        while len(orders) < most and (order := self.session.order()) is not None:
            orders.append(order)
        return orders

    def take(self) -> None:
        """Keeps the runs that a process gives back; returns after a while if none does."""
        try:
            worker, kept = self._back.get(timeout=_SECONDS_BETWEEN_REPORTS)
        except queue.Empty:
            return
        orders, worker.orders = worker.orders, []
        if kept is None:
            self._workers.remove(worker)
            worker.end()
            if len(orders) > 1:
                self._again += orders
                return
            kept = [(None, "its process died")] * len(orders)
        for (number, *_), (contents, problem) in zip(orders, kept, strict=True):
            self.session.put(number, contents, problem)

    def end(self) -> None:
        """Ends all processes."""
        for worker in self._workers:
            worker.end()


class _Worker:
    """A process, and the thread that waits for what it gives back."""

    def __init__(self, back: "queue.SimpleQueue[tuple[_Worker, _Kept | None]]") -> None:
        self.orders: list[_Order] = []
        """Its runs."""
        self._back = back
        code = _CODE.format(path=sys.path)
        self._process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._waiting = threading.Thread(target=self._wait, name="quiclab-worker", daemon=True)
        self._waiting.start()

    def begin(self, orders: list[_Order], keep: _Keep) -> None:
        """Gives it runs."""
        self.orders = orders
        assert self._process.stdin is not None, "it is a pipe"
        # One that died says so by the end of what it gives back.
        with suppress(BrokenPipeError):
            _send(self._process.stdin, ([order[1:] for order in orders], keep))

    def end(self) -> None:
        """Ends it, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._waiting.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _wait(self) -> None:
        assert self._process.stdout is not None, "it is a pipe"
        while (kept := _received(self._process.stdout)) is not None:
            self._back.put((self, kept))
        self._back.put((self, None))


def work() -> None:
    """In a process: makes runs until there are no more."""
    # The caller ends its processes: a key of the terminal reaches all of them.
    for number in signals.ENDING:
        signal.signal(number, signal.SIG_IGN)
    plugged.say_nothing()
    # What the classes print does not stand among the results.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (given := _received(sys.stdin.buffer)) is not None:
        orders, keep = given
        _send(out, _quiclab.carry_out(orders, *keep))


def _send(pipe: IO[bytes], value: object) -> None:
    contents = pickle.dumps(value)
    pipe.write(_LENGTH.pack(len(contents)))
    pipe.write(contents)
    pipe.flush()


def _received(pipe: IO[bytes]) -> Any:
    """What the other end has sent; None at the end."""
    try:
        head = pipe.read(_LENGTH.size)
        if len(head) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack(head)
        contents = pipe.read(length)
    except (OSError, ValueError):
        # The pipe was closed meanwhile.
        return None
    return pickle.loads(contents) if len(contents) == length else None
