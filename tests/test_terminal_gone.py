"""A terminal that is gone, because its window was closed, takes no results along, and changes no exit code."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import SCENARIO, Command
from programs import needs, needs_namespaces
from quiclab import load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")

LATER = """
import pathlib, time, quiclab

class Later(quiclab.Controller):
    def on_ack(self, ack):
        pathlib.Path("waits").touch()
        while not pathlib.Path("closed").exists():
            time.sleep(0.01)
        self.window_bytes = 20 * self.datagram_bytes
"""
"""A controller that waits, within a run, until the window is closed."""
TWO = """
name = "two"
duration = "30 s"
[[node]]
name = "phone"
kind = "gate"
[[node]]
name = "server"
kind = "gate"
[[link]]
name = "air"
from = "server"
to = "phone"
delay = "5 ms"
"""


class Window:
    """A terminal of which a command is the first program, as of a window that was opened for it."""

    def __init__(self, folder: Path, words: Sequence[str], *, hears: bool = True, output: str | None = None) -> None:
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            if not hears:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
            if output is not None:
                os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), 1)
            os.execv(sys.executable, [sys.executable, "-m", "quiclab", *words])
        self.seen = b""
        self._reads = True
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        os.set_blocking(self.end, False)
        while self._reads:
            with contextlib.suppress(OSError):
                self.seen += os.read(self.end, 4096)
            time.sleep(0.02)

    def wait_for(self, folder: Path, pattern: str) -> None:
        deadline = time.monotonic() + 30
        while not list(folder.glob(pattern)):
            assert time.monotonic() < deadline, self.seen
            time.sleep(0.02)

    def close(self) -> None:
        """The window is closed."""
        self._reads = False
        self._reader.join()
        os.close(self.end)

    def code(self) -> int:
        """The exit code of the command."""
        deadline = time.monotonic() + 40
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux")
@pytest.mark.parametrize(
    ("more", "code"),
    [([], 0), (["--json"], 0), (["--in", "phone=ping server"], 143), (["--in", "phone=sleep 1000", "--json"], 143)],
)
def test_gates_end_with_their_results(tmp_path: Path, more: list[str], code: int) -> None:
    needs_namespaces()
    needs("ping")
    (tmp_path / "two.toml").write_text(TWO, encoding="utf-8")
    window = Window(tmp_path, ["emulate", "two.toml", "--out", "out", *more])
    window.wait_for(tmp_path, ".out.partial-*")
    time.sleep(1.5)
    window.close()
    assert window.code() == code
    assert load(tmp_path / "out").summary["emulation"]


@pytest.mark.skipif(sys.platform != "linux", reason="the relay is for Linux")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_relay_ends_with_its_results(tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "two.toml").write_text(TWO, encoding="utf-8")
    words = ["real", "relay", "two.toml", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--out", "out", *more]
    window = Window(tmp_path, words)
    window.wait_for(tmp_path, ".out.partial-*")
    time.sleep(1)
    window.close()
    assert window.code() == 0
    assert load(tmp_path / "out").summary["relay"]


def close_within_a_run(folder: Path, more: Sequence[str], output: str | None = None) -> None:
    """Runs a scenario, with a bar on the terminal, that ends only after its window is closed."""
    (folder / "bulk.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "later.py").write_text(LATER, encoding="utf-8")
    words = ["run", "bulk.toml", "--out", "out", "--set", "flow.download.transport.controller=later.py:Later", *more]
    window = Window(folder, words, hears=False, output=output)
    window.wait_for(folder, "waits")
    time.sleep(0.3)
    window.close()
    (folder / "closed").touch()
    assert window.code() == 0


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_run_that_hears_no_hangup_goes_on_to_its_results(tmp_path: Path, more: list[str]) -> None:
    close_within_a_run(tmp_path, more)
    assert load(tmp_path / "out").summary["connections"]


def test_what_goes_to_a_file_is_whole(tmp_path: Path) -> None:
    close_within_a_run(tmp_path, ["--json"], output="told")
    assert json.loads((tmp_path / "told").read_text(encoding="utf-8"))["folder"] == "out"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("line", ["check bulk.toml", "run bulk.toml --out out", "check nothing.toml"])
def test_an_error_stream_that_takes_nothing_changes_no_exit_code(command: Command, line: str) -> None:
    whole = command(*line.split())
    for end in ("2>/dev/full", "2>&-", "2> >(exit)"):
        script = f'rm -rf out; "$0" -m quiclab {line} {end}'
        words = ["bash", "-c", script, sys.executable]
        done = subprocess.run(words, cwd=command.folder, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (whole.returncode, whole.stdout), end
