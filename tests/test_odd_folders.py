"""Odd things in folders of results: links that lead to themselves, files with names that no table has."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import SCENARIO, SWEEP
from quiclab import report, view


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _long(path: Path) -> None:
    other = path.with_name(f"{path.name}-other")
    other.symlink_to(path.name)
    path.symlink_to(other.name)


def _file(path: Path) -> None:
    path.write_text("x")


def _empty(path: Path) -> None:
    path.mkdir()


def _loops_inside(path: Path) -> None:
    path.mkdir()
    for name in ("summary.json", "scenario.toml", "connection.parquet"):
        (path / name).symlink_to(name)


def _fifo(path: Path) -> None:
    path.mkdir()
    os.mkfifo(path / "summary.json")


@pytest.mark.parametrize("made", [_loop, _long, _file, _empty, _loops_inside, _fifo])
def test_a_report_does_not_depend_on_what_lies_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    swept = quiclab.sweep(quiclab.Scenario.from_text(SWEEP), jobs=1, out=tmp_path / "sweeps" / "a")
    (tmp_path / "runs").mkdir()
    made(tmp_path / "runs" / "bulk-seed1")
    made(tmp_path / "runs" / "bulk-seed\udcff")
    for what in (swept, "sweeps/a"):
        assert report.write(what, tmp_path / "r.html").sweeps == 1
    shutil.rmtree("runs")
    made(Path("runs"))
    assert report.write(swept, tmp_path / "r.html").sweeps == 1


def test_a_page_in_a_folder_whose_link_leads_nowhere(tmp_path: Path) -> None:
    run = quiclab.Scenario.from_text(SCENARIO).run(out=tmp_path / "a", figure=False)
    (tmp_path / "loop").symlink_to("loop")
    for write in (report.write, view.write):
        with pytest.raises(quiclab.Error):
            write(tmp_path / "loop")
        with pytest.raises(quiclab.Error):
            write(run, tmp_path / "loop" / "r.html")


@pytest.mark.parametrize("name", [".parquet", "a\x01b.parquet", "\x1b[31m.parquet", "\udcff.parquet", "a\nb.parquet"])
def test_a_file_that_has_the_name_of_no_table_is_passed_over(tmp_path: Path, name: str) -> None:
    run = quiclab.Scenario.from_text(SCENARIO).run(out=tmp_path / "a", qlog=True, figure=False)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    shutil.copy(tmp_path / "b" / "drop.parquet", tmp_path / "b" / name)
    loaded = quiclab.load(tmp_path / "b")
    assert sorted(loaded.tables) == sorted(run.tables) and loaded.notes == run.notes
    assert not quiclab.diff(tmp_path / "a", tmp_path / "b")
    report.write([tmp_path / "b", tmp_path / "a"], tmp_path / "r.html")
    loaded.save(tmp_path / "c")
    assert not quiclab.diff(tmp_path / "a", tmp_path / "c")


@pytest.mark.parametrize("name", ["scenario.toml", "summary.json"])
@pytest.mark.parametrize("depth", [90, 300, 800, 3_000])
def test_a_file_that_is_nested_deep_is_told_in_one_line(tmp_path: Path, name: str, depth: int) -> None:
    quiclab.Scenario.from_text(SCENARIO).run(out=tmp_path / "a", figure=False)
    file = tmp_path / "a" / name
    text = file.read_text()
    deep = ".".join(["a"] * depth) + " = 1\n" if name.endswith("toml") else '{"a":' * depth + "1" + "}" * depth
    file.write_text(deep + text if name.endswith("toml") else text.replace("{", f'{{"deep": {deep},', 1))
    for use in (report.write, lambda path: quiclab.diff(path, path), lambda path: quiclab.load(path).why(tries=False)):
        try:
            use(tmp_path / "a")
        except quiclab.Error as error:
            assert len(str(error).splitlines()) == 1 and len(str(error)) < 500
        else:
            assert depth < 100
