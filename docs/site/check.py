"""What must hold of the finished pages: no dead link, nothing from the network, formulas, examples, ways to them."""

import re
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

WITHOUT_EXAMPLE = {
    "genindex.html": "an index",
    "search.html": "the search",
    "CHANGELOG.html": "a list of changes",
    "ARCHITECTURE.html": "a map of the sources",
    "docs/interop.html": "a table of results, which is generated",
    "CONTRIBUTING.html": "its recipes are about the sources",
    "docs/decisions/": "reasons, of a choice that is described elsewhere",
}
"""Pages, or folders of pages, that need no example, and why. All others have a block of code or a figure."""

UNLINKED = {"genindex.html": "the search finds more", "search.html": "the field of the search leads there"}
"""Pages that no link leads to, and why."""

_LOADED = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "object": "data",
    "video": "src",
}
"""What a browser fetches by itself."""

_LITERAL = ("pre", "code", "script", "style")
_FORMULA = re.compile(r"\$[^\s$](?:[^$\n]*[^\s$])?\$")


class Page(HTMLParser):
    """What a page refers to, and what it has."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.examples = 0
        self.formulas: list[str] = []
        """Formulas that stand as text."""
        self._in_article = 0
        self._literal = 0

    def handle_data(self, data):
        """Of html.parser."""
        if self._in_article and not self._literal:
            self.formulas += _FORMULA.findall(data)

    def handle_starttag(self, tag, attributes):
        """Of html.parser."""
        found = dict(attributes)
        if found.get("id"):
            self.ids.add(found["id"])
        if tag == "a" and found.get("name"):
            self.ids.add(found["name"])
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if (
            tag in _LOADED
            and found.get(_LOADED[tag])
            and found.get("rel") not in ("index", "search", "next", "prev", "canonical")
        ):
            self.loaded.append(found[_LOADED[tag]])
        self._literal += tag in _LITERAL
        if tag == "article":
            self._in_article += 1
        if self._in_article and tag in ("pre", "img"):
            self.examples += 1

    def handle_endtag(self, tag):
        """Of html.parser."""
        self._literal -= tag in _LITERAL
        if tag == "article":
            self._in_article -= 1


def problems(out: Path, source: Path | None = None) -> list[str]:
    """One line for each thing that is wrong with the pages in a folder."""
    pages = {}
    for path in sorted(out.rglob("*.html")):
        if "_static" in path.relative_to(out).parts:
            continue
        page = pages[path.relative_to(out).as_posix()] = Page()
        page.feed(path.read_text(encoding="utf-8"))
    found = []
    for name, page in pages.items():
        for target in page.links + page.loaded:
            found += [f"{name}: {problem}" for problem in _dead(out, pages, name, target, target in page.loaded)]
        found += [f"{name}: {formula} is no formula on the page" for formula in page.formulas]
        if page.examples == 0 and not any(
            name == one or (one.endswith("/") and name.startswith(one)) for one in WITHOUT_EXAMPLE
        ):
            found.append(f"{name}: no example: no block of code, command or figure")
    reached = _reachable(pages)
    found += [
        f"{name}: no way leads there from index.html" for name in pages if name not in reached and name not in UNLINKED
    ]
    found += [
        f"{one}: no such page, in WITHOUT_EXAMPLE of check.py"
        for one in WITHOUT_EXAMPLE
        if not any(name.startswith(one) for name in pages)
    ]
    return list(dict.fromkeys(found))


def _dead(out, pages, name, target, loaded):
    parts = urlsplit(target)
    if parts.scheme in ("http", "https"):
        return [f"{target} is loaded from the network"] if loaded else []
    if parts.scheme in ("mailto", "data", "javascript"):
        return []
    there = _resolved(name, parts.path)
    if there is None or not (out / there).is_file():
        return [f"{target} does not exist"]
    anchor = unquote(parts.fragment)
    if anchor and there in pages and anchor not in pages[there].ids:
        return [f"{target}: no such place on {there}"]
    return []


def _resolved(name, path):
    """The file that a link of a page leads to, as seen from the root; None if that is outside."""
    if not path:
        return name
    parts = name.split("/")[:-1]
    for part in unquote(path).split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _reachable(pages):
    """The pages that links lead to from the first one."""
    reached, waiting = {"index.html"}, deque(["index.html"])
    while waiting:
        name = waiting.popleft()
        for target in pages[name].links if name in pages else []:
            parts = urlsplit(target)
            there = None if parts.scheme else _resolved(name, parts.path)
            if there in pages and there not in reached:
                reached.add(there)
                waiting.append(there)
    return reached
