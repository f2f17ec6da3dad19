"""The engine dask, with a real scheduler and real workers, one of which is killed."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import KilledWorker

import quiclab
from conftest import SCENARIO, Command, kept, many_short_runs, same_tables

SWEEP = many_short_runs(300)
RUNS = 1800


@pytest.fixture
def sweeps(command: Command) -> Command:
    """The command in a folder that contains sweep.toml."""
    (command.folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    return command


def start(folder: Path, role: str, *arguments: str, path: Path | None = None) -> "subprocess.Popen[str]":
    """A scheduler or a worker, which prints to a file."""
    before = [str(path)] if path else []
    paths = os.pathsep.join([*before, *filter(None, [os.environ.get("PYTHONPATH")])])
    with (folder / f"{role}-{len(list(folder.glob('*.log')))}.log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{role}", *arguments],
            cwd=folder,
            env={**os.environ, "DASK_DISTRIBUTED__WORKER__DAEMON": "False", "PYTHONPATH": paths},
            stdout=log,
            stderr=log,
            text=True,
        )


def start_scheduler(folder: Path) -> "tuple[str, subprocess.Popen[str]]":
    """A scheduler on the loopback interface: its address and its process."""
    arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", "scheduler.json"]
    process = start(folder, "scheduler", *arguments)
    file = folder / "scheduler.json"
    while not file.exists() or not file.read_text():
        assert process.poll() is None, (folder / "scheduler-0.log").read_text()
        time.sleep(0.02)
    return json.loads(file.read_text())["address"], process


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """The address of a scheduler."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    address, process = start_scheduler(folder)
    try:
        yield address
    finally:
        process.kill()
        process.wait()


def worker(scheduler: str, folder: Path, path: Path | None = None) -> "subprocess.Popen[str]":
    """Start a worker with one thread in one process, so that a kill ends all of it.

    `path`: a folder in which Python looks for modules first.
    """
    arguments = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--local-directory", "."]
    return start(folder / "cluster", "worker", scheduler, *arguments, path=path)


def test_a_worker_that_is_killed_in_the_middle_changes_no_byte(sweeps: Command, scheduler: str) -> None:
    here = quiclab.sweep(sweeps.folder / "sweep.toml", out=sweeps.folder / "here", jobs=2)
    assert here.path is not None
    workers = [worker(scheduler, sweeps.folder) for _ in range(2)]
    try:
        process = sweeps.start("sweep", "sweep.toml", "--engine", "dask", "--scheduler", scheduler, "--out", "there")
        there = sweeps.folder / "there"
        while process.poll() is None and kept(there) < kept(here.path) // 4:
            time.sleep(0.001)
        workers[0].send_signal(signal.SIGKILL)
        assert workers[0].wait() == -signal.SIGKILL
        assert kept(there) < kept(here.path), "the worker was killed before the sweep was complete"
        printed, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert f"runs     {RUNS}, 0 reused, 0 failed" in printed
        assert workers[1].poll() is None
        same_tables(there, here.path)
        # Finished runs are not computed again, and the results of the cluster are reused here.
        told = sweeps("sweep", "sweep.toml", "--engine", "dask", "--scheduler", scheduler, "--out", "there", "--json")
        assert json.loads(told.stdout)["reused"] == RUNS
        assert json.loads(sweeps("sweep", "sweep.toml", "--out", "there", "--json").stdout)["reused"] == RUNS
        same_tables(there, here.path)
    finally:
        for process in workers:
            process.kill()
            process.wait()


