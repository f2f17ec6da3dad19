"""The words of old drafts in those of the current schema: rows of draft-00 and draft-01, and the habits of stacks.

draft-marx-qlog-main-schema-01 (draft-00 is alike): an event is a row, whose columns `event_fields` names; the unit of
all times is `configuration.time_units`, milliseconds if it is not said; some stacks write it into `common_fields`.
draft-00 has names in capitals.
"""

from typing import Any

from quiclab.records.qlog.clock import UNITS, is_delta
from quiclab.records.qlog.spelling import frame, plain
from quiclab.records.qlog.stated import of_event
from quiclab.records.qlog.wrong import QlogError

TIMES = {"time": "absolute", "relative_time": "relative", "delta_time": "delta"}
"""The time format that the name of a column or a member says, those that count first."""

_TIMES = {plain(key): key for key in TIMES}
"""Their names as they are compared: stacks also write `deltaTime`."""

_IS_DELTA = {"relative_time": False, "delta_time": True}
"""The names that say whether a time is one since the event before."""

_COLUMNS = ("time", "category", "event", "data")
"""The columns if they are not named."""

_NAMES = ("name", "event", "event_type", "type")
"""How the column of an event's name is called, by draft and stack."""

_GROUPS = ("group_id", "ODCID", "odcid")
"""The group of an event, in objects and in columns."""

_OPTIONAL = "trigger"
"""A column of draft-00 that rows may leave out: mvfst does."""

EVENTS = {
    "metric_update": "metrics_updated",
    "congestion_metric_update": "metrics_updated",
    "packets_lost": "packet_lost",
    "packets_sent": "packet_sent",
    "packets_received": "packet_received",
}
"""Events that mvfst and others call otherwise."""

_GAUGES = ("cwnd", "current_cwnd")
"""What the congestion window is called by draft-01, aioquic and mvfst."""

_SPANS = ("smoothed_rtt", "latest_rtt", "min_rtt", "ack_delay")
"""What is in the unit of the times."""


def columns(trace: dict[str, Any]) -> list[str] | None:
    """The columns of a trace's rows, in lower case; None if it has none."""
    fields = trace.get("event_fields")
    if fields is None:
        return None
    if not isinstance(fields, list) or not all(isinstance(field, str) for field in fields):
        raise QlogError("event_fields is not a list of names")
    return [_TIMES.get(plain(field), field.lower()) for field in fields]


def time_format(fields: list[str] | None, said: str | None) -> str | None:
    """The time format of rows: what is said, otherwise what the name of their column says.

    Raises `QlogError` if both contradict each other. A column `time` may have times of any format.
    """
    column = next((field for field in TIMES if field in (fields or ())), None)
    if column is None or (said is not None and column == "time"):
        return said
    if said is not None and is_delta(said) != is_delta(TIMES[column]):
        raise QlogError(f"time_format is {said!r}, and event_fields has {column}; expected one of both")
    return TIMES[column]


class Translator:
    """Makes an event of the current schema of an old one. RTTs and delays of acknowledgements become milliseconds."""

    def __init__(self, fields: list[str] | None, unit: int) -> None:
        self._fields = fields or list(_COLUMNS)
        self._unit = unit

    def event(self, event: Any) -> dict[str, Any]:
        """The event with its time as it stands, its name and its data; and what it says itself of its time, or None."""
        if isinstance(event, list):
            event = self._row(event)
        if not isinstance(event, dict):
            raise QlogError("an event is neither an object nor a row")
        unit, kind = of_event(event)
        # Differences depend on a time that is null as on one that is wrong.
        key = next((key for key in TIMES if key in event), None)
        key = key or next((key for key in event if _TIMES.get(plain(key)) is not None), "time")
        is_since = is_delta(kind) if kind else _IS_DELTA.get(_TIMES[plain(key)])
        name = next((event[field] for field in _NAMES if field in event), None)
        if not isinstance(name, str):
            raise KeyError("name")
        name = name.lower().rpartition(":")[2]
        data = event.get("data")
        group = next((event[key] for key in _GROUPS if event.get(key) is not None), None)
        data = self._data(data, (unit or self._unit) / UNITS["ms"]) if data else data
        name = EVENTS.get(name, name)
        return {"time": event[key], "unit": unit, "is_delta": is_since, "name": name, "group_id": group, "data": data}

    def _row(self, row: list[Any]) -> dict[str, Any]:
        fields = self._fields
        if len(row) < len(fields):
            fields = [field for field in fields if field != _OPTIONAL]
        if len(row) != len(fields):
            raise QlogError(f"a row of {len(row)} values for {len(fields)} event_fields")
        return dict(zip(fields, row, strict=True))

    def _data(self, data: Any, to_ms: float) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for alias in _GAUGES:
            if data.get("congestion_window") is None and alias in data:
                data["congestion_window"] = data.pop(alias)
        if isinstance(frames := data.get("frames"), list):
            data["frames"] = [_spans(frame(one), to_ms) if isinstance(one, dict) else one for one in frames]
        return _spans(data, to_ms)


def _spans(values: dict[str, Any], to_ms: float) -> dict[str, Any]:
    """Values with their spans of time in milliseconds."""
    if to_ms != 1:
        for key in _SPANS:
            if values.get(key) is not None:
                values[key] = float(values[key]) * to_ms
    return values
