"""Small tables for people, as text and as HTML of notebooks: escaped, bounded, and readable on light and dark pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from quiclab.values import folders
from quiclab.values.plain_text import plain

ROWS = 10
"""The most rows that are shown of a table that may be long."""
_WIDTH = 110
"""The most characters of a line of text."""
_COLUMNS = 12
"""The most columns of an HTML table."""
_NAMED = 8
"""The most columns that are named without being shown."""
_LONGEST = 60
"""The most characters of a cell."""
_LINE = "1px solid rgba(128, 128, 128, 0.35)"
"""Half transparent: visible on any background."""


def cell(value: object) -> str:
    """A value of a table: six digits of a number, a dash for null, the beginning of a long text."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return format(value, ".6g")
    text = plain(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True)
class Grid:
    """Columns of texts."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[bool]
    """Of each column, whether it is text, which begins at the left."""

    def html(self) -> str:
        """An HTML table, and a line with the heads of the columns that are too many for it."""
        head = f"<thead><tr>{self._cells('th', self.heads)}</tr></thead>" if any(self.heads) else ""
        body = "".join(f"<tr>{self._cells('td', row)}</tr>" for row in self.rows)
        style = "border-collapse: collapse; color: inherit; font-size: 0.9em; margin: 0.3em 0;"
        table = f'<table style="{style}">{head}<tbody>{body}</tbody></table>'
        return f'<div style="overflow-x: auto;">{table}</div>' + lines(_left_out(self.heads[_COLUMNS:]))

    def _cells(self, tag: str, texts: Sequence[str]) -> str:
        columns = zip(texts[:_COLUMNS], self.left[:_COLUMNS], strict=True)
        return "".join(_cell(tag, text, left, first=at == 0) for at, (text, left) in enumerate(columns))

    def text(self) -> str:
        """Lines of at most `_WIDTH` characters, and one with the heads of the columns that are too many for them."""
        columns = [[head, *(row[at] for row in self.rows)] for at, head in enumerate(self.heads)]
        widths = [max(map(len, column)) for column in columns]
        used, shown = 0, 0
        while shown < len(widths) and (used + widths[shown] <= _WIDTH or not shown):
            used += widths[shown] + 2
            shown += 1
        told = []
        for texts in zip(*columns[:shown], strict=True):
            parts = (
                text.ljust(size) if left else text.rjust(size)
                for text, size, left in zip(texts, widths, self.left, strict=False)
            )
            told.append("  ".join(parts).rstrip())
        return "\n".join([*told, *_left_out(self.heads[shown:])])


def page(title: str, *parts: str) -> str:
    """HTML of a thing that is shown: its title in bold, and below it the parts that are not empty."""
    whole = f"<div><div><strong>{escape(plain(title))}</strong></div>{''.join(part for part in parts if part)}</div>"
    # It is kept with a notebook, which others read.
    return str(folders.without_home(whole))


def lines(texts: Iterable[str]) -> str:
    """HTML of lines of text."""
    return "".join(f'<div style="opacity: 0.8;">{escape(plain(text))}</div>' for text in texts)


def more(count: int, what: str) -> list[str]:
    """The line that says how many rows are not shown; none if all are."""
    return [f"and {count:,} more {what}{'s' * (count != 1)}"] if count > 0 else []


def _left_out(heads: Sequence[str]) -> list[str]:
    if not heads:
        return []
    names = ", ".join(heads[:_NAMED]) + (", ..." if len(heads) > _NAMED else "")
    return [f"{more(len(heads), 'column')[0]}: {names}"]


def _cell(tag: str, text: str, left: bool, first: bool) -> str:
    style = f"border: 0; border-bottom: {_LINE}; padding: 0.15em 0.7em; text-align: {'left' if left else 'right'};"
    style += " font-weight: 600;" if tag == "th" else ""
    style += " min-width: 9em;" if first and left else ""
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'