def test_a_scheduler_that_goes_away_ends_the_sweep_and_what_came_is_kept(sweeps: Command, tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    address, process = start_scheduler(folder)
    mine = worker(address, sweeps.folder)
    try:
        there = sweeps.folder / "there"
        # Enough runs that the sweep does not end earlier.
        many = ["--set", "sweep.repetitions=20000"]
        sweep = sweeps.start("sweep", "sweep.toml", "--engine", "dask", "--scheduler", address, "--out", "there", *many)
        while sweep.poll() is None and not kept(there):
            time.sleep(0.001)
        process.kill()
        _, errors = sweep.communicate(timeout=120)
        assert sweep.returncode == 2
        # Progress lines may precede it.
        last = errors.splitlines()[-1]
        told = re.fullmatch(
            r"quiclab: the cluster: its scheduler does not answer any more \(\w+\); (\d+) of \d+ runs are kept: .*",
            last,
        )
        assert told is not None and len(last) < 300, last
        assert "Traceback" not in errors
        again = json.loads(sweeps("sweep", "sweep.toml", "--jobs", "1", "--out", "there", "--json").stdout)
        assert again["reused"] > 0
        assert int(told[1]) >= again["reused"]
    finally:
        for one in (process, mine):
            one.kill()
            one.wait()


def test_a_cluster_on_this_machine_needs_no_scheduler(sweeps: Command) -> None:
    """Files go with the runs, failures come back, and the tables are those of the threads."""
    folder = sweeps.folder
    (folder / "slow").write_text("12\n")
    (folder / "fast").write_text("3\n")
    text = SCENARIO.replace('rate = "5 Mbit/s"', 'rate = { type = "trace", file = "slow" }')
    table = '[sweep]\nlink.cell.forward.rate.file = ["slow", "fast"]\nduration = ["20 s", "1 s"]\n'
    table += 'flow.download.start = ["0 s", "5 s"]\n'
    (folder / "sweep.toml").write_text(text + table, encoding="utf-8")
    for out, arguments in (("here", []), ("there", ["--engine", "dask", "--jobs", "2"])):
        result = sweeps("sweep", "sweep.toml", "--out", out, *arguments)
        assert result.returncode == 1, result.stderr
        assert len(re.findall(r"^run \d failed: .*too late", result.stderr, re.MULTILINE)) == 2
    for name in ("runs.parquet", "sweep.json"):
        assert (folder / "here" / name).read_bytes() == (folder / "there" / name).read_bytes(), name


class Deadly:
    """A cluster that makes what it is sent at once; a run of which workers die takes all of its task with it."""

    def __init__(self, deadly: int) -> None:
        self.deadly = deadly
        self.sizes: list[int] = []

    def nthreads(self) -> dict[str, int]:
        """One worker with one thread."""
        return {"one": 1}

    def cancel(self, futures: list[Any]) -> None:
        """Assert that no future is open at the end."""
        assert futures == []

    def submit(self, function: Any, *arguments: Any, **_: Any) -> "Future[Any]":
        """Run the function, or fail as a scheduler does."""
        future: Future[Any] = Future()
        _, _, orders, _ = pickle.loads(arguments[1]["described"])
        self.sizes.append(len(orders))
        if any(seed == self.deadly for _, seed, _ in orders):
            future.set_exception(KilledWorker("task", None, 3))
        else:
            future.set_result(function(*arguments))
        return future


def test_a_run_that_kills_its_workers_fails_alone(sweeps: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    file = sweeps.folder / "sweep.toml"
    here = quiclab.sweep(file, {"sweep.repetitions": 50}, out=sweeps.folder / "here")
    victim = here.runs.to_pylist()[100]
    client = Deadly(victim["seed"])

    @contextmanager
    def cluster_of(*_: Any) -> Iterator[Deadly]:
        yield client

    monkeypatch.setattr("quiclab.engines.cluster._client", cluster_of)
    there = quiclab.sweep(file, {"sweep.repetitions": 50}, engine="dask", out=sweeps.folder / "there")
    (failure,) = there.failures
    assert (failure["run"], failure["seed"]) == (101, victim["seed"])
    assert failure["error"] == "4 workers died during this run"
    assert sum(client.sizes) > 300 and max(client.sizes) > 1, "short runs go together, until one kills"
    alike = [row for row in here.runs.to_pylist() if row["run"] != 101]
    assert [row for row in there.runs.to_pylist() if row["run"] != 101] == alike


class LostResult(Future[Any]):
    """A result that was lost with its worker: it is waited for until another worker has made it again."""

    def __init__(self, again: threading.Event) -> None:
        super().__init__()
        self.again = again

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the other worker."""
        assert self.again.wait(30)
        return super().result(timeout)


class Forgetful(Deadly):
    """A cluster that loses its worker with its first result."""

    def __init__(self) -> None:
        super().__init__(-1)
        self.again = threading.Event()

    def nthreads(self) -> dict[str, int]:
        """Who is there."""
        return {"another": 1} if self.again.is_set() else {}

    def submit(self, function: Any, *arguments: Any, **_: Any) -> "Future[Any]":
        """Run the function at once."""
        future = LostResult(self.again)
        future.set_result(function(*arguments))
        return future


def test_a_result_that_is_lost_with_its_worker_stops_nothing_else(
    sweeps: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is reported goes on, and a callback, or Ctrl-C, can end the sweep while it waits."""
    client = Forgetful()
    seen: list[int | None] = []

    @contextmanager
    def cluster_of(*_: Any) -> Iterator[Deadly]:
        yield client

    def watch(far: quiclab.SweepProgress) -> None:
        seen.append(far.workers)
        if len(seen) == 3:
            raise KeyboardInterrupt
        if len(seen) == 5:
            client.again.set()

    monkeypatch.setattr("quiclab.engines.cluster._client", cluster_of)
    monkeypatch.setattr("quiclab.engines.cluster._SECONDS_BETWEEN_LOOKS", 0.2)
    arguments: dict[str, Any] = {"engine": "dask", "out": sweeps.folder / "there", "progress": watch}
    monkeypatch.setattr(Forgetful, "cancel", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        quiclab.sweep(sweeps.folder / "sweep.toml", **arguments)
    assert seen == [0, 0, 0]
    there = quiclab.sweep(sweeps.folder / "sweep.toml", **arguments)
    assert there.info["failed"] == 0
    here = quiclab.sweep(sweeps.folder / "sweep.toml", out=sweeps.folder / "here")
    assert here.runs.equals(there.runs)


def test_an_interrupted_cluster_goes_on(sweeps: Command) -> None:
    whole = quiclab.sweep(sweeps.folder / "sweep.toml", out=sweeps.folder / "whole", jobs=1)
    assert whole.path is not None
    there = sweeps.folder / "there"
    process = sweeps.start("sweep", "sweep.toml", "--engine", "dask", "--jobs", "2", "--out", "there")
    while process.poll() is None and kept(there) < kept(whole.path) // 4:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "finished runs are kept: the same command continues" in errors
    told = json.loads(sweeps("sweep", "sweep.toml", "--jobs", "1", "--out", "there", "--json").stdout)
    assert 0 < told["reused"] < RUNS
    same_tables(there, whole.path)


def test_what_cannot_be_used_is_said(sweeps: Command) -> None:
    for arguments, message in (
        (["--engine", "spark"], "--engine 'spark': expected one of local, dask"),
        (["--scheduler", "tcp://127.0.0.1:1"], "a scheduler needs the engine dask"),
        (["--engine", "dask", "--scheduler", "127.0.0.1:1", "--jobs", "2"], "the workers of the scheduler do the runs"),
        (
            ["--engine", "dask", "--scheduler", "none.json"],
            "none.json: no Dask scheduler answers: ValueError: no such file",
        ),
        (["--engine", "dask", "--scheduler", "nonsense://x"], "nonsense://x: no Dask scheduler answers: "),
    ):
        result = sweeps("sweep", "sweep.toml", *arguments)
        assert (result.returncode, result.stdout) == (2, "")
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1, result.stderr


def test_a_scheduler_that_does_not_answer_is_said(sweeps: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from quiclab.engines import cluster

    monkeypatch.setattr(cluster, "_SECONDS_TO_CONNECT", 1)
    with pytest.raises(quiclab.Error, match=r"tcp://127\.0\.0\.1:1: no Dask scheduler answers: "):
        quiclab.sweep(sweeps.folder / "sweep.toml", engine="dask", scheduler="tcp://127.0.0.1:1")


def test_workers_of_another_version_are_refused(sweeps: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from quiclab.engines import cluster

    monkeypatch.setattr(cluster, "PROGRAM", "0.0.9 abc")
    with pytest.raises(quiclab.Error, match=rf"has quiclab {quiclab.__version__} \w+; expected 0\.0\.9 abc, as here"):
        quiclab.sweep(sweeps.folder / "sweep.toml", engine="dask", jobs=1)


def test_workers_without_quiclab_are_said(sweeps: Command, scheduler: str) -> None:
    """They must not die of what they cannot import, for then the sweep would wait for others."""
    hidden = sweeps.folder / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['quiclab'] = None\n", encoding="utf-8")
    process = worker(scheduler, sweeps.folder, hidden)
    try:
        told = sweeps("sweep", "sweep.toml", "--engine", "dask", "--scheduler", scheduler)
        assert told.returncode == 2
        version = quiclab.__version__
        assert told.stderr.splitlines()[-1] == (
            f"quiclab: the cluster: a worker has no quiclab: install quiclab {version} for the workers"
        )
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_a_sweep_says_that_it_waits_for_workers(
    sweeps: Command, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one comes late; the scheduler is named by the file that it wrote."""
    file = sweeps.folder / "cluster" / "scheduler.json"
    seen: list[quiclab.SweepProgress] = []
    started: list[subprocess.Popen[str]] = []

    def watch(far: quiclab.SweepProgress) -> None:
        seen.append(far)
        if len(seen) == 2:
            started.append(worker(scheduler, sweeps.folder))

    try:
        quiclab.sweep(sweeps.folder / "sweep.toml", engine="dask", scheduler=str(file), progress=watch)
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert (seen[0].workers, seen[0].done) == (0, 0)
    assert any(far.workers == 1 for far in seen)
    assert seen[-1].done == seen[-1].total == RUNS


def test_a_file_without_the_address_of_a_scheduler_is_said(sweeps: Command) -> None:
    for text in ("[1]", "{}", "no JSON"):
        (sweeps.folder / "scheduler.json").write_text(text, encoding="utf-8")
        told = sweeps("sweep", "sweep.toml", "--engine", "dask", "--scheduler", "scheduler.json")
        assert (told.returncode, len(told.stderr.splitlines())) == (2, 1), told.stderr
        assert "scheduler.json: no Dask scheduler answers: " in told.stderr


def test_runs_of_one_scenario_are_ordered_with_one_text(tmp_path: Path) -> None:
    """A task that has several of them then sends it once."""
    swept = quiclab.sweeps.planned(quiclab.Scenario.from_text(SWEEP))
    session = swept.session(tmp_path / "folder")
    orders = [session.order() for _ in range(RUNS)]
    texts = [order[1] for order in orders if order is not None]
    assert len(texts) == RUNS
    assert len({id(text) for text in texts}) == len(set(texts)) < RUNS
