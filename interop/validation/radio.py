"""Cells and wireless LANs: beside closed forms, and beside ns-3, which is a process of its own."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import quiclab
from quiclab.reproduce.spread import interval
from validation.section import Section

NS3 = Path(__file__).parent.parent / "ns3"
PYTHON = os.environ.get("NS3_PYTHON", "")
"""A Python that has the package ns3."""

SCENARIO = """
seed = {seed}
duration = "{seconds} s"
[record]
tables = []
{nodes}
[[node]]
name = "clock"
[[node]]
name = "bell"
[[link]]
name = "wire"
from = "clock"
to = "bell"
[[flow]]
name = "bell"
client = "clock"
server = "bell"
application = {{ type = "messages", source = {{ type = "constant", size = 20, gap = "1 s" }} }}
"""
"""A run ends with its flows: one beside everything else goes on for as long as it is to last."""


@dataclass(frozen=True)
class Row:
    """A number beside what it must be."""

    case: str
    target: str
    here: str
    bound: str
    holds: bool


@dataclass(frozen=True)
class Saturated:
    """What came of saturated senders in a run."""

    each_mbps: Sequence[float]
    delay_ms: float
    cpu_s: float
    blocks: tuple[int, int, int]
    """Sent for the first time, sent again, given up."""
    lost: int
    """Packets that were lost on the air."""

    @property
    def mbps(self) -> float:
        """Of all of them together."""
        return sum(self.each_mbps)


def near(case: str, target: float, values: Sequence[float], bound: float, unit: str) -> Row:
    """The mean of some runs beside a target, within a part of it."""
    mean, low, high = interval(values)
    spread = f" [{low:.3f}, {high:.3f}], {len(values)} runs" if len(values) > 1 else ""
    off = mean / target - 1
    return Row(case, f"{target:.3f} {unit}", f"{mean:.3f}{spread}", f"{off:+.2%} of {bound:.1%}", abs(off) <= bound)


def saturate(
    medium: str, others: int, interval_us: float, *, up: bool, seconds: int, seed: int = 1, own: Sequence[str] = ()
) -> Saturated:
    """Packets of 1500 bytes, from each of so many terminals to the station, or to each of them."""
    names = [f"t{number}" for number in range(others)]
    nodes = ['[[node]]\nname = "station"'] + [f'[[node]]\nname = "{name}"' for name in names]
    terminals = ", ".join(f'"{name}"' for name in names)
    nodes.append(f'[[medium]]\nname = "air"\nstation = "station"\nterminals = [{terminals}]\n{medium}')
    nodes += [f"[medium.at.{name}]\n{text}" for name, text in zip(names, own, strict=False)]
    for number, name in enumerate(names):
        ends = (name, "station") if up else ("station", name)
        source = f'{{ type = "constant", size = 1472, gap = "{1000 * interval_us:.0f} ns" }}'
        start = f'"{number} ms"'
        nodes.append(
            f'[[cross_traffic]]\nname = "of-{name}"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\n'
            f"start = {start}\nsource = {source}"
        )
    scenario = quiclab.Scenario.from_text(SCENARIO.format(seed=seed, seconds=seconds, nodes="\n".join(nodes)))
    start_s = time.process_time()
    summary = scenario.run(tables=False).summary
    spent = time.process_time() - start_s
    lanes = [
        lane for lane in summary["media"] if lane["offered_packets"] > 0 and (lane["attachment"] == "station") != up
    ]
    each = [8e-6 * lane["delivered_bytes"] / seconds for lane in lanes]
    packets = [lane["delivered_packets"] for lane in lanes]
    stages = ("queue", "access", "transfer", "order")
    delays = [sum(lane["air"][f"{stage}_delay_mean_ms"] or 0 for stage in stages) for lane in lanes]
    delay = sum(count * each for count, each in zip(packets, delays, strict=True)) / max(1, sum(packets))
    counts = [sum(lane["air"][f"{what}_blocks"] for lane in lanes) for what in ("sent", "again", "lost")]
    lost = sum(lane["drops"]["loss"] for lane in lanes)
    return Saturated(each, delay, spent, (counts[0], counts[1], counts[2]), lost)


def tau(stations: int, least: int, doublings: int) -> float:
    """Bianchi's probability that a station begins in a slot: windows of `least` 2^i slots up to i = `doublings`."""

    def sends(p: float) -> float:
        return 2 / (1 + least + p * least * sum((2 * p) ** i for i in range(doublings)))

    low, high = 0.0, 1.0
    for _ in range(100):
        p = (low + high) / 2
        if 1 - (1 - sends(p)) ** (stations - 1) > p:
            low = p
        else:
            high = p
    return sends((low + high) / 2)


