"""What results look like that are read back: summaries, resolved scenarios, tables. Anybody may have changed them."""

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import OutputError
from quiclab.values.described_tables import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

Check = Callable[[str, Any], None]
"""Raises `WrongError` for a value at the given path."""

LARGEST = 1e18
"""A larger number is none that a run has."""
_WHOLE = 1.01
"""The largest share: a busy time may count what has only begun."""
_DEEPEST = 8
_SHARES = {"utilisation", "air_share"}
_COUNTED = {"bytes", "packets", "blocks", "handovers", "corrupted", "attempt", *_SHARES}
"""The last word of numbers that are always there."""
_MEANS = {"mean", "index"}
"""Words in the names of numbers that need not be whole."""
BELOW_ZERO = "qoe_"
"""How the names of numbers begin that may be negative."""
_MEASURED = {"s", "ms", "us", "mbps"}
"""The units of numbers that may be null: nothing was measured."""
_ALWAYS = {"packets_sent", "packets_lost", "packets_declared_lost", "packets_spuriously_lost", "probe_timeouts"}
_ALWAYS |= {"data_packets_sent", "ack_only_packets_received", "pages", "pages_complete", "objects", "objects_complete"}
_ALWAYS |= {"stalls", "switches", "number", "missing", "air_share", "dropped_at_interfaces"}


class WrongError(Exception):
    """A value that results do not have: where it is, what was found, what was expected."""

    def __init__(self, path: str, found: Any, expected: str, *, said: str = "") -> None:
        """`said` is said of it instead of its kind."""
        shown = said or f"is {_kind(found)}" if found is not MISSING else "is missing"
        super().__init__(f"{path} {shown}; expected {expected}")


MISSING = object()
"""Stands for a value that is not there."""


def _kind(found: Any) -> str:
    if found is None:
        return "null"
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, int | float):
        if found != found:
            return "not a number"
        if isinstance(found, float) and math.isinf(found):
            return "too large" if found > 0 else "too small"
        return f"{found:.6g}" if abs(found) < math.inf and len(str(found)) < 400 else "a number of many digits"
    words: dict[type, str] = {str: "a text", list: "a list", dict: "a table"}
    return words.get(type(found), f"of type {found}")


def text(path: str, value: Any) -> None:
    """A text, which a terminal shows as it is."""
    if not isinstance(value, str):
        raise WrongError(path, value, "a text")
    if any(unicodedata.category(letter) == "Cc" and letter not in "\n\t" for letter in value):
        raise WrongError(path, value, "one without control characters")


def flag(path: str, value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool):
        raise WrongError(path, value, "true or false")


def number(path: str, value: Any) -> None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongError(path, value, "a number")
    if not abs(value) < LARGEST:
        raise WrongError(path, value, f"a number below {LARGEST:g}")


def amount(path: str, value: Any) -> None:
    """A finite number, 0 or more."""
    number(path, value)
    if value < 0:
        raise WrongError(path, value, "a number of 0 or more")


def share(path: str, value: Any) -> None:
    """A part of a whole."""
    amount(path, value)
    if value > _WHOLE:
        raise WrongError(path, value, "a number from 0 to 1")


