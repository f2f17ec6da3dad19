"""HTML from values: whatever comes from outside is escaped here, and only here."""

import html
import re
from collections.abc import Iterable, Sequence

_CODE = re.compile(r"`([^`]+)`")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Html:
    """A value as HTML: escaped, unless it is `Html`."""
    return value if isinstance(value, Html) else Html(html.escape(str(value)))


def joined(parts: Iterable[Html]) -> Html:
    """Parts one after the other."""
    return Html("".join(parts))


def tag(name: str, *inside: object, **attributes: object) -> Html:
    """An element. Attributes that are None or False are left out; `class_` and `data_from` are `class`, `data-from`."""
    written = [
        f' {key.rstrip("_").replace("_", "-")}="{html.escape("" if value is True else str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    return Html(f"<{name}{''.join(written)}>{''.join(map(text, inside))}</{name}>")


def worded(words: str) -> Html:
    """A sentence whose words in backquotes are code."""
    return Html(_CODE.sub(r"<code>\1</code>", html.escape(words)))


def table(
    caption: str,
    heads: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    words: Sequence[int] = (0,),
    marked: Sequence[bool] = (),
) -> Html:
    """A table with a caption, whose first column heads its rows. It scrolls on its own where it is too wide.

    :param words: the columns that are text; the others are numbers, which end below each other.
    :param marked: which rows differ between columns.
    """

    def kind(at: int) -> str | None:
        return None if at in words else "number"

    head = joined(tag("th", cell, scope="col", class_=kind(at)) for at, cell in enumerate(heads))
    # For a reader of the screen alone: who sees the table sees what its second column is.
    unseen = "unseen" if list(heads) == ["", "value"] else None
    body = []
    for number, (first, *rest) in enumerate(rows):
        differs = number < len(marked) and marked[number]
        cells = [tag("th", first, _DIFFERS if differs else Html(""), scope="row")]
        cells += [tag("td", cell, class_=kind(at)) for at, cell in enumerate(rest, 1)]
        body.append(tag("tr", *cells, class_="differs" if differs else None))
    whole = tag("table", tag("caption", caption), tag("thead", tag("tr", head), class_=unseen), tag("tbody", *body))
    return tag("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)


_DIFFERS = Html(' <span class="mark" title="differs" role="img" aria-label="differs">&ne;</span>')


def note(words: object) -> Html:
    """A remark that a reader should not miss."""
    return tag("p", words, class_="note")
