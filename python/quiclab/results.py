"""The table that is printed after a run."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

_COLUMNS_AT_MOST = 4
"""Up to so many connections stand side by side; more stand below each other."""


def _number(digits: int, unit: str) -> Callable[[Any], str]:
    return lambda value: "-" if value is None else f"{value:,.{digits}f} {unit}".rstrip()


METRICS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("goodput", "goodput_mbps", _number(3, "Mbit/s")),
    ("completion time", "completion_s", lambda s: "not completed" if s is None else f"{s:,.3f} s"),
    ("mean RTT", "rtt_mean_ms", _number(2, "ms")),
    ("95th percentile RTT", "rtt_p95_ms", _number(2, "ms")),
    ("packets sent", "packets_sent", _number(0, "")),
    ("packets lost", "packets_lost", _number(0, "")),
    ("packets declared lost", "packets_declared_lost", _number(0, "")),
    ("retransmitted", "retransmitted_bytes", _number(0, "bytes")),
)
"""What is shown of a connection: title, key in the summary, how it is written."""


def of_applications(connections: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Rows for what applications count beside bytes: pages, messages, requests, and the parts of a mix."""
    found: dict[str, list[str]] = {}

    def put(title: str, at: int, text: str) -> None:
        found.setdefault(title, [""] * len(connections))[at] = text

    def tell(entry: dict[str, Any], at: int, prefix: str) -> None:
        page = entry.get("page")
        if page:
            put(f"{prefix}pages complete", at, f"{page['pages_complete']:,} of {page['pages']:,}")
            put(f"{prefix}mean page load time", at, _number(3, "s")(page["load_mean_s"]))
            put(f"{prefix}objects complete", at, f"{page['objects_complete']:,} of {page['objects']:,}")
        for what in ("messages", "requests"):
            tally = entry.get(what)
            if not tally:
                continue
            put(f"{prefix}{what} complete", at, f"{tally['completed']:,} of {tally['number']:,}")
            put(f"{prefix}{what[:-1]} delay, mean", at, _number(2, "ms")(tally["delay_mean_ms"]))
            put(f"{prefix}{what[:-1]} delay, 95th percentile", at, _number(2, "ms")(tally["delay_p95_ms"]))
            if tally["deadline_misses"] is not None:
                put(f"{prefix}deadline misses", at, f"{tally['deadline_misses']:,}")

    for at, connection in enumerate(connections):
        tell(connection, at, "")
        for name, part in (connection.get("parts") or {}).items():
            if not any(what in part for what in ("messages", "requests")):
                ended = part["completion_s"]
                put(f"{name}: completion time", at, "not completed" if ended is None else f"{ended:,.3f} s")
            tell(part, at, f"{name}: ")
    return list(found.items())


def bottleneck(summary: dict[str, Any]) -> dict[str, Any] | None:
    """The link direction with the largest mean queue; None in a run without links."""
    links = summary.get("links") or []
    return max(links, key=lambda link: float(link.get("queue_mean_packets") or 0), default=None)


def table(summary: dict[str, Any]) -> "Table":
    """The most important numbers of a run, as a table for a terminal."""
    from rich.table import Table

    connections = summary.get("connections") or []
    link = bottleneck(summary)
    caption = None
    queue: list[tuple[str, str]] = []
    if link is not None:
        name = f"{link['name']} {link['direction']}"
        mean = _number(1, "packets")(link.get("queue_mean_packets"))
        most = _number(0, "packets")(link.get("queue_max_packets"))
        queue = [("bottleneck queue mean", mean), ("bottleneck queue maximum", most)]
        caption = f"bottleneck: {name}"
        if len(connections) > _COLUMNS_AT_MOST:
            caption += f", queue mean {mean}, maximum {most}"
    title = f"{summary.get('scenario')}, seed {summary.get('seed')}, {_number(3, 's')(summary.get('duration_s'))}"
    result = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    if len(connections) > _COLUMNS_AT_MOST:
        _add_rows(result, connections)
    else:
        _add_columns(result, connections, queue)
    return result


def _add_columns(result: "Table", connections: list[dict[str, Any]], queue: list[tuple[str, str]]) -> None:
    result.add_column("connection")
    for connection in connections:
        result.add_column(_name(connection), justify="right")
    for title, key, write in METRICS:
        result.add_row(title, *(write(connection.get(key)) for connection in connections))
    for title, values in of_applications(connections):
        result.add_row(title, *values)
    for title, value in queue:
        result.add_row(title, *[value] * max(1, len(connections)))


def _add_rows(result: "Table", connections: list[dict[str, Any]]) -> None:
    result.add_column("connection")
    for title, _, _ in METRICS:
        result.add_column(title, justify="right")
    for connection in connections:
        result.add_row(_name(connection), *(write(connection.get(key)) for _, key, write in METRICS))


def _name(connection: dict[str, Any]) -> str:
    return str(connection.get("name"))
