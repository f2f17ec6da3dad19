"""What changes in the text of a page before it is read: links to what is no page, and the pages below it."""

import os.path
import posixpath
import re
import shutil
from functools import cache
from pathlib import Path

import navigation

import quiclab

PROJECT = Path(__file__).resolve().parent.parent.parent
_LINK = re.compile(r"(?<!!)\[([^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"^\s*```")


def setup(app):
    """Connects the changes with Sphinx."""
    app.connect("source-read", _read)


def _read(app, name, content):
    text = _with_links(app, name, content[0])
    options = _options(name)
    if options:
        text += f"\n## Every option\n\nFrom the program itself, in the reference: {', '.join(options)}.\n"
    children = navigation.children(name)
    if children:
        text += "\n" + navigation.toctree(children, root=name)
    content[0] = text


@cache
def _described() -> dict[str, list[str]]:
    """Of each page of a model, links to its components in the reference."""
    found: dict[str, list[str]] = {}
    for room in quiclab.topics():
        for row in room["rows"]:
            page = row["page"]
            if page and row["parameters"]:
                link = f"[`{row['name']}`](../../reference/scenario.md#{room['name']}-{row['name']})"
                found.setdefault(page.removesuffix(".md"), []).append(link)
    return found


def _options(name):
    return list(dict.fromkeys(_described().get(name, [])))


def _with_links(app, name, text):
    """The text with links that lead somewhere on the site."""
    folder = posixpath.dirname(name)
    fenced = titled = False
    lines = []
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        # A page has one title; further ones are its sections.
        if line.startswith("# ") and not fenced:
            line = "#" + line if titled else line
            titled = True
        lines.append(line if fenced else _LINK.sub(lambda found: _link(app, folder, *found.groups()), line))
    return "\n".join(lines)


def _link(app, folder, words, target):
    path, _, anchor = target.partition("#")
    if not path or "://" in path or path.startswith("mailto:"):
        return f"[{words}]({target})"
    found = posixpath.normpath(posixpath.join(folder, path))
    place = PROJECT / found
    if found == "docs/index.md":
        found = "index.md"
    elif found.startswith("examples/") and place.suffix == ".toml" and place.parent.name == "examples":
        found, anchor = "reference/examples.md", place.stem
    elif place.parent.name == "notebooks" and place.suffix == ".ipynb":
        found = f"notebooks/{place.stem}.md"
    elif place.is_dir() and (place / "README.md").is_file():
        found = posixpath.join(found, "README.md")
    elif place.is_dir():
        # A folder of the sources: no page shows it.
        return words
    elif place.is_file() and place.suffix != ".md":
        copy(place, Path(app.srcdir, found))
    there = os.path.relpath(found, folder or ".")
    return f"[{words}]({there}{'#' + anchor if anchor else ''})"


def copy(file: Path, to: Path) -> None:
    """Copies a file unless that was done before: Sphinx reads a page again when its file is newer."""
    if not to.is_file() or to.read_bytes() != file.read_bytes():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)
