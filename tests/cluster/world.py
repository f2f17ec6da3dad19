"""The machine as the stages see it, in namespaces of its own: hosts, users, processes."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

WORK = Path("/mnt/work")
LOGS = WORK / "logs"
HOME = WORK / "home"
BIN = Path("/mnt/venv/bin")
PYTHON = str(BIN / "python")
BARE = "/mnt/bare/bin/python"
"""A Python with Dask and without quiclab."""

HEAD, NODES = "head", ("node1", "node2")
STUDENT, SLURM = "student", "slurm"
"""The one who sweeps, and the one whose daemons serve."""
ID = {STUDENT: 5001, SLURM: 5002}

_SECONDS = 60.0


class ClusterError(Exception):
    """Something did not happen that had to."""


def furnish() -> None:
    """Hosts, which are addresses of the loopback interface, and users. Nobody outside of the namespaces sees them."""
    _quietly("ip", "link", "set", "lo", "up")
    addresses = {name: f"192.0.2.{number}" for number, name in enumerate((HEAD, *NODES), 1)}
    for address in addresses.values():
        _quietly("ip", "address", "add", f"{address}/32", "dev", "lo")
    socket.sethostname(HEAD)
    hosts = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in addresses.items())
    HOME.mkdir()
    etc = WORK / "etc"
    etc.mkdir()
    added = {
        "hosts": hosts,
        "passwd": "".join(f"{name}:x:{number}:{number}::{HOME}:/bin/bash\n" for name, number in ID.items()),
        "shadow": "".join(f"{name}:*:20000:0:99999:7:::\n" for name in ID),
        "group": "".join(f"{name}:x:{number}:\n" for name, number in ID.items()),
    }
    for name, text in added.items():
        # The lines of packages for users of these names would come first.
        there = [line for line in _lines(Path("/etc") / name) if line.split(":")[0] not in ID]
        (etc / name).write_text(("" if name == "hosts" else "".join(there)) + text, encoding="utf-8")
        shutil.copymode(Path("/etc") / name, etc / name)
        _quietly("mount", "--bind", str(etc / name), f"/etc/{name}")
    (HOME / ".ssh").mkdir(mode=0o700)
    for place in (HOME, HOME / ".ssh"):
        own(place, STUDENT)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []


def _quietly(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"{' '.join(command)}: {done.stderr.strip()}")


def own(path: Path, user: str) -> None:
    """Gives a file to a user."""
    os.chown(path, ID[user], ID[user])


def environment() -> dict[str, str]:
    """What a shell of the student has."""
    return {
        "HOME": str(HOME),
        "USER": STUDENT,
        "LOGNAME": STUDENT,
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "PATH": f"{BIN}:/usr/bin:/bin",
        "SLURM_CONF": str(WORK / "slurm" / "slurm.conf"),
    }


class Process:
    """A command in the background, with its output in a file."""

    def __init__(self, name: str, *command: str, user: str | None = None, env: Mapping[str, str] | None = None) -> None:
        self.log = LOGS / f"{name}.log"
        options: dict[str, Any] = {}
        if user is not None:
            options = {"user": ID[user], "group": ID[user], "extra_groups": []}
        student = user == STUDENT
        with self.log.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command,
                cwd=HOME if student else WORK,
                env={**(environment() if student else os.environ), **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **options,
            )

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None

    def said(self) -> str:
        """What it printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Sends a signal to it alone."""
        self.process.send_signal(number)

    def wait(self, seconds: float = 300) -> int:
        """Waits for its end, and returns its exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ClusterError(f"{self.log.stem} did not end within {seconds:.0f} s") from None

    @contextmanager
    def until_the_end(self) -> Iterator["Process"]:
        """Kills it and all that it started afterwards."""
        try:
            yield self
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def student(name: str, *command: str, seconds: float = 300, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """A command of the student to its end: its exit code, and what it printed."""
    process = Process(name, *command, user=STUDENT, env=env)
    with process.until_the_end():
        return process.wait(seconds), process.said()


def wait_until(what: str, ready: Callable[[], object], seconds: float = _SECONDS) -> float:
    """Waits until it is so, and returns how long that took."""
    start = time.monotonic()
    while not ready():
        if time.monotonic() - start > seconds:
            raise ClusterError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.02)
    return time.monotonic() - start


def listens(host: str, port: int) -> bool:
    """Whether somebody listens there."""
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


def processes(*words: str) -> list[int]:
    """The processes whose command line has all of these words."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if int(folder.name) != os.getpid() and all(word in line for word in words):
            found.append(int(folder.name))
    return sorted(found)
