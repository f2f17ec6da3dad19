"""`quiclab explain KEY`: what a key of a scenario, a component, a table, a column or a paper means."""

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

import quiclab
from quiclab._quiclab import Error
from quiclab.commands import completions
from quiclab.commands.arguments import Json
from quiclab.commands.explained import RESULTS, words
from quiclab.commands.keys import Keys, Option, example
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.commands.pager import NoPager, console_text, show
from quiclab.commands.pages import rendered, section
from quiclab.commands.sources import sources_of, without_sources
from quiclab.values.package_data import papers
from quiclab.values.suggestions import hint

with late():
    import quiclab.reproduce.paper_files as paper_files


if TYPE_CHECKING:
    from collections.abc import Mapping

UNITS = {
    "s": "s",
    "ms": "ms",
    "us": "µs",
    "bytes": "bytes",
    "mbps": "Mbit/s",
    "packets": "packets",
    "blocks": "blocks",
    "share": "0 to 1",
}
"""Of a column, by the end of its name."""
_TABLES = {"media": "[[medium]]", "events": "[[event]]"}
"""Topics whose components are tables of their own."""
_NAMES = 13
"""Letters before a value."""
_MOST = 12
"""More places of one name are counted, not printed."""


def explain(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A key of a scenario, as in --set (transport.ack_ratio), a component, topic, table, column or paper.",
            show_default=False,
            autocompletion=completions.explained,
        ),
    ],
    no_pager: NoPager = False,
    as_json: Json = False,
) -> None:
    """Explain a key of a scenario, a component, a table or a column: kind, default, unit, source, an example.

    Example: quiclab explain transport.ack_ratio
    """
    keys = Keys(quiclab.topics())
    found = list(_found(key, keys)) or list(_of_papers(key))
    if not found:
        raise Error(f"unknown name {key!r}{hint(key, words(keys))}")
    if as_json:
        echo(json.dumps(found, indent=2))
        return
    more = len(found) - _MOST
    text = "\n".join(map(_text, found[:_MOST]))
    show(text + (f"\n{more} more places have this name: --json lists all\n" if more > 0 else ""), no_pager)


def _found(key: str, keys: Keys) -> Iterator[dict[str, Any]]:
    """All that has this name: keys first."""
    path = key.strip().split(".")
    level = keys.level(path)
    options = keys.find(path)
    for option in options:
        yield _option(key, path[:-1], option, keys)
    if not options and level is not None and not _is_typing_error(path, keys):
        yield {"name": key, "what": "table of a scenario", "about": keys.about(path), "keys": level.names()}
    elif not options:
        # Not a whole path: the end of one.
        told = set()
        for whole, option in keys.every():
            # What stands in a table of its type, `medium.delay`, is an option of the component too, `lte.delay`.
            same = (option.owner, option.row["name"])
            if (whole == key or whole.endswith(f".{key}")) and same not in told:
                told.add(same)
                yield _option(whole, [], option, keys)
    for topic in keys.topics.values():
        if topic["name"] == key != "sections":
            names = [row["name"] for row in topic["rows"]]
            yield {"name": key, "what": "topic", "about": topic["about"], "components": names}
        for row in topic["rows"]:
            if row["name"] == key and topic["name"] != "sections":
                yield _component(topic, row)
    yield from _of_results(key)


def _is_typing_error(path: list[str], keys: Keys) -> bool:
    """Whether what stands where a name may stand is nearly a key: `link.dely`."""
    above = keys.level(path[:-1])
    if above is None or not above.named or path[-1] in above.names():
        return False
    return hint(path[-1], above.names()) != ""


def _option(name: str, before: list[str], option: Option, keys: Keys) -> dict[str, Any]:
    row = option.row
    found: dict[str, Any] = {
        "name": name,
        "what": f"option of {option.owner}",
        "about": without_sources(row["about"]),
        "kind": row["kind"],
        "default": row["default"],
        "required": row["required"],
        "source": sources_of(row["about"]),
    }
    if row["topic"] is not None:
        found["components"] = [one["name"] for one in keys.topics[row["topic"]]["rows"]]
    found["example"] = _example(before, option, keys)
    return found


