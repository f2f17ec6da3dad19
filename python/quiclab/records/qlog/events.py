"""Events of the schema, one at a time, from objects to the columns of a log."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quiclab._quiclab import Error
from quiclab.records.qlog.clock import Clock
from quiclab.records.qlog.frames import each, kind, packet
from quiclab.records.qlog.log import METRICS, Log, Packets
from quiclab.records.qlog.old import Translator
from quiclab.records.qlog.skipped import Skipped
from quiclab.records.qlog.wrong import WRONG, QlogError, named, number, part, said, whole

_NO_LIMIT = 1 << 42
"""From here on a gauge means "none": windows without a limit are written as the largest integer of some type."""


FAST = True
"""Whether the crate `view` reads what it can. Tests compare both ways."""


_MOST_GROUPS = 1000
"""A trace has the events of no more connections."""


def group_name(group: Any) -> str:
    """The name of a group of events: those of a connection."""
    return group if isinstance(group, str) else json.dumps(group)


def named_group(event: dict[str, Any]) -> Any:
    """The group that an event names, None if it names none; some stacks write the connection ID instead (ODCID)."""
    group = event.get("group_id")
    return event.get("ODCID") if group is None else group


class Reader:
    """Adds events to a log; those of other connections (`group_id`) than its first one to logs of their own.

    :param translator: for events that are not objects with a name.
    :param is_usual: whether the crate `view` may read them.
    """

    def __init__(self, path: Path, log: Log, clock: Clock, translator: Translator, is_usual: bool) -> None:
        self.log = log
        self.events = log.events
        """The columns of the log."""
        self.groups: dict[str, Log] = {}
        """The logs of the connections that events name."""
        if log.group:
            self.events.group(json.dumps(log.group))
        self.skipped = Skipped()
        self._path = path
        self._clock = clock
        self._translate = translator.event
        self.events.clock(clock.is_delta, clock.reference, is_usual and FAST)
        self._has_time = False
        self._has_delta = False
        """Whether times are those since the event before, although the trace does not say so."""
        self._has_units = False
        self._frames: list[str] = []
        self._add: dict[str, Callable[[Log, int, dict[str, Any]], None]] = {
            "packet_sent": lambda log, time, data: self._packets(log.sent, time, data),
            "packet_received": lambda log, time, data: self._packets(log.received, time, data),
            "packet_lost": self._lost,
            "metrics_updated": self._metrics,
            "recovery_metrics_updated": self._metrics,
            "stream_data_moved": self._moved,
            "data_moved": self._moved,
        }

    def take(self, place: str, record: bytes) -> None:
        """Adds an event from its text, or skips it.

        Raises `Error` if all times behind it would be wrong, or if there are too many packets.
        """
        self._has_time = False
        try:
            self._event(place, json.loads(record))
        except WRONG as error:
            self._skip(place, error)
        self.check()

    @property
    def logs(self) -> list[Log]:
        """The logs of all connections: the first one's before those of others."""
        return [self.log, *(log for log in self.groups.values() if log is not self.log)]

    def _log_of(self, group: Any) -> Log:
        """The log of the connection that an event names; without a name that of the trace."""
        if group is None:
            return self.log
        name = group_name(group)
        log = self.groups.get(name)
        if log is None:
            if len(self.groups) >= _MOST_GROUPS:
                raise Error(f"{self._path}: has events of more than {_MOST_GROUPS} connections (group_id)")
            is_own = self.log.group == name or not (self.log.group or self.groups)
            if is_own:
                log = self.log
                log.group = name
                self.events.group(json.dumps(group))
            else:
                log = Log(
                    self.log.name,
                    self.log.side,
                    name,
                    self.log.title,
                    file=self.log.file,
                    is_by_wall=self.log.is_by_wall,
                )
            self.groups[name] = log
        return log

    def _skip(self, place: str, error: Exception) -> None:
        """Counts a record that cannot be read. Raises `Error` if all times behind it depend on its own, unknown one."""
        if (self._clock.is_delta or self._has_delta) and not self._has_time:
            raise named(f"{self._path.parent / place}", QlogError(f"{said(error)}; all times behind it depend on it"))
        self.skipped.add("record", place, said(error))

    def check(self) -> None:
        """Raises `Error` if there are too many packets."""
        if self.events.is_full:
            raise Error(f"{self._path}: has more packets than can be shown")

    def _event(self, place: str, event: Any) -> None:
        """Adds an event, or nothing if the view does not need it. Raises one of `WRONG` if it cannot be read."""
        event = self._translate(event)
        self._clock.last = self.events.last
        self._has_delta = self._has_delta or bool(event["is_delta"])
        time = self._clock.read(event["time"], event["is_delta"], event["unit"])
        if event["unit"] not in (None, self._clock.unit) and not self._has_units:
            self._has_units = True
            self.log.notes.append(f"{place}: events state a unit of their own for their times, which counts for them")
        self.events.last = self._clock.last
        self._has_time = True
        # "quic:packet_sent", "transport:packet_sent".
        add = self._add.get(event["name"].rpartition(":")[2])
        if add is None:
            return
        if not isinstance(event["data"], dict):
            raise QlogError(f"data of {event['name']!r:.60} is not an object")
        log = self._log_of(named_group(event))
        add(log, time, event["data"])
        if log is not self.log and log.events.is_full:
            raise Error(f"{self._path}: has more packets than can be shown")
        for why in self._frames:
            self.skipped.add("frame", place, why)
        self._frames.clear()

    def _packets(self, packets: Packets, time: int, data: dict[str, Any]) -> None:
        for found in [packet(time, one, self._frames) for one in each(data)]:
            if found.kind == "unknown" and (found.streams or found.acks):
                raise QlogError("packet_type is 'unknown', so that the space of its number is not known")
            packets.append(found)

    def _lost(self, log: Log, time: int, data: dict[str, Any]) -> None:
        lost = []
        for one in each(data):
            header = part(one, "header", one)
            lost.append((kind(one, header), number(header["packet_number"]), whole(str(one.get("trigger", "")))))
        for word, packet_number, trigger in lost:
            log.events.lose(time, word, packet_number, trigger)

    def _moved(self, log: Log, time: int, data: dict[str, Any]) -> None:
        """Data that went from the application to the transport. Other moves, or without a place, tell nothing."""
        if data.get("from") != "application" or data.get("to") != "transport" or "stream_id" not in data:
            return
        length = data.get("length", (data.get("raw") or {}).get("length"))
        if length is not None and "offset" in data:
            log.events.write(time, number(data["stream_id"]), number(data["offset"]) + number(length))

    def _metrics(self, log: Log, time: int, data: dict[str, Any]) -> None:
        for name in METRICS:
            value = data.get(name)
            if value is None:
                continue
            if isinstance(value, str | list | dict):
                value = _number(name, value)
            if isinstance(value, bool) or not 0 <= value < _NO_LIMIT:
                continue
            log.events.gauge(name, time, value)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise QlogError(f"{name} is {value!r:.60}; expected a number") from None
