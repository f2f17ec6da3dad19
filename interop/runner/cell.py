"""One cell of the matrix: a case, a client, a server, and the relay between them."""

import filecmp
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from cases.case import Case, Evidence, ProofError

from runner.stacks import ROOT, UNSUPPORTED, Stack

PASSED, FAILED, UNSUPPORTED_BY_PEER = "passed", "failed", "unsupported"

SCENARIO = """[[link]]
name = "path"
from = "client"
to = "server"
{link}
[link.forward]
{forward}
[link.backward]
{backward}
[[flow]]
name = "all"
client = "client"
server = "server"
application = {{ type = "bulk", size = "1 B" }}
"""

PORTS: set[int] = set()
"""Ports that were given away by this process."""
LOCK = threading.Lock()


@dataclass(frozen=True)
class Result:
    """What came of a cell."""

    result: str
    """`passed`, `failed` or `unsupported`."""
    reason: str = ""
    seconds: float = 0.0


class CellError(Exception):
    """The cell failed; the text says where."""


@dataclass(frozen=True)
class Cell:
    """A case between two stacks. `name` is also the folder's."""

    name: str
    case: Case
    role: str
    """Ours: `client` or `server`."""
    client: Stack
    server: Stack
    seed: int
    again: str
    """The command that runs it again."""

    def missing(self) -> tuple[Stack, str, str] | None:
        """Which of the two cannot do what, and why."""
        asked = (self.client, self.case.client), (self.server, (*self.case.server, *self.case.of_server))
        for stack, options in asked:
            for option in options:
                if not stack.knows(option):
                    return stack, option, stack.cannot[option.removeprefix("--")]
        for option in (*self.case.wanted, *filter(None, [self.case.first_able])):
            if not self.client.knows(option) and not self.server.knows(option):
                return self.client, option, self.client.cannot[option.removeprefix("--")]
        return None

    def run(self, base: Path, certificates: Path, keep: bool = False) -> Result:
        """Run it in a folder of its own below `base`, which stays if the cell fails."""
        missing = self.missing()
        if missing:
            stack, option, reason = missing
            return Result(UNSUPPORTED_BY_PEER, f"{stack.name}, {option.removeprefix('--')}: {reason}")
        folder = base / self.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "again.txt").write_text(self.again + "\n", encoding="utf-8")
        start = time.monotonic()
        try:
            self.perform(folder, certificates)
        except (CellError, ProofError, OSError, RuntimeError, subprocess.SubprocessError) as error:
            (folder / "failure.txt").write_text(f"{error}\n", encoding="utf-8")
            return Result(FAILED, str(error), time.monotonic() - start)
        if not keep:
            shutil.rmtree(folder)
        return Result(PASSED, "", time.monotonic() - start)

    def options(self, stack: Stack, own: tuple[str, ...], other: Stack | None) -> list[str]:
        """The options of the case for one end."""
        first = self.case.first_able
        takes = first is not None and stack.knows(first) and (other is None or not other.knows(first))
        return [
            *own,
            *(option for option in self.case.wanted if stack.knows(option)),
            *([first] if takes and first else []),
        ]

    def perform(self, folder: Path, certificates: Path) -> None:
        """Run it, and raise if it does not pass."""
        case = self.case
        names = make_files(folder / "root", case, self.seed)
        (folder / "out").mkdir()
        (folder / "path.toml").write_text(
            SCENARIO.format(link=case.link, forward=case.forward, backward=case.backward), encoding="utf-8"
        )
        port = free_port(case.address)
        host = f"[{case.address}]" if ":" in case.address else case.address
        started: list[Program] = []
        try:
            server = Program(
                self.server.words(
                    [
                        "serve",
                        "--listen",
                        f"{host}:{port}",
                        "--root",
                        str(folder / "root"),
                        "--cert",
                        str(certificates / f"{case.certificate}.pem"),
                        "--key",
                        str(certificates / case.key),
                        *self.options(self.server, case.server, self.client),
                    ],
                    folder / "server.qlog",
                ),
                folder,
                "server",
            )
            started.append(server)
            server.wait_for(self.server.ready)
            relay = Program(
                [
                    sys.executable,
                    "-m",
                    "quiclab",
                    "real",
                    "relay",
                    str(folder / "path.toml"),
                    "--json",
                    "--listen",
                    f"{host}:0",
                    "--to",
                    f"{host}:{port}",
                    "--seed",
                    str(self.seed),
                    "--capture",
                    str(folder / "capture"),
                    *case.relay,
                ],
                folder,
                "relay",
            )
            started.append(relay)
            door = int(relay.wait_for("relaying ").split()[1].rpartition(":")[2])
            client = Program(
                self.client.words(
                    ["fetch", "--out", str(folder / "out"), "--ca", str(certificates / "ca.pem")]
                    + ["--timeout", str(int(case.timeout)), *self.options(self.client, case.client, None)]
                    + [f"https://{host}:{door}/{name}" for name in names],
                    folder / "client.qlog",
                ),
                folder,
                "client",
            )
            started.append(client)
            code = client.wait(case.timeout + 15)
            told = relay.end()
            server.end()
        finally:
            for program in started:
                program.kill()
        if code == UNSUPPORTED:
            raise CellError(f"the client does not know an option that it did not deny: {client.last_line()}")
        if code:
            raise CellError(f"the client ended with {code}: {client.last_line()}")
        for name in names:
            if not filecmp.cmp(folder / "root" / name, folder / "out" / name, shallow=False):
                raise CellError(f"{name} is not what was served")
        gather_keys(folder)
        case.judge(Evidence(folder, port, door, json.loads(told), self.role))


