"""For what a figure is: a screen, or a paper with columns of a fixed width that may be printed without colours."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from quiclab._quiclab import Error
from quiclab.drawings.plots import style
from quiclab.values.suggestions import hint


@dataclass(frozen=True)
class Look:
    """What differs between a figure on a screen and one in a paper."""

    width: float | None = None
    """Inches; None: as wide as what is drawn asks for."""
    narrow: bool = False
    """Whether panels stand below each other, as in one column of a page with two."""
    most: int = 4
    """Connections of a run that stand side by side."""
    titles: bool = True
    """Whether the figure says what it is; in a paper the caption does."""
    palette: Sequence[str] = style.PALETTE
    """Colours of groups, in their order."""
    dashes: Sequence[Any] = ("-",)
    """Lines of groups, in their order."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of matplotlib, over those of `quiclab.drawings.plots.style`."""


SCREEN = Look()

WIDTHS = {"ieee": (3.5, 7.16), "acm": (3.33, 7.0), "paper": (3.33, 7.0)}
"""Inches of one column and of both: IEEE conferences and journals, ACM's sigconf; `paper` fits both."""
STYLES = ("screen", *WIDTHS)
COLUMNS = ("one", "two")

_WINE = "#882255"
"""Of the colours of Tol, between black and blue in brightness."""
_GREY_PROOF = (style.BLUE, style.ORANGE, style.BLACK, _WINE, style.GREEN, style.SKY, style.PURPLE)
"""The first five differ by a tenth of the way from black to white or more, so that they do without colours."""
_DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)), (0, (2, 2)))

_PRINTED = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.1,
    "legend.handlelength": 2.4,
    # TrueType instead of Type 3, which publishers refuse; the file holds the letters that it uses.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "savefig.dpi": 600,
}

_look: ContextVar[Look] = ContextVar("look", default=SCREEN)


def look(name: str, column: str = "one") -> Look:
    """A look by its name and the columns that a figure takes. Raises `Error` if there is none."""
    for option, word, known in (("style", name, STYLES), ("column", column, COLUMNS)):
        if word not in known:
            raise Error(f"no {option} {word!r}: one of {', '.join(known)}{hint(word, known)}")
    if name == "screen":
        return SCREEN
    narrow = column == "one"
    width = WIDTHS[name][0 if narrow else 1]
    return Look(width, narrow, 1 if narrow else 2, titles=False, palette=_GREY_PROOF, dashes=_DASHES, settings=_PRINTED)


def current() -> Look:
    """The look of what is being drawn."""
    return _look.get()


@contextmanager
def drawn_for(wanted: Look) -> Iterator[None]:
    """What is drawn and saved inside has this look."""
    token = _look.set(wanted)
    try:
        yield
    finally:
        _look.reset(token)


@contextmanager
def styled() -> Iterator[None]:
    """The style of all plots with the settings of the current look."""
    import matplotlib

    # Of matplotlib's own names, as its types ask for them.
    settings: Any = dict(current().settings)
    with style.styled(), matplotlib.rc_context(settings) if settings else nullcontext():
        yield
