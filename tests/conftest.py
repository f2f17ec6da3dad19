"""Shared fixtures: a scenario to modify, and the command as a subprocess."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import quiclab
from quiclab.values import signals

SCENARIO = (Path(__file__).parent / "bulk.toml").read_text(encoding="utf-8")
"""A download of 300 kB over a lossy link of 5 Mbit/s: a run of a few milliseconds."""

SWEEP = (
    SCENARIO
    + """
[sweep]
repetitions = 3
series = ["queue"]
transport.ack_ratio = [1, 4]
link.cell.delay = ["10 ms", "20 ms"]
"""
)
"""2 x 2 combinations of it, 3 runs of each, with a series."""


def many_short_runs(repetitions: int) -> str:
    """Return a sweep of six combinations with a series of each run. A run takes a millisecond or two."""
    return (
        SCENARIO
        + f"""
[sweep]
repetitions = {repetitions}
series = ["queue"]
transport.ack_ratio = [1, 4, 10]
link.cell.delay = ["10 ms", "20 ms"]
"""
    )


def kept(folder: Path) -> int:
    """Return the size in bytes of the finished runs in a sweep folder."""
    return sum(file.stat().st_size for file in folder.glob("finished/*.runs"))


def same_tables(folder: Path, other: Path) -> None:
    """Assert that two sweep folders hold byte-identical results."""
    for name in ("runs.parquet", "series.parquet", "sweep.json", "sweep.toml"):
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name


class Command:
    """Run `quiclab ARGUMENTS` in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Run the command to completion. `before` is called in the new process."""
        return subprocess.run(
            [sys.executable, "-m", "quiclab", *arguments],
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            preexec_fn=before,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def start(self, *arguments: str, before: Callable[[], None] | None = None) -> "subprocess.Popen[str]":
        """Start the command without waiting for it. `before` is called in the new process.

        Whoever starts the tests in the background, or by `nohup`, may ignore signals: the command does not.
        """

        def prepare() -> None:
            for number in signals.ENDING:
                signal.signal(number, signal.SIG_DFL)
            if before is not None:
                before()

        return subprocess.Popen(
            [sys.executable, "-m", "quiclab", *arguments],
            cwd=self.folder,
            preexec_fn=prepare,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """The command in a temporary folder that contains the scenario as bulk.toml."""
    (tmp_path / "bulk.toml").write_text(SCENARIO, encoding="utf-8")
    return Command(tmp_path)


@pytest.fixture(scope="session")
def run() -> quiclab.Run:
    """One run, shared by many tests."""
    return quiclab.Scenario.from_text(SCENARIO).run()


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory, run: quiclab.Run) -> Path:
    """The run folder of the shared run."""
    return run.save(tmp_path_factory.mktemp("saved") / "run")


_REAL_TIME = (
    *("cluster", "emulate", "emulate_end", "emulate_icmp", "emulate_names", "emulate_shell", "matrix", "play"),
    *("real_traffic", "relay", "signals", "terminal_gone", "web"),
)
"""The files of tests in real time, with real datagrams, or in namespaces of the machine."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have those of `_REAL_TIME` run one after another, however many processes there are."""
    for item in items:
        if item.path.stem.removeprefix("test_") in _REAL_TIME:
            item.add_marker(pytest.mark.xdist_group("real-time"))
