"""One run of a cell: a client, a server and a network, in a folder of its own."""

import filecmp
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from quiclab._quiclab import VERSION, Error, OutputError
from quiclab.engines.matrix import packets
from quiclab.engines.matrix.endpoint import START_S
from quiclab.engines.matrix.networks import Network
from quiclab.engines.matrix.results import FAILED, PASSED, UNSUPPORTED, Outcome
from quiclab.engines.matrix.stacks import Stack
from quiclab.values import folders

RESULT = "result.json"
PLAN = "plan.json"
UNSUPPORTED_CODE = 127
MARGIN_S = 15.0
"""What a world lasts longer than the server's start and the client's time together."""
_PLAIN = re.compile(r"[^A-Za-z0-9.=%_-]+")
_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Task:
    """What all cells have in common."""

    size: int = 5_000_000
    """Bytes of the file that the client fetches."""
    timeout_s: float = 60.0
    """How long a client may take."""
    testcase: str = "transfer"
    """The variable TESTCASE."""
    client_params: str = ""
    server_params: str = ""
    max_lateness_ms: float = 5.0
    """A run is marked if 1 % of its events were later than this."""
    pcap: bool = True
    """Whether captures are kept."""

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"file-{self.size}"


@dataclass(frozen=True)
class Cell:
    """A client, a server, a network and the number of a run, which is also its seed."""

    client: Stack
    server: Stack
    network: Network
    run: int
    seed: int
    task: Task

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.client.name} from {self.server.name}, {self.network.label}, run {self.run}"

    @cached_property
    def scenario(self) -> str:
        """The document that is emulated."""
        seconds = START_S + self.task.timeout_s + MARGIN_S
        return self.network.scenario.with_([f"seed={self.seed}", f"duration={seconds:g} s"]).to_toml()

    def definition(self) -> dict[str, Any]:
        """All that the result depends on, and that is known before."""
        task = {key: value for key, value in asdict(self.task).items() if key not in ("pcap", "max_lateness_ms")}
        ends = {"client": self.client, "server": self.server}
        return {
            **{role: {"name": end.name, "command": end.command} for role, end in ends.items()},
            "gates": [self.network.client, self.network.server],
            "scenario": self.scenario,
            "task": task,
            "version": VERSION,
        }

    @cached_property
    def name(self) -> str:
        """Of its folder: what it is, and a hash of its definition."""
        text = json.dumps(self.definition(), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        words = _PLAIN.sub("-", f"{self.client.name}_{self.server.name}_{self.network.label}_run{self.run}")
        return f"{words[:120].strip('-.')}-{digest}"

    def finished(self, cells: Path) -> Outcome | None:
        """The outcome of an earlier call; None if there is none, or it cannot be read."""
        with suppress(OSError, ValueError, TypeError):
            return Outcome(**json.loads((cells / self.name / RESULT).read_text(encoding="utf-8")))
        return None

    def perform(self, cells: Path, www: Path, stop: threading.Event) -> Outcome:
        """Runs it; its folder is there when it is complete.

        Raises `Error` if the emulation cannot be made, and `KeyboardInterrupt` if `stop` is set.
        """
        final = cells / self.name
        if final.is_dir() and self.finished(cells) is None:
            shutil.rmtree(final)
        with folders.complete(folders.only(final)) as (path, _):
            for part in ("client/qlog", "server/qlog", "certs", "downloads"):
                (path / part).mkdir(parents=True)
            (path / "scenario.toml").write_text(self.scenario, encoding="utf-8")
            (path / PLAN).write_text(json.dumps(self._plan(www), indent=2), encoding="utf-8")
            self._emulate(path, stop)
            outcome = self._outcome(path, www)
            shutil.rmtree(path / "downloads")
            (path / "ready").unlink(missing_ok=True)
            if not self.task.pcap:
                (path / "run" / folders.CAPTURE).unlink(missing_ok=True)
            (path / RESULT).write_text(json.dumps(asdict(outcome), indent=2) + "\n", encoding="utf-8")
        return outcome

    def _plan(self, www: Path) -> dict[str, Any]:
        task, network = self.task, self.network
        ends = {
            "client": (self.client, network.client, task.client_params),
            "server": (self.server, network.server, task.server_params),
        }
        return {
            **{
                role: {"name": end.name, "command": end.command, "gate": gate, "params": params}
                for role, (end, gate, params) in ends.items()
            },
            "testcase": task.testcase,
            "timeout_s": task.timeout_s,
            "www": str(www),
            "files": [task.file],
        }

    def _emulate(self, path: Path, stop: threading.Event) -> None:
        # SIGTERM is for Python, not for a shell before it.
        end = f"exec {shlex.quote(sys.executable)} -m quiclab.engines.matrix.endpoint {shlex.quote(str(path / PLAN))}"
        words = [sys.executable, "-m", "quiclab", "emulate", str(path / "scenario.toml"), "--pcap", "--json"]
        words += ["--out", str(path / "run"), "--until", self.network.client]
        words += ["--in", f"{self.network.server}={end} server", "--in", f"{self.network.client}={end} client"]
        if shutil.which("setpriv"):
            # Not longer than this process, however that ends.
            words = ["setpriv", "--pdeathsig", "TERM", "--", *words]
        limit = START_S + self.task.timeout_s + 2 * MARGIN_S
        with (path / "emulate.txt").open("w+", encoding="utf-8", errors="replace") as told:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told, start_new_session=True
            )
            try:
                _wait(process, limit, stop)
            finally:
                if process.poll() is None:
                    process.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(10)
                    if process.poll() is None:
                        process.kill()
                        process.wait()
            told.seek(0)
            if not (path / "run" / folders.SUMMARY).exists():
                lines = told.read().strip().splitlines()
                raise Error(f"{self.label}: {lines[-1].removeprefix('quiclab: ') if lines else 'no emulation'}")
        (path / "emulate.txt").unlink()

    def _outcome(self, path: Path, www: Path) -> Outcome:
        client, server = (_told(path / f"{role}.json") for role in ("client", "server"))
        summary = json.loads((path / "run" / folders.SUMMARY).read_text(encoding="utf-8"))
        late = summary["emulation"]["lateness"]
        outcome = Outcome(
            *self._judged(path, www, client, server),
            lateness_p99_ms=late["p99_us"] / 1e3,
            lateness_max_ms=late["max_us"] / 1e3,
        )
        if not client.get("addresses") or not server.get("addresses"):
            return outcome
        ends = ((self.network.client, client["addresses"]), (self.network.server, server["addresses"]))
        outcome.measure(packets.read(path / "run" / folders.CAPTURE, *ends), self.task.size)
        return outcome

    def _judged(self, path: Path, www: Path, client: dict[str, Any], server: dict[str, Any]) -> tuple[str, str]:
        """The result and its reason."""
        for role, end in (("server", server), ("client", client)):
            if "error" in end:
                return FAILED, f"the {role} was not started: {end['error']}"
            if end.get("exit_code") == UNSUPPORTED_CODE:
                return UNSUPPORTED, f"the {role} does not support {self.task.testcase}"
        if not server.get("ready"):
            how = (
                "did not listen" if server.get("ended") else f"ended with {server.get('exit_code')} before it listened"
            )
            return FAILED, f"the server {how}{_last(path / 'server')}"
        if client.get("timed_out"):
            return FAILED, f"the client took longer than {self.task.timeout_s:g} s"
        if client.get("exit_code") != 0:
            return FAILED, f"the client ended with {client.get('exit_code')}{_last(path / 'client')}"
        wanted, got = www / self.task.file, path / "downloads" / self.task.file
        if not got.is_file():
            return FAILED, f"the client did not deliver {self.task.file}"
        if not filecmp.cmp(wanted, got, shallow=False):
            return FAILED, f"{self.task.file} is not what was served"
        return PASSED, ""


