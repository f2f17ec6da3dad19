"""Files with qlogs, whatever their form; and those of a folder."""

from collections.abc import Callable, Iterator
from pathlib import Path

from quiclab._quiclab import Error
from quiclab.view.qlog import contained, sequence
from quiclab.view.qlog.events import Reader
from quiclab.view.qlog.log import Log
from quiclab.view.qlog.source import Source

ENDINGS = (".sqlog", ".qlog", ".sqlog.gz", ".qlog.gz")
"""What the names of qlog files in folders end with."""

_HEAD = 1 << 16
"""So many bytes say what form a file has."""


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
    return _complete(path, readers)


def _complete(path: Path, readers: list[Reader]) -> list[Log]:
    """The logs that have packets, with what a reader should know about them."""
    skipped = [note for reader in readers for note in reader.skipped.notes()]
    full = [reader.log for reader in readers if reader.log.sent or reader.log.received]
    if not full:
        reasons = "".join(f"; {note}" for note in skipped[:1])
        raise Error(f"{path}: has neither packet_sent nor packet_received events: no packet to show{reasons}")
    if len(full) < len(readers):
        full[0].notes.append(f"{path.name}: {len(readers) - len(full)} of {len(readers)} traces have no packets")
    for reader in readers:
        reader.log.notes += reader.skipped.notes()
    for log in full:
        if not log.side:
            log.side = _inferred(log)
            log.notes.append(f"{path.name}: vantage_point names no end; taken for the {log.side}, by its first packet")
    return full


def _inferred(log: Log) -> str:
    """The end that wrote a log: the client sends the first packet."""
    if not log.sent or not log.received:
        return "client" if log.sent else "server"
    return "client" if log.sent[0].time <= log.received[0].time else "server"


def records(path: Path) -> Iterator[Path]:
    """What is called a qlog file in a folder, in the order of the names; or the file itself.

    Some may be no files: `read` says so without opening them.
    """
    if path.is_dir():
        yield from sorted(file for file in path.iterdir() if file.name.endswith(ENDINGS))
    else:
        yield path
