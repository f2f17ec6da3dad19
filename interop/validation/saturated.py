"""Senders that never stop, over a cell or a wireless LAN; and a number beside what it must be."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import quiclab
from quiclab.reproduce.spread import interval

SCENARIO = """
seed = {seed}
duration = "{seconds} s"
[record]
{record}
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


def near(case: str, target: float, values: Sequence[float], bound: float, unit: str) -> Row:
    """The mean of some runs beside a target, within a part of it."""
    mean, low, high = interval(values)
    spread = f" [{low:.3f}, {high:.3f}], {len(values)} runs" if len(values) > 1 else ""
    off = mean / target - 1
    return Row(case, f"{target:.3f} {unit}", f"{mean:.3f}{spread}", f"{off:+.2%} of {bound:.1%}", abs(off) <= bound)


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


def scene(
    medium: str,
    others: int,
    interval_us: float,
    *,
    up: bool,
    seconds: int,
    seed: int = 1,
    own: Sequence[str] = (),
    record: str = "tables = []",
) -> quiclab.Scenario:
    """Packets of 1500 bytes, from each of this many terminals to the station, or to each of them."""
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
    text = SCENARIO.format(seed=seed, seconds=seconds, record=record, nodes="\n".join(nodes))
    return quiclab.Scenario.from_text(text)


def saturate(
    medium: str, others: int, interval_us: float, *, up: bool, seconds: int, seed: int = 1, own: Sequence[str] = ()
) -> Saturated:
    """What comes of the packets of a `scene`."""
    scenario = scene(medium, others, interval_us, up=up, seconds=seconds, seed=seed, own=own)
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