def bianchi(stations: int, windows: tuple[int, int], times_us: tuple[float, float, float]) -> float:
    """Saturation throughput in Mbit/s of packets of 1500 bytes; a slot, a success, a collision with what follows."""
    t = tau(stations, *windows)
    slot, success, collision = times_us
    some = 1 - (1 - t) ** stations
    one = stations * t * (1 - t) ** (stations - 1)
    return 12_000 * one / ((1 - some) * slot + one * success + (some - one) * collision)


B = 'type = "wlan"\nstandard = "b"\nbasic_rates = ["1 Mbit/s"]\nqueue = "20 packets"'
G = 'type = "wlan"\nstandard = "g"\nqueue = "20 packets"'
LTE = 'type = "lte"\nbandwidth = "{width}"\nrlc = "um"\nmcs = {mcs}\nblock_errors = {errors}\nqueue = "{queue}"'


def wlan(runs: int) -> list[Row]:
    """802.11 beside closed forms."""
    # DIFS, 15.5 slots, data, SIFS, ACK at 1 Mbit/s, in us.
    alone = 12_000 / (50 + 15.5 * 20 + 1310 + 10 + 304)
    rates = [saturate(B, 1, 1800, up=True, seconds=60, seed=seed).mbps for seed in range(1, runs + 1)]
    rows = [near("802.11b, one station, closed form", alone, rates, 0.005, "Mbit/s")]
    unlimited = "\nattempts = 255"
    success = 1310 + 10 + 304 + 50
    for standard, medium, windows, gap_us, times in (
        ("b", B, (32, 5), 1800.0, (20.0, success, success)),
        ("g", G, (16, 6), 380.0, (9.0, 254 + 10 + 34 + 28, 254 + 10 + 50 + 28)),
    ):
        for stations in (1, 2, 5, 10, 20, 50):
            expected = bianchi(stations, windows, times)
            measured = [
                saturate(medium + unlimited, stations, gap_us, up=True, seconds=20, seed=seed).mbps
                for seed in range(1, runs + 1)
            ]
            case = f"802.11{standard}, {stations} saturated stations, Bianchi 2000"
            rows.append(near(case, expected, measured, 0.03, "Mbit/s"))
    indices = []
    for seed in range(1, runs + 1):
        each = saturate(B, 10, 1800, up=True, seconds=60, seed=seed).each_mbps
        indices.append(sum(each) ** 2 / (10 * sum(x * x for x in each)))
    low = min(indices)
    case = f"802.11b, ten equal stations, Jain's index of 60 s, the least of {runs} runs"
    rows.append(Row(case, "1", f"{low:.4f}", "at least 0.99", low >= 0.99))
    t = tau(2, 32, 5)
    behind = 10 + 304 + 50
    between = (1 - t) / t * 20 + t / (1 - t) * (12_480 + behind)
    expected = 2 * 12_000 / (1310 + 12_480 + 2 * behind + between)
    rates = [
        saturate(B, 2, 1800, up=True, seconds=120, seed=seed, own=["", 'rate = "1 Mbit/s"']).mbps
        for seed in range(1, runs + 1)
    ]
    rows.append(near("802.11b, a station of 11 and one of 1 Mbit/s, both together", expected, rates, 0.02, "Mbit/s"))
    return rows


BLOCK_BITS = {"5 MHz": 18_336, "10 MHz": 36_696, "20 MHz": 75_376}
"""Transport block of scheme 28 by width (TS 36.213 table 7.1.7.2.1-1, I_TBS 26, 25, 50 and 100 resource blocks)."""


def lte(runs: int) -> list[Row]:
    """LTE beside its tables and the laws of HARQ."""
    rows = []
    for width, bits in BLOCK_BITS.items():
        medium = LTE.format(width=width, mcs=28, errors='"none"', queue="200 packets")
        rate = saturate(medium, 1, 12_000 / (bits / 1000) * 0.98, up=False, seconds=10).mbps
        rows.append(near(f"LTE, {width}, scheme 28: bits of a block every ms", bits / 1000, [rate], 0.005, "Mbit/s"))
    for errors in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3):
        medium = LTE.format(width="5 MHz", mcs=10, errors=errors, queue="200 packets")
        sent = again = lost = 0
        for seed in range(1, runs + 1):
            found = saturate(medium, 1, 2000, up=False, seconds=30, seed=seed).blocks
            sent, again, lost = sent + found[0], again + found[1], lost + found[2]
        # Attempts beyond the first: p + p^2 + p^3; given up: p^4.
        expected = sent * (errors + errors**2 + errors**3)
        case = f"LTE, block errors {errors:.0%}: repetitions of {sent} blocks"
        rows.append(near(case, expected, [float(again)], 4 / expected**0.5, "blocks"))
        gone = sent * errors**4
        off = (lost - gone) / max(1.0, gone**0.5)
        case = f"LTE, block errors {errors:.0%}: given up after four attempts"
        rows.append(Row(case, f"{gone:.1f}", str(lost), f"{off:+.1f} of 4 deviations", abs(off) <= 4))
    acknowledged = LTE.format(width="5 MHz", mcs=10, errors=0.5, queue="200 packets")
    acknowledged = acknowledged.replace('"um"', '"am"\nharq_retransmissions = 0')
    gap_us = 12_000
    all_of_it = saturate(acknowledged, 1, gap_us, up=False, seconds=60)
    case = "LTE, acknowledged mode without HARQ, half of all blocks lost: what was sent comes"
    rows.append(near(case, 12_000 / gap_us, [all_of_it.mbps], 0.02, "Mbit/s"))
    rows.append(Row("the same: lost packets", "0", str(all_of_it.lost), "none", all_of_it.lost == 0))
    return rows


