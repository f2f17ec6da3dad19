"""The TCP of the Linux kernel between two gates, and our TCP between two hosts, through the same link."""

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import quiclab
from quiclab.statistics import interval_of_median
from validation.section import Section

RUNS = 10
SIZE = 5_000_000
"""Bytes of a transfer."""
CONTROLLERS = {"newreno": "reno", "cubic": "cubic", "bbr1": "bbr"}
"""Ours, and the module of the kernel."""
LIMITS = {"clean": 0.05, "deep queue": 0.05, "1 % loss": 0.10}
"""How far the medians may be from each other, as a part of the simulated one."""
LINKS = {
    "clean": 'both = { rate = "20 Mbit/s", delay = "20 ms", queue = "1 BDP" }',
    "deep queue": 'both = { rate = "20 Mbit/s", delay = "20 ms", queue = "500 ms" }',
    "1 % loss": 'both = { rate = "20 Mbit/s", delay = "20 ms", queue = "1 BDP" }\nforward.loss = "1 %"',
}
TITLE = "## The kernel's TCP"

NETWORK = """
duration = "300 s"
[[node]]
name = "server"
kind = "{kind}"
[[node]]
name = "client"
kind = "{kind}"
[[link]]
name = "line"
from = "server"
to = "client"
{link}
"""
FLOW = """
[[flow]]
name = "get"
client = "client"
server = "server"
protocol = "tcp"
application = {{ type = "bulk", size = "{size} B" }}
[flow.tcp]
controller = "{controller}"
"""
# Who connects waits for the other one; the time is that from the first byte to the last at the receiver.
SOURCE = """
import socket, sys
with socket.create_server(("", 7001)) as server:
    to, _ = server.accept()
    to.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
    to.sendall(bytes(int(sys.argv[2])))
    to.shutdown(socket.SHUT_WR)
    to.recv(1)
"""
SINK = """
import socket, time
for _ in range(100):
    try:
        taken = socket.create_connection(("server", 7001))
        break
    except OSError:
        time.sleep(0.1)
first, whole = None, 0
while data := taken.recv(1 << 20):
    first = first or time.monotonic()
    whole += len(data)
print(whole, time.monotonic() - first)
"""


@dataclass(frozen=True)
class Cell:
    """A controller over a link."""

    controller: str
    link: str
    size: int = SIZE

    def simulated(self, seed: int) -> float:
        """Mbit/s of the transfer in virtual time, from its first byte to its last."""
        text = NETWORK.format(kind="host", link=LINKS[self.link]) + FLOW.format(
            controller=self.controller, size=self.size
        )
        (connection,) = quiclab.Scenario.from_text(text).run(seed).summary["connections"]
        span: float = connection["completion_s"] - connection["first_byte_s"]
        return 8e-6 * self.size / span

    def real(self, folder: Path, seed: int) -> float:
        """The same by the kernel in real time. The seed is that of the link's losses."""
        (folder / "gates.toml").write_text(NETWORK.format(kind="gate", link=LINKS[self.link]), encoding="utf-8")
        for name, text in {"source": SOURCE, "sink": SINK}.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        module = CONTROLLERS[self.controller]
        out = f"{self.link.replace(' ', '-').replace('%', '')}-{module}-{seed}"
        words = [sys.executable, "-m", "quiclab", "emulate", "gates.toml", "--seed", str(seed), "--out", out]
        words += ["--in", f"server={sys.executable} source.py {module} {self.size}"]
        words += ["--in", f"client={sys.executable} sink.py > told"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=400)
        assert done.returncode == 0, done.stderr
        whole, span = (folder / "told").read_text(encoding="utf-8").split()
        assert int(whole) == self.size
        summary = json.loads((folder / out / "summary.json").read_text(encoding="utf-8"))
        assert summary["emulation"]["lateness"]["p99_us"] < 5000, "the machine was too busy"
        return 8e-6 * self.size / float(span)


