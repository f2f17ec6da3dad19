"""The pages `reference/scenario` and `reference/examples`: what can stand in a scenario, from the program itself."""

import posixpath
import re
import tomllib
from pathlib import Path

from markup import code, fenced, plain, sources, table, without_empty

import quiclab
from quiclab.commands.sources import without_sources


def scenario_page(project: Path) -> str:
    """Every table and component, with its options."""
    rooms = quiclab.topics()
    parts = [_contents(rooms)]
    for room in rooms:
        parts.append(_room(project, room))
    return "\n".join(parts)


def _anchor(room, row=None):
    """A place on the page that does not depend on how headings are worded."""
    return f"{room['name']}-{row['name']}" if row else room["name"]


def _contents(rooms):
    rows = [
        (
            f"[{_title(room)}](#{_anchor(room)})",
            ", ".join(f"[`{row['name']}`](#{_anchor(room, row)})" for row in room["rows"]),
        )
        for room in rooms
    ]
    return table(["table", "what it has"], rows)


def _title(room):
    return room["name"].replace("_", " ")


def _room(project, room):
    lines = [f"({_anchor(room)})=", f"## {_title(room).capitalize()}", "", f"{plain(room['about']).capitalize()}.", ""]
    if room["shorthand"]:
        short = room["shorthand"]
        lines += [f'A bare value is short for `{{ type = "{short["row"]}", {short["option"]} = VALUE }}`.', ""]
    for row in room["rows"]:
        lines += [f"({_anchor(room, row)})=", f"### `{row['name']}`", "", sentence(row["about"]), ""]
        page = row["page"]
        if page:
            if not (project / page).is_file():
                raise ValueError(f"{page}, which `quiclab list {row['name']}` names, does not exist")
            lines += [f"The model: [{posixpath.splitext(posixpath.basename(page))[0]}](../{page}).", ""]
        if row["parameters"]:
            lines += [_options(row["parameters"])]
    return "\n".join(lines)


def sentence(about: str) -> str:
    """What a component is, as a sentence. A first word that is a name stays as it is."""
    first = about.split(" ", 1)[0]
    text = about[:1].upper() + about[1:] if re.fullmatch(r"[a-z]+[,:;]?", first) else about
    return f"{plain(text)}."


def _options(options):
    """The table of a component's options; without the columns of defaults and sources if none has one."""
    return without_empty(["option", "kind", "default", "meaning", "source"], map(_option, options))


def _option(option):
    default = code(option["default"]) if option["default"] is not None else "required" if option["required"] else ""
    meaning = plain(without_sources(option["about"]))
    return code(option["name"]), _kind(option["kind"]), default, meaning, sources(option["about"])


def _kind(kind):
    if kind.startswith("one of the "):
        room = kind.removeprefix("one of the ")
        names = {one["name"] for one in quiclab.topics()}
        word = room.replace(" ", "_")
        return f"[{plain(kind)}](#{word})" if word in names else plain(kind)
    many = "list of " if kind.startswith("list of ") else ""
    words = kind.removeprefix("list of ").split(" | ")
    return many + " | ".join(map(code, words)) if len(words) > 1 else plain(kind)


def examples_page(project: Path) -> str:
    """Every scenario in `examples/`, whole."""
    lines = []
    for path in sorted((project / "examples").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        tomllib.loads(text)
        lines += [f"({path.stem})=", f"## `{path.name}`", "", fenced(text, "toml")]
    return "\n".join(lines)
