"""Logs that are copies of each other: the same file twice in a folder, packed and unpacked, or in another form."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from quiclab.records.qlog import Log
from quiclab.records.qlog.log import Packets

_LOOKED_AT = 64
"""The number of packets of each direction that are compared, beside their number and the first and last time."""


def without_copies(logs: Iterable[tuple[Path, Log]]) -> tuple[list[Log], list[str]]:
    """The logs without those that an earlier one has whole; and a sentence for each of these."""
    kept: list[Log] = []
    notes: list[str] = []
    first: dict[Any, Path] = {}
    for path, log in logs:
        key = _key(log)
        if key in first:
            notes.append(f"left out: {path.name} has the same packets at the same times as {first[key].name}: a copy")
        else:
            first[key] = path
            kept.append(log)
    return kept, notes


def _key(log: Log) -> tuple[Any, ...]:
    """What only copies have in common."""
    return (log.side, log.group, log.original, log.events.span(), _some(log.sent), _some(log.received))


def _some(packets: Packets) -> tuple[int, str]:
    """The number of packets, and some of them as text."""
    count = len(packets)
    places = sorted({at * (count - 1) // (_LOOKED_AT - 1) for at in range(_LOOKED_AT)}) if count else []
    return count, repr([packets[at] for at in places])
