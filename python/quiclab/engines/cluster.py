"""The engine `dask`: the runs of a sweep on the workers of a Dask cluster, kept by this process alone.

A run goes to a worker as its resolved scenario, with the files that it names, and comes back as bytes: the workers need
the same quiclab, and no common file system. A run whose worker dies is given to another one.
"""

import hashlib
import json
import logging
import pickle
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab import _quiclab
from quiclab._quiclab import PROGRAM, VERSION, Error
from quiclab.values import signals as _signals
from quiclab.values.extras import install_extra

if TYPE_CHECKING:
    from distributed import Client, Future

_AHEAD = 3
"""Tasks for each thread of the workers that are handed out at once: one that goes on, and two that wait."""
_LEAST_AHEAD = 8

_SECONDS_OF_A_TASK = 0.25
_BYTES_OF_A_TASK = 16 << 20
_MOST_RUNS = 256
"""Short runs share a task, since a task costs some milliseconds. The times of finished runs decide how many."""

_OWN_CLUSTER = {"distributed.worker.profile.enabled": False, "distributed.admin.system-monitor.interval": "10 s"}
"""A cluster of our own looks at itself less often: nobody sees what it finds."""

_SECONDS_TO_CONNECT = 20
_SECONDS_BETWEEN_LOOKS = 1.0
"""How often it is looked whether there are more workers now."""

_FETCHERS = 4
"""Results that are fetched from workers, or wait to be kept, at once."""

_SIGNAL = -1
"""In the place of a task's number: a signal has come."""

_TASK = "__import__('quiclab.engines.cluster', fromlist=['make']).make(described, *texts)"
"""What a worker evaluates: one without quiclab could not even read a task that refers to it, and would die of it."""

Report = Callable[..., object]
"""Is told the numbers of finished, reused, failed and all runs, and the threads of the workers as `workers`."""
Look = Callable[[], None]
_Keep = tuple[list[str], list[str]]
"""The tables of which the series are kept, and those that are kept whole."""


def run(
    sweep: _quiclab.Sweep, folder: Path, scheduler: str | None, jobs: int, report: Report
) -> _quiclab.FinishedSweep:
    """Makes the runs that the folder does not have: on the cluster of a scheduler, or on `jobs` processes here.

    Raises `Error` if there is no such scheduler, or if its workers cannot run this version; what came is kept.
    """
    with _client(scheduler, jobs) as client:
        session = sweep.session(folder)
        made = _Work(client, session, (sweep.series, sweep.keep))
        try:
            with _signals_wait(lambda: made.back.put(_SIGNAL)) as look:
                made.run(report, look)
        except (OSError, CancelledError) as error:
            done, _, _, total = session.counts
            raise Error(
                f"the cluster: its scheduler does not answer any more ({type(error).__name__}); "
                f"{done} of {total} runs are kept: when a scheduler is back, the same call continues"
            ) from error
        finally:
            made.cancel()
    report(*session.counts)
    return session.finish()


Order = tuple[int, str, int, dict[Path, str]]
"""The number of a run, its resolved scenario, its seed, the files in it by path."""


