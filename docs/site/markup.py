"""Markdown that the generated pages are made of."""

import re
from collections.abc import Iterable, Sequence

from quiclab.commands.sources import sources_of


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars in its cells are escaped."""
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def without_empty(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that leaves out the columns that are empty in all rows."""
    known = list(rows)
    shown = [at for at in range(len(heads)) if any(row[at] for row in known)]
    return table([heads[at] for at in shown], [[row[at] for at in shown] for row in known])


def code(text: str) -> str:
    """A word in code type; nothing for no word."""
    return f"`{text}`" if text else ""


_TYPED = re.compile(r"(`[^`]*`|[\w.]+='[^']*'|(?<!\w)''(?!\w))")
"""What is to be typed as it is: between backquotes, `KEY='VALUE'`, and the empty word."""


def plain(text: str) -> str:
    """Text of the program, which is no markup. What is to be typed is code: else its quotes become those of print."""
    parts = [part if part.startswith("`") or not _TYPED.fullmatch(part) else f"`{part}`" for part in _TYPED.split(text)]
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]$\\])", r"\\\1", part) for part in parts)


def fenced(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```\n"


def sources(text: str) -> str:
    """The documents that a line of explanation names, as links where they are RFCs or drafts of the IETF."""
    return ", ".join(_link(one) for one in sources_of(text))


def _link(source: str) -> str:
    rfc = re.match(r"RFC (\d+)(?: (section|appendix) (\S+))?", source)
    if rfc:
        number, kind, place = rfc.groups()
        anchor = f"#{kind}-{place}" if place else ""
        return f"[{source}](https://www.rfc-editor.org/rfc/rfc{number}.html{anchor})"
    if source.startswith("draft-"):
        return f"[{source}](https://datatracker.ietf.org/doc/{source.split()[0]}/)"
    return source
