"""`quiclab view`: the packets of a run, stream by stream, and what waited for what, as a page for the browser.

`qlog/` reads the files, `model.py` puts both ends together, the crate `view` keeps the packets in columns and finds
who waits for whom, `columns.py` makes the numbers small and `page.py` makes one HTML file of them and of what is in
`browser/`.
"""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from quiclab._quiclab import VERSION, Error, OutputError
from quiclab.drawings.view import copies, model, players, records, tables
from quiclab.drawings.view.page import page
from quiclab.records import qlog
from quiclab.results import agreement
from quiclab.results.run import Run
from quiclab.values import arguments, libraries, regular_files, shapes
from quiclab.values import folders as _folder

PAGE = "view.html"
"""The name of the page in a run folder."""

LIMIT = 2_000_000
"""The most packets that a page takes: what a browser can hold."""


_NAMED = 5
"""A sentence names at most this many files and folders."""


@dataclass(frozen=True)
class Shown:
    """What is on a page."""

    view: Path
    """The file."""
    size_bytes: int
    """Its size."""
    connections: list[dict[str, Any]]
    """For each connection its name, and for each direction of it the numbers that the page shows."""
    notes: list[str]
    """What a reader should know: what is not shown, and why."""

    def as_json(self) -> dict[str, Any]:
        """As `quiclab view --json` prints it."""
        return {**asdict(self), "view": str(self.view)}


def write(
    run: "str | PathLike[str] | Run",
    out: str | PathLike[str] | None = None,
    *,
    connections: Sequence[str] = (),
    progress: Callable[[str, float], object] | None = None,
    told: Callable[[str, float], object] | None = None,
) -> Shown:
    """Writes the page of a run or its folder, of any folder with qlog files, or of one qlog file.

    >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml", {"flow.download.application.size": "100 kB"})
    >>> run = scenario.run(qlog=True, out="runs/small")
    >>> quiclab.view.write("runs/small").view
    PosixPath('runs/small/view.html')

    :param out: the page's file. Default: view.html in the folder, or beside the file.
    :param connections: only these, by name. Default: all.
    :param progress: called with the current step, and with the part of it that is done, from 0 to 1.
    :param told: the name that `progress` had before.

    Raises `Error` if there is no qlog, or one that cannot be read; `OutputError` if the page cannot be written.
    """
    if told is not None:
        warnings.warn("quiclab.view.write: told is called progress now", DeprecationWarning, stacklevel=2)
        progress = progress or told
    where = _where(run)
    _files(where, may_be_none=True)
    libraries.give_back()
    if progress is not None:
        progress("reading the tables", 0.0)
    # Before the logs, which are held until the page is written: so their memory and that of the tables do not add up.
    recorded = records.read(where, _summary(where), connections)
    without_packets = tables.logs(where)
    paths = _files(where, bool(without_packets))
    read, wrong = list[tuple[Path, Any]](), list[Error]()
    for index, path in enumerate(paths):
        size = max(path.stat().st_size if path.exists() else 0, 1)

        def heard(seen: int, index: int = index, size: int = size, path: Path = path) -> None:
            if progress is not None:
                progress(f"reading {path.name}", (index + seen / size) / len(paths))

        heard(0)
        try:
            read += [(path, log) for log in qlog.read(path, heard)]
        except Error as error:
            wrong.append(error)
    if wrong and not read and not without_packets:
        raise _none_read(where, wrong)
    logs, copied = copies.without_copies(read)
    notes = [note for log in logs for note in log.notes] + copied + _below(where, paths)
    notes += [f"left out: {str(error).removeprefix(f'{where}/')}" for error in wrong]
    logs += without_packets
    # The logs of a run are those of one simulation, or of one emulation, which has one clock.
    found = model.connections(logs, _ends(where), has_one_clock=bool(_summary(where)))
    known = players.players(where)
    for connection in found:
        connection.player = known.get(connection.name)
        connection.recorded = recorded.get(connection.name)
    notes += _missing(where, {connection.name for connection in found})
    found = _chosen(where, found, connections)
    packets = sum(len(direction.packets) for connection in found for direction in connection.directions)
    if packets > LIMIT:
        names = ", ".join(connection.name for connection in found[:5])
        raise Error(
            f"{where}: {packets} packets are more than a page can show ({LIMIT}): choose with --connection: {names}"
        )
    usual = where / PAGE if where.is_dir() else where.with_suffix(".html")
    path = arguments.path("write: out", out) if out is not None else _folder.default_file(usual)
    if progress is not None:
        progress("writing the page", 1.0)
    text = page(_title(where, logs), found, notes, VERSION)
    size = _folder.write_whole(path, text)
    return Shown(path, size, [_numbers(connection) for connection in found], notes)


def _where(run: "str | PathLike[str] | Run") -> Path:
    if not isinstance(run, Run):
        return arguments.path("write: run", run)
    if run.path is None:
        raise Error("the run has no folder, so no qlog: make it with `run(out=..., qlog=True)`")
    return run.path


