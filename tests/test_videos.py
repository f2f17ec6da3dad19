"""docs/videos.md: the commands of the guide can be typed as they stand, and its numbers are those that they give."""

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import Command

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "videos.md").read_text(encoding="utf-8")
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


def flows(file: str, *sets: str) -> dict[str, dict[str, Any]]:
    """The entries of the connections of a run by name."""
    summary = quiclab.Scenario.from_file(file, sets).run(tables=False).summary
    return {entry["name"]: entry for entry in summary["connections"]}


def rows(title: str) -> list[tuple[str, list[str]]]:
    """The table whose first cell is `title`: of each row its first cell and the others."""
    lines = PAGE.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith(f"| {title} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *others = (cell.strip() for cell in line.strip("|").split("|"))
        found.append((first, others))
    return found


def sets(row: str) -> list[str]:
    """The changes that a row's first cell has in code type."""
    words = [word for code in re.findall("`([^`]*)`", row) for word in shlex.split(code)]
    assert all((word == "--set") == (number % 2 == 0) for number, word in enumerate(words)), row
    return words[1::2]


def test_the_page_has_its_parts() -> None:
    assert set(FILES) == {"film.toml"}
    assert len(COMMANDS) == 4
    assert len(PROGRAMS) == 5
    assert "@" not in PAGE


def test_the_commands_can_be_typed_as_they_stand(command: Command, checkout: Path) -> None:
    command.folder = checkout
    for typed in COMMANDS:
        _, verb, *arguments = shlex.split(typed)
        assert verb in ("run", "plot")
        # The example is checked only, and has no folder: of it the table below has the numbers.
        arguments = [argument.replace("video-seed1", "film-seed1") for argument in arguments]
        result = command("check" if "examples" in typed else verb, *arguments)
        assert (result.returncode, result.stderr) == (0, "")
    assert (checkout / "runs" / "film-seed1" / "figure.png").exists()


def test_one_film_over_one_line() -> None:
    for row, cells in rows("line"):
        of = flows("film.toml", *sets(row))["film"]["playback"]
        numbers = f"{of['start_up_s']:.2f}", f"{of['stalls']:.0f}", f"{of['bitrate_mean_mbps']:.2f}"
        assert cells == [*numbers, f"{of['switches']:.0f}"], row


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_prints_what_the_page_shows(number: int) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(PROGRAMS[number], {})
    block = "".join(f"    {line}\n" for line in out.getvalue().splitlines())
    assert f"```\n\n{block}\n" in PAGE, block


@pytest.mark.parametrize(("row", "cells"), rows("in the cell"))
def test_two_televisions_and_a_download_in_one_cell(row: str, cells: list[str]) -> None:
    found = flows("examples/video.toml", *sets(row))
    near, far = (found[name]["playback"] for name in ("near", "far"))
    of_players = [f"{of[key]:.{digits}f}" for of in (near, far) for key, digits in KEYS]
    end = found["update"]["completion_s"]
    assert cells == [*of_players, "never" if end is None else f"{end:.1f}"]


KEYS = (("bitrate_mean_mbps", 2), ("stalled_s", 1))
"""Of each player in the table, with the digits that are shown."""
