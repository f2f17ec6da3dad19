"""Which logs are those of one connection: those that name it alike, or else whose names differ in the end alone."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePath

from quiclab.records.qlog import Log

_HEX = re.compile(r"(?:0x)?([0-9a-f]{2}(?::?[0-9a-f]{2})*)", re.IGNORECASE)

_END = re.compile(r"(?<![a-z])(?:client|server)(?![a-z])", re.IGNORECASE)
"""The word for an end in a name: `a_client`, `server-1`."""


@dataclass
class Pair:
    """The logs of a connection: one of each end, or of one end alone."""

    client: Log | None
    server: Log | None
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What the connection is called."""
        log = self.client or self.server
        assert log is not None, "a pair has a log"
        name = PurePath(log.name).name
        for side in ("client", "server"):
            name = name.removesuffix(side).rstrip(" -_.") or name
        return name


def pairs(logs: list[Log]) -> list[Pair]:
    """The connections of logs, in the order of their first logs.

    Two logs are of one connection if they have a group or a connection ID in common; different original connection IDs
    are different connections, whatever their group. Logs of which at most one says either are of one connection if the
    names of their files, or of their ends, are the same without the word for the end. Several logs that cannot be told
    apart otherwise are put together in the order of their first events.
    """
    matching = _Matching(logs)
    for same in _alike(logs, _ids):
        matching.match(same, lambda client, server: not _differ(client, server))
    for names in (_of_file, _of_end):
        for same in _alike(logs, names):
            matching.match(same, lambda client, server: not (_ids(client) and _ids(server)), names is _of_end)
    found = []
    for log in logs:
        other = matching.others.get(id(log))
        if other is None:
            found.append(Pair(log, None) if log.side == "client" else Pair(None, log))
        elif id(other) not in matching.seen:
            found.append(Pair(log, other) if log.side == "client" else Pair(other, log))
        matching.seen.add(id(log))
    _explain(found)
    return found


class _Matching:
    """The logs that were put together so far, by their identities."""

    def __init__(self, logs: list[Log]) -> None:
        self.others: dict[int, Log] = {}
        self.seen: set[int] = set()
        self._starts = {id(log): span[0] if (span := log.events.span()) is not None else 0 for log in logs}

    def match(self, logs: list[Log], may: Callable[[Log, Log], bool], is_only: bool = False) -> None:
        """Puts clients and servers together that may be; `is_only`: only if there is one of each."""
        left = sorted((log for log in logs if id(log) not in self.others), key=lambda log: self._starts[id(log)])
        clients = [log for log in left if log.side == "client"]
        servers = [log for log in left if log.side == "server"]
        if is_only and (len(clients) > 1 or len(servers) > 1):
            return
        for client in clients:
            server = next((server for server in servers if may(client, server)), None)
            if server is not None:
                servers.remove(server)
                self.others[id(client)], self.others[id(server)] = server, client


def _alike(logs: list[Log], values: Callable[[Log], Iterable[str]]) -> list[list[Log]]:
    """The logs that have a value in common, for each value."""
    found: dict[str, list[Log]] = {}
    for log in logs:
        for value in sorted(values(log)):
            found.setdefault(value, []).append(log)
    return list(found.values())


def _ids(log: Log) -> set[str]:
    """What a log says of the connection that it is of."""
    return {_folded(value) for value in (log.group, log.original) if value}


def _folded(value: str) -> str:
    """Connection IDs without regard to the case of their digits."""
    digits = _HEX.fullmatch(value)
    return digits[1].replace(":", "").lower() if digits else value


def _differ(one: Log, other: Log) -> bool:
    return bool(one.original and other.original) and _folded(one.original) != _folded(other.original)


def _of_file(log: Log) -> set[str]:
    """The name of the file without the word for the end."""
    return {_without_end(log.file)} if log.file else set()


def _of_end(log: Log) -> set[str]:
    """The name of the end without the word for its side, if it has one: other names are those of programs."""
    name = _without_end(log.name)
    return {name} if name and _END.search(log.name) else set()


def _without_end(name: str) -> str:
    return re.sub(r"[ _.-]+", " ", _END.sub(" ", name)).strip().lower()


def _explain(found: list[Pair]) -> None:
    """Notes why logs of different ends were not put together, if there are some."""
    alone = [pair for pair in found if pair.client is None or pair.server is None]
    if len({pair.client is None for pair in alone}) < 2:
        return
    for pair in alone:
        log = pair.client or pair.server
        assert log is not None, "a pair has a log"
        other = "server" if log.side == "client" else "client"
        pair.notes.append(
            f"no log of a {other} has its group_id, its ODCID or, where these are missing, its name: "
            "logs of other names are taken for those of other connections"
        )
