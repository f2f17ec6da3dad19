"""What a study gives to the page."""

import textwrap
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Section:
    """A part of docs/validation.md, and whether what it says must hold does."""

    lines: list[str]
    holds: bool
    figures: tuple[Path, ...] = ()
    """Files of figures that the lines name, as images/NAME."""


def wrapped(text: str) -> list[str]:
    """Its lines in the page."""
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)
