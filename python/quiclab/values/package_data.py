"""What the package carries beside its code: the pages of models and papers, and the examples.

In a checkout the folder `share` has links to `docs/` and `examples/`; in a wheel it has the files (pyproject.toml).
"""

import re
from collections.abc import Iterator
from pathlib import Path

SHARE = Path(__file__).parents[1] / "share"
EXAMPLES = SHARE / "examples"
"""Scenarios that run as they are, with the traces, pages, programs and notebooks that belong to them."""
_NOT_CARRIED = {"own-controller", "own-parts", "__pycache__"}
"""A crate of the workspace, which is built in a checkout."""


def model_page(page: str) -> str | None:
    """The text of a page of `docs/model` in Markdown, by its path in the project; None if there is no such page."""
    file = SHARE / "model" / Path(page).name
    return file.read_text(encoding="utf-8") if file.is_file() else None


def papers() -> str:
    """The page on the papers that are reproduced, in Markdown; empty in a checkout without links."""
    file = SHARE / "papers.md"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def example_files() -> Iterator[Path]:
    """The files of the examples, relative to `EXAMPLES`."""
    for file in sorted(EXAMPLES.rglob("*")):
        relative = file.relative_to(EXAMPLES)
        if file.is_file() and not _NOT_CARRIED.intersection(relative.parts):
            yield relative


def examples() -> Iterator[tuple[str, str]]:
    """The scenarios among them, and what each is, in the first sentence of its comment."""
    for file in sorted(EXAMPLES.glob("*.toml")):
        comment = []
        for line in file.read_text(encoding="utf-8").splitlines():
            if not line.startswith("# "):
                break
            comment.append(line[2:])
        # A sentence ends where the next one begins.
        yield file.name, re.split(r"(?<=[.?:])\s+(?=[A-Z])", " ".join(comment), maxsplit=1)[0].rstrip(":")
