"""The words of old drafts in those of the current schema: rows of draft-00 and draft-01, and the habits of stacks.

draft-marx-qlog-main-schema-01 (draft-00 is alike): an event is a row, whose columns `event_fields` names; the unit of
all times is `configuration.time_units`, milliseconds if it is not said; some stacks write it into `common_fields`.
draft-00 has names in capitals.
"""

from typing import Any

from quiclab.view.qlog.clock import UNITS, unit_of
from quiclab.view.qlog.spelling import frame
from quiclab.view.qlog.wrong import QlogError

TIMES = {"time": "absolute", "relative_time": "relative", "delta_time": "delta"}
"""The time format that the name of the column says."""

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


def unit(document: dict[str, Any], trace: dict[str, Any], common: dict[str, Any]) -> int:
    """The nanoseconds of the unit of a trace's times: `time_units` of its configuration, or of what is around it."""
    units = stated_units(document, trace, common)
    if len(set(units.values())) > 1:
        raise QlogError(f"time_units differ between {' and '.join(units)}; expected one unit")
    return next(iter(units.values()), UNITS["ms"])


def stated_units(document: dict[str, Any], trace: dict[str, Any], common: dict[str, Any]) -> dict[str, int]:
    """The units that are stated, by their places."""
    places = {"configuration": trace.get("configuration"), "common_fields": common, "trace": trace}
    places |= {"vantage_point": trace.get("vantage_point"), "document": document}
    places |= {f"{key} of the document": document.get(key) for key in ("configuration", "common_fields")}
    units: dict[str, int] = {}
    for place, fields in places.items():
        for key in ("time_units", "time_unit"):
            name = fields.get(key) if isinstance(fields, dict) else None
            if name is None:
                continue
            found = unit_of(name)
            if found is None:
                raise QlogError(f"{place}.{key} is {name!r:.60}; expected one of {', '.join(UNITS)}")
            units[place] = found
    return units


def columns(trace: dict[str, Any]) -> list[str] | None:
    """The columns of a trace's rows, in lower case; None if it has none."""
    fields = trace.get("event_fields")
    if fields is None:
        return None
    if not isinstance(fields, list) or not all(isinstance(field, str) for field in fields):
        raise QlogError("event_fields is not a list of names")
    return [field.lower() for field in fields]


def time_format(fields: list[str] | None) -> str | None:
    """The time format that the columns say."""
    return next((TIMES[field] for field in fields or () if field in TIMES), None)


class Translator:
    """Makes an event of the current schema of an old one. RTTs and delays of acknowledgements become milliseconds."""

    def __init__(self, fields: list[str] | None, unit: int) -> None:
        self._fields = fields or list(_COLUMNS)
        self._to_ms = None if unit == UNITS["ms"] else unit / UNITS["ms"]

    def event(self, event: Any) -> dict[str, Any]:
        """The event with its time as it stands, its name and its data."""
        if isinstance(event, list):
            event = self._row(event)
        if not isinstance(event, dict):
            raise QlogError("an event is neither an object nor a row")
        # Differences depend on a time that is null as on one that is wrong.
        time = event[next((field for field in TIMES if field in event), "time")]
        name = next((event[field] for field in _NAMES if field in event), None)
        if not isinstance(name, str):
            raise KeyError("name")
        name = name.lower().rpartition(":")[2]
        data = event.get("data")
        group = next((event[key] for key in _GROUPS if event.get(key) is not None), None)
        data = self._data(data) if data else data
        return {"time": time, "name": EVENTS.get(name, name), "group_id": group, "data": data}

    def _row(self, row: list[Any]) -> dict[str, Any]:
        fields = self._fields
        if len(row) < len(fields):
            fields = [field for field in fields if field != _OPTIONAL]
        if len(row) != len(fields):
            raise QlogError(f"a row of {len(row)} values for {len(fields)} event_fields")
        return dict(zip(fields, row, strict=True))

    def _data(self, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for alias in _GAUGES:
            if data.get("congestion_window") is None and alias in data:
                data["congestion_window"] = data.pop(alias)
        if isinstance(frames := data.get("frames"), list):
            data["frames"] = [self._frame(one) for one in frames]
        return self._spans(data)

    def _frame(self, found: Any) -> Any:
        return self._spans(frame(found)) if isinstance(found, dict) else found

    def _spans(self, values: dict[str, Any]) -> dict[str, Any]:
        if self._to_ms is not None:
            for key in _SPANS:
                if values.get(key) is not None:
                    values[key] = float(values[key]) * self._to_ms
        return values
