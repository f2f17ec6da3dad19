"""The TCP of the Linux kernel between two gates, and our TCP between two hosts, through the same link."""

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quiclab
from quiclab.values.median import interval_of_median
from validation import whole_packets
from validation.section import Section, wrapped
from validation.stacks import CELL

RUNS = 10
SIZE, LONG_SIZE = 5_000_000, 40_000_000
"""Bytes of a transfer: where the RTT is long, start-up is to be a small part of it."""
LATEST_US = 5000
"""How late 1 % of the events of a world may be; a transfer in which more were is made again."""
TRIES = 4
CONTROLLERS = {"newreno": "reno", "cubic": "cubic", "cubic rfc8312": "cubic", "bbr1": "bbr"}
"""Ours, and the module of the kernel."""
OPTIONS = {"cubic rfc8312": '{ type = "cubic", reno_growth = "rfc8312" }'}
"""Those that are not the default of a controller."""
LOSSY = ("1 % loss", "3 % loss")
LONG = ("long 3 % loss", "long 5 % loss")
LIMITS = {"clean": 0.05, "deep queue": 0.05, "LTE": 0.05} | dict.fromkeys([*LOSSY, *LONG], 0.10)
"""How far the medians may be from each other, as a part of the simulated one."""
LINE = """
[[link]]
name = "line"
from = "server"
to = "client"
both = { rate = "20 Mbit/s", delay = "20 ms", queue = "1 BDP" }
"""
FAR = LINE.replace("20 Mbit/s", "40 Mbit/s").replace("20 ms", "50 ms")
LINKS = {
    "clean": LINE,
    "deep queue": LINE.replace("1 BDP", "500 ms"),
    "1 % loss": LINE + 'forward.loss = "1 %"',
    "3 % loss": LINE + 'forward.loss = "3 %"',
    "long 3 % loss": FAR + 'forward.loss = "3 %"',
    "long 5 % loss": FAR + 'forward.loss = "5 %"',
    "LTE": CELL,
}
DELAYS_MS = {"LTE": 20.0} | dict.fromkeys(["clean", "deep queue", *LOSSY], 40.0) | dict.fromkeys(LONG, 100.0)
"""Of both ways of the links."""
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
TITLE = "## The kernel's TCP"

NETWORK = """
duration = "300 s"
[[node]]
name = "server"
kind = "{kind}"
[[node]]
name = "client"
kind = "{kind}"
[record]
queue_delay = true
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
controller = {controller}
receive_buffer = "6 MB"
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
class Transfer:
    """A transfer, and what its packets met in the network."""

    mbps: float
    """From the first byte to the last at the receiver."""
    rtt_ms: float
    """The means of both ways: delays, queues, and the link layer of a cell."""
    lost_percent: float
    """Of the packets from the server."""

    @staticmethod
    def of(mbps: float, summary: dict[str, Any], delays_ms: float) -> "Transfer":
        """From the summary of its run, in virtual or in real time."""
        lanes = summary.get("media", [])
        rtt = delays_ms + sum(link["queue_delay_mean_ms"] or 0.0 for link in summary["links"])
        rtt += sum(float(lane["air"][part] or 0.0) for lane in lanes for part in _AIR)
        forward = [link for link in summary["links"] if link["direction"] == "forward"]
        forward += [lane for lane in lanes if lane["attachment"] == "enb"]
        lost = sum(carrier["drops"]["queue"] + carrier["drops"]["loss"] for carrier in forward)
        lost += sum(int(lane["air"]["lost_blocks"]) for lane in lanes if lane["attachment"] == "enb")
        return Transfer(mbps, rtt, 100 * lost / max(1, forward[0]["offered_packets"]))


_AIR = ("queue_delay_mean_ms", "access_delay_mean_ms", "transfer_delay_mean_ms", "order_delay_mean_ms")


@dataclass(frozen=True)
class Cell:
    """A controller over a link."""

    controller: str
    link: str

    @property
    def size(self) -> int:
        """Bytes of a transfer."""
        return LONG_SIZE if self.link in LONG else SIZE

    def simulated(self, seed: int) -> Transfer:
        """The transfer in virtual time."""
        controller = OPTIONS.get(self.controller, f'"{self.controller}"')
        text = NETWORK.format(kind="host", link=LINKS[self.link]) + FLOW.format(controller=controller, size=self.size)
        summary = quiclab.Scenario.from_text(text).run(seed).summary
        (connection,) = summary["connections"]
        span: float = connection["completion_s"] - connection["first_byte_s"]
        return Transfer.of(8e-6 * self.size / span, summary, DELAYS_MS[self.link])

    def real(self, folder: Path, seed: int) -> Transfer:
        """The same by the kernel in real time. The seed is that of the link's losses."""
        (folder / "gates.toml").write_text(NETWORK.format(kind="gate", link=LINKS[self.link]), encoding="utf-8")
        for name, text in {"source": SOURCE, "sink": SINK}.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        module = CONTROLLERS[self.controller]
        for attempt in range(TRIES):
            out = re.sub(r"[ %]+", "-", f"{self.link}-{self.controller}-{seed}-{attempt}")
            words = [sys.executable, "-m", "quiclab", "emulate", "gates.toml", "--seed", str(seed), "--out", out]
            words += ["--in", f"server={sys.executable} source.py {module} {self.size}"]
            words += ["--in", f"client={sys.executable} sink.py > told"]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=400)
            assert done.returncode == 0, done.stderr
            whole, span = (folder / "told").read_text(encoding="utf-8").split()
            assert int(whole) == self.size
            summary = json.loads((folder / out / "summary.json").read_text(encoding="utf-8"))
            if summary["emulation"]["lateness"]["p99_us"] < LATEST_US:
                return Transfer.of(8e-6 * self.size / float(span), summary, DELAYS_MS[self.link])
        raise RuntimeError(f"{self.controller} on {self.link}, seed {seed}: the machine is too busy")