class _Work:
    """What is handed out, and what comes back."""

    def __init__(self, client: "Client", session: _quiclab.SweepSession, keep: _Keep) -> None:
        self.client = client
        self.session = session
        self.keep = keep
        self.open: dict[int, tuple[list[Order], Future[Any]]] = {}
        """Tasks by number: the runs of each."""
        self.tasks = 0
        self.back: queue.SimpleQueue[int] = queue.SimpleQueue()
        """Tasks whose results are fetched."""
        self.fetched: dict[int, Any] = {}
        self.fetchers = ThreadPoolExecutor(_FETCHERS, "quiclab-fetch")
        self.places = threading.Semaphore(_FETCHERS)
        self.files: dict[str, Future[Any]] = {}
        self.together = 1
        """Runs of the next task."""
        self.most = 0
        self.threads = 0
        self.next_look = 0.0
        self.more = True

    def run(self, report: Report, signals: Look) -> None:
        """Hands out and takes back until all is there."""
        while self.more or self.open:
            signals()
            self._look()
            while self.more and len(self.open) < self.most:
                self._hand_out()
            report(*self.session.counts, workers=self.threads)
            if not self.open:
                continue
            with suppress(queue.Empty):
                task = self.back.get(timeout=_SECONDS_BETWEEN_LOOKS)
                if task != _SIGNAL:
                    if not self.threads:
                        # Somebody made it: a worker that came since the last look.
                        self.next_look = 0.0
                    orders, _ = self.open.pop(task)
                    self.places.release()
                    self._take(orders, self.fetched.pop(task))

    def cancel(self) -> None:
        """Takes back what no worker has begun."""
        self.fetchers.shutdown(wait=False, cancel_futures=True)
        # A scheduler that is gone has nothing to take back.
        with suppress(OSError):
            self.client.cancel([future for _, future in self.open.values()])
        # Who waits for a place finds that the result is not wanted any more.
        self.places.release(_FETCHERS)
        self.open.clear()

    def _look(self) -> None:
        """Workers come and go: what is handed out at once is as much as they can do soon, so that memory is bounded."""
        if (now := time.monotonic()) >= self.next_look:
            self.next_look = now + _SECONDS_BETWEEN_LOOKS
            self.threads = sum(self.client.nthreads().values())
            self.most = max(_LEAST_AHEAD, _AHEAD * self.threads)

    def _hand_out(self) -> None:
        orders: list[Order] = []
        done, _, _, total = self.session.counts
        left = total - done - sum(len(handed) for handed, _ in self.open.values())
        # Less and less towards the end, so that all workers are finished at about the same time.
        together = max(1, min(self.together, left // (2 * max(1, self.threads))))
        while len(orders) < together:
            order = self.session.order()
            if order is None:
                self.more = False
                break
            orders.append(order)
        if orders:
            self._submit(orders)

    def _submit(self, orders: list[Order]) -> None:
        keys = [{path: self._file(text) for path, text in files.items()} for *_, files in orders]
        sent = [(scenario, seed, names) for (_, scenario, seed, _), names in zip(orders, keys, strict=True)]
        used = sorted({key for names in keys for key in names.values()})
        texts = [self.files[key] for key in used]
        # As bytes, which Dask does not search for tasks.
        described = pickle.dumps((PROGRAM, self.keep, sent, used))
        future = self.client.submit(eval, _TASK, {"described": described, "texts": texts}, pure=False)
        task, self.tasks = self.tasks, self.tasks + 1
        self.open[task] = orders, future
        future.add_done_callback(lambda future: self._done(task, future))

    def _done(self, task: int, future: "Future[Any]") -> None:
        """In another thread."""
        # At the end nobody wants it any more.
        with suppress(RuntimeError):
            self.fetchers.submit(self._fetch, task, future)

    def _fetch(self, task: int, future: "Future[Any]") -> None:
        """In another thread: a result that is lost with its worker comes when another worker has made it again."""
        self.places.acquire()
        try:
            self.fetched[task] = future.result()
        except Exception as error:
            self.fetched[task] = error
        self.back.put(task)

    def _file(self, text: str) -> str:
        """A file as a task of its own: it goes to a worker once, and again to the next one if that dies."""
        key = f"quiclab-file-{hashlib.sha256(text.encode()).hexdigest()}"
        if key not in self.files:
            self.files[key] = self.client.submit(str, text, key=key)
        return key

    def _take(self, orders: list[Order], result: Any) -> None:
        from distributed import KilledWorker

        try:
            if isinstance(result, Exception):
                raise result
        except KilledWorker as error:
            self._killed(orders, error.allowed_failures + 1)
            return
        except (OSError, CancelledError):
            raise
        except ModuleNotFoundError as error:
            module = (error.name or "quiclab").split(".")[0]
            raise Error(f"the cluster: a worker has no {module}: install quiclab {VERSION} for the workers") from error
        except Error as error:
            raise Error(f"the cluster: {error}") from error
        except Exception as error:
            raise Error(f"the cluster: {_one_line(error)}") from error
        seconds, kept = result
        for (number, *_), (contents, problem) in zip(orders, kept, strict=True):
            self.session.put(number, contents, problem)
        size = max((len(contents) for contents, _ in kept if contents is not None), default=0)
        fit = min(_SECONDS_OF_A_TASK * len(orders) / max(seconds, 1e-6), _BYTES_OF_A_TASK / max(size, 1))
        self.together = max(1, min(int(fit), _MOST_RUNS))

    def _killed(self, orders: list[Order], workers: int) -> None:
        """The scheduler gave up: one of the runs may be what workers die of, and then it does not stop the others."""
        if len(orders) > 1:
            for order in orders:
                self._submit([order])
            return
        self.session.put(orders[0][0], None, f"{workers} workers died during this run")


def make(described: bytes, *texts: str) -> tuple[float, list[tuple[bytes | None, str | None]]]:
    """On a worker: makes runs, and tells how long they took."""
    program: str
    keep: _Keep
    orders: list[tuple[str, int, dict[Path, str]]]
    keys: list[str]
    program, keep, orders, keys = pickle.loads(described)
    if program != PROGRAM:
        raise Error(f"the worker on {socket.gethostname()} has quiclab {PROGRAM}; expected {program}, as here")
    start = time.monotonic()
    known = dict(zip(keys, texts, strict=True))
    made = [(scenario, seed, {path: known[key] for path, key in names.items()}) for scenario, seed, names in orders]
    kept = _quiclab.carry_out(made, *keep)
    return time.monotonic() - start, kept


@contextmanager
def _client(scheduler: str | None, jobs: int) -> Iterator["Client"]:
    try:
        import dask
        from distributed import Client, LocalCluster
        from distributed.comm import resolve_address
    except ImportError as error:
        raise Error(f"the engine dask needs Dask distributed: {install_extra('cluster')}") from error
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if scheduler is None:
            options: Mapping[str, Any] = {"dashboard_address": None, "memory_limit": 0, "processes": True}
            options = {**options, "silence_logs": logging.CRITICAL}
            stack.enter_context(dask.config.set(_OWN_CLUSTER))
            cluster = stack.enter_context(LocalCluster(n_workers=jobs, threads_per_worker=1, **options))
            yield stack.enter_context(Client(cluster, set_as_default=False))
            return
        try:
            address = _address(scheduler)
            # A client whose address is none would wait for itself when it is taken down.
            resolve_address(address)
            client = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise Error(f"{scheduler}: no Dask scheduler answers: {_one_line(error)}") from error
        yield stack.enter_context(client)


def _address(scheduler: str) -> str:
    """The address of a scheduler, which may have written it into a file (`dask scheduler --scheduler-file`)."""
    if not Path(scheduler).is_file():
        if ":" not in scheduler:
            raise ValueError("no such file, and not an address with a port, like tcp://head:8786")
        return scheduler
    written = json.loads(Path(scheduler).read_text(encoding="utf-8"))
    address = written.get("address") if isinstance(written, dict) else None
    if not isinstance(address, str):
        raise ValueError("the file has no address")
    return address


@contextmanager
def _signals_wait(wake: Look) -> Iterator[Look]:
    """What a signal does, it does where the answer is called, and not in the midst of Dask.

    Python drops an exception that a handler raises in a finalizer, and with it the user's Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    came: list[int] = []

    def note(number: int, _: object) -> None:
        came.append(number)
        wake()

    before = {number: signal.getsignal(number) for number in _signals.ENDING}

    def look() -> None:
        while came:
            number = came.pop(0)
            if callable(handler := before[signal.Signals(number)]):
                handler(number, None)

    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, note)
    try:
        yield look
        look()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _quiet() -> Iterator[None]:
    """What goes wrong is told once, by us, and not in the traceback of each of Dask's threads as well."""
    # Dask gives several of its loggers levels of their own.
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _one_line(error: BaseException) -> str:
    lines = str(error).split("\n")
    return f"{type(error).__name__}: {lines[0]}" if lines[0] else type(error).__name__