def _wait(process: "subprocess.Popen[bytes] | subprocess.Popen[str]", limit: float, stop: threading.Event) -> None:
    for _ in range(int(limit / 0.05)):
        try:
            process.wait(0.05)
            return
        except subprocess.TimeoutExpired:
            if stop.is_set():
                raise KeyboardInterrupt from None


def _told(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _last(end: Path) -> str:
    """The last line that a program has said, up to 200 letters of it."""
    with suppress(OSError), (end / "output.txt").open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4096))
        lines = file.read().decode(errors="replace").strip().splitlines()
        if lines:
            return f": {lines[-1][:200]}"
    return ""


def make_file(www: Path, task: Task) -> None:
    """The file that is served: bytes that depend on its size alone."""
    path = www / task.file
    with folders.writing(path):
        www.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size == task.size:
            return
        draw, left = random.Random(task.size), task.size
        partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
        with partial.open("wb") as file:
            while left:
                left -= file.write(draw.randbytes(min(left, _AT_ONCE)))
        partial.replace(path)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """The lock of a matrix's folder. Raises `OutputError` if another process has it."""
    import fcntl

    with folders.writing(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                f"{path}: another quiclab matrix is running in this folder; choose another --out"
            ) from None
        yield
    finally:
        os.close(descriptor)