def count(path: str, value: Any) -> None:
    """A whole number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise WrongError(path, value, "a whole number, 0 or more")


def optional(of: Check) -> Check:
    """That, or null."""

    def check(path: str, value: Any) -> None:
        if value is not None:
            of(path, value)

    return check


def listed(of: Check) -> Check:
    """A list of that."""

    def check(path: str, value: Any) -> None:
        if not isinstance(value, list):
            raise WrongError(path, value, "a list")
        for at, one in enumerate(value):
            of(f"{path}.{at}", one)

    return check


def tabled(of: Check) -> Check:
    """A table whose values are that."""

    def check(path: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise WrongError(path, value, "a table")
        for key, one in value.items():
            of(f"{path}.{key}", one)

    return check


def keyed(needed: Mapping[str, Check], known: Mapping[str, Check], others: Check | None = None) -> Check:
    """A table with some keys, and others that may be there. What it does not know is checked as `others`, if given."""

    def check(path: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise WrongError(path, value, "a table")
        where = f"{path}." if path else ""
        for key, of in needed.items():
            if key not in value:
                raise WrongError(f"{where}{key}", MISSING, _expected(of))
        for key, one in value.items():
            of_key = needed.get(key) or known.get(key) or others
            if of_key is not None:
                of_key(f"{where}{key}", one)

    return check


def _expected(of: Check) -> str:
    try:
        of("", MISSING)
    except WrongError as wrong:
        return str(wrong).rpartition("expected ")[2]
    return "a value"


def result(path: str, value: Any) -> None:
    """A number of a summary, or a table of such: whether it may be null depends on its name."""
    _result(path, value, 0)


def _result(path: str, value: Any, depth: int) -> None:
    name = path.rpartition(".")[2]
    unit = name.rpartition("_")[2]
    if isinstance(value, dict) and name not in _ALWAYS and unit not in _COUNTED | _MEASURED and depth < _DEEPEST:
        for key, one in value.items():
            _result(f"{path}.{key}", one, depth + 1)
    elif name in _SHARES:
        share(path, value)
    elif name in _ALWAYS or unit in _COUNTED:
        (amount if _MEANS.intersection(name.split("_")) else count)(path, value)
    elif unit in _MEASURED or value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        optional(number if name.startswith(BELOW_ZERO) else amount)(path, value)
    elif isinstance(value, list):
        raise WrongError(path, value, "a number")
    elif not isinstance(value, str | bool):
        raise WrongError(path, value, "a number or a table")


_TALLY = keyed(
    {
        "number": count,
        "completed": count,
        "delay_mean_ms": optional(amount),
        "delay_p95_ms": optional(amount),
        "deadline_misses": optional(count),
    },
    {},
    result,
)
_PAGE = keyed(
    {
        "pages": count,
        "pages_complete": count,
        "load_mean_s": optional(amount),
        "objects": count,
        "objects_complete": count,
    },
    {},
    result,
)
_PLAYBACK = keyed(
    {
        "start_up_s": optional(amount),
        "stalls": count,
        "stalled_s": optional(amount),
        "switches": count,
        "bitrate_mean_mbps": optional(amount),
        **dict.fromkeys(("qoe_lin", "qoe_log", "qoe_hd"), optional(number)),
    },
    {"latency_mean_s": optional(amount), "end_s": optional(amount)},
    result,
)
_PART = keyed({"completion_s": optional(amount)}, {"completed": flag, "messages": _TALLY, "requests": _TALLY}, result)
_ROUTE = {"there": listed(text), "nodes": listed(text)}
_CONNECTION = keyed(
    {"name": text},
    {
        "sender": text,
        "completed": flag,
        "bottleneck": optional(text),
        "close": text,
        "clean": flag,
        "of": text,
        "route": keyed({**_ROUTE, "back": listed(text)}, {}),
        "lanes": keyed({"data": listed(text), "back": listed(text)}, {}),
        "page": _PAGE,
        "playback": _PLAYBACK,
        "parts": tabled(_PART),
        "messages": _TALLY,
        "requests": _TALLY,
    },
    result,
)
_CARRIER = {"name": text, "drops": tabled(count)}
_MEASUREMENT = {"offered_packets": count, "delivered_packets": count, "queue_mean_packets": amount}

summary = keyed(
    {"scenario": text, "seed": count, "duration_s": amount},
    {
        "version": text,
        "connections": listed(_CONNECTION),
        "links": listed(keyed({"name": text, "direction": text}, {**_CARRIER, **_MEASUREMENT}, result)),
        "media": listed(keyed({"name": text, "attachment": text}, {"to": text, **_CARRIER, **_MEASUREMENT}, result)),
        "processing": listed(keyed({"name": text}, {}, result)),
        "nodes": listed(keyed({"name": text}, {"kind": text}, result)),
        "cross_traffic": listed(keyed({"name": text}, {"route": keyed(_ROUTE, {})}, result)),
        "notes": listed(text),
        "memory": listed(
            keyed(
                {
                    "node": text,
                    "peer": text,
                    "protocol": text,
                    "capacity_bytes": count,
                    "rtt_ms": amount,
                    "age_s": amount,
                },
                {"ip": count, "address": text},
            )
        ),
    },
)
"""The summary of a run."""


def _component(path: str, value: Any) -> None:
    if isinstance(value, dict):
        text(f"{path}.type", value.get("type", MISSING))
    else:
        text(path, value)


def _queue(path: str, value: Any) -> None:
    _component(path, value)
    if isinstance(value, dict) and value.get("type") == "policer":
        keyed({"exceed": text, "rate": text, "burst": text}, {})(path, value)


def _application(path: str, value: Any) -> None:
    _component(path, value)
    # An application in Python may have an option of this name.
    if isinstance(value, dict) and isinstance(value.get("parts"), list):
        listed(_component)(f"{path}.parts", value["parts"])


_DIRECTION = keyed({"queue": _queue}, {})
_ENDPOINT = keyed({}, {"controller": _component, "scheduler": _component})

scenario = keyed(
    {},
    {
        "name": text,
        "seed": count,
        "link": listed(
            keyed({"name": text, "from": text, "to": text, "forward": _DIRECTION, "backward": _DIRECTION}, {})
        ),
        "node": listed(keyed({"name": text}, {})),
        "medium": listed(keyed({"name": text}, {})),
        "transport": _ENDPOINT,
        "tcp": _ENDPOINT,
        "record": keyed({}, {}),
        "flow": listed(
            keyed(
                {"name": text, "client": text, "server": text},
                {
                    "protocol": text,
                    "application": _application,
                    "after": text,
                    "transport": _ENDPOINT,
                    "tcp": _ENDPOINT,
                },
            )
        ),
    },
)
"""The resolved scenario of a run."""

sweep = keyed(
    {
        "scenario": text,
        "runs": count,
        "parameters": listed(keyed({"path": text, "column": text}, {"values": listed(text)})),
        "series": listed(text),
        "failures": listed(
            keyed({"run": count, "repetition": count, "seed": count, "values": tabled(text), "error": text}, {})
        ),
    },
    {
        "version": text,
        "failed": count,
        "repetitions": count,
        "combinations": count,
        "identical": count,
        "keep": listed(text),
        "set": listed(text),
        "notes": listed(text),
    },
)
"""The file sweep.json."""

_COLUMNS = [(name, column) for table in TABLES.values() for name, column in table.columns.items()]
TEXTS = frozenset(name for name, column in _COLUMNS if column.kind == "text")
"""The columns of run tables that are texts."""
FLAGS = frozenset(name for name, column in _COLUMNS if column.kind == "flag")
"""Those that are true or false; all others are numbers."""
_NEVER_NULL = {"time_s", *TEXTS, *FLAGS} - {name for name, column in _COLUMNS if column.optional}


def columns(schema: "pa.Schema", names: Iterable[str]) -> None:
    """Checks that a table of a run has these columns, each of its type. Raises `WrongError`."""
    import pyarrow as pa

    for name in names:
        if schema.get_field_index(name) < 0:
            raise WrongError(f"column {name}", MISSING, "it as quiclab wrote it, each column once")
        found = schema.field(name).type
        of = found.value_type if pa.types.is_dictionary(found) else found
        if name in TEXTS:
            right, expected = pa.types.is_string(of) or pa.types.is_large_string(of), "texts"
        elif name in FLAGS:
            right, expected = pa.types.is_boolean(of), "true and false"
        else:
            right, expected = pa.types.is_floating(of) or pa.types.is_integer(of), "numbers"
        if not right:
            raise WrongError(f"column {name}", found, expected)


NEEDED: dict[str, tuple[str, ...]] = {
    "connection": (
        *("time_s", "connection", "side", "cwnd_bytes", "bytes_in_flight", "ssthresh_bytes", "latest_rtt_ms"),
        *("smoothed_rtt_ms", "min_rtt_ms", "pacing_rate_mbps", "delivery_rate_mbps"),
    ),
    "loss": ("time_s", "connection", "side"),
    "event": ("time_s", "connection", "side", "event", "detail"),
    "wait": (
        *("time_s", "connection", "side", "wait", "in_gap", "handshake_s", "validation_s", "slow_start_s", "window_s"),
        *("recovery_s", "timeout_s", "pacer_s", "stream_credit_s", "connection_credit_s", "stream_count_s"),
        *("send_queue_s", "delivery_s", "application_s", "gap_s"),
    ),
    "stream": ("connection", "side", "stream", "opened_s", "closed_s", "sent_bytes", "received_bytes"),
    "segment": (
        *("connection", "kind", "segment", "representation", "bitrate_mbps", "duration_s", "size_bytes", "asked_s"),
        *("first_byte_s", "ended_s", "outcome"),
    ),
    "playback": ("time_s", "connection", "event", "position_s", "buffer_s", "representation", "bitrate_mbps"),
    "queue": ("time_s", "link", "packets", "bytes"),
    "drop": ("time_s", "link", "length_bytes", "reason"),
    "rate": ("time_s", "subject", "kind", "mbps"),
    "node": ("time_s", "node", "gauge", "value"),
    "air": ("time_s", "link", "sent_blocks", "again_blocks", "lost_blocks", "air_share", "packets", "queue_delay_ms"),
    "series": ("run", "table", "subject", "quantity", "time_s", "value"),
}
"""The columns that readers of the tables need."""

_SIGNED = {"value"}
"""Columns of numbers that may be negative."""
_ROUNDED = 1e-6
"""So much below 0 is a 0 that was rounded."""
_MOST = {"s": 9e9, "ms": 9e12, "us": 9e15}
"""The largest number of a unit of time: its nanoseconds are a whole number of 64 bits."""


def sound(table: "pa.Table") -> None:
    """Checks that the numbers of a part of a run's table are possible. Raises `WrongError`, which names the first."""
    import numpy as np
    import pyarrow as pa

    for name in table.column_names:
        kind = table.schema.field(name).type
        if name in _SIGNED or not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            continue
        most = _MOST.get(name.rpartition("_")[2], LARGEST)
        for chunk in table[name].chunks:
            numbers = (chunk.drop_null() if chunk.null_count else chunk).to_numpy(zero_copy_only=False)
            if len(numbers) and not (numbers.min() >= -_ROUNDED and numbers.max() < most):
                wrong = numbers[np.flatnonzero(~((numbers >= -_ROUNDED) & (numbers < most)))[0]].item()
                limit = f"{most:,.0f}" if most < LARGEST else f"{most:g}"
                expected = "a number of 0 or more" if wrong < 0 else f"a number below {limit}"
                raise WrongError(f"column {name}", wrong, expected)


def has(path: "Path", schema: "pa.Schema", names: Iterable[str]) -> None:
    """Checks that a table has these columns, whatever is in them. Raises `OutputError`."""
    for name in names:
        if schema.get_field_index(name) < 0:
            raise OutputError(f"{path}: cannot be read: {WrongError(f'column {name}', MISSING, 'each column once')}")


def without_null(table: "pa.Table") -> None:
    """Checks that columns of a part of a run's table that are always known are. Raises `WrongError`."""
    for name in table.column_names:
        if name in _NEVER_NULL and table[name].null_count:
            raise WrongError(f"column {name}", None, "a value in every row")
