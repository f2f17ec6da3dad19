"""The page: the model in columns, and the sources in `browser/`, put into one HTML file that needs nothing else."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from quiclab.view.columns import Columns
from quiclab.view.model import UNKNOWN, Connection, Direction
from quiclab.view.waiting import Spans

_MODULE = "main.js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


def page(title: str, connections: Sequence[Connection], notes: Sequence[str], version: str) -> str:
    """The HTML text. What comes from outside stands in it as data only, whatever its characters."""
    columns = Columns()
    shown = [_connection(columns, f"{at}", connection) for at, connection in enumerate(connections)]
    facts = {"title": title, "version": version, "notes": list(notes), "connections": shown, "columns": columns.index}
    script, style = bundle(_MODULE), _source("style.css")
    parts = {
        "title": html.escape(title),
        "policy": f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}",
        "style": style,
        # "<" ends no script element where it is written so, and JSON reads it back.
        "facts": json.dumps(facts, separators=(",", ":")).replace("<", "\\u003c"),
        "columns": columns.packed(),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _source("index.html"))


def bundle(name: str) -> str:
    """A module and all that it imports as one script: each module once, after those that it imports."""
    done: list[str] = []
    texts: list[str] = []

    def add(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, f"{module} imports itself"
        if module in done:
            return
        text = _source(module)
        for imported in _IMPORT.findall(text):
            add(imported, (*above, module))
        done.append(module)
        texts.append(_EXPORT.sub("", _IMPORT.sub("", text)))

    add(name, ())
    return "\n" + "\n".join(texts)


def _source(name: str) -> str:
    return (files("quiclab.view") / "browser" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a content security policy calls an inline element by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _connection(columns: Columns, prefix: str, connection: Connection) -> dict[str, Any]:
    directions = [
        _direction(columns, f"{prefix}.{at}.", connection.start, direction)
        for at, direction in enumerate(connection.directions)
    ]
    return {
        "name": connection.name,
        "start": connection.start,
        "duration": connection.end - connection.start,
        "notes": connection.notes,
        "directions": directions,
        **({} if connection.player is None else {"player": connection.player.facts(connection.start)}),
    }


def _direction(columns: Columns, prefix: str, start: int, direction: Direction) -> dict[str, Any]:
    packets = direction.packets
    kinds, triggers = _Words(), _Words()
    sent = [packet.time - start for packet in packets]
    columns.add(prefix + "sent", sent, deltas=True)
    columns.add(prefix + "number", [packet.number for packet in packets], deltas=True)
    columns.add(prefix + "kind", [kinds.at(packet.kind) for packet in packets])
    columns.add(prefix + "size", [packet.size for packet in packets])
    for name, times in [
        ("received", direction.received),
        ("acknowledged", direction.acknowledged),
        ("lost", direction.lost),
    ]:
        columns.add(prefix + name, [_after(packet.time, time) for packet, time in zip(packets, times, strict=True)])
    columns.add(prefix + "trigger", [triggers.at(trigger) for trigger in direction.triggers])
    texts = _frames(columns, prefix, direction)
    columns.add(prefix + "again.from", [old for old, _ in direction.again], deltas=True)
    columns.add(prefix + "again.to", [new - old for old, new in direction.again])
    _spans(columns, prefix + "waits.", start, direction.waits)
    _spans(columns, prefix + "one.", start, direction.one_stream)
    _spans(columns, prefix + "queued.", start, direction.queued)
    _spans(columns, prefix + "blocked.", start, direction.blocked, len(direction.streams))
    for name, (times, values) in direction.metrics.items():
        # Milliseconds are kept to the nanosecond.
        factor = 1_000_000 if name.endswith("rtt") else 1
        columns.add(f"{prefix}metric.{name}.time", [time - start for time in times], deltas=True)
        columns.add(f"{prefix}metric.{name}.value", [round(value * factor) for value in values], deltas=True)
    return {
        "sender": direction.sender,
        "hasSender": direction.has_sender,
        "hasReceiver": direction.has_receiver,
        "hasWritten": direction.has_written,
        "streams": [[stream.id, stream.bytes, stream.retransmitted] for stream in direction.streams],
        "kinds": kinds.words,
        "triggers": triggers.words,
        "texts": texts,
        "metrics": list(direction.metrics),
        "notes": direction.notes,
    }


def _after(sent: int, time: int) -> int:
    """A time as what has passed since the packet was sent; 0 is for a time that is not known."""
    if time == UNKNOWN:
        return 0
    passed = time - sent
    return passed + 1 if passed >= 0 else passed


def _frames(columns: Columns, prefix: str, direction: Direction) -> list[str]:
    """The frames of all packets, by kind; returns the texts of those that are neither data nor acknowledgements."""
    packets = direction.packets
    places = {stream.id: at for at, stream in enumerate(direction.streams)}
    texts = _Words()
    table: dict[str, list[int]] = {
        name: [] for name in ("stream", "offset", "length", "delay", "ranges", "largest", "range", "text", "value")
    }
    expected = [0] * len(places)
    largest = 0
    for packet in packets:
        for stream, offset, length, fin in packet.streams:
            place = places[stream]
            table["stream"].append(place)
            # Data usually go on where they ended.
            table["offset"].append(offset - expected[place])
            expected[place] = offset + length if stream >= 0 else 0
            table["length"].append(2 * length + fin)
        for delay, ranges in packet.acks:
            table["delay"].append(delay)
            table["ranges"].append(len(ranges))
            # As on the wire (RFC 9000 section 19.3.1): lengths and gaps downwards from the largest.
            at = largest
            for index, (first, last) in enumerate(ranges):
                table["largest" if index == 0 else "range"].append(last - at)
                table["range"].append(last - first)
                largest = last if index == 0 else largest
                at = first
        for text, numbers in packet.others:
            table["text"].append(texts.at(text))
            table["value"].extend(numbers)
    columns.add(prefix + "streams", [len(packet.streams) for packet in packets])
    columns.add(prefix + "acks", [len(packet.acks) for packet in packets])
    columns.add(prefix + "others", [len(packet.others) for packet in packets])
    for name, values in table.items():
        columns.add(f"{prefix}frame.{name}", values)
    return texts.words


def _spans(columns: Columns, prefix: str, start: int, spans: Spans, other: int = 0) -> None:
    """Spans in the order of their starts; those of no stream under the number `other`."""
    order = sorted(range(len(spans.start)), key=lambda at: (spans.start[at], spans.stream[at]))

    def column(values: list[int]) -> list[int]:
        return [values[at] for at in order]

    columns.add(prefix + "stream", [stream if stream >= 0 else other for stream in column(spans.stream)])
    columns.add(prefix + "start", [time - start for time in column(spans.start)], deltas=True)
    columns.add(prefix + "length", [spans.end[at] - spans.start[at] for at in order])
    columns.add(prefix + "missing", column(spans.missing), deltas=True)
    columns.add(prefix + "filled", column(spans.filled), deltas=True)
    columns.add(prefix + "offset", column(spans.offset))
    columns.add(prefix + "held", column(spans.held))


class _Words:
    """Texts by number, in the order in which they come."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._places: dict[str, int] = {}

    def at(self, word: str) -> int:
        """The number of a text."""
        place = self._places.setdefault(word, len(self.words))
        if place == len(self.words):
            self.words.append(word)
        return place
