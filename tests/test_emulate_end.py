"""How a run of `quiclab emulate` ends by signals: its results are written, whoever gets them and whatever runs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from programs import needs, needs_namespaces

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux")

TWO = """
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
from = "server"
to = "phone"
both = { rate = "20 Mbit/s", delay = "5 ms", queue = "100 ms" }
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
STUBBORN = "trap '' INT TERM HUP QUIT; touch ready; while true; do sleep 0.1; done"


def holds_gates(process: Path) -> bool:
    """Whether a process of /proc has the network namespaces of two gates open."""
    links = []
    for descriptor in (process / "fd").iterdir():
        with suppress(OSError):
            links.append(str(descriptor.readlink()))
    return sum(link.startswith("net:") for link in links) == 2


class Started:
    """A run in a process group of its own, as a shell or a supervisor starts it."""

    def __init__(self, command: Command, *arguments: str, before: Callable[[], object] | None = None) -> None:
        def prepare() -> None:
            os.setsid()
            if before is not None:
                before()

        self.folder = command.folder / "out"
        self.mark = f"MARK-{command.folder}-{time.monotonic_ns()}".encode()
        os.environ["QUICLAB_TEST_MARK"] = self.mark.decode()
        self.process = command.start(*arguments, "--out", "out", before=prepare)

    def _marked(self) -> Iterator[Path]:
        for process in Path("/proc").iterdir():
            with suppress(OSError):
                if process.name.isdigit() and self.mark in (process / "environ").read_bytes():
                    yield process

    def processes(self) -> list[str]:
        """The command lines of its processes that still live."""
        found = []
        for process in self._marked():
            with suppress(OSError):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        return found

    def wait_for(self, is_so: Callable[[], object]) -> None:
        """Wait until something is so."""
        for _ in range(600):
            if is_so():
                return
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.05)
        pytest.fail("it does not start")

    def wait_for_gates(self) -> None:
        """Wait until the run has begun: a process has the namespaces of both gates, and has had them for a while."""
        self.wait_for(lambda: any(holds_gates(process) for process in self._marked()))
        time.sleep(1)

    def send(self, how: signal.Signals, to_group: bool) -> None:
        """Send a signal to the process, or to its group."""
        if to_group:
            os.killpg(self.process.pid, how)
        else:
            self.process.send_signal(how)

    def end(self) -> tuple[int, str]:
        """The exit code, and what it said; nothing is left."""
        _, told = self.process.communicate(timeout=60)
        for _ in range(100):
            if not self.processes():
                break
            time.sleep(0.1)
        assert not self.processes()
        assert "TUN" not in told and "internal" not in told, told
        # Python itself has one to tell if Ctrl-C comes before the program has begun.
        assert "Traceback" not in told or not self.folder.exists(), told
        return self.process.returncode, told

    def summary(self) -> dict[str, Any]:
        """The summary of the run, which was written."""
        told: dict[str, Any] = json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))
        return told


