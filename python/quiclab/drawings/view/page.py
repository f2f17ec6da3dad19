"""The page: the model in columns, and the sources in `browser/`, put into one HTML file that needs nothing else."""

import html
import json
from collections.abc import Sequence
from typing import Any

from quiclab.drawings import self_contained
from quiclab.drawings.view.bottleneck import Bottleneck
from quiclab.drawings.view.columns import Columns
from quiclab.drawings.view.model import Connection, Direction
from quiclab.drawings.view.records import Recorded
from quiclab.values import folders

_MODULE = "main.js"
_BROWSER = "drawings/view/browser"


def page(title: str, connections: Sequence[Connection], notes: Sequence[str], version: str) -> str:
    """The HTML text. What comes from outside stands in it as data only, whatever its characters."""
    columns = Columns()
    # Connections may share one.
    recorded = [connection.recorded for connection in connections if connection.recorded is not None]
    found = {known.bottleneck.name: known.bottleneck for known in recorded if known.bottleneck is not None}
    bottlenecks = {name: _bottleneck(columns, f"bottleneck.{at}.", found[name]) for at, name in enumerate(found)}
    shown = [_connection(columns, f"{at}", connection) for at, connection in enumerate(connections)]
    facts = {
        "title": title,
        "version": version,
        "notes": list(notes),
        "connections": shown,
        "bottlenecks": bottlenecks,
        "columns": columns.index,
    }
    parts = {
        "title": folders.without_home(html.escape(title)),
        # "<" ends no script element where it is written so, and JSON reads it back.
        "facts": folders.without_home(json.dumps(facts, separators=(",", ":"))).replace("<", "\\u003c"),
        "columns": columns.packed(),
    }
    style = self_contained.source(f"{_BROWSER}/style.css")
    return self_contained.filled(
        self_contained.source(f"{_BROWSER}/index.html"), script=bundle(_MODULE), style=style, parts=parts
    )


def bundle(name: str) -> str:
    """A module of the page and all that it imports as one script."""
    return self_contained.bundle(f"{_BROWSER}/{name}")


def _connection(columns: Columns, prefix: str, connection: Connection) -> dict[str, Any]:
    start = connection.start
    directions = [
        _direction(columns, f"{prefix}.{at}.", start, direction) for at, direction in enumerate(connection.directions)
    ]
    return {
        "name": connection.name,
        "start": start,
        "duration": connection.end - start,
        "notes": connection.notes,
        "directions": directions,
        **({} if connection.player is None else {"player": connection.player.facts(start)}),
        **({} if connection.recorded is None else _recorded(columns, f"{prefix}.why.", start, connection.recorded)),
    }


def _recorded(columns: Columns, prefix: str, start: int, recorded: Recorded) -> dict[str, Any]:
    return {
        "dataSender": recorded.sender,
        "bottleneck": None if recorded.bottleneck is None else recorded.bottleneck.name,
        "why": None if recorded.causes is None else recorded.causes.facts(columns, prefix, start),
    }


def _bottleneck(columns: Columns, prefix: str, bottleneck: Bottleneck) -> dict[str, Any]:
    for name, series in (("rate", bottleneck.rate), ("queue", bottleneck.queue)):
        for key, values in series.items():
            columns.differences(f"{prefix}{name}.{key}", values)
    return {
        "prefix": prefix,
        "rate": list(bottleneck.rate),
        "queue": list(bottleneck.queue),
        "outages": bottleneck.outages,
    }


def _direction(columns: Columns, prefix: str, start: int, direction: Direction) -> dict[str, Any]:
    packed, kinds, triggers, texts = direction.found.pack(start)
    for name, count, data in packed:
        columns.add(prefix + name, count, data)
    return {
        "sender": direction.sender,
        "hasSender": direction.has_sender,
        "hasReceiver": direction.has_receiver,
        "hasWritten": direction.has_written,
        "streams": [[stream.id, stream.bytes, stream.retransmitted] for stream in direction.streams],
        "kinds": kinds,
        "triggers": triggers,
        "texts": texts,
        "metrics": direction.gauges,
        "notes": direction.notes,
    }
