"""The examples of the documentation: blocks of code, indented or fenced, by page and by kind."""

import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in sorted(
        [
            ROOT / "README.md",
            ROOT / "CONTRIBUTING.md",
            *(ROOT / "docs").rglob("*.md"),
            *(ROOT / "examples").glob("*/README.md"),
        ]
    )
]
"""All pages that may have examples."""

_PROGRAMS = ("quiclab", ".venv/bin/", "make", "cargo", "python", "pip", "./", "cd ")


class Example(NamedTuple):
    """A block of a page."""

    page: str
    """Its path from the root of the project."""
    line: int
    """Where it begins."""
    kind: str
    """`sh`, `python`, `toml`, `quic`, `text`; of an indented block one of these, by what it is."""
    text: str
    file: str | None
    """The name of the file that the reader is to save it as."""

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page}:{self.line}"


def examples(page: str) -> Iterator[Example]:
    """The blocks of a page in their order."""
    lines = (ROOT / page).read_text(encoding="utf-8").split("\n")
    at, before = 0, ""
    while at < len(lines):
        start, line = at, lines[at]
        fence = re.match(r"( *)(`{3,})(\S*)", line)
        if fence:
            at += 1
            while not lines[at].startswith(fence[1] + fence[2]):
                at += 1
            text = textwrap.dedent("\n".join(lines[start + 1 : at]))
            yield Example(page, start + 1, _NAMES.get(fence[3], fence[3]), text, _saved(before))
            at, before = at + 1, ""
        elif (
            line.startswith("    ")
            and not before.lstrip().startswith(("* ", "- "))
            and (start == 0 or not lines[start - 1].strip())
        ):
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            text = textwrap.dedent("\n".join(lines[start:at])).strip("\n")
            yield Example(page, start + 1, _kind(text), text, _saved(before))
            before = ""
        else:
            before = line if line.strip() else before
            if re.match(r"\d+\. |\* ", line):
                before = "* "
            at += 1


_NAMES = {"console": "sh", "": "text"}


def _saved(before: str) -> str | None:
    found = re.search(r"`(\w+\.(?:toml|csv|py))`:$", before.rstrip())
    return found[1] if found else None


def _kind(text: str) -> str:
    """What an indented block is."""
    if text.startswith(_PROGRAMS):
        return "sh"
    if re.match(r"(import|from) \w", text):
        return "python"
    try:
        return "toml" if tomllib.loads(text) else "text"
    except tomllib.TOMLDecodeError:
        return "text"


def commands(example: Example) -> Iterator[str]:
    """The command lines of a block, each on one line, without comments."""
    text = example.text.replace("\\\n", " ")
    for line in text.split("\n"):
        line = line.removeprefix("$ ")
        if line.startswith(_PROGRAMS):
            yield re.split(r"\s{2,}#", line)[0].removeprefix(".venv/bin/").strip()