@dataclass(frozen=True)
class Row:
    """A row of the table, as it is printed."""

    link: str
    controller: str
    runs: int
    simulated: float
    """Mbit/s, the median."""
    real: float
    """Mbit/s, the median."""
    interval: tuple[float, float] | None
    """That of the real median; unknown for few runs."""

    @property
    def difference(self) -> float:
        """Of the real median to the simulated one, as a part of that."""
        return self.real / self.simulated - 1

    @property
    def holds(self) -> bool:
        """Whether the medians are within the limit of the link."""
        return abs(self.difference) <= LIMITS[self.link]


def measured(cell: Cell, simulated: Sequence[float], real: Sequence[float]) -> Row:
    """The row of a cell."""
    # As they are printed, so that a difference is that of the printed numbers.
    medians = round(statistics.median(simulated), 2), round(statistics.median(real), 2)
    return Row(cell.link, cell.controller, len(real), *medians, interval_of_median(real))


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as they are printed."""
    lines = [
        "| link | controller | runs | simulated | kernel | 95 % interval | difference | bound |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        interval = "unknown" if row.interval is None else f"{row.interval[0]:.2f} to {row.interval[1]:.2f}"
        lines.append(
            f"| {row.link} | `{row.controller}` | {row.runs} | {row.simulated:.2f} Mbit/s | {row.real:.2f} Mbit/s "
            f"| {interval} | {row.difference:+.1%} | {LIMITS[row.link]:.0%} |"
        )
    return lines


_ROW = re.compile(
    r"^\| ([\w %]+) \| `(\w+)` \| (\d+) \| ([\d.]+) Mbit/s \| ([\d.]+) Mbit/s \| (?:([\d.]+) to ([\d.]+)|unknown) "
    r"\| \S+% \| \d+% \|$",
    re.MULTILINE,
)


def read(page: str) -> list[Row]:
    """The rows of a printed table."""
    section = page.partition(TITLE)[2]
    return [
        Row(link, controller, int(runs), float(simulated), float(real), (float(low), float(high)) if low else None)
        for link, controller, runs, simulated, real, low, high in _ROW.findall(section)
    ]


INTRODUCTION = [
    TITLE,
    "",
    f"A transfer of {SIZE // 1_000_000} MB by the TCP of the Linux kernel between two gates (`quiclab emulate`) and",
    "by ours between two hosts, through the same link: 20 Mbit/s, 20 ms each way, a queue of 1 BDP or of 500 ms.",
    f"The time counts from the first byte to the last at the receiver. Medians of {RUNS} runs, of both with the seeds",
    "from 1 on; the losses of a seed meet other packets in real time. The kernel's `bbr` is BBRv1. Written by",
    "`make validation-kernel`.",
]


REASON = [
    "CUBIC under loss: once its window that is friendly to Reno has reached the window before the loss, ours lets it",
    "grow by a packet in each round trip (RFC 9438 section 4.3, alpha_cubic = 1); the kernel goes on with 0.53, as in",
    "RFC 8312. With 0.53 throughout, the simulated median of 20 transfers of 10 MB was 3.52 instead of 3.96 Mbit/s.",
]
"""What was found where the medians differ. The numbers are of a build with that one change."""


def claim(rows: Sequence[Row]) -> str:
    """What the rows show, and no more."""
    beyond = [f"`{row.controller}` on {row.link} ({row.difference:+.1%})" for row in rows if not row.holds]
    if beyond:
        return f"Beyond the bound: {', '.join(beyond)}. The others are within it."
    return "Every median of the kernel is within the bound of ours."


def study(folder: Path, runs: int | None) -> Section:
    """Measures all cells."""
    count, rows = runs or RUNS, []
    for link in LINKS:
        for controller in CONTROLLERS:
            cell = Cell(controller, link)
            seeds = range(1, count + 1)
            row = measured(cell, [cell.simulated(seed) for seed in seeds], [cell.real(folder, seed) for seed in seeds])
            print("\n".join(table([row])[2:]), file=sys.stderr, flush=True)
            rows.append(row)
    lines = [*INTRODUCTION, "", claim(rows), "", *table(rows), "", *REASON, ""]
    return Section(lines, all(row.holds for row in rows))