@pytest.fixture(autouse=True)
def scenario(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skips loudly where there are no namespaces or no TUN devices."""
    needs_namespaces()
    monkeypatch.setenv("QUICLAB_TEST_MARK", "")
    (command.folder / "two.toml").write_text(TWO, encoding="utf-8")


@pytest.mark.parametrize("to_group", [True, False], ids=["group", "process"])
@pytest.mark.parametrize("how", SIGNALS)
def test_idle_gates_end_with_their_results(command: Command, how: signal.Signals, to_group: bool) -> None:
    started = Started(command, "emulate", "two.toml")
    started.wait_for_gates()
    started.send(how, to_group)
    code, told = started.end()
    assert code == 0, told
    lasted = started.summary()["duration_s"]
    assert isinstance(lasted, float) and 0 < lasted < 59


@pytest.mark.parametrize("to_group", [True, False], ids=["group", "process"])
@pytest.mark.parametrize("how", SIGNALS)
def test_commands_are_asked_to_end(command: Command, how: signal.Signals, to_group: bool) -> None:
    started = Started(command, "emulate", "two.toml", "--in", "phone=touch ready; sleep 1000")
    started.wait_for((command.folder / "ready").exists)
    time.sleep(0.3)
    started.send(how, to_group)
    code, told = started.end()
    assert code == 128 + signal.SIGTERM, told
    assert [one["exit_code"] for one in started.summary()["emulation"]["commands"]] == [-signal.SIGTERM]


@pytest.mark.parametrize("how", SIGNALS)
def test_a_second_signal_ends_commands_that_ignore_the_first(command: Command, how: signal.Signals) -> None:
    started = Started(command, "emulate", "two.toml", "--in", f"phone={STUBBORN}")
    started.wait_for((command.folder / "ready").exists)
    time.sleep(0.3)
    started.send(how, True)
    time.sleep(0.5)
    assert started.process.poll() is None, "they have two seconds"
    start = time.monotonic()
    started.send(how, True)
    code, told = started.end()
    assert code == 128 + signal.SIGKILL, told
    assert time.monotonic() - start < 30
    assert started.summary()["emulation"]["commands"][0]["exit_code"] == -signal.SIGKILL


def test_commands_that_ignore_signals_have_two_seconds(command: Command) -> None:
    started = Started(command, "emulate", "two.toml", "--in", f"phone={STUBBORN}")
    started.wait_for((command.folder / "ready").exists)
    time.sleep(0.3)
    start = time.monotonic()
    started.send(signal.SIGINT, True)
    code, told = started.end()
    assert code == 128 + signal.SIGKILL, told
    assert time.monotonic() - start >= 2
    assert started.summary()


@pytest.mark.parametrize("how", SIGNALS)
def test_a_signal_during_the_start_leaves_a_whole_run_or_none(command: Command, how: signal.Signals) -> None:
    for number in range(6):
        started = Started(command, "emulate", "two.toml")
        time.sleep(0.15 * number)
        started.send(how, True)
        code, told = started.end()
        if started.folder.exists():
            assert code == 0 and started.summary(), told
            subprocess.run(["rm", "-r", str(started.folder)], check=True)
        else:
            # Before it has begun, it ends as any program does.
            assert code in (-how, 128 + how), told


@pytest.mark.parametrize("how", [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_that_was_ignored_ends_nothing(command: Command, how: signal.Signals) -> None:
    """As after `nohup`, and in the background of a script."""
    started = Started(command, "emulate", "two.toml", before=lambda: signal.signal(how, signal.SIG_IGN))
    started.wait_for_gates()
    started.send(how, True)
    time.sleep(1)
    assert started.process.poll() is None
    started.send(signal.SIGTERM, True)
    code, told = started.end()
    assert code == 0 and started.summary(), told


@pytest.mark.parametrize("gap", [0.01, 0.15])
def test_many_signals_in_a_row_lose_nothing(command: Command, gap: float) -> None:
    started = Started(command, "emulate", "two.toml", "--pcap")
    started.wait_for_gates()
    for how in (*SIGNALS, signal.SIGINT):
        with suppress(ProcessLookupError):
            started.send(how, True)
        time.sleep(gap)
    code, told = started.end()
    assert code == 0 and started.summary(), told


@pytest.mark.parametrize(
    "kills",
    [
        "pkill -x sleep",
        "pkill -9 sleep",
        "pkill -P 1 -x sh",
        "kill -TERM -1",
        "kill -9 -1",
        "kill 1",
        "umount /etc/hosts",
    ],
)
def test_a_command_that_kills_others_does_not_take_the_run_along(command: Command, kills: str) -> None:
    """Nothing that a command can reach keeps a gate."""
    words = f"phone=trap '' TERM; sleep 500 & sleep 1; {kills}; ping -c 1 -W 2 server; true"
    started = Started(command, "emulate", "two.toml", "--in", words)
    code, told = started.end()
    # `kill -9 -1` spares the shell that says so, `kill 1` asks the run to end, and the others change nothing of it.
    assert code == 0, told
    assert "unreachable" not in told and started.summary()["emulation"], told


@pytest.mark.parametrize("deletes", ["ip link delete gate0", "ip link set gate0 down"])
def test_a_gate_without_its_device_loses_no_results(command: Command, deletes: str) -> None:
    """A command may do with the device what it likes: what passed before is in the results."""
    needs("ping")
    words = f"phone=ping -c 1 -W 2 server >ping.txt; {deletes}; ping -c 1 -W 1 server; sleep 1; true"
    started = Started(command, "emulate", "two.toml", "--in", words, "--in", "server=sleep 3")
    code, told = started.end()
    assert code == 0, told
    assert ("deleted the device of gate phone" in told) == ("delete" in deletes), told
    assert " 1 received" in (command.folder / "ping.txt").read_text(encoding="utf-8")
    assert started.summary()["emulation"]["gates"]["phone"]["left"] >= 1


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_shell_ends_with_its_results(command: Command, how: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = command.folder / "shell"
    shell.write_text("#!/bin/sh\ntouch ready\nexec sleep 1000\n", encoding="utf-8")
    shell.chmod(0o755)
    monkeypatch.setenv("SHELL", str(shell))
    started = Started(command, "real", "shell", "two.toml", "phone")
    started.wait_for((command.folder / "ready").exists)
    time.sleep(0.3)
    # Ctrl-C is for what runs in the shell, which here is the shell itself.
    started.send(how, True)
    code, told = started.end()
    assert code == 128 + how, told
    assert started.summary()
