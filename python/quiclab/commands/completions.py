"""What the values of arguments and options can be, for completion in a shell."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import quiclab
from quiclab.commands.late import late
from quiclab.values import regular_files

with late():
    import quiclab.commands.explained as explainable
    import quiclab.commands.keys as keys_of
    import quiclab.reproduce.paper_files as paper_files


_Words = list[str]
_WHOLE = 200
"""Names that are offered at most."""


def words(*known: str) -> Callable[[], _Words]:
    """One of these words."""

    def complete() -> _Words:
        return list(known)

    return complete


def scenarios(incomplete: str) -> _Words:
    """Files that end in .toml, and folders on the way to them."""
    return paths(incomplete, ".toml")


def folders(incomplete: str) -> _Words:
    """Folders."""
    return paths(incomplete, "/")


def paths(incomplete: str, ending: str = "") -> _Words:
    """Files with this ending, all by default, and folders; `/`: folders alone."""
    head, slash, tail = incomplete.rpartition("/")
    try:
        entries = sorted(Path(head + slash or ".").expanduser().iterdir())
    except OSError:
        return []
    found = []
    for entry in entries:
        if entry.name.startswith(tail) and (tail.startswith(".") or not entry.name.startswith(".")):
            if entry.is_dir():
                found.append(f"{head}{slash}{entry.name}/")
            elif ending != "/" and entry.name.endswith(ending):
                found.append(head + slash + entry.name)
    return found[:_WHOLE]


def topics() -> _Words:
    """Topics of `quiclab list`."""
    return [topic["name"] for topic in quiclab.topics()]


def topics_and_components() -> list[tuple[str, str]]:
    """The same, and the components, each with a line about it."""
    found = {topic["name"]: topic["about"] for topic in quiclab.topics()}
    for topic in quiclab.topics():
        for row in topic["rows"] if topic["name"] != "sections" else ():
            found.setdefault(row["name"], row["about"])
    return list(found.items())


def components(topic: str) -> Callable[[], list[tuple[str, str]]]:
    """The components of a topic."""

    def complete() -> list[tuple[str, str]]:
        return [(row["name"], row["about"]) for one in quiclab.topics() if one["name"] == topic for row in one["rows"]]

    return complete


def explained(incomplete: str) -> _Words:
    """What `quiclab explain` knows."""
    return [word for word in explainable.words(keys_of.Keys(quiclab.topics())) if word.startswith(incomplete)][:_WHOLE]


def changes(ctx: Any, incomplete: str) -> list[tuple[str, str]]:
    """The next key of KEY=VALUE, or the words that its value can be. Names are those of the scenario's file."""
    keys = keys_of.Keys(quiclab.topics())
    path, equals, _ = incomplete.partition("=")
    if equals:
        values = dict.fromkeys(word for option in keys.find(path.split(".")) for word in _values(option.row, keys))
        return [(f"{path}={value}", "") for value in values]
    before = path.split(".")[:-1]
    level = keys.level(before)
    if level is None:
        return []
    start = "".join(f"{key}." for key in before)
    if level.named:
        return [(f"{start}{name}.", "") for name in _names(ctx.params.get("file"), before[-1])]
    found = [(f"{start}{name}.", about) for name, about in level.tables.items() if name != "sweep"]
    found += [(f"{start}{name}=", options[0].row["about"]) for name, options in level.options.items()]
    return found


def _values(row: Any, keys: Any) -> Iterator[str]:
    if row["topic"] is not None:
        yield from (one["name"] for one in keys.topics[row["topic"]]["rows"])
    elif row["kind"] == "true or false":
        yield from ("true", "false")
    elif " | " in row["kind"] and not row["kind"].startswith("list of "):
        yield from row["kind"].split(" | ")


def _names(file: str | None, array: str) -> _Words:
    """The names in an array of tables of a scenario."""
    if file is None:
        return []
    try:
        document = regular_files.read_toml(Path(file).expanduser())
    except (OSError, ValueError):
        return []
    entries = document.get(array, [])
    if not isinstance(entries, list):
        return []
    return [entry["name"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("name"), str)]


def figures() -> _Words:
    """Figures of papers, and papers."""
    found = paper_files.figures()
    return ["all", *found, *{figure.paper: "" for figure in found.values()}]


def columns(ctx: Any) -> _Words:
    """Columns of a sweep's runs: of the folder that was given, or else the names that every run of the file has."""
    folder = ctx.params.get("run") or ctx.params.get("folder")
    try:
        found = regular_files.read_json(Path(folder or "") / "sweep.json")
        regular_files.check(Path(folder) / "runs.parquet")
        import pyarrow.parquet as pq

        return [*(one["path"] for one in found["parameters"]), *pq.read_schema(Path(folder) / "runs.parquet").names]
    except (OSError, ValueError, KeyError, TypeError):
        return ["goodput_mbps", "completion_s", "rtt_mean_ms", "rtt_p95_ms", "packets_lost"]


def tables(ctx: Any) -> _Words:
    """Tables of a run's or a sweep's folder."""
    try:
        return sorted(file.stem for file in Path(ctx.params.get("folder") or "").glob("*.parquet"))
    except OSError:
        return []