class Program:
    """One of the three programs of a cell, with its output in files."""

    def __init__(self, command: list[str], folder: Path, name: str, qlog: bool = True) -> None:
        self.name, self.folder = name, folder
        self.log = folder / f"{name}.log"
        environment = {
            **os.environ,
            "SSLKEYLOGFILE": str(folder / f"{name}.keys"),
            "PYTHONPATH": str(ROOT / "python"),
        }
        if qlog:
            environment["QLOGDIR"] = str(folder / f"{name}.qlog")
        self.out = (folder / f"{name}.out").open("wb")
        self.err = self.log.open("wb")
        self.process = subprocess.Popen(command, stdout=self.out, stderr=self.err, env=environment, cwd=folder)

    def text(self) -> str:
        """All that it has said."""
        out = (self.folder / f"{self.name}.out").read_text(errors="replace")
        return out + self.log.read_text(errors="replace")

    def last_line(self) -> str:
        """The last line of it."""
        lines = self.text().strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def wait_for(self, beginning: str) -> str:
        """The first line that begins so."""
        for _ in range(600):
            for line in self.text().splitlines():
                if line.startswith(beginning):
                    return line
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise CellError(f"the {self.name} does not start: {self.last_line()}")

    def wait(self, seconds: float) -> int:
        """Its exit code."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise CellError(f"the {self.name} did not end within {seconds:.0f} s") from None

    def end(self) -> str:
        """End it as a supervisor does; gives what it printed."""
        self.process.send_signal(signal.SIGTERM)
        self.wait(30)
        return (self.folder / f"{self.name}.out").read_text(errors="replace")

    def kill(self) -> None:
        """End it by all means."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.out.close()
        self.err.close()


def make_files(root: Path, case: Case, seed: int) -> list[str]:
    """The files of a case, with bytes from the seed; gives their names."""
    root.mkdir()
    draw = random.Random(seed)
    names = []
    for number, size in enumerate(case.files):
        name = f"file{number}" + ("-" + "x" * 200 if case.long_names else "")
        (root / name).write_bytes(draw.randbytes(size))
        names.append(name)
    return names


def free_port(address: str) -> int:
    """A UDP port that nobody has, and that no other cell of this process was given."""
    with LOCK:
        while True:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.bind((address, 0))
                port: int = probe.getsockname()[1]
            if port not in PORTS:
                PORTS.add(port)
                return port


def gather_keys(folder: Path) -> None:
    """The secrets that both ends wrote, in one file, each once."""
    lines: dict[str, None] = {}
    for name in "client", "server":
        file = folder / f"{name}.keys"
        if file.exists():
            lines |= dict.fromkeys(file.read_text(encoding="utf-8").splitlines())
    (folder / "keys.log").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
