"""A transfer that can be made twice: in virtual time, and by `quiclab real serve` and `quiclab real fetch` over UDP.

Files go from a server to a client over HTTP/3 and one link. Simulated, the link is between two endpoints in virtual
time; in real time it is in `quiclab real relay`, between the two commands. A seed means the same random streams in
both.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import quiclab

SAME = {"max_udp_payload": "1350", "ecn": "false", "mtu_discovery": "false"}
"""Options of both: what would not be the same on a link with another MTU."""

SCENARIO = """
duration = "300 s"
[tls]
protection = "tls"
certificate_chain = "1000 B"
tickets = 2
[transport]
{options}
[[link]]
name = "path"
from = "server"
to = "client"
rate = "10 Mbit/s"
delay = "{delay} ms"
loss = "{loss}"
queue = "100 packets"
[[flow]]
name = "files"
client = "client"
server = "server"
application = {{ type = "http3", sizes = {sizes}, urgencies = {urgencies}, concurrency = {parallel} }}
"""


@dataclass(frozen=True)
class File:
    """A file, and how urgent the request for it says that it is (RFC 9218: 0 to 7)."""

    name: str
    size: int
    urgency: int = 3


@dataclass(frozen=True)
class Outcome:
    """What became of one transfer."""

    duration_s: float
    """From the client's first packet to the last byte."""
    delays_s: list[float]
    """Of each file from its request to its last byte."""


@dataclass(frozen=True)
class Transfer:
    """Files over a path, asked for in their order, at most `parallel` of them at a time."""

    rtt_ms: int
    loss: str
    files: Sequence[File]
    parallel: int = 1
    options: dict[str, str] = field(default_factory=dict)
    """Rows of [transport] as TOML has them, beside those that are the same for all."""

    def scenario(self) -> str:
        """The document of the simulation; the relay takes the path from it."""
        return SCENARIO.format(
            options="\n".join(f"{name} = {value}" for name, value in (SAME | self.options).items()),
            delay=self.rtt_ms / 2,
            loss=self.loss,
            sizes=json.dumps([f"{file.size} B" for file in self.files]),
            urgencies=json.dumps([file.urgency for file in self.files]),
            parallel=self.parallel,
        )

    def simulated(self, seed: int) -> Outcome:
        """In virtual time."""
        run = quiclab.Scenario.from_text(self.scenario()).run(seed)
        (flow,) = run.summary["connections"]
        objects = run.table("object").to_pylist()
        return Outcome(flow["completion_s"], [row["complete_s"] - row["asked_s"] for row in objects])

    def real(self, folder: Path, seeds: Sequence[int], at_once: int = 1) -> list[Outcome]:
        """In real time, for these seeds at once, through a relay each; the files lie in `folder`/site."""
        served = site(folder, {file.name: file.size for file in self.files})
        (folder / "path.toml").write_text(self.scenario(), encoding="utf-8")
        same, ours = set_words(SAME), set_words(self.options)
        with process("real", "serve", str(served), "--listen", "127.0.0.1:0", "--json", *same, *ours) as server:
            address = address_of(server)
            with ThreadPoolExecutor(at_once) as pool:
                return list(pool.map(lambda seed: self._fetched(folder, served, address, seed), seeds))

    def _fetched(self, folder: Path, served: Path, server: str, seed: int) -> Outcome:
        with relaying(folder / "path.toml", server, seed) as address:
            words = [word for file in self.files for word in ("--urgency", str(file.urgency))]
            words += ["--parallel", str(self.parallel), "--alpn", "h3", *set_words(SAME)]
            told = fetched(folder / f"out-{seed}", served, address, [file.name for file in self.files], words)
        (connection,) = told["connections"]
        return Outcome(connection["duration_s"], [url["complete_s"] - url["asked_s"] for url in told["urls"]])


def set_words(options: Mapping[str, str]) -> list[str]:
    """Rows of [transport] as arguments of `quiclab real serve` and `quiclab real fetch`."""
    return [word for name, value in options.items() for word in ("--set", f"transport.{name}={value}")]


def site(folder: Path, sizes: Mapping[str, int]) -> Path:
    """A folder with files of these sizes."""
    made = folder / "site"
    made.mkdir(exist_ok=True)
    for name, size in sizes.items():
        place = made / name
        if not place.exists() or place.stat().st_size != size:
            place.write_bytes(os.urandom(size))
    return made


def address_of(server: "subprocess.Popen[str]") -> str:
    """Where a server listens, from the first line that it prints."""
    assert server.stdout is not None
    address: str = json.loads(server.stdout.readline())["addresses"][0]
    return address


def fetched(target: Path, served: Path, address: str, names: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    """What `quiclab real fetch` tells of files of a site, which it has fetched from this address into a folder."""
    urls = [f"https://{address}/{name}" for name in names]
    command = quiclab_command("real", "fetch", *urls, "-k", "--out", str(target), "--json", *words)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for name in names:
        assert (target / name).read_bytes() == (served / name).read_bytes()
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def quiclab_command(*words: str) -> list[str]:
    """The command line of a command."""
    return [sys.executable, "-m", "quiclab", *words]


@contextmanager
def relaying(scenario: Path, server: str, seed: int) -> Iterator[str]:
    """The address of a relay to this server through the network of a scenario."""
    words = ("--listen", "127.0.0.1:0", "--to", server, "--seed", str(seed), "--json")
    with process("real", "relay", str(scenario), *words) as relay:
        assert relay.stderr is not None
        yield relay.stderr.readline().split()[1]


@contextmanager
def process(*words: str) -> "Iterator[subprocess.Popen[str]]":
    """A command in the background, ended by Ctrl-C."""
    running = subprocess.Popen(quiclab_command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running
    finally:
        if running.poll() is None:
            ended(running)


def ended(running: "subprocess.Popen[str]") -> str:
    """Ends a command by Ctrl-C; what it has printed that was not read."""
    running.send_signal(signal.SIGINT)
    return running.communicate(timeout=30)[0]
