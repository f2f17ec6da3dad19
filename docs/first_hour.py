"""A newcomer's first hour in a clean clone: `make first-hour`.

    python docs/first_hour.py [--clone FOLDER] [--report FILE]

Clones the last commit, and plays what README and the pages of `STEPS` ask for, as it stands there and in its order:
commands in a shell, programs in the clone's Python, files under the names that the text gives them. The report has the
time of each step and every line that a newcomer sees. The exit code is 1 if something failed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from operator import ne
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from documentation import Example, commands, examples  # noqa: E402

STEPS = [
    ("Set-up and demo", "README.md", "## Try it"),
    ("Five minutes", "README.md", "## Five minutes"),
    ("A tutorial", "docs/streams.md", None),
    ("A scenario of my own", "docs/command-line.md", "# The command line"),
    ("A controller of my own", "docs/controllers.md", "## In Python"),
    ("A trace of my own", "docs/traces.md", "## Your own trace"),
    ("A sweep", "docs/sweeps.md", "# Sweeps"),
    ("A question of my own", "docs/sweeps.md", "## A question, answered"),
    ("A figure for a paper", "docs/command-line.md", "## Figures for papers"),
]
"""What is played: a title, a page, and a heading of it, whose text ends at the next one; None: the whole page."""

LEFT_OUT = {
    "make test": "all tests take as long as `.ci/run`, which runs them",
}
"""Beginnings of commands that are not played, and why."""

SAID = {"quiclab diff ": 1}
"""Commands whose exit code is part of their answer, as that of `diff` is."""

LIMIT_S = 1800
"""The longest that one command may take."""


class Played(NamedTuple):
    """What was played, and what came of it."""

    place: str
    what: str
    seconds: float
    failed: bool
    output: str


def section(page: str, heading: str | None) -> Iterator[Example]:
    """The examples of a page, or those under a heading."""
    lines = (ROOT / page).read_text(encoding="utf-8").split("\n")
    first, last = 0, len(lines)
    if heading is not None:
        first = lines.index(heading)
        # In a block `# ` begins a comment.
        inside = accumulate((line.startswith("```") for line in lines[first + 1 :]), ne, initial=False)
        headings = (
            re.match("#+ ", line) and not block for line, block in zip(lines[first + 1 :], inside, strict=False)
        )
        last = next((at for at, heads in enumerate(headings, first + 1) if heads), last)
    return (example for example in examples(page) if first <= example.line < last)


def play(example: Example, clone: Path) -> Iterator[Played]:
    """Plays the parts of an example."""
    if example.file is not None:
        (clone / example.file).write_text(example.text + "\n", encoding="utf-8")
    elif example.kind == "sh":
        for command in commands(example):
            why = next((why for begin, why in LEFT_OUT.items() if command.startswith(begin)), None)
            if why is not None:
                yield Played(example.place, f"{command} (left out: {why})", 0.0, False, "")
                continue
            # There is no screen to open a page on.
            yield run(example.place, command, ["bash", "-c", command.replace(" --open", "")], clone)
    elif example.kind == "python" and re.match(r"(import|from) \w", example.text):
        yield run(example.place, example.text, ["python", "-c", example.text], clone)


def run(place: str, what: str, words: list[str], clone: Path) -> Played:
    """Runs a program as the reader would, with the clone's `.venv/bin` in front."""
    path = f"{clone / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # What belongs to another checkout must not help.
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    begin = time.monotonic()
    try:
        done = subprocess.run(
            words,
            cwd=clone,
            env={**inherited, "PATH": path, "NO_COLOR": "1", "COLUMNS": "100"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
        )
        output, failed = done.stdout, done.returncode not in (0, *(code for word, code in SAID.items() if word in what))
    except subprocess.TimeoutExpired:
        output, failed = f"longer than {LIMIT_S} s", True
    return Played(place, what, time.monotonic() - begin, failed, output)


def report(steps: list[tuple[str, list[Played]]]) -> str:
    """The times of all steps, and then everything that was said."""
    lines = ["# The first hour", "", "| step | seconds | commands | failed |", "| --- | --- | --- | --- |"]
    for title, parts in [*steps, ("all", [one for _, group in steps for one in group])]:
        seconds, failed = sum(one.seconds for one in parts), sum(one.failed for one in parts)
        lines.append(f"| {title} | {seconds:.1f} | {len(parts)} | {failed} |")
    for title, parts in steps:
        lines += ["", f"## {title}"]
        for one in parts:
            state = "failed" if one.failed else f"{one.seconds:.1f} s"
            lines += ["", f"### {one.place}: {state}", "", "```text", one.what, "```", ""]
            if one.output:
                lines += ["````text", one.output.rstrip("\n"), "````"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Plays the hour."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--clone", type=Path, help="where the clone is made, or is already; default: a temporary folder"
    )
    parser.add_argument("--report", type=Path, default=ROOT / "target" / "first-hour.md", help="default: %(default)s")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="first-hour-") as temporary:
        clone = chosen.clone or Path(temporary) / "quiclab"
        if not (clone / ".git").exists():
            subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        steps: list[tuple[str, list[Played]]] = []
        for title, page, heading in STEPS:
            parts = []
            for example in section(page, heading):
                for one in play(example, clone):
                    print(
                        f"{one.seconds:8.1f} s  {'FAILED' if one.failed else '      '}  {one.what.splitlines()[0]}",
                        flush=True,
                    )
                    parts.append(one)
            steps.append((title, parts))
    chosen.report.parent.mkdir(parents=True, exist_ok=True)
    chosen.report.write_text(report(steps), encoding="utf-8")
    print(f"report   {chosen.report}")
    return int(any(not parts or any(one.failed for one in parts) for _, parts in steps))


if __name__ == "__main__":
    sys.exit(main())
