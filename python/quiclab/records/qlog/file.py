"""Files with qlogs, in any of their forms; and those of a folder."""

import os
from collections.abc import Callable
from pathlib import Path

from quiclab._quiclab import Error
from quiclab.records.qlog import contained, sequence
from quiclab.records.qlog.events import Reader
from quiclab.records.qlog.log import Log
from quiclab.records.qlog.source import Source
from quiclab.records.qlog.wrong import shown
from quiclab.values.folders import SUMMARY

ENDINGS = (".sqlog", ".qlog", ".sqlog.gz", ".qlog.gz")
"""What the names of qlog files in folders end with."""

_LEVELS = 2
"""So deep are folders below read."""

_MOST = 1000
"""The most folders that are searched, and the most files in them."""

_HEAD = 1 << 16
"""The number of bytes that say what form a file has."""


def read(path: Path, told: Callable[[int], object] | None = None) -> list[Log]:
    """The traces of a file. `told` hears now and then how many of its bytes were read.

    Records that cannot be read are skipped; the notes of the log count them and name the first. Raises `Error`, which
    names the file and the line, if it is no qlog, has no packets, or if what is wrong changes all that is behind it.
    """
    head, probe = b"", Source(path)
    for chunk in probe.chunks():
        head += chunk
        if len(head) >= _HEAD:
            break
    head = head[:_HEAD]
    if not head.strip(b"\x1e \t\r\n"):
        raise Error(f"{path}: {probe.cut or 'is empty'}")
    source = Source(path, told)
    readers = sequence.read(source, head) if sequence.is_sequence(head) else contained.read(source)
    logs = _complete(path, readers)
    logs[0].notes += [f"{path.name}: {note}" for note in source.notes]
    return logs


def _complete(path: Path, readers: list[Reader]) -> list[Log]:
    """The logs that have packets, with what a reader should know about them."""
    skipped = [note for reader in readers for note in reader.skipped.notes()]
    full = [log for reader in readers for log in _with_packets(path, reader)]
    if not full:
        reasons = "".join(f"; {note}" for note in skipped[:1])
        raise Error(f"{path}: has neither packet_sent nor packet_received events: no packet to show{reasons}")
    without = sum(not any(log.sent or log.received for log in reader.logs) for reader in readers)
    if without:
        full[0].notes.append(f"{path.name}: {without} of {len(readers)} traces have no packets")
    for log in full:
        if not log.side:
            log.side = _inferred(log)
            log.notes.append(f"{path.name}: vantage_point names no end; taken for the {log.side}, by its first packet")
    return full


def _with_packets(path: Path, reader: Reader) -> list[Log]:
    """The logs of a trace that have packets, in the order of their times, each with a name of its own."""
    for log in reader.logs:
        if late := log.events.sort():
            events = "event stood behind a later one" if late == 1 else "events stood behind later ones"
            log.notes.append(f"{path.name}: {late} {events}: put into the order of their times")
    full = [log for log in reader.logs if log.sent or log.received]
    # Of a log without packets nobody sees the notes.
    first = (full or reader.logs)[0]
    first.notes += [*([] if first is reader.log else reader.log.notes), *reader.skipped.notes()]
    if len(full) > 1:
        note = f"{path.name}: its events are those of {len(full)} connections (group_id), which are shown one by one"
        full[0].notes.append(note)
        for log in full:
            log.name = f"{log.name}, {shown(log.group)[:20].replace('/', '_') or 'without group_id'}"
    return full


def _inferred(log: Log) -> str:
    """The end that wrote a log: the client sends the first packet."""
    if not log.sent or not log.received:
        return "client" if log.sent else "server"
    return "client" if log.sent[0].time <= log.received[0].time else "server"


def records(path: Path) -> list[Path]:
    """What is called a qlog file in a folder, in the order of the names; or the file itself.

    Those of the folders below count if the folder has none itself: other tools have one folder for each end. Some may
    be no files: `read` says so without opening them.
    """
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS)) or below(path)


def below(path: Path) -> list[Path]:
    """What is called a qlog file in the folders below a folder, two levels deep at most, by folder and name.

    Folders of runs have pages of their own.
    """
    found: list[Path] = []
    level = [path]
    for _ in range(_LEVELS):
        level = [folder for one in level for folder in _folders(one) if not (folder / SUMMARY).exists()][:_MOST]
        for folder in level:
            found += sorted(file for file in folder.iterdir() if file.name.endswith(ENDINGS))
    return found[:_MOST]


def runs(path: Path) -> list[Path]:
    """The folders of runs with qlogs in a folder."""
    return [
        folder
        for folder in (_folders(path) if path.is_dir() else [])
        if (folder / SUMMARY).exists() and any(file.name.endswith(ENDINGS) for file in folder.iterdir())
    ]


def _folders(path: Path) -> list[Path]:
    """The folders in a folder that may be read, in the order of their names; links may lead round."""
    return sorted(
        one
        for one in path.iterdir()
        if one.is_dir() and not one.is_symlink() and os.access(one, os.R_OK | os.X_OK)
        if not one.name.endswith(ENDINGS)
    )
