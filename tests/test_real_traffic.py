"""docs/real-traffic.md: the commands of the guide can be typed as they stand, and do what it says."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quiclab
from programs import needs, needs_a_player

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux")

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "real-traffic.md").read_text(encoding="utf-8")
GUIDE, _, RECIPES = PAGE.partition("## Recipes")
COMMANDS = re.findall(r"^    ((?:quiclab|mkdir) .*)$", GUIDE, re.MULTILINE)
PROGRAMS = re.findall(r"^```python\n(.*?)^```\n\n    ([^\n]*)$", PAGE, re.MULTILINE | re.DOTALL)
FILES = dict(re.findall(r"`(\w+\.toml)`:\n\n```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like that of the checkout, in which the commands of the page were typed one after the other."""
    needs_a_player()
    needs("ffmpeg")
    folder = tmp_path_factory.mktemp("guide")
    (folder / "examples").symlink_to(ROOT / "examples")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    programs = folder / "bin"
    programs.mkdir()
    (programs / "quiclab").write_text(f'#!/bin/sh\nexec {sys.executable} -m quiclab "$@"\n', encoding="utf-8")
    (programs / "quiclab").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "SHELL": "/bin/true"}
    for line in COMMANDS:
        done = subprocess.run(
            line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return folder


def test_the_page_has_its_parts() -> None:
    assert len(COMMANDS) == 7 and len(PROGRAMS) == 1 and FILES.keys() == {"cell.toml", "tv.toml"}
    assert "quiclab matrix" in RECIPES and "iperf3" in RECIPES and "chromium" in RECIPES


def test_the_files_came_whole(checkout: Path) -> None:
    sent = (checkout / "site" / "large.bin").read_bytes()
    assert len(sent) == 5_000_000
    for folder in ("copies", "again"):
        assert (checkout / folder / "large.bin").read_bytes() == sent


def test_the_folders_are_those_of_runs(checkout: Path) -> None:
    for name, gates in {"real": ["phone", "server"], "shared": ["phone", "server"], "played": ["server", "tv"]}.items():
        run = quiclab.load(checkout / name)
        assert sorted(run.summary["emulation"]["gates"]) == gates
        assert all(gate["left"] > 100 for gate in run.summary["emulation"]["gates"].values())
    (update,) = quiclab.load(checkout / "shared").summary["connections"]
    assert update["name"] == "update" and update["delivered_bytes"] > 1_000_000
    assert (checkout / "shared" / "figure.png").exists()


def test_the_simulated_numbers_are_those_of_the_page(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout)
    ((program, printed),) = PROGRAMS
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, "real-traffic.md", "exec"), {})
    assert out.getvalue().strip() == printed
    of = quiclab.load(checkout / "simulated").summary["connections"][0]["playback"]
    shown = f"{of['start_up_s']:.2f} | {of['stalls']} | {of['bitrate_mean_mbps']:.2f} | {of['switches']}"
    # The film depends on the version of ffmpeg, a little.
    row = re.search(r"^\| simulated \| (.*) \|$", PAGE, re.MULTILINE)
    assert row is not None
    for here, there in zip(shown.split(" | "), row.group(1).split(" | "), strict=True):
        assert float(here) == pytest.approx(float(there), rel=0.15, abs=1)


def test_both_players_played_the_film(checkout: Path) -> None:
    for name in ("simulated", "played"):
        run = quiclab.load(checkout / name)
        (film,) = run.summary["connections"]
        assert film["completed"] and film["playback"]["segments_played"] == 10
        segments = {row["segment"] for row in run.table("segment").to_pylist() if row["outcome"] == "complete"}
        assert segments == {None, *range(10)}
