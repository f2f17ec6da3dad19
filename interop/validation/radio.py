"""Cells and wireless LANs: beside closed forms, and beside ns-3, which is a process of its own."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from validation.cells import LTE, lte
from validation.saturated import Row, near, saturate
from validation.section import Section
from validation.wireless import B, after_collisions, data_frames, share_of_eifs, waits_us, wlan

NS3 = Path(__file__).parent.parent / "ns3"
PYTHON = os.environ.get("NS3_PYTHON", "")
"""A Python that has the package ns3."""

FASTER = 100
"""How many times our CPU time ns-3 takes at least for the same simulated time."""


def of_ns3(script: str, *arguments: str) -> dict[str, Any]:
    """What a script in ns-3 prints."""
    done = subprocess.run([PYTHON, str(NS3 / script), *arguments], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def speed(case: str, there_s: float, here_s: float) -> Row:
    """The CPU time of ns-3 over ours."""
    ratio = there_s / here_s
    return Row(
        f"{case}: CPU time of ns-3 over ours", f"{FASTER}", f"{ratio:.0f}", f"at least {FASTER}", ratio >= FASTER
    )


def least(speeds: Sequence[Row]) -> Row:
    """The one of them that is least."""
    row = min(speeds, key=lambda row: float(row.here))
    return replace(row, case=f"{row.case}, the least of {len(speeds)} scenarios")


TO_CHANNEL_MS = 2.0
"""What a block takes in ns-3 from the scheduler to the air (LteEnbPhy, MacToChannelDelay); none here."""

DISTANCES = ((1492, 20.0, 22), (4000, 11.4, 12), (8000, 5.4, 6))
"""Metres, the signal-to-noise ratio there in dB by free-space loss at 2.12 GHz, and the scheme of its CQI."""


# ns-3 acknowledges at any rate of 802.11b that is not above that of the data; its queue of ten packets counts the one
# that is being sent, too.
AS_NS3 = B.replace('["1 Mbit/s"]', '["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"]')
AS_NS3 = AS_NS3.replace("20 packets", "9 packets")


def wlan_of_ns3(stations: int, seconds: int, *words: str) -> dict[str, Any]:
    """Saturated stations of 802.11b in ns-3."""
    return of_ns3("wlan.py", str(stations), str(seconds), "10", *words)


def wlan_beside(stations: int, seconds: int, runs: int, there: dict[str, Any]) -> list[Row]:
    """Saturated stations of 802.11b beside those in ns-3: throughput, mean delay, CPU time."""
    here = [saturate(AS_NS3, stations, 1800, up=True, seconds=seconds, seed=seed) for seed in range(1, runs + 1)]
    case = f"ns-3, 802.11b, {stations} stations"
    return [
        near(f"{case}: throughput", there["mbps"], [one.mbps for one in here], 0.05, "Mbit/s"),
        near(f"{case}: mean delay", there["delay_ms"], [one.delay_ms for one in here], 0.05, "ms"),
        speed(case, there["cpu_s"], fmean(one.cpu_s for one in here)),
    ]


def lte_beside(terminals: int, place: tuple[int, float, int], seconds: int) -> list[Row]:
    """Saturated terminals of LTE at one of `DISTANCES`: throughput, mean delay, CPU time."""
    metres, snr, mcs = place
    there = of_ns3("lte.py", str(terminals), str(metres), str(seconds), "150000")
    medium = LTE.format(width="20 MHz", mcs=mcs, errors='"none"', queue="150000 B") + f"\nchannel = {snr}"
    here = saturate(medium, terminals, 150 * terminals, up=False, seconds=seconds)
    case = f"ns-3, LTE, {terminals} terminals, {snr} dB"
    return [
        near(f"{case}: throughput", there["mbps"], [here.mbps], 0.05, "Mbit/s"),
        near(f"{case}: mean delay", there["delay_ms"], [here.delay_ms + TO_CHANNEL_MS], 0.05, "ms"),
        speed(case, there["cpu_s"], here.cpu_s),
    ]


def beside_ns3(runs: int) -> list[Row]:
    """The same scenarios in ns-3: throughput, mean delay and CPU time."""
    rows = []
    for stations in (1, 5, 10):
        rows += wlan_beside(stations, 20, runs, wlan_of_ns3(stations, 20))
    for terminals in (1, 5):
        for place in DISTANCES:
            rows += lte_beside(terminals, place, 10)
    return [*rows, least(rows[2::3])]


def defaults_of_ns3(seconds: int) -> tuple[list[Row], list[str]]:
    """What two defaults of ns-3 do to ten stations: who waits for EIFS, there and here, and a table."""
    kept = {
        "ns-3 by default": ("lifetime", "detection"),
        "no lifetime in the queue": ("detection",),
        "nor preamble detection": (),
    }
    lines = [
        "For the rows that compare 802.11b, two defaults of ns-3 are changed, so that both simulators follow the",
        "standard. The queue of ns-3 drops packets that have waited for 500 ms, which cuts off the longest delays;",
        "the lifetime of the standard begins with the first attempt (dot11MaxTransmitMSDULifetime). And ns-3 detects",
        "a preamble only 4 dB above interference: frames of equal power that begin together are not received with an",
        "error there, but not at all, and nobody waits for EIFS after them (IEEE Std 802.11-2016, 10.3.2.3.7). The",
        f"table shows ten stations in {seconds} s, and the collisions after which the next sender had not taken part:",
        "",
        "| | throughput | mean delay | dropped for age | others waited for EIFS |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    waits: list[int] = []
    for name, words in kept.items():
        there = wlan_of_ns3(10, seconds, "frames", *words)
        waits = waits_us((start, sender) for start, sender in there["frames"])
        lines.append(
            f"| {name} | {there['mbps']:.3f} Mbit/s | {there['delay_ms']:.3f} ms | {there['expired']} "
            f"| {share_of_eifs(waits):.1%} of {len(waits)} |"
        )
    here = saturate(AS_NS3, 10, 1800, up=True, seconds=seconds)
    ours = waits_us(data_frames(AS_NS3, 10, seconds))
    lines.append(
        f"| here | {here.mbps:.3f} Mbit/s | {here.delay_ms:.3f} ms | 0 | {share_of_eifs(ours):.1%} of {len(ours)} |"
    )
    rows = [after_collisions("ns-3, 802.11b, 10 stations, there", waits)]
    rows.append(after_collisions("ns-3, 802.11b, 10 stations, here", ours))
    return rows, lines


def section(rows: Sequence[Row], more: Sequence[str] = ()) -> Section:
    """The part of the page with these rows, and what stands behind them."""
    lines = [
        "## Radio",
        "",
        "This section compares cells and wireless LANs with closed forms, and with ns-3 3.44 in a separate process.",
        "Saturated senders send packets of 1500 bytes. Where the table compares LTE with ns-3, two slots are added to",
        "the delays of quiclab, because in ns-3 a block takes two slots from the scheduler to the air. Written by",
        "`make validation-radio`.",
        "",
        "| case | target | here | off | |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        holds = "holds" if row.holds else "DOES NOT HOLD"
        lines.append(f"| {row.case} | {row.target} | {row.here} | {row.bound} | {holds} |")
    if more:
        lines += ["", *more]
    return Section(lines, all(row.holds for row in rows))


def study(_folder: Path, runs: int | None) -> Section:
    """All rows; those beside ns-3 if NS3_PYTHON names a Python that has it."""
    count = runs or 5
    rows = wlan(count) + lte(count)
    more: list[str] = []
    if PYTHON:
        rows += beside_ns3(count)
        waits, more = defaults_of_ns3(20)
        rows += waits
    else:
        print("SKIPPED: the rows beside ns-3: NS3_PYTHON is not set (make validation-radio sets it)")
    return section(rows, more)
