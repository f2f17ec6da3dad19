"""The run folder appears complete or not at all."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from quiclab import OutputError
from quiclab.values import folders


def entries(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def test_it_is_hidden_until_complete(tmp_path: Path) -> None:
    with folders.complete(folders.only(tmp_path / "out")) as (partial, place):
        assert partial.name == f".out.partial-{os.getpid()}"
        assert place.final is None
        (partial / "file").write_text("x")
        assert entries(tmp_path) == [partial.name]
    assert place.final == tmp_path / "out"
    assert entries(tmp_path) == ["out"]
    assert entries(tmp_path / "out") == ["file"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_after_an_error(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), folders.complete(folders.only(tmp_path / "a" / "b" / "out")) as (partial, _):
        (partial / "file").write_text("x")
        raise error
    assert entries(tmp_path) == []


def test_a_parent_that_somebody_else_uses_stays(tmp_path: Path) -> None:
    with pytest.raises(ValueError), folders.complete(folders.only(tmp_path / "a" / "out")):
        (tmp_path / "a" / "theirs").touch()
        raise ValueError
    assert entries(tmp_path / "a") == ["theirs"]


def test_one_that_exists_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="exists already"), folders.complete(folders.only(tmp_path / "out")):
        pytest.fail("the run must not start")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="exists already"), folders.complete(folders.only(tmp_path / "link")):
        pytest.fail("the run must not start")


def test_one_that_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match="meanwhile"),
        folders.complete(folders.only(tmp_path / "out")) as (partial, _),
    ):
        (tmp_path / "out").mkdir()
    assert entries(tmp_path) == ["out"]
    assert not partial.exists()


def test_default_names_are_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    finals = []
    for _ in range(3):
        with folders.complete(folders.numbered("two hosts/x", 7)) as (_, place):
            pass
        finals.append(str(place.final))
    assert finals == ["runs/two-hosts-x-seed7", "runs/two-hosts-x-seed7-2", "runs/two-hosts-x-seed7-3"]


def test_two_at_one_name_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        folders.complete(folders.numbered("x", 1)) as (first, one),
        folders.complete(folders.numbered("x", 1)) as (second, two),
    ):
        assert first != second
    assert {str(one.final), str(two.final)} == {"runs/x-seed1", "runs/x-seed1-2"}


@pytest.mark.parametrize("name", ["..", "", "../../etc", ".hidden"])
def test_a_scenario_cannot_choose_another_folder(name: str) -> None:
    first = folders.numbered(name, 1).first
    assert first.parent == Path("runs")
    assert not first.name.startswith(".")


def test_errors_name_the_final_folder(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=f"^{tmp_path}/out/x.sqlog: full$"),
        folders.complete(folders.only(tmp_path / "out")) as (partial, _),
    ):
        raise OutputError(f"{partial}/x.sqlog: full")


def test_errors_of_the_system_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(OutputError, match=r"cannot be written: Not a directory$"),
        folders.complete(folders.only(tmp_path / "file" / "out")),
    ):
        pytest.fail("the run must not start")


HOLDING = """
import sys
from pathlib import Path
from quiclab.values import folders as folder
with folder.complete(folder.numbered(sys.argv[1], 1)) as (partial, _):
    (partial / "file").write_text("x")
    held = folder.temporary()
    print(partial.name, held.name, flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a lock of a folder is a matter of POSIX")
def test_what_a_killed_run_left_is_taken_away_and_what_lives_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", HOLDING]
    killed, alive = (subprocess.Popen([*words, name], stdin=pipe, stdout=pipe, text=True) for name in ("a", "b"))
    left, held = [], []
    for process in (killed, alive):
        assert process.stdout is not None
        partial, temporary = process.stdout.readline().split()
        left.append(partial)
        held.append(Path(temporary))
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    (tmp_path / "runs" / ".theirs.partial-x").mkdir()
    assert entries(tmp_path / "runs") == sorted([*left, ".theirs.partial-x"])
    # A run of another name: all in runs/ is ours. A folder of somebody's choice is not.
    with folders.complete(folders.only(tmp_path / "runs" / "c")):
        assert (tmp_path / "runs" / left[0]).exists()
    with folders.complete(folders.numbered("c", 2)):
        assert not (tmp_path / "runs" / left[0]).exists()
    assert entries(tmp_path / "runs") == sorted([left[1], ".theirs.partial-x", "c", "c-seed2"])
    assert [path.exists() for path in held] == [True, True]
    mine = folders.temporary()
    assert [path.exists() for path in held] == [False, True] and Path(mine.name).exists()
    alive.communicate("")
    assert (tmp_path / "runs" / "b-seed1" / "file").read_text() == "x"