def of_ns3(script: str, *arguments: str) -> dict[str, float]:
    """What a script in ns-3 prints."""
    done = subprocess.run([PYTHON, str(NS3 / script), *arguments], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


TO_CHANNEL_MS = 2.0
"""What a block takes in ns-3 from the scheduler to the air (LteEnbPhy, MacToChannelDelay); none here."""

DISTANCES = ((1492, 20.0, 22), (4000, 11.4, 12), (8000, 5.4, 6))
"""Metres, the signal-to-noise ratio there in dB by free-space loss at 2.12 GHz, and the scheme of its CQI."""


def beside_ns3(runs: int) -> tuple[list[Row], list[float]]:
    """The same scenarios in ns-3: throughput and mean delay; and how many times the CPU time of ours it takes."""
    rows, ratios = [], []
    # ns-3 acknowledges at any rate of 802.11b that is not above that of the data.
    medium = B.replace('["1 Mbit/s"]', '["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"]')
    # Its queue counts the packet that is being sent, too; what waits for more than 500 ms is dropped there.
    medium = medium.replace("20 packets", "9 packets")
    for stations in (1, 5, 10):
        there = of_ns3("wlan.py", str(stations), "20", "10")
        here = [saturate(medium, stations, 1800, up=True, seconds=20, seed=seed) for seed in range(1, runs + 1)]
        case = f"ns-3, 802.11b, {stations} stations"
        rows.append(near(f"{case}: throughput", there["mbps"], [one.mbps for one in here], 0.05, "Mbit/s"))
        rows.append(near(f"{case}: mean delay", there["delay_ms"], [one.delay_ms for one in here], 0.05, "ms"))
        ratios.append(there["cpu_s"] / fmean(one.cpu_s for one in here))
    for terminals in (1, 5):
        for metres, snr, mcs in DISTANCES:
            there = of_ns3("lte.py", str(terminals), str(metres), "10", "150000")
            wave = LTE.format(width="20 MHz", mcs=mcs, errors='"none"', queue="150000 B")
            medium = f"{wave}\nchannel = {snr}"
            here = [saturate(medium, terminals, 150 * terminals, up=False, seconds=10)]
            case = f"ns-3, LTE, {terminals} terminals, {snr} dB"
            rows.append(near(f"{case}: throughput", there["mbps"], [one.mbps for one in here], 0.05, "Mbit/s"))
            delays = [one.delay_ms + TO_CHANNEL_MS for one in here]
            rows.append(near(f"{case}: mean delay", there["delay_ms"], delays, 0.05, "ms"))
            ratios.append(there["cpu_s"] / fmean(one.cpu_s for one in here))
    return rows, ratios


def study(_folder: Path, runs: int | None) -> Section:
    """All rows; those beside ns-3 if NS3_PYTHON names a Python that has it."""
    count = runs or 5
    rows = wlan(count) + lte(count)
    ratios: list[float] = []
    if PYTHON:
        beside, ratios = beside_ns3(count)
        rows += beside
    else:
        print("SKIPPED: the rows beside ns-3: NS3_PYTHON is not set (make validation-radio sets it)")
    lines = [
        "## Radio",
        "",
        "Cells and wireless LANs beside closed forms, and beside ns-3 3.44 in a process of its own: saturated senders",
        "of packets of 1500 bytes. Beside ns-3 our delays in LTE have two slots more, which its blocks take from the",
        "scheduler to the air. Written by `make validation-radio`.",
        "",
        "| case | target | here | off | |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        holds = "holds" if row.holds else "DOES NOT HOLD"
        lines.append(f"| {row.case} | {row.target} | {row.here} | {row.bound} | {holds} |")
    holds_all = all(row.holds for row in rows)
    if ratios:
        fast = min(ratios) >= 100
        lines += [
            "",
            f"For the same simulated time ns-3 took {min(ratios):.0f} to {max(ratios):.0f} times our CPU time; asked",
            f"for are 100: {'holds' if fast else 'DOES NOT HOLD'}.",
        ]
        holds_all &= fast
    return Section(lines, holds_all)
