"""The tables that are printed after a run or a sweep."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from quiclab.results.recorded import Recorded
from quiclab.values.plain_text import harmless, plain

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS_AT_MOST = 4
"""Up to this many connections stand side by side; more stand below each other."""


def _number(digits: int, unit: str) -> Callable[[Any], str]:
    return lambda value: "-" if value is None else f"{value:,.{digits}f} {unit}".rstrip()


_DECLARED = "packets declared lost"
METRICS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("goodput", "goodput_mbps", _number(3, "Mbit/s")),
    ("completion time", "completion_s", lambda s: "not completed" if s is None else f"{s:,.3f} s"),
    ("mean RTT", "rtt_mean_ms", _number(2, "ms")),
    ("95th percentile RTT", "rtt_p95_ms", _number(2, "ms")),
    ("packets sent", "packets_sent", _number(0, "")),
    ("packets lost", "packets_lost", _number(0, "")),
    (_DECLARED, "packets_declared_lost", _number(0, "")),
    ("retransmitted", "retransmitted_bytes", _number(0, "bytes")),
)
"""What is shown of a connection: title, key in the summary, how it is written."""

IMPORTANT = ("goodput_mbps", "completion_s", "rtt_mean_ms")
"""How the columns of a sweep end that are shown by default."""


def important(columns: list[str]) -> list[str]:
    """The columns of a sweep's runs that are shown by default."""
    ends = tuple(f".{metric}" for metric in IMPORTANT)
    return [name for name in columns if name.startswith("connection.") and name.endswith(ends)]


ENDLESS = "endless"
"""Instead of the completion time of a transfer without a size, which has none."""
_OTHERS = re.compile("#| at |@")
"""What separates a flow's name from the rest in the names of its other connections."""


def flow_of(connection: str, flows: Collection[str]) -> str:
    """The flow of a connection: the names of further ones (`get#1`, `get@2`, `get at terminal`) begin with its own."""
    return connection if connection in flows else _OTHERS.split(connection)[0]


def endless(run: Recorded) -> set[str]:
    """The connections whose transfer has no size, so that it cannot be completed."""
    names = [
        str(entry.get("name")) for entry in run.summary.get("connections") or [] if entry.get("completion_s") is None
    ]
    if not names:
        # Without reading the scenario.
        return set()
    flows = {flow["name"]: flow for flow in run._document.get("flow", [])}
    return {name for name in names if is_endless(flows.get(flow_of(name, flows), {}))}


def is_endless(flow: dict[str, Any]) -> bool:
    """Whether the application of a flow of a resolved scenario is a transfer without a size, or contains one."""
    application = flow.get("application")
    if not isinstance(application, dict):
        return application == "bulk"
    # An application in Python may have an option of this name.
    parts = application.get("parts")
    every = (application, *(parts if isinstance(parts, list) else ()))
    return any(one.get("type") == "bulk" and "size" not in one for one in every)


def of_flows(name: str, columns: Iterable[str]) -> dict[str, str]:
    """The columns of a sweep that have this number of a flow (`goodput_mbps`), by the name of the flow."""
    start, end = "connection.", f".{name}"
    return {
        column[len(start) : -len(end)]: column
        for column in columns
        if column.startswith(start) and column.endswith(end) and len(column) > len(start) + len(end)
    }


