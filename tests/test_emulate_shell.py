"""`quiclab real shell` in a terminal: any shell, with its own exit code, and the terminal is given back."""

import os
import pty
import select
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from programs import needs, needs_namespaces

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux")

WORLD = """
name = "two"
duration = "60 s"
[[node]]
name = "phone"
kind = "gate"
[[node]]
name = "server"
kind = "gate"
[[link]]
name = "air"
from = "phone"
to = "server"
delay = "1 ms"
"""
COMMAND = shlex.join([sys.executable, "-m", "quiclab", "real", "shell", "two.toml", "phone", "--out", "out"])
TWO = ("dash", "bash")
SHELLS = (*TWO, "zsh", "fish")


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, folder: Path, script: str, environment: Mapping[str, str | None]) -> None:
        self.folder, self.seen = folder, ""
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            kept = {key: value for key, value in os.environ.items() if key not in environment}
            new = {key: value for key, value in environment.items() if value is not None}
            os.execve("/bin/sh", ["sh", "-c", script], {**kept, "TERM": "dumb", "HOME": str(folder), **new})

    def until(self, is_so: Callable[[], object]) -> None:
        """Reads until something is so."""
        deadline = time.monotonic() + 40
        while not is_so():
            assert time.monotonic() < deadline, self.seen
            self.read(0.1)

    def read(self, patience_s: float) -> bool:
        """Reads what comes; returns whether anything did."""
        if not select.select([self.end], [], [], patience_s)[0]:
            return False
        try:
            self.seen += os.read(self.end, 4096).decode(errors="replace")
        except OSError:
            time.sleep(0.05)
            return False
        return True

    def type(self, text: str) -> None:
        """As a person does, after a moment."""
        time.sleep(0.5)
        os.write(self.end, text.encode())

    def code(self) -> int:
        """The exit code, at the end."""
        ended: list[int] = []

        def has_ended() -> bool:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            ended.extend([os.waitstatus_to_exitcode(status)] if pid else [])
            return bool(ended)

        self.until(has_ended)
        while self.read(0.1):
            pass
        os.close(self.end)
        return ended[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With the scenario; skips loudly where there are no namespaces."""
    needs_namespaces()
    (tmp_path / "two.toml").write_text(WORLD, encoding="utf-8")
    (tmp_path / ".zshrc").touch()
    return tmp_path


def in_shell(folder: Path, shell: str | None, script: str = f"exec {COMMAND}") -> Terminal:
    """A terminal in which the shell of a gate answers."""
    if shell:
        needs(shell)
        shell = shutil.which(shell)
    terminal = Terminal(folder, script, {"SHELL": shell})
    terminal.until(lambda: list(folder.glob(".out.partial-*")))
    terminal.type("touch ready\r")
    terminal.until((folder / "ready").exists)
    return terminal


@pytest.mark.parametrize("shell", [*SHELLS, "/bin/sh", "", None])
def test_the_exit_code_is_the_shells(folder: Path, shell: str | None) -> None:
    terminal = in_shell(folder, shell)
    terminal.type("exit 3\r")
    assert terminal.code() == 3, terminal.seen
    assert "process group" not in terminal.seen and "job control" not in terminal.seen, terminal.seen
    assert (folder / "out" / "summary.json").exists()


@pytest.mark.parametrize("shell", TWO)
def test_ctrl_c_is_for_what_runs_in_the_shell(folder: Path, shell: str) -> None:
    terminal = in_shell(folder, shell)
    terminal.type("sh -c 'touch runs; exec sleep 1000'\r")
    terminal.until((folder / "runs").exists)
    terminal.type("\x03")
    terminal.type("touch after\r")
    terminal.until((folder / "after").exists)
    terminal.type("exit 4\r")
    assert terminal.code() == 4, terminal.seen


@pytest.mark.parametrize("shell", TWO)
def test_the_terminal_is_given_back(folder: Path, shell: str) -> None:
    """A program that has no terminal cannot read from it."""
    script = f'stty tostop; {COMMAND}; echo "code $?"; read word; echo "read $word"'
    terminal = in_shell(folder, shell, script)
    terminal.type("exit 5\r")
    terminal.until(lambda: "code 5" in terminal.seen)
    assert "folder: out" in terminal.seen
    terminal.type("something\r")
    assert terminal.code() == 0
    assert "read something" in terminal.seen


@pytest.mark.parametrize("shell", TWO)
def test_a_shell_ends_with_its_terminal(folder: Path, shell: str) -> None:
    terminal = in_shell(folder, shell)
    os.close(terminal.end)
    deadline = time.monotonic() + 20
    while not (folder / "out" / "summary.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.waitpid(terminal.pid, 0)


def test_a_stopped_shell_goes_on(folder: Path) -> None:
    """Nobody else could let it: it has the terminal."""
    program = folder / "program"
    program.write_text("#!/bin/sh\nset +m\nwhile read line; do eval $line; done\n", encoding="utf-8")
    program.chmod(0o755)
    terminal = in_shell(folder, str(program))
    terminal.type("\x1a")
    terminal.type("touch after\r")
    terminal.until((folder / "after").exists)
    terminal.type("exit 6\r")
    assert terminal.code() == 6, terminal.seen


def test_a_shell_in_the_background_does_not_take_the_terminal(folder: Path) -> None:
    program = folder / "program"
    program.write_text("#!/bin/sh\nsleep 1\nexit 7\n", encoding="utf-8")
    program.chmod(0o755)
    script = f'set -m; {COMMAND} & read word; echo "read $word"; wait $!; echo "code $?"'
    terminal = Terminal(folder, script, {"SHELL": str(program)})
    terminal.until(lambda: list(folder.glob(".out.partial-*")))
    terminal.type("something\r")
    assert terminal.code() == 0, terminal.seen
    assert "read something" in terminal.seen and "code 7" in terminal.seen, terminal.seen
