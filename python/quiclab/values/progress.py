"""The progress of runs and sweeps, for callbacks, on a terminal and in a notebook."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml")
    >>> told = []
    >>> run = scenario.run(progress=told.append)
    >>> 0 < told[0].fraction <= 1
    True
    """

    now_s: float
    """The elapsed virtual time, in seconds."""
    end_s: float
    """Virtual time at which the run ends at the latest, in seconds."""
    done_bytes: int
    """Application bytes delivered so far, over all flows."""
    total_bytes: int | None
    """Application bytes after which the run is complete; None if it ends by time alone."""

    @property
    def fraction(self) -> float:
        """The part of the run that is done, from 0 to 1. A run ends with its last byte or when its time is over."""
        by_time = self.now_s / self.end_s if self.end_s > 0 else 0.0
        by_bytes = self.done_bytes / self.total_bytes if self.total_bytes else 0.0
        return min(1.0, max(by_time, by_bytes))


Callback = Callable[[Progress], object]

_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def shown(title: str) -> Iterator[Callback]:
    """Show progress: a bar in a notebook, on stderr a bar on a terminal, otherwise one plain line every few seconds."""
    if _in_notebook():
        with _in_cell(title) as callback:
            yield callback
    elif sys.stderr.isatty():
        with _bar(title) as callback:
            yield callback
    else:
        yield _lines(title)


@contextmanager
def _bar(title: str) -> Iterator[Callback]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[virtual]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, virtual="")

        def callback(progress: Progress) -> None:
            bar.update(task, completed=progress.fraction, virtual=f"{progress.now_s:.1f} s simulated")

        yield callback


def _lines(title: str) -> Callback:
    start = time.monotonic()
    next_line = start + _SECONDS_BETWEEN_LINES

    def callback(progress: Progress) -> None:
        nonlocal next_line
        now = time.monotonic()
        fraction = progress.fraction
        if now < next_line or fraction <= 0:
            return
        next_line = now + _SECONDS_BETWEEN_LINES
        left = (now - start) * (1 - fraction) / fraction
        print(
            f"{title}: {fraction:.0%}, {progress.now_s:.1f} s simulated, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )

    return callback


@dataclass(frozen=True)
class SweepProgress:
    """The progress of a sweep.

    >>> told = []
    >>> sweep = quiclab.sweep("examples/sweep.toml", progress=told.append)
    >>> told[-1].done, told[-1].failed, told[-1].total
    (150, 0, 150)
    """

    done: int
    """The number of finished runs, including failed ones."""
    reused: int
    """The number of finished runs that the folder already contained."""
    failed: int
    """The number of finished runs that failed."""
    total: int
    """The number of all runs."""
    workers: int | None = None
    """The number of threads of the workers of a cluster, which may come later, and go; None without a cluster."""
    written: float | None = None
    """What part of the tables is written, from 0 to 1, once all runs are finished; None before."""


SweepCallback = Callable[[SweepProgress], object]


@contextmanager
def shown_sweep(title: str) -> Iterator[SweepCallback]:
    """Show the progress of a sweep, as `shown` does that of a run."""
    if _in_notebook():
        with _sweep_in_cell(title) as callback:
            yield callback
    elif sys.stderr.isatty():
        with _sweep_bar(title) as callback:
            yield callback
    else:
        yield _sweep_lines(title)


@contextmanager
def _sweep_bar(title: str) -> Iterator[SweepCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, failed="")

        def callback(progress: SweepProgress) -> None:
            # Reused runs would make the estimated time too short.
            nonlocal task
            remarks = ", ".join(_remarks(progress))
            if progress.written is None:
                made, all_ = progress.done - progress.reused, progress.total - progress.reused
                bar.update(task, total=all_, completed=made, failed=remarks)
                return
            if not bar.tasks[-1].description.endswith(_TABLES):
                # The time left is that of the tables from now on.
                bar.remove_task(task)
                task = bar.add_task(f"{title}: {_TABLES}", total=progress.total, failed="")
            bar.update(task, completed=int(progress.written * progress.total), failed=remarks)

        yield callback


def _sweep_lines(title: str) -> SweepCallback:
    start = time.monotonic()
    writing: float | None = None
    next_line = start + _SECONDS_BETWEEN_LINES

    def callback(progress: SweepProgress) -> None:
        nonlocal start, next_line, writing
        now = time.monotonic()
        made = progress.done - progress.reused
        if made <= 0:
            # A cluster's workers may come later, and what the folder had took a time of its own.
            start = now
        waits = progress.workers == 0
        if progress.written is not None and writing is None:
            writing = now
        if now < next_line or (made <= 0 and not waits and not progress.written):
            return
        next_line = now + _SECONDS_BETWEEN_LINES
        words = [f"{title}: {progress.done} of {progress.total} runs", f"{progress.failed} failed"]
        if progress.written and writing is not None:
            left = (now - writing) * (1 - progress.written) / progress.written
            words += [f"{_TABLES} {progress.written:.0%}", f"about {left:.0f} s left"]
        elif waits:
            words.append(_WAITS)
        elif made > 0:
            words.append(f"about {(now - start) * (progress.total - progress.done) / made:.0f} s left")
        print(", ".join(words), file=sys.stderr, flush=True)

    return callback


_WAITS = "no worker yet: waiting for one"
_TABLES = "writing tables"


def _remarks(progress: SweepProgress) -> list[str]:
    """What a bar says beside the numbers."""
    failed = [f"{progress.failed} failed"] if progress.failed else []
    return [*failed, _WAITS] if progress.workers == 0 and progress.done < progress.total else failed


@dataclass(frozen=True)
class _Bar:
    """A bar in the output of a cell, which is always the same one. What is kept of it has no clock in it."""

    fraction: float
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from html import escape

        label = escape(self.text)
        style = "width: 16em; vertical-align: middle; margin-right: 0.7em;"
        return f'<div><progress value="{self.fraction:.3f}" max="1" style="{style}"></progress>{label}</div>'


def _in_notebook() -> bool:
    """Whether this is a kernel of Jupyter: its outputs can be replaced."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def _shown_bar(text: str) -> Callable[[float, str], object]:
    """Shows an empty bar; returns what replaces it by one with another fraction and text."""
    from IPython.display import display

    handle: Any = display(_Bar(0.0, text), display_id=True)  # type: ignore[no-untyped-call]
    return lambda fraction, text: handle.update(_Bar(fraction, text))


@contextmanager
def _in_cell(title: str) -> Iterator[Callback]:
    show = _shown_bar(f"{title}: 0 %")
    yield lambda progress: show(
        progress.fraction, f"{title}: {100 * progress.fraction:.0f} %, {progress.now_s:.1f} s simulated"
    )
    show(1.0, f"{title}: done")


@contextmanager
def _sweep_in_cell(title: str) -> Iterator[SweepCallback]:
    show = _shown_bar(title)
    # The last one has all of the runs.
    yield lambda progress: show(
        progress.done / max(progress.total, 1),
        f"{title}: {progress.done:,} of {progress.total:,} runs, {progress.failed:,} failed",
    )


@contextmanager
def shown_reading(title: str) -> Iterator[Callable[[str, float], object]]:
    """Shows on stderr what is read and what part of it is done: a bar on a terminal, otherwise nothing."""
    if not sys.stderr.isatty():
        yield lambda what, fraction: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda what, fraction: bar.update(task, description=f"{title}: {what}", completed=fraction)
