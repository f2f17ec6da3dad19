"""The command: `python -m validation [--only NAME] [--runs N] [--write]`."""

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from validation import abr, completion, kernel, player, radio, resumption, schedulers, stacks

STUDIES = {"completion": completion, "schedulers": schedulers, "resumption": resumption, "abr": abr}
APART = {"radio": radio, "kernel": kernel, "stacks": stacks, "player": player}
"""Studies that run only when they are named."""
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "validation.md"

HEAD = [
    "# Simulated and real",
    "",
    "This page compares simulation and reality: the same endpoint transfers the same files over HTTP/3 and the same",
    "link, in virtual time, and in real time, with `quiclab real serve` and `quiclab real fetch` over UDP and the link",
    "in `quiclab real relay` between them. The link has 10 Mbit/s and a queue of 100 packets, unless a section says",
    "otherwise. The same seed means the same random losses in both. Written by `make validation`.",
]


def page(former: str, sections: Sequence[str]) -> str:
    """The page with these sections, each in the place of the one with the same title, or behind all others."""
    titled = {section.split("\n")[0]: section for section in re.split(r"^(?=## )", former, flags=re.MULTILINE)[1:]}
    titled |= {section.split("\n")[0]: section for section in sections}
    return "\n".join([*HEAD, "", *(section.rstrip("\n") + "\n" for section in titled.values())])


def main() -> int:
    """Measures and writes; the exit code is 0 if everything holds."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("--only", choices=STUDIES | APART, help="this study alone")
    parser.add_argument("--runs", type=int, help="seeds of each cell, instead of as many as needed")
    parser.add_argument(
        "--write", action="store_true", help="write docs/validation.md, with --only the section of that study"
    )
    options = parser.parse_args()
    sections, holds = [], True
    with tempfile.TemporaryDirectory() as folder:
        named = {options.only: (STUDIES | APART)[options.only]} if options.only else STUDIES
        for study in named.values():
            section = study.study(Path(folder), options.runs)
            sections.append("\n".join(section.lines) + "\n")
            holds &= section.holds
            if options.write:
                for figure in section.figures:
                    shutil.copyfile(figure, DOCUMENT.parent / "images" / figure.name)
    print("\n".join(sections))
    if options.write:
        DOCUMENT.write_text(page(DOCUMENT.read_text(encoding="utf-8"), sections), encoding="utf-8")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