def of_applications(connections: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Rows for what applications count besides bytes: pages, playbacks, messages, requests, and the parts of a mix."""
    found: dict[str, list[str]] = {}

    def put(title: str, at: int, text: str) -> None:
        found.setdefault(title, [""] * len(connections))[at] = text

    def tell(entry: dict[str, Any], at: int, prefix: str) -> None:
        page = entry.get("page")
        if page:
            put(f"{prefix}pages complete", at, f"{page['pages_complete']:,} of {page['pages']:,}")
            put(f"{prefix}mean page load time", at, _number(3, "s")(page["load_mean_s"]))
            put(f"{prefix}objects complete", at, f"{page['objects_complete']:,} of {page['objects']:,}")
        playback = entry.get("playback")
        if playback:
            for name, text in of_playback(playback).items():
                put(f"{prefix}{name}", at, text)
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


def of_playback(playback: dict[str, Any]) -> dict[str, str]:
    """What is shown of a playback: title and text."""
    begun = playback["start_up_s"]
    rows = {
        "start-up": "not started" if begun is None else f"{begun:,.3f} s",
        "stalls": _number(0, "")(playback["stalls"]),
        "stalled": _number(3, "s")(playback["stalled_s"]),
        "mean bitrate": _number(3, "Mbit/s")(playback["bitrate_mean_mbps"]),
        "switches": _number(0, "")(playback["switches"]),
        "QoE (lin) per segment": _number(3, "")(playback["qoe_lin"]),
    }
    if "latency_mean_s" in playback:
        rows["mean latency"] = _number(3, "s")(playback["latency_mean_s"])
    return rows


def of_bottlenecks(summary: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Rows for the bottleneck of each connection, on its own route; none in a run without links and media."""
    links = {f"{link['name']} {link['direction']}": link for link in summary.get("links") or []}
    for lane in summary.get("media") or []:
        links[" ".join(lane[key] for key in ("name", "attachment", "to") if key in lane)] = lane
    links |= {f"{node['name']} processing": node for node in summary.get("processing") or []}
    if not links:
        return []
    names = [connection.get("bottleneck") for connection in summary.get("connections") or []]
    of_each: list[dict[str, Any]] = [links.get(name, {}) for name in names]
    rows: list[tuple[str, list[str]]] = [("bottleneck", [name or "-" for name in names])]
    for title, key, write in (
        ("bottleneck queue mean", "queue_mean_packets", _number(1, "packets")),
        ("bottleneck queue maximum", "queue_max_packets", _number(0, "packets")),
    ):
        rows.append((title, [write(link.get(key)) for link in of_each]))
    return rows


def title(summary: dict[str, Any]) -> str:
    """What was run: scenario, seed, virtual time."""
    return f"{summary.get('scenario')}, seed {summary.get('seed')}, {_number(3, 's')(summary.get('duration_s'))}"


def names(summary: dict[str, Any]) -> list[str]:
    """The connections of a run."""
    return [str(connection.get("name")) for connection in summary.get("connections") or []]


def rows(summary: dict[str, Any], without_end: Collection[str] = ()) -> list[tuple[str, list[str]]]:
    """The most important numbers of a run: what each is, and how it is written for each of the connections.

    :param without_end: the connections that are `endless`.
    """
    connections = summary.get("connections") or []

    def written(connection: dict[str, Any], key: str, write: Callable[[Any], str]) -> str:
        never = key == "completion_s" and connection.get("name") in without_end
        return ENDLESS if never else write(connection.get(key))

    found = [(name, [written(connection, key, write) for connection in connections]) for name, key, write in METRICS]
    return [*found, *of_applications(connections), *of_bottlenecks(summary)]


def tables(summary: dict[str, Any], width: int, without_end: Collection[str] = ()) -> "list[Table]":
    """The same as tables of at most this many characters, to be printed below each other."""
    found = rows(summary, without_end)
    values = dict(found)
    if values.get(_DECLARED) == values.get("packets lost"):
        # Nothing was declared lost that only came late.
        found = [row for row in found if row[0] != _DECLARED]
    return arranged(title(summary), names(summary), found, width)


def arranged(title: str, names: list[str], rows: list[tuple[str, list[str]]], width: int) -> "list[Table]":
    """Rows with a value for each connection, as tables of at most this many characters.

    Up to `COLUMNS_AT_MOST` connections are columns, more are rows. Columns that do not fit go on in another table,
    with the same first column. What is wider than a table by itself is folded; nothing is cut off.
    """
    if len(names) > COLUMNS_AT_MOST:
        first = Column("connection", names)
        others = [Column(name, values) for name, values in rows]
    else:
        first = Column("connection", [name for name, _ in rows])
        others = [Column(name, [values[at] for _, values in rows]) for at, name in enumerate(names)]
    return beside(title, [first], others, width)


def beside(title: str, first: "Sequence[Column]", others: "Sequence[Column]", width: int) -> "list[Table]":
    """Tables of at most `width` characters for these columns. Each table begins with the columns of `first`."""
    blocks: list[list[Column]] = [[]]
    for column in others:
        if blocks[-1] and _width([*first, *blocks[-1], column]) > width:
            blocks.append([])
        blocks[-1].append(column)
    return [_table(title if at == 0 else None, first, block, width) for at, block in enumerate(blocks)]


_PIECES = re.compile(r"[^ ._]+(?:[._]+(?=[^ ._])|[ ._]*)|[ ._]+")
"""What of a head stays on one line: words, and the parts of a column's name."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its head, which may be broken between words and in a column's name, and its cells."""

    head: str
    cells: list[str]

    @property
    def width(self) -> int:
        """The characters that it needs."""
        return self.within(len(self.head))

    @property
    def lines(self) -> int:
        """The lines of its head if it is as narrow as can be."""
        return len(self.folded(self.width))

    def within(self, lines: int) -> int:
        """The width in characters at which its head fits into `lines` lines, and its cells fit too."""
        from rich.cells import cell_len

        least = max((cell_len(text.rstrip()) for text in [*_PIECES.findall(self.head), *self.cells]), default=0)
        most = max(least, cell_len(self.head))
        return next((size for size in range(least, most) if len(self.folded(size)) <= lines), most)

    def folded(self, width: int) -> list[str]:
        """The lines of its head, each of at most `width` characters; a longer word has its own line.

        The last line is filled first, so that `goodput_mbps` stays together behind the name of a flow.
        """
        from rich.cells import cell_len

        lines = [""]
        for piece in reversed(_PIECES.findall(self.head)):
            if lines[0] and cell_len((piece + lines[0]).rstrip()) > width:
                lines.insert(0, "")
            lines[0] = piece + lines[0]
        return [line.rstrip() for line in lines]


def _width(columns: "Sequence[Column]", lines: int | None = None) -> int:
    """The characters that a table needs: a column has a blank at either side and a line behind it."""
    return 1 + sum((column.width if lines is None else column.within(lines)) + 3 for column in columns)


def _table(title: str | None, first: "Sequence[Column]", others: "Sequence[Column]", width: int) -> "Table":
    from rich.table import Table
    from rich.text import Text

    result = Table(title=title and Text(plain(title)), title_justify="left")
    columns = (*first, *others)
    # Heads have as few lines as there is width for. Where even one column is too wide, rich shares out what there is.
    most = max((column.lines for column in columns), default=1)
    lines = next((number for number in range(1, most) if _width(columns, number) <= width), most)
    free = width - _width(columns, lines)
    fits = free >= 0
    for at, column in enumerate(columns):
        justify: Literal["left", "right"] = "left" if at < len(first) else "right"
        size: int | None = None
        if fits:
            least = column.within(lines)
            size = next(wide for wide in map(column.within, range(1, lines + 1)) if wide - least <= free)
            free -= size - least
        head = column.head if size is None else "\n".join(column.folded(size))
        result.add_column(Text(harmless(head)), justify=justify, overflow="fold", width=size)
    for cells in zip(*(column.cells for column in columns), strict=True):
        result.add_row(*(Text(harmless(cell)) for cell in cells))
    return result
