"""Sweeps that were interrupted, killed or extended: the tables are those of one that was not."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

import quiclab
from conftest import SCENARIO, Command, kept, many_short_runs, same_tables

REPETITIONS = 300
SWEEP = many_short_runs(REPETITIONS)
"""Runs of a millisecond or two, and so many of them that none of the interruptions below comes too late."""
RUNS = 6 * REPETITIONS


@pytest.fixture
def sweeps(command: Command) -> Command:
    """The command with sweep.toml beside it."""
    (command.folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    return command


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep that nothing interrupted."""
    path = tmp_path_factory.mktemp("whole")
    (path / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    quiclab.sweep(path / "sweep.toml", out=path / "out", jobs=1)
    return path / "out"


def _wait_for_others() -> None:
    os.nice(5)


def interrupt(command: Command, kill: signal.Signals, more: int, jobs: int) -> "subprocess.Popen[str]":
    """Starts the sweep and sends the signal when its folder has grown by this many bytes."""
    folder = command.folder / "out"
    before = kept(folder)
    # Where processors are scarce, the sweep waits, not the one who is to interrupt it.
    process = command.start("sweep", "sweep.toml", "--out", "out", "--jobs", str(jobs), before=_wait_for_others)
    while process.poll() is None and kept(folder) < before + more:
        time.sleep(0.001)
    process.send_signal(kill)
    return process


def test_one_job_and_two_give_the_same_bytes(sweeps: Command, whole: Path) -> None:
    result = sweeps("sweep", "sweep.toml", "--out", "out", "--jobs", "2")
    assert result.returncode == 0, result.stderr
    same_tables(sweeps.folder / "out", whole)


@pytest.mark.parametrize(("kill", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ten_interruptions_at_random_moments_leave_no_trace(
    sweeps: Command, whole: Path, kill: signal.Signals, code: int
) -> None:
    folder = sweeps.folder / "out"
    moments = random.Random(4)
    # Ten times at most a twentieth: half of it is left at the end.
    most = kept(whole) // 20
    ends = []
    for _ in range(10):
        before = kept(folder)
        process = interrupt(sweeps, kill, moments.randint(1, most), moments.randint(1, 2))
        _, errors = process.communicate(timeout=60)
        ends.append(process.returncode)
        assert kept(folder) >= before
        if kill == signal.SIGINT:
            assert errors.endswith("quiclab: interrupted\n"), errors
            assert "finished runs are kept: the same command continues" in errors
    assert ends == [code] * 10
    assert not (folder / "sweep.json").exists()
    before = kept(folder)
    result = sweeps("sweep", "sweep.toml", "--out", "out", "--json")
    assert result.returncode == 0, result.stderr
    # It ran only what was missing: what the folder had is there still, and half of the runs at most were added.
    assert 0 < json.loads(result.stdout)["reused"] < RUNS
    assert kept(folder) > before
    same_tables(folder, whole)


def test_a_kill_while_tables_are_written_leaves_none_of_them_half(sweeps: Command, whole: Path) -> None:
    folder = sweeps.folder / "out"
    assert sweeps("sweep", "sweep.toml", "--out", "out").returncode == 0
    # What a killed process leaves: its files beside the names that they were to get, and no sweep.json.
    (folder / "sweep.json").unlink()
    (folder / "runs.parquet").write_bytes(b"an older one")
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    (folder / f".series.parquet.partial-{gone.pid}").write_bytes(b"PAR1 half")
    (folder / f".runs.parquet.partial-{os.getpid()}").write_bytes(b"of somebody who lives")
    result = sweeps("sweep", "sweep.toml", "--out", "out", "--json")
    assert json.loads(result.stdout)["reused"] == RUNS
    same_tables(folder, whole)
    assert sorted(file.name for file in folder.glob(".*")) == [f".runs.parquet.partial-{os.getpid()}"]


def test_an_extended_sweep_runs_what_is_new(sweeps: Command, whole: Path) -> None:
    for repetitions, ratios, there, runs in (
        (5, "[10]", 0, 10),
        (5, "[1, 10]", 10, 20),
        (20, "[10]", 10, 40),
        (20, "[1, 4, 10]", 50, 120),
    ):
        changes = (f"sweep.repetitions={repetitions}", f"sweep.transport.ack_ratio={ratios}")
        arguments = [argument for change in changes for argument in ("--set", change)]
        told = json.loads(sweeps("sweep", "sweep.toml", "--out", "out", "--json", *arguments).stdout)
        assert (told["reused"], told["runs"]) == (there, runs), changes
    told = json.loads(sweeps("sweep", "sweep.toml", "--out", "out", "--json").stdout)
    assert (told["reused"], told["runs"]) == (120, RUNS)
    same_tables(sweeps.folder / "out", whole)


def test_failed_runs_are_told_and_the_others_are_there(sweeps: Command) -> None:
    # A flow that begins after the end of its run is no scenario: one of four combinations.
    table = '[sweep]\nrepetitions = 2\nduration = ["20 s", "1 s"]\nflow.download.start = ["0 s", "5 s"]\n'
    (sweeps.folder / "sweep.toml").write_text(SCENARIO + table, encoding="utf-8")
    for reused in (0, 6):
        result = sweeps("sweep", "sweep.toml", "--out", "out", "--json")
        assert result.returncode == 1
        told = json.loads(result.stdout)
        assert (told["runs"], told["failed"], told["reused"]) == (8, 2, reused)
        for failure, number in zip(told["failures"], (7, 8), strict=True):
            assert failure["run"] == number
            assert failure["values"] == {"duration": "1 s", "flow.download.start": "5 s"}
            assert "too late" in failure["error"]
            # The line is a command that shows the failure alone.
            line = (
                f"run {number} failed: --seed {failure['seed']} --set duration='1 s' --set flow.download.start='5 s': "
            )
            assert line in result.stderr
    made = quiclab.load_sweep(sweeps.folder / "out")
    assert made.failures == told["failures"]
    errors = made.runs.column("error").to_pylist()
    assert [error is None for error in errors] == [True] * 6 + [False] * 2
    assert made.runs.column("connection.download.packets_sent").null_count == 2
    seed, start = str(made.failures[0]["seed"]), "flow.download.start=5 s"
    alone = sweeps("run", "sweep.toml", "--seed", seed, "--set", "duration=1 s", "--set", start)
    assert alone.returncode == 2
    assert "too late" in alone.stderr


def test_a_sweep_prints_its_table_and_where_it_is(sweeps: Command) -> None:
    result = sweeps("sweep", "sweep.toml", "--set", "sweep.repetitions=1")
    assert result.returncode == 0, result.stderr
    assert "runs     6, 0 reused, 0 failed" in result.stdout
    assert "folder   sweeps/bulk" in result.stdout


def test_columns_of_the_printed_table_can_be_named(sweeps: Command) -> None:
    arguments = ("sweep", "sweep.toml", "--set", "sweep.repetitions=3", "--show", "packets_lost", "--show", "seed")
    result = sweeps(*arguments, "--interval", "bootstrap")
    assert result.returncode == 0, result.stderr
    assert "packets_lost" in result.stdout and "seed" in result.stdout and "goodput" not in result.stdout
    told = json.loads(sweeps(*arguments, "--json").stdout)
    assert [row["column"] for row in told["means"][:2]] == ["connection.download.packets_lost", "seed"]
    for wrong, message in (
        (["--show", "packet_lost"], "no column 'packet_lost'"),
        (["--interval", "x"], "--interval 'x': expected one of student"),
    ):
        result = sweeps("sweep", "sweep.toml", *wrong)
        assert (result.returncode, result.stdout) == (2, "")
        assert message in result.stderr


def test_check_describes_the_sweep_and_reads_its_values(sweeps: Command) -> None:
    lines = [" ".join(line.split()) for line in sweeps("check", "sweep.toml").stdout.splitlines()]
    assert "sweep transport.ack_ratio 3 values, 1 to 10" in lines
    assert "sweep link.cell.delay 2 values, 10 ms to 20 ms" in lines
    assert f"sweep {RUNS} runs, {REPETITIONS} of each combination, series of queue" in lines
    (sweeps.folder / "sweep.toml").write_text(SWEEP.replace('"20 ms"', '"20 mm"'), encoding="utf-8")
    result = sweeps("check", "sweep.toml")
    assert (result.returncode, result.stdout) == (2, "")
    assert "20 mm" in result.stderr


def test_two_at_once_in_one_folder_do_not_meet(sweeps: Command, whole: Path) -> None:
    both = [sweeps.start("sweep", "sweep.toml", "--out", "out", "--jobs", "1") for _ in range(2)]
    assert [process.communicate(timeout=60) and process.returncode for process in both] == [0, 0]
    same_tables(sweeps.folder / "out", whole)
