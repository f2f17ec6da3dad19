"""What a study gives to the page."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Section:
    """A part of docs/validation.md, and whether what it says must hold does."""

    lines: list[str]
    holds: bool
    figures: tuple[Path, ...] = ()
    """Files of figures that the lines name, as images/NAME."""
