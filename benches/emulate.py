"""What `quiclab emulate` carries, beside a plain forwarder between two TUN devices: TCP, small packets, lateness.

    .venv/bin/python benches/emulate.py [ROUNDS]

Needs iperf3, and a build with `cargo build --release -p bench`. Two gates are joined by a link without a rate, so that
only the machine limits. The forwarder (`benches/src/bin/forward.rs`) splits and joins segments as the gates do, and
has no world. Each round measures both, one after the other; the medians are printed, and the bounds beside them.
"""

import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import quiclab
from quiclab import _quiclab
from quiclab.engines import emulation

ROOT = Path(__file__).resolve().parent.parent
FORWARDER = ROOT / "target" / "release" / "forward"
SECONDS = 4
SCENARIO = """
name = "open"
duration = "1 min"
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
both = { delay = "1 ms" }
"""
GATES = [
    {"name": "phone", "addresses": ["10.0.0.1", "fd00::1"], "mtu": 1500, "device": "gate0"},
    {"name": "server", "addresses": ["10.0.0.2", "fd00::2"], "mtu": 1500, "device": "gate1"},
]
SMALL = 64
"""Bytes of payload in a small packet."""
# One call sends 64 of them (UDP_SEGMENT), and one may receive many (UDP_GRO).
SOURCE = """
import socket, sys, time
size, seconds, limit = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
sent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sent.setsockopt(17, 103, size)
sent.connect(("10.0.0.2", 7000))
many, begin, count = bytes(64 * size), time.monotonic(), 0
while (now := time.monotonic() - begin) < seconds + 1:
    if count > limit * now:
        time.sleep(0.0005)
        continue
    try:
        sent.send(many)
        count += 64
    except OSError:
        pass
"""
SINK = """
import socket, sys, time
size, seconds = int(sys.argv[1]), float(sys.argv[2])
taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
taken.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
taken.setsockopt(17, 104, 1)
taken.bind(("", 7000))
taken.recv(65535)
begin, count = time.monotonic(), 0
while (now := time.monotonic() - begin) < seconds:
    count += len(taken.recv(65535)) // size
print(count / now)
"""


class Forwarder:
    """The forwarder in the place of a world."""

    def __init__(self) -> None:
        """Start it, and wait for its devices."""
        self.process = subprocess.Popen([FORWARDER], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None and self.process.stdout.readline() == "ready\n"

    def gates(self) -> list[dict[str, Any]]:
        """Return its devices as those of gates."""
        return [dict(gate) for gate in GATES]

    def names(self) -> list[tuple[str, Any]]:
        """Return their names and addresses."""
        return [(str(gate["name"]), gate["addresses"]) for gate in GATES]

    def run(
        self, *, progress: Callable[[Mapping[str, Any]], object], **_: Any
    ) -> tuple[str, list[Any], dict[str, Any]]:
        """Let it forward until `progress` is false."""
        while progress({}):
            time.sleep(0.05)
        self.process.kill()
        self.process.wait()
        return "", [], {}


def carried(world: bool, asked: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what iperf3 says of a transfer from the phone to the server, and the last status of the world."""
    emulator: Any = _quiclab.Emulator(quiclab.Scenario.from_text(SCENARIO)._inner) if world else Forwarder()
    running = emulation.Emulation(emulator)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        running.start("server", ["sh", "-c", f"iperf3 -s -1 -J > {told}"])
        running.start("phone", ["sh", "-c", f"sleep 0.5; iperf3 -c 10.0.0.2 -t {SECONDS} {asked} -J > /dev/null"])
        _, _, status = running.run(tables=False)
        return json.loads(told.read_text(encoding="utf-8")), status


def rate(world: bool) -> float:
    """Gbit/s of TCP."""
    told, _ = carried(world, "")
    return float(told["end"]["sum_received"]["bits_per_second"]) / 1e9


def small(world: bool, limit: float = math.inf) -> tuple[float, dict[str, Any]]:
    """Thousands of small packets that arrived in a second, and the status of the world."""
    emulator: Any = _quiclab.Emulator(quiclab.Scenario.from_text(SCENARIO)._inner) if world else Forwarder()
    running = emulation.Emulation(emulator)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        for name, text in {"source": SOURCE, "sink": SINK}.items():
            (Path(folder) / f"{name}.py").write_text(text, encoding="utf-8")
        python = f"{sys.executable} {folder}"
        running.start("server", ["sh", "-c", f"{python}/sink.py {SMALL} {SECONDS} > {told}"])
        running.start("phone", ["sh", "-c", f"sleep 0.5; {python}/source.py {SMALL} {SECONDS} {limit}"])
        _, _, status = running.run(tables=False)
        return float(told.read_text(encoding="utf-8")) / 1000, status


def main() -> None:
    """Measure, and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rows: dict[str, list[float]] = {}
    for number in range(rounds):
        tcp, plain = rate(True), rate(False)
        packets, plain_packets = small(True)[0], small(False)[0]
        late = small(True, 1000 * packets / 2)[1]["lateness"]
        for name, value in {
            "TCP, Gbit/s": tcp,
            "TCP of the forwarder, Gbit/s": plain,
            "TCP, ratio": tcp / plain,
            "small packets, thousands in a second": packets,
            "small packets of the forwarder": plain_packets,
            "small packets, ratio": packets / plain_packets,
            "lateness at half of that, median, ms": late["median_us"] / 1000,
            "lateness at half of that, 99 %, ms": late["p99_us"] / 1000,
        }.items():
            rows.setdefault(name, []).append(value)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    bounds = {"TCP, Gbit/s": 2, "TCP, ratio": 0.8, "small packets, thousands in a second": 200}
    bounds["lateness at half of that, 99 %, ms"] = 1
    print(f"| | median of {rounds} | least | most | bound |\n| --- | ---: | ---: | ---: | ---: |")
    for name, values in rows.items():
        numbers = f"{statistics.median(values):.2f} | {min(values):.2f} | {max(values):.2f}"
        print(f"| {name} | {numbers} | {bounds.get(name, '')} |")


if __name__ == "__main__":
    if shutil.which("iperf3") is None or not FORWARDER.exists():
        sys.exit("iperf3 or the forwarder is missing: install the package iperf3, and `cargo build --release -p bench`")
    if emulation.inside():
        main()
    else:
        sys.exit(emulation.enter(sys.argv[1:], program=[str(Path(__file__).resolve())]))
