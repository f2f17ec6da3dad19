"""What changes in pages that have been read: small things of typography, links to figures, titles of neighbours."""

import re

import navigation
from docutils import nodes

_UNITS = "%|ns|us|ms|s|min|h|d|B|kB|MB|GB|TB|KiB|MiB|GiB|bit/s|kbit/s|Mbit/s|Gbit/s|Hz|kHz|MHz|GHz|dB|dBm|m|km"
_QUANTITY = re.compile(rf"(?<=\d) (?=(?:{_UNITS})(?![\w/]))")
_NO_BREAK = "\N{NO-BREAK SPACE}"
_PICTURE = re.compile(r'(<a\b[^>]*>\s*)?(<img [^>]*?src="([^"]*\b_images/[^"]*)"[^>]*>)')
_SHORT = 26
"""Characters of a name that keeps to one line in the first column of a table: more would fill a small screen."""


def setup(app):
    """Connects the changes with Sphinx."""
    app.connect("doctree-resolved", _resolved)
    app.connect("html-page-context", _context)


def _resolved(app, doctree, name):
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, nodes.literal | nodes.FixedTextElement | nodes.math | nodes.math_block):
            changed = unbroken(text)
            if changed != text:
                text.parent.replace(text, nodes.Text(changed))
    for row in doctree.findall(nodes.row):
        first = row[0]
        for literal in first.findall(nodes.literal):
            if literal.astext() == first.astext() and len(first.astext()) <= _SHORT:
                literal["classes"].append("name")


def unbroken(text: str) -> str:
    """A text in which no line ends between a number and its unit."""
    return _QUANTITY.sub(_NO_BREAK, text)


def _context(app, name, template, context, doctree):
    if context.get("body"):
        context["body"] = linked(context["body"])
    _, before, after = app.builder.relations.get(name, (None, None, None))
    for key, page in (("prev", before), ("next", after)):
        if context.get(key) and page in titles():
            context[key] = {**context[key], "title": titles()[page]}


def linked(body: str) -> str:
    """HTML in which every figure leads to itself alone, where it can be enlarged, unless it leads somewhere already."""
    return _PICTURE.sub(
        lambda found: found[0] if found[1] else f'<a class="picture" href="{found[3]}">{found[2]}</a>', body
    )


def titles() -> dict[str, str]:
    """What pages are called in the navigation, as far as it calls them otherwise than their headings."""
    found = {}

    def walk(entries):
        for entry in entries:
            if isinstance(entry, dict):
                if "title" in entry:
                    found[entry["page"]] = entry["title"]
                walk(entry.get("children", []))

    for section in navigation.sections():
        walk(section["pages"])
    return found