CELLS = [
    Cell(controller, link)
    for link in LINKS
    for controller in CONTROLLERS
    if (controller == "bbr1" or link not in LONG) and (controller not in OPTIONS or link in LOSSY)
]
"""CUBIC as in the kernel where it matters, and BBR where ten or more packets are lost in each round trip."""


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
    rtts_ms: tuple[float, float]
    """Medians: simulated, real."""
    lost_percent: tuple[float, float]
    """Medians: simulated, real."""

    @property
    def difference(self) -> float:
        """Of the real median to the simulated one, as a part of that."""
        return self.real / self.simulated - 1

    @property
    def holds(self) -> bool:
        """Whether the medians are within the limit of the link."""
        return abs(self.difference) <= LIMITS[self.link]


def measured(cell: Cell, simulated: Sequence[Transfer], real: Sequence[Transfer]) -> Row:
    """The row of a cell."""

    def medians(of: Callable[[Transfer], float], digits: int) -> tuple[float, float]:
        # As they are printed, so that a difference is that of the printed numbers.
        ours, theirs = (round(statistics.median(of(one) for one in some), digits) for some in (simulated, real))
        return ours, theirs

    rates = medians(lambda one: one.mbps, 2)
    rtts, lost = medians(lambda one: one.rtt_ms, 0), medians(lambda one: one.lost_percent, 1)
    return Row(
        cell.link, cell.controller, len(real), *rates, interval_of_median([one.mbps for one in real]), rtts, lost
    )


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as they are printed."""
    lines = [
        "| link | controller | runs | simulated | kernel | 95 % interval | difference | bound | RTT, ms | lost, % |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for row in rows:
        interval = "unknown" if row.interval is None else f"{row.interval[0]:.2f} to {row.interval[1]:.2f}"
        lines.append(
            f"| {row.link} | `{row.controller}` | {row.runs} | {row.simulated:.2f} Mbit/s | {row.real:.2f} Mbit/s "
            f"| {interval} | {row.difference:+.1%} | {LIMITS[row.link]:.0%} "
            f"| {row.rtts_ms[0]:.0f}, {row.rtts_ms[1]:.0f} "
            f"| {row.lost_percent[0]:.1f}, {row.lost_percent[1]:.1f} |"
        )
    return lines


_ROW = re.compile(
    r"^\| ([\w %]+) \| `([\w ]+)` \| (\d+) \| ([\d.]+) Mbit/s \| ([\d.]+) Mbit/s \| (?:([\d.]+) to ([\d.]+)|unknown) "
    r"\| \S+% \| \d+% \| (\d+), (\d+) \| ([\d.]+), ([\d.]+) \|$",
    re.MULTILINE,
)


def read(page: str) -> list[Row]:
    """The rows of a printed table."""
    section = page.partition(TITLE)[2]
    rows = []
    for link, controller, runs, simulated, real, low, high, *met in _ROW.findall(section):
        interval = (float(low), float(high)) if low else None
        ours, theirs, lost, missing = map(float, met)
        measures = interval, (ours, theirs), (lost, missing)
        rows.append(Row(link, controller, int(runs), float(simulated), float(real), *measures))
    return rows


INTRODUCTION = [
    TITLE,
    "",
    f"The TCP of the Linux kernel transfers {SIZE // 1_000_000} MB between two gates (`quiclab emulate`), and",
    "quiclab's TCP does the same between two simulated hosts, through the same link: 20 Mbit/s, 20 ms each way, a",
    f"queue of 1 BDP or of 500 ms; *long*: {LONG_SIZE // 1_000_000} MB over 40 Mbit/s and 50 ms each way, where ten",
    "packets are lost in each round trip at 3 %, and seventeen at 5 %; or through the LTE cell of the next section,",
    "with a link of 10 ms each way behind it. `cubic rfc8312` is `cubic` with that value of `reno_growth`. RTT is the",
    "sum of delays, queues and the link layer in both directions, as means over the packets; lost are",
    "packets from the server; the simulated number comes first, then the kernel's. The time counts from the first",
    f"byte to the last at the receiver. The table has medians of {RUNS} runs, of both with the seeds from 1 on; in",
    "real time the losses of a seed hit other packets. The kernel's `bbr` is BBRv1. Written by",
    "`make validation-kernel`.",
]


FOUND = [
    "CUBIC under loss: once its Reno-friendly window has reached the window before the loss, quiclab's CUBIC lets it "
    "grow by a packet per round trip (RFC 9438 section 4.3, alpha_cubic = 1); the kernel continues with 0.53, as in "
    'RFC 8312. With `reno_growth = "rfc8312"` quiclab\'s CUBIC grows like that too. The rows with it show that this '
    "is a part of the difference only. Most of the rest is arithmetic: the kernel counts in whole packets. Its "
    "Reno-friendly window rises by one, the congestion window follows later, and a loss rounds it down, which matters "
    "where a window has 5 to 12 packets. A model of such windows and nothing else "
    "(`interop/validation/whole_packets.py`) carries {} less than one in fractions at 1 % loss, and {} less at 3 %.",
    "CUBIC on LTE: the kernel's HyStart takes the delays of grants and blocks for a queue, and leaves slow start "
    "early. With HyStart off (the parameter `hystart` of the module), three transfers reached 30.0 to 30.6 Mbit/s, "
    "like quiclab's; HyStart++ (RFC 9406), which quiclab uses here, does not leave slow start early there. With the "
    "deep queue the kernel had an RTT of 127 ms with its HyStart, and 386 ms and 19 % lost without it, in each of "
    "three transfers.",
]
"""What was found where the medians differ: numbers of a model, or of a build or a setting with that one change."""


def reasons() -> list[str]:
    """The lines about the differences, with the numbers of the model."""
    under_loss, on_lte = FOUND
    shares = [f"{-whole_packets.difference(loss):.0%}".replace("%", " %") for loss in (0.01, 0.03)]
    return [*wrapped(under_loss.format(*shares)), "", *wrapped(on_lte)]


def claim(rows: Sequence[Row]) -> str:
    """What the rows show, and no more."""
    beyond = [f"`{row.controller}` on {row.link} ({row.difference:+.1%})" for row in rows if not row.holds]
    if beyond:
        return f"Beyond the bound: {', '.join(beyond)}. The others are within it."
    return "Every median of the kernel is within the bound of ours."


def missing() -> list[str]:
    """What the kernel does not have of what is to be measured, in words that stand out."""
    available = AVAILABLE.read_text(encoding="utf-8").split()
    modules = sorted({module for module in CONTROLLERS.values() if module not in available})
    return [
        f"**NOT MEASURED: this kernel has no `{module}`** (`modprobe tcp_{module}`), so its rows are missing here."
        for module in modules
    ]


def study(folder: Path, runs: int | None) -> Section:
    """Measures all cells."""
    count, rows = runs or RUNS, []
    gaps, available = missing(), AVAILABLE.read_text(encoding="utf-8").split()
    print("\n".join(gaps), file=sys.stderr, flush=True)
    for cell in CELLS:
        if CONTROLLERS[cell.controller] not in available:
            continue
        seeds = range(1, count + 1)
        row = measured(cell, [cell.simulated(seed) for seed in seeds], [cell.real(folder, seed) for seed in seeds])
        print("\n".join(table([row])[2:]), file=sys.stderr, flush=True)
        rows.append(row)
    lines = [*INTRODUCTION, "", claim(rows), "", *table(rows), "", *reasons(), ""]
    if gaps:
        lines += [*gaps, ""]
    return Section(lines, not gaps and all(row.holds for row in rows))
