"""Sweeps with many runs: what grows with them and what does not, and tables that are made piece by piece."""

import subprocess
import sys
from pathlib import Path

import pytest

import quiclab
from conftest import SCENARIO
from quiclab import statistics
from quiclab.engines import sweeps
from quiclab.progress import SweepCallback
from quiclab.records import sweep_tables
from quiclab.results import sweeps as results

SHORT = SCENARIO.replace("300 kB", "1 kB")
"""A run of a tenth of a millisecond."""

COMBINATIONS = """
[sweep]
repetitions = 3
transport.ack_ratio = [1, 4, 10]
link.cell.delay = ["10 ms", "20 ms", "30 ms"]
link.cell.forward.loss = ["0 %", "40 %"]
"""


def short_runs(path: Path, repetitions: int) -> Path:
    """Write a sweep of this many short runs."""
    file = path / f"sweep-{repetitions}.toml"
    file.write_text(f"{SHORT}\n[sweep]\nrepetitions = {repetitions}\n", encoding="utf-8")
    return file


PEAK = """
import sys
from resource import RUSAGE_SELF, getrusage

import quiclab
from quiclab.results import sweeps
from quiclab.records import sweep_tables

# What does not grow is reached by few runs already.
sweep_tables._ROWS_AT_ONCE = sweeps._ROWS_OF_MEANS = 512
for _ in range(2):
    sweep = quiclab.sweep(sys.argv[1], out=sys.argv[1] + ".out", jobs=1)
    sweep.means("goodput_mbps", "completion_s")
peak = getrusage(RUSAGE_SELF).ru_maxrss
print(peak if sys.platform == "darwin" else 1024 * peak)
"""
FEW, MANY = 6_000, 30_000
MOST_BYTES_OF_A_RUN = 350


def test_the_memory_of_a_sweep_does_not_grow_with_what_its_runs_give(tmp_path: Path) -> None:
    """The place of each run in the folder stays in memory, and the key of a finished one: 65 columns take 520 bytes."""
    peaks = []
    for repetitions in (FEW, MANY):
        command = [sys.executable, "-c", PEAK, str(short_runs(tmp_path, repetitions))]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert peaks[1] - peaks[0] < MOST_BYTES_OF_A_RUN * (MANY - FEW), peaks


def test_the_folder_of_many_runs_has_few_files(tmp_path: Path) -> None:
    quiclab.sweep(short_runs(tmp_path, 3000), out=tmp_path / "out", jobs=2)
    names = sorted(str(file.relative_to(tmp_path / "out")) for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert names == ["finished/000000.runs", "runs.parquet", "sweep.json", "sweep.toml"]


@pytest.fixture
def combined(tmp_path: Path) -> quiclab.Sweep:
    """A sweep of 18 combinations; in some of them transfers are not completed."""
    file = tmp_path / "combined.toml"
    file.write_text(SHORT.replace('duration = "20 s"', 'duration = "100 ms"') + COMBINATIONS, encoding="utf-8")
    quiclab.sweep(file, out=tmp_path / "combined")
    return quiclab.load_sweep(tmp_path / "combined")


@pytest.mark.parametrize("rows", [1, 3, 7, 12, 53, 54])
def test_means_that_are_made_in_pieces_are_those_of_the_whole_table(
    combined: quiclab.Sweep, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(results, "_ROWS_OF_MEANS", rows)
    columns = ["connection.download.goodput_mbps", "connection.download.completion_s"]
    intervals: tuple[statistics.Interval, ...] = ("student", "bootstrap")
    for interval in intervals:
        pieces = combined.means(*columns, interval=interval)
        whole = statistics.means(combined.runs, columns, combined.parameters, interval=interval)
        assert pieces.equals(whole)
        assert {row["n"] for row in pieces.to_pylist()} > {0, 3}
        combined._tables.clear()


def test_equal_values_of_several_combinations_are_one_group(
    combined: quiclab.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However they come to be equal: then no piece has all of a group."""
    monkeypatch.setattr(results, "_ROWS_OF_MEANS", 6)
    combined.info["parameters"] = [one for one in combined.info["parameters"] if "loss" in one["path"]]
    means = combined.means("goodput_mbps").to_pylist()
    assert [row["total"] for row in means] == [27, 27]


@pytest.mark.parametrize("most", [1, 5, 17, 18, 40])
def test_few_of_many_means_are_those_of_the_whole_table(
    combined: quiclab.Sweep, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(results, "_ROWS_OF_MEANS", 7)
    columns = ["connection.download.goodput_mbps", "connection.download.completion_s"]
    whole = combined.means(*columns).arrow
    first, counts = combined._first_means(columns, most, "student")
    assert first.slice(0, 2 * most).equals(whole.slice(0, 2 * most))
    assert len(first) == 2 * min(18, most)
    assert sorted(statistics.parts(counts.to_pylist())) == sorted(statistics.parts(whole.to_pylist()))
    assert len(counts) == 36


def test_means_read_only_the_columns_that_they_need(combined: quiclab.Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiclab.Sweep, "runs", property(lambda _: pytest.fail("the whole table is read")))
    assert len(combined.means("goodput_mbps")) == 18
    assert len(combined.means("goodput_mbps", by=["transport.ack_ratio"])) == 3
    assert len(combined.quantiles("completion_s", by=[])) == 1
    assert {"run", "error", "connection.download.goodput_mbps"} < set(combined.columns)
    with pytest.raises(quiclab.Error, match=r"no column 'gootput_mbps'.*did you mean"):
        combined.means("gootput_mbps")


def test_the_list_of_failures_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "_MOST_FAILURES", 3)
    table = '[sweep]\nrepetitions = 5\nduration = ["20 s", "1 s"]\nflow.download.start = ["0 s", "5 s"]\n'
    file = tmp_path / "sweep.toml"
    file.write_text(SHORT + table, encoding="utf-8")
    sweep = quiclab.sweep(file, out=tmp_path / "out")
    assert (sweep.info["failed"], [failure["run"] for failure in sweep.failures]) == (5, [16, 17, 18])
    assert sum(error is not None for error in sweep.runs["error"].to_pylist()) == 5


def test_a_sweep_that_ends_while_it_writes_tables_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_tables, "_ROWS_AT_ONCE", 10)
    monkeypatch.setattr(sweeps, "_SECONDS_BETWEEN_REPORTS", 0.0)
    text = SHORT + COMBINATIONS.replace("[sweep]", '[sweep]\nseries = ["queue"]')
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    seen: list[float] = []

    def until(part: float) -> SweepCallback:
        def watch(far: quiclab.SweepProgress) -> None:
            if far.written is not None:
                seen.append(far.written)
                if far.written >= part:
                    raise KeyboardInterrupt

        return watch

    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    for part in (0.1, 0.5, 0.9):
        with pytest.raises(KeyboardInterrupt):
            quiclab.sweep(file, out=out, progress=until(part))
        with pytest.raises(quiclab.OutputError, match="not complete: run it again to continue"):
            quiclab.load_sweep(out)
        assert not list(out.glob(".*"))
    seen.clear()
    again = quiclab.sweep(file, out=out, progress=until(2.0))
    assert again.reused == 54
    assert seen == sorted(seen)
    assert seen[0] > 0
    assert seen[-1] == pytest.approx(1.0)
    monkeypatch.undo()
    quiclab.sweep(file, out=tmp_path / "other")
    for name in ("series.parquet", "sweep.json", "sweep.toml"):
        assert (out / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    assert again.runs.equals(quiclab.load_sweep(tmp_path / "other").runs)
