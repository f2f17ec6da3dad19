"""The keys of a scenario by their paths, as `--set` spells them, from the simulator's own tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_ARRAYS = ("node", "link", "medium", "flow", "cross_traffic", "memory", "event")
"""Arrays of tables: a path names one of them by its name, `link.cell.delay`, or speaks of all, `link.delay`."""
_TABLES = ("record", "tls", "transport", "tcp", *_ARRAYS, "sweep")


@dataclass(frozen=True)
class Option:
    """An option, and where it stands."""

    owner: str
    """The table, like `[transport]`, or the component, like `controllers: newreno`."""
    row: Mapping[str, Any]
    """What `quiclab.topics()` has of it: name, kind, default, required, about, topic."""


@dataclass
class Level:
    """What can stand at a place of a scenario."""

    options: dict[str, list[Option]] = field(default_factory=dict)
    """By name. Components of one topic may have options of the same name."""
    tables: dict[str, str] = field(default_factory=dict)
    """Keys of further tables, each with a line about it."""
    named: bool = False
    """Whether the next key may be the name of a table in an array."""

    def names(self) -> list[str]:
        """All of them."""
        return [*self.options, *self.tables]

    def add(self, owner: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds the options of a table or component."""
        for row in rows:
            self.options.setdefault(row["name"], []).append(Option(owner, row))


class Keys:
    """All keys of scenarios."""

    top = "the top of the file"
    """What owns the options that stand in no table."""

    def __init__(self, topics: Sequence[Mapping[str, Any]]) -> None:
        self.topics = {topic["name"]: topic for topic in topics}
        self._sections = {row["name"]: row for row in self.topics["sections"]["rows"]}

    def about(self, path: Sequence[str]) -> str:
        """A line about a table."""
        level = self.level(path[:-1])
        return level.tables.get(path[-1], f"a table of [[{path[-2]}]]" if len(path) > 1 else "") if level else ""

    def level(self, path: Sequence[str]) -> Level | None:
        """What can stand below a path; None if nothing can, or there is no such path."""
        level: Level | None = self._top()
        before: Sequence[str] = ()
        for key in path:
            if level is None:
                return None
            level = self._below(level, (*before, key))
            before = (*before, key)
        return level

    def find(self, path: Sequence[str]) -> list[Option]:
        """The options that a path may mean; none if it means none."""
        level = self.level(path[:-1])
        return level.options.get(path[-1], []) if level else []

    def every(self) -> Iterator[tuple[str, Option]]:
        """All options by a path without names: those of tables, and those of components below their topic."""
        for table in ("", *_TABLES):
            level = self._table((table,)) if table else self._top()
            for name, options in level.options.items():
                for option in options:
                    yield f"{table}.{name}".lstrip("."), option
        for topic in self.topics.values():
            if topic["name"] != "sections":
                for row in topic["rows"]:
                    for parameter in row["parameters"]:
                        yield f"{row['name']}.{parameter['name']}", Option(_owner(topic, row), parameter)

    def _top(self) -> Level:
        level = Level(tables={name: self._sections[name]["about"] for name in _TABLES})
        level.add(self.top, self._sections["scenario"]["parameters"])
        return level

    def _below(self, level: Level, path: Sequence[str]) -> Level | None:
        key = path[-1]
        if key in level.tables:
            return self._table(path)
        if key in level.options:
            return self._components(level.options[key])
        if level.named:
            # The name of a table in the array, below which the same stands.
            return Level(options=level.options, tables=level.tables)
        return None

    def _table(self, path: Sequence[str]) -> Level:
        name = path[-1]
        level = Level(named=len(path) == 1 and name in _ARRAYS)
        if name in ("forward", "backward", "both"):
            level.add(f"[link.{name}]", self._sections["direction"]["parameters"])
        elif name == "at":
            level.named = True
            level.options = self._of_rows("media")
        elif len(path) > 1:
            # [flow.transport], [flow.tcp]
            level.add(f"[flow.{name}]", self._sections[name]["parameters"])
        else:
            level.add(f"[[{name}]]" if name in _ARRAYS else f"[{name}]", self._sections[name]["parameters"])
        if path[0] == name == "link":
            level.add("[[link]]", self._sections["direction"]["parameters"])
            level.tables = {
                "forward": "options of the direction from `from` to `to`",
                "backward": "options of the direction from `to` to `from`",
                "both": "options of both directions",
            }
        elif path[0] == name == "medium":
            _join(level.options, self._of_rows("media"))
            level.tables = {"at": "options of single attachments, by the names of nodes"}
        elif path[0] == name == "event":
            _join(level.options, self._of_rows("events"))
        elif path[0] == name == "flow":
            level.tables = {key: self._sections[key]["about"] for key in ("transport", "tcp")}
        return level

    def _components(self, options: Sequence[Option]) -> Level | None:
        """The options of the components that these options take."""
        level = Level()
        for topic in dict.fromkeys(option.row["topic"] for option in options):
            if topic is not None:
                _join(level.options, self._of_rows(topic))
        return level if level.options else None

    def _of_rows(self, name: str) -> dict[str, list[Option]]:
        found: dict[str, list[Option]] = {}
        topic = self.topics[name]
        for row in topic["rows"]:
            for parameter in row["parameters"]:
                found.setdefault(parameter["name"], []).append(Option(_owner(topic, row), parameter))
        return found


def example(option: Mapping[str, Any], topics: Mapping[str, Mapping[str, Any]]) -> str:
    """A value of an option, as a scenario file spells it: its default, or one of its kind."""
    if option["default"] is not None and option["default"] != "[]":
        return str(option["default"])
    return _example(option["kind"], option["topic"], topics)


_VALUES = {
    "duration": '"20 ms"',
    "rate": '"10 Mbit/s"',
    "size": '"64 kB"',
    "packets, size, duration, BDP or unlimited": '"1 BDP"',
    "probability": '"1 %"',
    "true or false": "true",
    "text": '"client"',
    "file": '"trace.csv"',
}


def _example(kind: str, topic: str | None, topics: Mapping[str, Mapping[str, Any]]) -> str:
    if kind.startswith("list of ["):
        first, _, second = kind.removeprefix("list of [").removesuffix("]").partition(", ")
        return f"[[{_example(first, topic, topics)}, {_example(second, topic, topics)}]]"
    if kind.startswith("list of "):
        return f"[{_example(kind.removeprefix('list of '), topic, topics)}]"
    if topic is not None:
        return _component(topics[topic], topics)
    if kind.startswith(("integer ", "number ")):
        return kind.split()[1]
    if kind == "number":
        return "1.0"
    return _VALUES.get(kind) or f'"{kind.split(" | ")[0]}"'


def _component(topic: Mapping[str, Any], topics: Mapping[str, Mapping[str, Any]]) -> str:
    """The first component that needs no options, or else the first with those that it needs."""
    row = min(topic["rows"], key=lambda row: sum(option["required"] for option in row["parameters"]))
    needed = [option for option in row["parameters"] if option["required"]]
    if not needed:
        return f'"{row["name"]}"'
    values = "".join(f", {option['name']} = {example(option, topics)}" for option in needed)
    return f'{{ type = "{row["name"]}"{values} }}'


def _owner(topic: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    return f"{topic['name']}: {row['name']}"


def _join(found: dict[str, list[Option]], more: Mapping[str, list[Option]]) -> None:
    for name, options in more.items():
        found[name] = [*found.get(name, []), *options]
