"""Code that a scenario names: every file is said before it runs, and `check` runs none where results lie."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SCENARIO, Command

MARKS = 'import pathlib\npathlib.Path(r"{marker}").write_text("ran")\n'
CODE = """
import quiclab

class Mine(quiclab.Controller):
    def on_ack(self, ack):
        self.window_bytes += 10
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with code that leaves a marker when it runs."""
    (tmp_path / "mine.py").write_text(MARKS.format(marker=tmp_path / "MARKER") + CODE)
    return tmp_path


def naming(where: Path) -> str:
    """A scenario with a class of the file there."""
    return SCENARIO.replace('"newreno"', f'"{where}/mine.py:Mine"')


@pytest.mark.parametrize("inside", ["pkg", "pkg.deep"])
def test_the_packages_of_a_module_are_said_before_they_run(tmp_path: Path, inside: str) -> None:
    folder, said = tmp_path, []
    for name in inside.split("."):
        folder = folder / name
        folder.mkdir()
        said.append(str((folder / "__init__.py").relative_to(tmp_path)))
        (folder / "__init__.py").write_text(f'import sys\nprint("ran", r"{said[-1]}", file=sys.stderr)\n')
    (folder / "m.py").write_text(f'import sys\nprint("ran {inside}", file=sys.stderr)\n{CODE}')
    said.append(str((folder / "m.py").relative_to(tmp_path)))
    (tmp_path / "s.toml").write_text(SCENARIO.replace('"newreno"', f'{{ type = "{inside}.m:Mine" }}'))
    lines = Command(tmp_path)("check", "s.toml").stderr.splitlines()
    expected = []
    for file in said[:-1]:
        expected += [f"quiclab: the scenario runs Python code: {file}", f"ran {file}"]
    assert lines[: 2 * len(said)] == [
        *expected, f"quiclab: the scenario runs Python code: {said[-1]}", f"ran {inside}"
    ]  # fmt: skip


def _run(folder: Path) -> None:
    for name in ("scenario.toml", "summary.json"):
        (folder / name).write_text("")


def _dangling(folder: Path) -> None:
    (folder / "summary.json").symlink_to("gone")


def _dangling_sweep(folder: Path) -> None:
    (folder / "sweep.json").symlink_to("gone")


def _unfinished(folder: Path) -> None:
    (folder / "sweep.toml").write_text("")
    (folder / "finished").mkdir()


def _looping(folder: Path) -> None:
    (folder / "summary.json").symlink_to("summary.json")


@pytest.mark.parametrize("made", [_run, _dangling, _dangling_sweep, _unfinished, _looping])
@pytest.mark.parametrize("how", ["file", "standard input", "link", "link of a link"])
def test_check_of_results_runs_nothing(place: Path, made: object, how: str) -> None:
    results = place / "results"
    results.mkdir()
    assert callable(made)
    made(results)
    document = results / "s.toml"
    document.write_text(naming(place))
    (place / "out.toml").write_text(naming(place))
    (results / "link.toml").symlink_to(place / "out.toml")
    (place / "link.toml").symlink_to(results / "s.toml")
    (place / "two.toml").symlink_to(results / "link.toml")
    file, folder = {
        "file": ("results/s.toml", place),
        "standard input": ("-", results),
        "link": ("link.toml", place),
        "link of a link": ("two.toml", place),
    }[how]
    checked(place, folder, file, document)


@pytest.mark.parametrize("made", [_run, _dangling_sweep, _unfinished])
@pytest.mark.parametrize("how", ["file", "standard input"])
def test_check_below_results_runs_nothing(place: Path, made: object, how: str) -> None:
    below = place / "results" / "a" / "b"
    below.mkdir(parents=True)
    assert callable(made)
    made(place / "results")
    (below / "s.toml").write_text(naming(place))
    checked(place, below, "-" if how == "standard input" else "s.toml", below / "s.toml")


def test_check_in_a_folder_that_a_killed_run_left_runs_nothing(place: Path) -> None:
    folder = place / ".a.partial-17"
    folder.mkdir()
    (folder / "scenario.toml").write_text(naming(place))
    checked(place, folder, "scenario.toml", folder / "scenario.toml")


def checked(place: Path, folder: Path, file: str, document: Path) -> None:
    with document.open("rb") as text:
        done = subprocess.run(
            [sys.executable, "-m", "quiclab", "check", file],
            cwd=folder, stdin=text, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "a valid scenario" in done.stdout
    assert not (place / "MARKER").exists()


def test_check_elsewhere_runs_the_code(place: Path) -> None:
    """Else the tests above would show nothing."""
    (place / "s.toml").write_text(naming(place))
    shutil.copytree(place, place / "copy", ignore=lambda *_: ["copy"])
    assert Command(place)("check", "s.toml").returncode == 0
    assert (place / "MARKER").exists()
