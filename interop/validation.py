"""The same transfers simulated and in real time: `make validation` writes docs/validation.md.

One file from a server to a client over a link of 10 Mbit/s. Simulated, the link is between two endpoints in virtual
time; in real time it is in `quiclab relay`, between `quiclab serve` and `quiclab fetch`. A seed means the same random
streams in both.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import quiclab

SIZE = 1_000_000
RUNS = 10
LIMIT = 0.05
"""How far the medians may be from one another."""

OPTIONS = ("max_udp_payload=1350", "ecn=false", "mtu_discovery=false")
"""Of both: what would not be the same on a link with another MTU."""

LOSSES = ("0 %", "1 %", "5 %")
RTTS_MS = (10, 100)

SCENARIO = """
duration = "300 s"
[tls]
protection = "tls"
certificate_chain = "{chain} B"
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
name = "file"
client = "client"
server = "server"
application = {{ type = "hq", sizes = ["{size} B"] }}
"""

DOCUMENT = Path(__file__).parent.parent / "docs" / "validation.md"


def scenario(rtt_ms: int, loss: str) -> str:
    """The document of one cell."""
    return SCENARIO.format(delay=rtt_ms / 2, loss=loss, size=SIZE, chain=1000, options="\n".join(OPTIONS))


def simulated(text: str, seed: int) -> float:
    """The completion time in seconds, in virtual time."""
    run = quiclab.Scenario.from_text(text).run(seed, tables=False)
    (flow,) = run.summary["connections"]
    completion: float = flow["completion_s"]
    return completion


@contextmanager
def quiclab_process(*words: str) -> Iterator[tuple[IO[str], IO[str]]]:
    """A command in the background, ended by Ctrl-C."""
    process = subprocess.Popen(
        [sys.executable, "-m", "quiclab", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        yield process.stdout, process.stderr
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def real(folder: Path, text: str, seeds: range) -> list[float]:
    """The completion times of transfers one after the other, through a relay each, in seconds."""
    (folder / "path.toml").write_text(text, encoding="utf-8")
    same = [word for option in OPTIONS for word in ("--set", f"transport.{option}")]
    times = []
    with quiclab_process("serve", str(folder / "site"), "--listen", "127.0.0.1:0", "--json", *same) as (out, _):
        server = json.loads(out.readline())["addresses"][0]
        for seed in seeds:
            words = ("relay", str(folder / "path.toml"), "--listen", "127.0.0.1:0", "--to", server)
            with ExitStack() as stack:
                _, errors = stack.enter_context(quiclab_process(*words, "--seed", str(seed), "--json"))
                relay = errors.readline().split()[1]
                url = f"https://{relay}/{SIZE}"
                done = subprocess.run(
                    [
                        sys.executable,
                        "-m",
                        "quiclab",
                        "fetch",
                        url,
                        "-k",
                        "--out",
                        str(folder / "out"),
                        "--json",
                        *same,
                    ],
                    capture_output=True,
                    text=True,
                    check=True,
                )
            fetched = (folder / "out" / str(SIZE)).read_bytes()
            assert fetched == (folder / "site" / str(SIZE)).read_bytes()
            times.append(json.loads(done.stdout)["connections"][0]["duration_s"])
    return times


def table(rows: list[tuple[int, str, float, float]], runs: int) -> str:
    """The document."""
    lines = [
        "# Simulated and real",
        "",
        f"One file of {SIZE // 1000} kB over a link of 10 Mbit/s with a queue of 100 packets: the completion time of",
        "our endpoint simulated in virtual time, and of the same endpoint in real time (`quiclab serve` and",
        "`quiclab fetch` over UDP, the link in `quiclab relay` between them).",
        f"Medians of {runs} seeds, which mean the same random losses in both.",
        "Written by `make validation`.",
        "",
        "| RTT | loss | simulated | real | difference |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for rtt_ms, loss, virtual, wall in rows:
        lines.append(f"| {rtt_ms} ms | {loss} | {virtual:.3f} s | {wall:.3f} s | {wall / virtual - 1:+.1%} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measures and writes; the exit code is 0 if all cells are within the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--write", action="store_true", help="write docs/validation.md")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "site").mkdir()
        (folder / "site" / str(SIZE)).write_bytes(os.urandom(SIZE))
        for rtt_ms in RTTS_MS:
            for loss in LOSSES:
                text = scenario(rtt_ms, loss)
                seeds = range(1, options.runs + 1)
                virtual = [simulated(text, seed) for seed in seeds]
                wall = real(folder, text, seeds)
                rows.append((rtt_ms, loss, statistics.median(virtual), statistics.median(wall)))
                pairs = " ".join(f"{v:.2f}/{w:.2f}" for v, w in zip(virtual, wall, strict=True))
                print(f"{rtt_ms} ms, {loss}: {pairs}", flush=True)
    text = table(rows, options.runs)
    print(text)
    if options.write:
        DOCUMENT.write_text(text, encoding="utf-8")
    return 0 if all(abs(wall / virtual - 1) <= LIMIT for _, _, virtual, wall in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
