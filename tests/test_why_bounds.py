"""What `why` runs again is no more than the run was, whatever a changed folder says."""

from pathlib import Path

import pytest

import quiclab

LINK = {"name": "l", "from": "server", "to": "client", "rate": "50 Mbit/s", "delay": "5 ms"}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    get = {"name": "get", "client": "client", "server": "server", "application": {"type": "bulk", "size": "300 kB"}}
    quiclab.Scenario(name="small", duration="20 s", link=[LINK], flow=[get]).run(out=tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("size", "duration"), [("10 TB", "100000 s"), ("300 MB", "20 s"), ("301 kB", "20 s"), ("300 kB", "20 s")]
)
def test_a_scenario_that_was_changed_is_not_run_for_long(folder: Path, size: str, duration: str) -> None:
    path = folder / "scenario.toml"
    text = path.read_text(encoding="utf-8")
    assert '"300 kB"' in text and '"20 s"' in text
    path.write_text(text.replace('"300 kB"', f'"{size}"').replace('"20 s"', f'"{duration}"'), encoding="utf-8")
    (answer,) = quiclab.load(folder).why()
    is_told = any("another run" in note for note in answer.notes)
    assert is_told == (size != "300 kB"), answer
