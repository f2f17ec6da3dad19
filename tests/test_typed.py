"""Types for users: a program of theirs passes `mypy --strict`, and mistakes in it do not."""

import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest

from quiclab.results.choice import Choice, Options

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "typed" / "experiment.py"


def mypy(folder: Path, program: str) -> str:
    """What mypy says of a program, of the program alone."""
    # Its own name: mypy takes a file of the same name, size and time for one that it has seen.
    name = f"program_{crc32(program.encode())}.py"
    (folder / name).write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary", "--hide-error-context"]
    command += ["--follow-imports=silent", "--ignore-missing-imports", "--cache-dir", str(ROOT / ".mypy_cache/users")]
    environment = {"MYPYPATH": str(ROOT / "python"), "PATH": ""}
    done = subprocess.run([*command, name], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_a_program_is_found_right(tmp_path: Path) -> None:
    assert mypy(tmp_path, PROGRAM.read_text(encoding="utf-8")) == ""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("quiclab.Scenario.from_file('a.toml').run(sed=1)", 'Unexpected keyword argument "sed"'),
        ("quiclab.load_sweep('a').plot(x='a', colour='b')", 'Unexpected keyword argument "colour"'),
        ("quiclab.load_sweep('a').plot(y='a')", 'Missing named argument "x"'),
        ("quiclab.load_sweep('a').means('b', interval='normal')", 'Argument "interval"'),
        ("quiclab.load('a').path.name", 'Item "None"'),
        ("quiclab.plots.draw('a')", 'Argument 1 to "draw"'),
        ("quiclab.nothing", 'has no attribute "nothing"'),
    ],
)
def test_mistakes_are_found(line: str, error: str, tmp_path: Path) -> None:
    found = mypy(tmp_path, f"import quiclab\n\n{line}\n")
    assert ".py:3: error: " in found and error in found


def test_the_arguments_of_a_plot_are_the_fields_of_a_choice() -> None:
    assert list(Options.__annotations__) == list(Choice.__dataclass_fields__)
