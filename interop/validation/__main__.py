"""The command: `python -m validation [--only NAME] [--runs N] [--write]`."""

import argparse
import sys
import tempfile
from pathlib import Path

from validation import completion, schedulers

STUDIES = {"completion": completion, "schedulers": schedulers}
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "validation.md"

HEAD = [
    "# Simulated and real",
    "",
    "The same files from a server to a client over HTTP/3 and a link of 10 Mbit/s with a queue of 100 packets, by our",
    "endpoint simulated in virtual time, and by the same endpoint in real time: `quiclab serve` and `quiclab fetch`",
    "over UDP, and the link in `quiclab relay` between them. A seed means the same random losses in both.",
    "Written by `make validation`.",
]


def main() -> int:
    """Measures and writes; the exit code is 0 if everything holds."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("--only", choices=STUDIES, help="this study alone")
    parser.add_argument("--runs", type=int, help="seeds of each cell, instead of as many as needed")
    parser.add_argument("--write", action="store_true", help="write docs/validation.md")
    options = parser.parse_args()
    if options.only and options.write:
        parser.error("the page has all studies: --write without --only")
    lines, holds = list(HEAD), True
    with tempfile.TemporaryDirectory() as folder:
        for name, study in STUDIES.items():
            if options.only in (None, name):
                section = study.study(Path(folder), options.runs)
                lines += ["", *section.lines]
                holds &= section.holds
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        DOCUMENT.write_text(text, encoding="utf-8")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
