"""docs/wireless.md: the commands of the guide can be typed as they stand, and its numbers are those that they give."""

import contextlib
import io
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import Command

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "wireless.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
COMMANDS = re.findall(r"^    (quiclab .*)$", PAGE, re.MULTILINE)
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = dict(re.findall(r"`(\w+\.toml)`:\n\n```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
"""The scenarios that the reader is to save, by name."""


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like that of the checkout, with the files of the page in it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(file: str, *sets: str) -> quiclab.Run:
    return quiclab.Scenario.from_file(file, sets).run()


def flows(run: quiclab.Run) -> dict[str, dict[str, Any]]:
    """The entries of the connections by name."""
    return {entry["name"]: entry for entry in run.summary["connections"]}


def lanes(run: quiclab.Run) -> dict[str, dict[str, Any]]:
    """What the summary says of the lanes of the air, by name."""
    keys = ("name", "attachment", "to")
    return {" ".join(entry[key] for key in keys if key in entry): entry["air"] for entry in run.summary["media"]}


def rows(title: str) -> dict[str, list[str]]:
    """The table whose first cell is `title`: the cells of its rows by the first of each."""
    lines = PAGE.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith(f"| {title} |"))
    found = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *others = (cell.strip() for cell in line.strip("|").split("|"))
        found[first] = others
    return found


def sets(row: str) -> list[str]:
    """The changes that a row's first cell has in code type."""
    words = [word for code in re.findall("`([^`]*)`", row) for word in shlex.split(code)]
    assert all((word == "--set") == (number % 2 == 0) for number, word in enumerate(words)), row
    return words[1::2]


def printed(program: str) -> list[str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {})
    return out.getvalue().splitlines()


def shown(lines: Iterable[str]) -> None:
    """Asserts that the page shows these lines, one below the other."""
    block = "".join(f"    {line}\n" for line in lines)
    assert block in PAGE, block


def said(*phrases: str) -> None:
    """Asserts that the page says these words, wherever its lines end."""
    for phrase in phrases:
        assert phrase in WORDS, phrase


def test_the_page_has_its_parts() -> None:
    assert set(FILES) == {"phone.toml", "two.toml"}
    assert len(COMMANDS) >= 8
    assert len(PROGRAMS) >= 3


@pytest.mark.parametrize("typed", COMMANDS)
def test_a_command_can_be_typed_as_it_stands(command: Command, checkout: Path, typed: str) -> None:
    """It is checked instead of run, which takes the same files and changes."""
    _, verb, *arguments = shlex.split(typed)
    assert verb in ("run", "check", "list", "reproduce")
    command.folder = checkout
    if verb == "reproduce":
        verb, arguments = "reproduce", ["--list"]
    result = command("check" if verb == "run" else verb, *arguments)
    assert (result.returncode, result.stderr) == (0, "")


def test_one_phone_and_three_radios() -> None:
    for radio, cells in rows("radio").items():
        (get,) = flows(run("phone.toml", *sets(radio))).values()
        assert cells == [f"{get['goodput_mbps']:.1f}", f"{get['rtt_mean_ms']:.0f}"], radio


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_prints_what_the_page_shows(number: int) -> None:
    shown(printed(PROGRAMS[number]))
