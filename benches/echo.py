"""What an echo through `quiclab emulate` takes beyond the delays of the links, beside a plain veth pair.

    .venv/bin/python benches/echo.py [ROUNDS]

Two gates are joined by a link of 5 ms, or two namespaces by a veth pair, whose delay is nothing. One sends ICMP echo
requests, which the kernel of the other answers. `slow` is one request each 100 ms, as by an impatient `ping`; `fast` is
a request each millisecond; `first` is the same by a program that runs before all ordinary ones (`chrt -f 1`, so as
root), as the thread of the network does. Each round measures all, one after the other, on the same machine under the
same load; the medians over the rounds are printed. Times are those of a program: from before its call of `sendto` to
after that of `recv`.

`asleep` is the machine alone: a program that runs before all others (`chrt -f 99`) and does nothing but sleep until the
next millisecond, and how late it wakes up. An echo through gates waits for five such moments, two arrivals, two delays,
and the program, so that 1 % of echoes meet one that is among the latest 0.2 %: that is the quantile of this row.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import quiclab
from quiclab import _quiclab
from quiclab.engines import emulation

DELAY_MS = 5.0
KINDS: dict[str, tuple[float, int, list[str]]] = {
    "slow": (100.0, 30, []),
    "fast": (1.0, 3000, []),
    "fast, first": (1.0, 3000, ["chrt", "-f", "1"]),
}
"""The milliseconds between two requests, how many there are, and what runs the program."""
SCENARIO = f"""
name = "echo"
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
both = {{ delay = "{DELAY_MS} ms" }}
"""
# The receiver and the sender are one thread, so that Python's own threads do not count.
CLIENT = """
import json, select, socket, struct, sys, time
address, every, count = sys.argv[1], float(sys.argv[2]) / 1000, int(sys.argv[3])
def sum_of(data):
    whole = sum(struct.unpack(f"!{len(data) // 2}H", data))
    whole = (whole >> 16) + (whole & 0xffff)
    return ~((whole >> 16) + whole) & 0xffff
sent, taken, sequence = {}, [], 0
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
    raw.setblocking(False)
    poll = select.poll()
    poll.register(raw, select.POLLIN)
    due = time.perf_counter()
    end = due + every * count + 1
    while len(taken) < count and (now := time.perf_counter()) < end:
        if sequence < count and now >= due:
            head = struct.pack("!BBHHH", 8, 0, 0, 7, sequence)
            head = struct.pack("!BBHHH", 8, 0, sum_of(head + bytes(16)), 7, sequence)
            sent[sequence] = time.perf_counter()
            raw.sendto(head + bytes(16), (address, 0))
            sequence, due = sequence + 1, due + every
        wait = due - time.perf_counter() if sequence < count else end - now
        if poll.poll(max(0, 1000 * wait)):
            while True:
                try:
                    answer = raw.recv(100)
                except BlockingIOError:
                    break
                if answer[20] == 0:
                    number = struct.unpack("!H", answer[26:28])[0]
                    taken.append(1000 * (time.perf_counter() - sent[number]))
print(json.dumps(taken))
"""


ASLEEP = """
import json, time
start = time.clock_gettime(time.CLOCK_MONOTONIC)
taken = []
for number in range(1, 3001):
    time.sleep(max(0, start + number / 1000 - time.clock_gettime(time.CLOCK_MONOTONIC)))
    taken.append(1000 * (time.clock_gettime(time.CLOCK_MONOTONIC) - start) - number)
print(json.dumps(taken))
"""


def asleep() -> list[float]:
    """Return how late a program that only sleeps wakes up, in milliseconds."""
    words = ["chrt", "-f", "99", sys.executable, "-c", ASLEEP]
    told: list[float] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return told


def through_gates(kind: str) -> tuple[list[float], Mapping[str, Any]]:
    """Return the times of the echoes in milliseconds, and the lateness of the world."""
    every, count, by = KINDS[kind]
    running = emulation.Emulation(_quiclab.Emulator(quiclab.Scenario.from_text(SCENARIO)._inner))
    with tempfile.TemporaryDirectory() as folder:
        script, told = Path(folder) / "client.py", Path(folder) / "told"
        script.write_text(CLIENT, encoding="utf-8")
        program = " ".join([*by, sys.executable, str(script)])
        running.start("phone", ["sh", "-c", f"{program} 10.0.0.2 {every} {count} > {told}"])
        _, _, status = running.run(tables=False)
        return json.loads(told.read_text(encoding="utf-8")), status["lateness"]


def through_veth(kind: str) -> list[float]:
    """Return the times of the same echoes through a veth pair between two namespaces."""
    every, count, by = KINDS[kind]
    holder = subprocess.Popen(
        ["unshare", "--net", "--", "sh", "-c", "echo ready; exec sleep infinity"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "ready\n"
        there = ["nsenter", f"--net=/proc/{holder.pid}/ns/net", "--"]
        for words in (
            ["ip", "link", "add", "here", "type", "veth", "peer", "name", "there"],
            ["ip", "link", "set", "there", "netns", str(holder.pid)],
            ["ip", "address", "add", "192.0.2.1/24", "dev", "here"],
            ["ip", "link", "set", "here", "up"],
            [*there, "ip", "address", "add", "192.0.2.2/24", "dev", "there"],
            [*there, "ip", "link", "set", "there", "up"],
        ):
            subprocess.run(words, check=True)
        words = [*by, sys.executable, "-c", CLIENT, "192.0.2.2", str(every), str(count)]
        told: list[float] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        return told
    finally:
        holder.kill()
        holder.wait()


def quantile(values: list[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    """Measure, and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for number in range(rounds):
        for kind, (_, count, _) in KINDS.items():
            gates, late = through_gates(kind)
            for name, values, delay in (("gates", gates, 2 * DELAY_MS), ("veth", through_veth(kind), 0.0)):
                assert len(values) > 0.9 * count, f"{len(values)} of {count} echoes came back"
                added = [value - delay for value in values]
                row = (statistics.median(added), quantile(added, 0.99), late["p99_us"] / 1000)
                rows.setdefault(f"{kind}, {name}", []).append(row)
        late_alone = asleep()
        row = (statistics.median(late_alone), quantile(late_alone, 0.998), 0.0)
        rows.setdefault("asleep", []).append(row)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    load = os.getloadavg()[0]
    head = f"load {load:.1f}, median of {rounds} rounds"
    print(f"| {head} | added, median, ms | added, 99 %, ms | lowest to highest | lateness, 99 %, ms |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, found in rows.items():
        medians, tails, lates = zip(*found, strict=True)
        late_ms = f"{statistics.median(lates):.3f}" if "gates" in name else ""
        told = f"{statistics.median(tails):.3f} | {min(tails):.3f} to {max(tails):.3f}"
        print(f"| {name} | {statistics.median(medians):.3f} | {told} | {late_ms} |")


if __name__ == "__main__":
    if emulation.inside():
        main()
    else:
        sys.exit(emulation.enter(sys.argv[1:], program=[str(Path(__file__).resolve())]))
