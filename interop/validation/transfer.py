"""A transfer that can be made twice: in virtual time, and by `quiclab serve` and `quiclab fetch` over UDP.

Files go from a server to a client over HTTP/3 and one link. Simulated, the link is between two endpoints in virtual
time; in real time it is in `quiclab relay`, between the two commands. A seed means the same random streams in both.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

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
        site = folder / "site"
        site.mkdir(exist_ok=True)
        for file in self.files:
            place = site / file.name
            if not place.exists() or place.stat().st_size != file.size:
                place.write_bytes(os.urandom(file.size))
        (folder / "path.toml").write_text(self.scenario(), encoding="utf-8")
        same = [word for name, value in SAME.items() for word in ("--set", f"transport.{name}={value}")]
        ours = [word for name, value in self.options.items() for word in ("--set", f"transport.{name}={value}")]
        with _process("serve", str(site), "--listen", "127.0.0.1:0", "--json", *same, *ours) as (out, _):
            server = json.loads(out.readline())["addresses"][0]
            with ThreadPoolExecutor(at_once) as pool:
                return list(pool.map(lambda seed: self._fetched(folder, server, same, seed), seeds))

    def _fetched(self, folder: Path, server: str, same: list[str], seed: int) -> Outcome:
        target = folder / f"out-{seed}"
        words = ["relay", str(folder / "path.toml"), "--listen", "127.0.0.1:0", "--to", server]
        with ExitStack() as stack:
            _, errors = stack.enter_context(_process(*words, "--seed", str(seed), "--json"))
            relay = errors.readline().split()[1]
            asked = [word for file in self.files for word in ("--urgency", str(file.urgency))]
            words = ["fetch", *(f"https://{relay}/{file.name}" for file in self.files), *asked]
            words += ["--parallel", str(self.parallel), "--alpn", "h3", "-k", "--out", str(target), "--json"]
            done = subprocess.run(_quiclab(*words, *same), capture_output=True, text=True, check=True)
        for file in self.files:
            assert (target / file.name).read_bytes() == (folder / "site" / file.name).read_bytes()
        told = json.loads(done.stdout)
        (connection,) = told["connections"]
        return Outcome(connection["duration_s"], [url["complete_s"] - url["asked_s"] for url in told["urls"]])


def _quiclab(*words: str) -> list[str]:
    return [sys.executable, "-m", "quiclab", *words]


@contextmanager
def _process(*words: str) -> Iterator[tuple[IO[str], IO[str]]]:
    """A command in the background, ended by Ctrl-C."""
    process = subprocess.Popen(_quiclab(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    try:
        yield process.stdout, process.stderr
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