def _files(where: Path, may_be_none: bool) -> list[Path]:
    if not where.exists():
        raise Error(f"{where}: there is no such run folder")
    paths = list(qlog.records(where))
    if not paths and not may_be_none:
        runs = [path.name for path in qlog.runs(where)]
        if runs:
            raise Error(f"{where}: has no qlog itself, but runs: choose one of {', '.join(runs[:5])}")
        raise Error(f"{where}: has no qlog (*.sqlog): runs with `--qlog` have one for each simulated connection")
    return paths


def _none_read(where: Path, wrong: list[Error]) -> Error:
    """What is wrong with files of which none can be read."""
    if len(wrong) == 1:
        return wrong[0]
    named = "; ".join(str(error).removeprefix(f"{where}/") for error in wrong[:_NAMED])
    more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    return Error(f"{where}: none of its {len(wrong)} qlogs can be read: {named}{more}")


def _below(where: Path, paths: list[Path]) -> list[str]:
    """A sentence if qlogs in folders below were read, or were not because the folder has some itself."""
    if not where.is_dir():
        return []
    is_read = any(path.parent != where for path in paths)
    found = paths if is_read else qlog.below(where)
    folders = list(dict.fromkeys(str(path.parent.relative_to(where)) for path in found if path.parent != where))
    if not folders:
        return []
    named = ", ".join(folders[:_NAMED]) + (", ..." if len(folders) > _NAMED else "")
    return [
        f"qlogs of folders below are {'read' if is_read else 'not read, since the folder has some itself'}: {named}"
    ]


def _chosen(where: Path, found: list[Any], names: Sequence[str]) -> list[Any]:
    known = [connection.name for connection in found]
    for name in arguments.texts("write: connections", names, "names of connections"):
        if name not in known:
            raise Error(f"{where}: no connection {name!r} with a qlog: there are {', '.join(known[:10])}")
    return [connection for connection in found if not names or connection.name in names]


def _summary(where: Path) -> dict[str, Any]:
    """The summary of a run folder; empty if it is another folder."""
    if not where.is_dir():
        return {}
    try:
        summary = regular_files.read_json(where / _folder.SUMMARY)
        if not (where / _folder.SCENARIO).exists() and not (isinstance(summary, dict) and "scenario" in summary):
            # A file of that name that something else wrote.
            return {}
        shapes.summary("", summary)
        agreement.summary(summary)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, shapes.WrongError) as error:
        raise OutputError(f"{where / _folder.SUMMARY}: cannot be read: {regular_files.reason(error)}") from error
    return dict(summary)


def _ends(where: Path) -> dict[str, int]:
    """The end of the run, in nanoseconds, for each connection that was not completed: it may have waited until then."""
    summary = _summary(where)
    if "duration_s" not in summary:
        return {}
    entries = summary.get("connections", [])
    open_ = [str(entry.get("name")) for entry in entries if entry.get("completion_s", 0) is None]
    return dict.fromkeys(open_, round(summary["duration_s"] * 1e9))


def _title(where: Path, logs: Sequence[Any]) -> str:
    summary = _summary(where)
    if "scenario" in summary:
        return f"{summary['scenario']}, seed {summary.get('seed')}"
    return next((log.title for log in logs if log.title), Path(os.path.realpath(where)).name)


def _missing(where: Path, names: set[str]) -> list[str]:
    """A sentence if the run has connections about which nothing is known."""
    all_names = dict.fromkeys(str(entry.get("name")) for entry in _summary(where).get("connections", []))
    missing = [name for name in all_names if name not in names]
    if not missing:
        return []
    shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
    return [f"not shown, because it has no qlog: {shown}"]


def _numbers(connection: Any) -> dict[str, Any]:
    return {
        "connection": connection.name,
        "notes": connection.notes,
        "directions": [_direction(direction) for direction in connection.directions],
    }


def _direction(direction: Any) -> dict[str, Any]:
    streams = direction.streams
    waits, one_stream, blocked = direction.waits, direction.one_stream, direction.blocked
    return {
        "sender": direction.sender,
        "packets_sent": len(direction.packets),
        "packets_declared_lost": direction.found.lost_count,
        "streams": sum(stream.id >= 0 for stream in streams),
        "stream_bytes": sum(stream.bytes for stream in streams),
        "retransmitted_bytes": sum(stream.retransmitted for stream in streams),
        "waits": len(waits.start),
        "waited_s": _seconds(waits),
        # The order of the bytes is known only to the log of their sender.
        "waited_one_stream_s": _seconds(one_stream) if direction.has_sender else None,
        "without_credit": len(blocked.start),
        "without_credit_s": _seconds(blocked),
        "notes": direction.notes,
    }


def _seconds(spans: Any) -> float:
    return float(sum(spans.end) - sum(spans.start)) / 1e9