def _example(before: list[str], option: Option, keys: Keys) -> str:
    """The option in a scenario file; that of a component stands beside its type."""
    line = f"{option.row['name']} = {example(option.row, keys.topics)}"
    topic, _, component = option.owner.partition(": ")
    if topic not in keys.topics:
        return line if option.owner == keys.top else f"{option.owner}\n{line}"
    if topic in _TABLES:
        return f'{_TABLES[topic]}\ntype = "{component}"\n{line}'
    inside = f'{{ type = "{component}", {line} }}'
    outer = keys.find(before) if before else []
    return f"{outer[0].owner}\n{before[-1]} = {inside}" if outer and outer[0].owner.startswith("[") else inside


def _component(topic: "Mapping[str, Any]", row: "Mapping[str, Any]") -> dict[str, Any]:
    return {
        "name": row["name"],
        "what": f"one of the {topic['name']}",
        "about": without_sources(row["about"]),
        "source": sources_of(row["about"]),
        "page": row["page"],
        "options": [
            f"{option['name']} ({option['kind']}"
            + (f", default {option['default']})" if option["default"] is not None else ")")
            for option in row["parameters"]
        ],
    }


def _of_results(key: str) -> Iterator[dict[str, Any]]:
    """Tables of a run, and columns: by their name, as TABLE.COLUMN, or as runs.parquet of a sweep has them."""
    if key in RESULTS:
        what = "the file summary.json" if key == "summary" else "table of a run"
        yield {"name": key, "what": what, "about": RESULTS[key].about, "columns": list(RESULTS[key].columns)}
    table, _, column = key.rpartition(".")
    # The tables in which it means the same.
    places: dict[str, list[str]] = {}
    for name, described in RESULTS.items():
        if column in described.columns and (not table or name == table or name == "summary"):
            places.setdefault(described.columns[column].about, []).append(name)
    unit = UNITS.get(column.rsplit("_", 1)[-1])
    for about, names in places.items():
        plural = "s" if len(names) > 1 else ""
        yield {
            "name": column,
            "what": f"column of the table{plural} {', '.join(names)}"
            if names != ["summary"]
            else "number of the summary, and column of a sweep",
            "about": about,
            **({"unit": unit} if unit else {}),
        }


def _of_papers(key: str) -> Iterator[dict[str, Any]]:
    """A paper that is reproduced, or one of its figures: what the page of papers says."""
    for paper in paper_files.catalogue():
        if paper.name == key:
            yield {"name": key, "what": "a paper, reproduced", "text": section(papers(), paper.title) or paper.title}
        for figure in paper.figures:
            if figure.id == key:
                text = section(papers(), f"{key}: ") or figure.title
                yield {"name": key, "what": "a figure of a paper, reproduced", "text": text}


def _text(found: "Mapping[str, Any]") -> str:
    """Lines for a person, of a terminal's width if there is one."""
    if "text" in found:
        return console_text(rendered(found["text"]))
    text = _lines(found)
    if not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, 40)
    lines = []
    for line in text.splitlines():
        # Below its first letter, and that of a value below the value.
        indent = len(line) - len(line.lstrip())
        named = re.match(r"  \w+ +", line)
        below = len(named[0]) if named and len(named[0]) == _NAMES else indent
        lines += textwrap.wrap(line, width, subsequent_indent=" " * below, break_on_hyphens=False) or [""]
    return "\n".join(lines) + "\n"


def _lines(found: "Mapping[str, Any]") -> str:
    lines = [f"{found['name']}: {found['what']}", f"  {found['about']}"]
    for name in ("kind", "default", "unit", "source", "page", "components", "keys", "columns", "options", "example"):
        value = found.get(name)
        if name == "default" and found.get("required"):
            value = "none: required"
        if value in (None, [], ""):
            continue
        if name == "options":
            lines += [
                f"  {'options' if value is not None else '':<10} {value[0]}",
                *(f"{'':13}{one}" for one in value[1:]),
            ]
            continue
        text = ", ".join(value) if isinstance(value, list) else str(value)
        first, *rest = text.split("\n")
        lines += [f"  {name:<10} {first}", *(f"{'':13}{line}" for line in rest)]
    return "\n".join(lines) + "\n"
