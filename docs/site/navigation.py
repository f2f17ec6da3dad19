"""The navigation of the site: `navigation.toml`, and the lists of pages that Sphinx makes of it."""

import posixpath
import tomllib
from functools import cache
from pathlib import Path


@cache
def sections():
    """The sections, in order: each a title and its entries (see `navigation.toml`)."""
    with Path(__file__).with_suffix(".toml").open("rb") as file:
        return tomllib.load(file)["section"]


@cache
def _children():
    found = {}

    def walk(entries):
        for entry in entries:
            if isinstance(entry, dict) and "children" in entry:
                found[entry["page"]] = entry["children"]
                walk(entry["children"])

    for section in sections():
        walk(section["pages"])
    return found


def children(page):
    """The entries below a page."""
    return _children().get(page, [])


def pages():
    """The names of all pages."""
    found = []

    def walk(entries):
        for entry in entries:
            found.append(entry if isinstance(entry, str) else entry["page"])
            walk(entry.get("children", []) if isinstance(entry, dict) else [])

    for section in sections():
        walk(section["pages"])
    return found


def toctree(entries, root, caption=None):
    """The directive that puts pages into the navigation, on the page `root`."""
    folder = posixpath.dirname(root)
    lines = ["```{toctree}", ":hidden:"]
    if caption:
        lines.append(f":caption: {caption}")
    lines.append("")
    for entry in entries:
        page = entry if isinstance(entry, str) else entry["page"]
        there = posixpath.relpath(page, folder or ".")
        title = None if isinstance(entry, str) else entry.get("title")
        lines.append(f"{title} <{there}>" if title else there)
    return "\n".join([*lines, "```", ""])
