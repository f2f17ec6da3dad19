"""Cells of LTE beside the tables of the standard and closed forms."""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, log, log10, pi, sqrt

import quiclab
from validation.saturated import SCENARIO, Row, near, saturate

LTE = 'type = "lte"\nbandwidth = "{width}"\nrlc = "um"\nmcs = {mcs}\nblock_errors = {errors}\nqueue = "{queue}"'

BLOCK_BITS = {"5 MHz": 18_336, "10 MHz": 36_696, "20 MHz": 75_376}
"""Transport block of scheme 28 by width (TS 36.213 table 7.1.7.2.1-1, I_TBS 26, 25, 50 and 100 resource blocks)."""

ERRORS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""Probabilities that an attempt to send a block fails."""


def peaks() -> list[Row]:
    """The rate of one terminal at the highest scheme."""
    rows = []
    for width, bits in BLOCK_BITS.items():
        medium = LTE.format(width=width, mcs=28, errors='"none"', queue="200 packets")
        rate = saturate(medium, 1, 12_000 / (bits / 1000) * 0.98, up=False, seconds=10).mbps
        rows.append(near(f"LTE, {width}, scheme 28: bits of a block every ms", bits / 1000, [rate], 0.005, "Mbit/s"))
    return rows


def repetitions(runs: int, errors: Sequence[float] = ERRORS) -> list[Row]:
    """How often saturated senders repeat blocks, and give them up."""
    rows = []
    for p in errors:
        medium = LTE.format(width="5 MHz", mcs=10, errors=p, queue="200 packets")
        sent = again = lost = 0
        for seed in range(1, runs + 1):
            found = saturate(medium, 1, 2000, up=False, seconds=30, seed=seed).blocks
            sent, again, lost = sent + found[0], again + found[1], lost + found[2]
        # Attempts beyond the first: p + p^2 + p^3; given up: p^4.
        expected = sent * (p + p**2 + p**3)
        case = f"LTE, block errors {p:.0%}: repetitions of {sent} blocks"
        rows.append(near(case, expected, [float(again)], 4 / expected**0.5, "blocks"))
        gone = sent * p**4
        off = (lost - gone) / max(1.0, gone**0.5)
        case = f"LTE, block errors {p:.0%}: given up after four attempts"
        rows.append(Row(case, f"{gone:.1f}", str(lost), f"{off:+.1f} of 4 deviations", abs(off) <= 4))
    return rows


APART_MS = 40
"""From one packet to the next where each has the cell for itself: more than four attempts take."""


def block_delays_ms(errors: float, seconds: int, seed: int) -> tuple[int, list[float]]:
    """Packets of a block each: how many were sent, and the delays of those that came."""
    medium = LTE.format(width="5 MHz", mcs=10, errors=errors, queue="200 packets")
    nodes = (
        '[[node]]\nname = "station"\n[[node]]\nname = "phone"\n'
        f'[[medium]]\nname = "air"\nstation = "station"\nterminals = ["phone"]\n{medium}\n'
        '[[cross_traffic]]\nname = "probes"\nfrom = "station"\nto = "phone"\nstart = "500 us"\n'
        f'source = {{ type = "constant", size = 172, gap = "{APART_MS} ms" }}'
    )
    text = SCENARIO.format(seed=seed, seconds=seconds, record="blocks = true", nodes=nodes)
    table = quiclab.Scenario.from_text(text).run().table("block")
    sent, delays = 0, []
    for row in table.to_pylist():
        sent += row["attempt"] == 1
        if row["fate"] == "received":
            delays.append((1000 * row["time_s"] - 0.5) % APART_MS)
    return sent, delays


def geometric(case: str, p: float, sent: int, delays: Sequence[float]) -> Row:
    """The distribution of the delays of blocks beside 1 - p^k, that of the time of k attempts, 8 ms apart."""
    # A packet that comes at 0.5 ms is sent from 1 to 2 ms, or 8, 16 or 24 ms later.
    due = [1.5 + 8 * attempt for attempt in range(4)]
    strange = [delay for delay in delays if all(abs(delay - at) > 1e-3 for at in due)]
    worst, deviations = 0.0, 0.0
    for attempts, at in enumerate(due, 1):
        expected = 1 - p**attempts
        off = sum(delay < at + 1e-3 for delay in delays) / sent - expected
        worst = max(worst, abs(off))
        deviations = max(deviations, abs(off) / sqrt(expected * (1 - expected) / sent))
    here = f"{worst:.5f}" + (f", and {len(strange)} at other times" if strange else "")
    return Row(case, "0", here, f"{deviations:.1f} of 4 deviations", deviations <= 4 and not strange)


def delays_of_harq(runs: int, errors: Sequence[float] = ERRORS, seconds: int = 400) -> list[Row]:
    """When blocks come."""
    rows = []
    for p in errors:
        found = [block_delays_ms(p, seconds, seed) for seed in range(1, runs + 1)]
        sent, delays = sum(one[0] for one in found), [delay for one in found for delay in one[1]]
        case = f"LTE, block errors {p:.0%}: distribution of the delay of {sent} blocks off the geometric one, at most"
        rows.append(geometric(case, p, sent, delays))
    return rows


DOWNLOAD = """
seed = 1
duration = "600 s"
[record]
tables = []
packets = true
[[node]]
name = "phone"
[[node]]
name = "station"
[[medium]]
name = "air"
station = "station"
terminals = ["phone"]
{medium}
[[flow]]
name = "get"
client = "phone"
server = "station"
application = {{ type = "bulk", size = "5 MB" }}
"""


def in_order(case: str, sent: Sequence[int], received: Sequence[int]) -> Row:
    """Numbers that came beside those that were sent: the same ones, in the same order."""
    lost = len(set(sent) - set(received))
    late = sum(two < one for one, two in pairwise(received))
    again = len(received) - len(set(received))
    here = f"{lost} lost, {late} out of order, {again} twice"
    return Row(case, "0", here, "none", list(sent) == list(received))


def acknowledged() -> list[Row]:
    """What the acknowledged mode makes of blocks that HARQ does not repeat."""
    lossy = LTE.format(width="5 MHz", mcs=10, errors=0.5, queue="6 MB")
    lossy = lossy.replace('"um"', '"am"\nharq_retransmissions = 0')
    gap_us = 12_000
    found = saturate(lossy, 1, gap_us, up=False, seconds=60)
    case = "LTE, acknowledged mode without HARQ, half of all blocks lost: what was sent comes"
    rows = [near(case, 12_000 / gap_us, [found.mbps], 0.02, "Mbit/s")]
    rows.append(Row("the same: lost packets", "0", str(found.lost), "none", found.lost == 0))
    run = quiclab.Scenario.from_text(DOWNLOAD.format(medium=lossy)).run()
    numbers: dict[str, list[int]] = {"sent": [], "received": []}
    for row in run.table("packet").to_pylist():
        if (row["side"], row["direction"]) in (("server", "sent"), ("client", "received")) and row["kind"] == "1RTT":
            numbers[row["direction"]].append(row["number"])
    # Those that were on the way when the download was complete did not come.
    sent = numbers["sent"][: len(numbers["received"])]
    case = f"the same, a download over QUIC: the first {len(sent)} packets"
    rows.append(in_order(case, sent, numbers["received"]))
    return rows


EFFICIENCY = (
    *(0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141),
    *(2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152, 5.5547),
)
"""Bits per resource element of CQI 1 to 15 (TS 36.213 table 7.2.3-1)."""

OF_SCHEME = {
    5: (120, 208, 328, 504, 680, 776, 1000, 1256, 1544, 1608, 1992, 2344, 2664, 2984, 3752),
    10: (256, 424, 696, 1032, 1384, 1544, 2024, 2536, 3112, 3240, 4008, 4584, 5352, 5992, 7480),
    25: (680, 1096, 1800, 2600, 3496, 4008, 4968, 6456, 7736, 7992, 9912, 11448, 13536, 15264, 18336),
    50: (1384, 2216, 3624, 5160, 6968, 7992, 9912, 12960, 15264, 16416, 19848, 22920, 27376, 30576, 36696),
}
"""Bits of a block by its resource blocks, at the schemes 0, 2, ... 28 of CQI 1 to 15 (TS 36.213 table 7.1.7.2.1-1)."""

PRBS = 50
MEAN_DB = 10.0


def mbps(bits: int) -> float:
    """The packets of 1500 bytes in a block every ms: headers are 5 bytes for each block, 1.5 and 2 for each packet."""
    return (bits / 8 - 5) * 1500 / 1503.5 * 8e-3


def mean_rate(rates: Sequence[float], mean: float, best_of: int) -> float:
    """The mean over Rayleigh fading of these rates of CQI 1 to 15, at the best of this many terminals with one mean."""
    gap = -log(5 * 0.00005) / 1.5
    levels = [gap * (2**efficiency - 1) for efficiency in EFFICIENCY]
    below = [*((1 - exp(-level / mean)) ** best_of for level in levels), 1.0]
    return sum(rate * (above - under) for rate, (under, above) in zip(rates, pairwise(below), strict=True))


def gain(terminals: int) -> float:
    """By how much proportional fair has more than round robin, of terminals of one mean ratio that fade independently.

    Proportional fair, of equal terminals, serves the best one: the mean rate at the best of N. Round robin serves all
    that are in reach, at any time: where q is the probability that a terminal is not, and q^N that none is, it has the
    mean rate of those in reach for 1 - q^N of the time.
    """
    mean = 10 ** (MEAN_DB / 10)
    best = mean_rate([mbps(bits) for bits in OF_SCHEME[PRBS]], mean, terminals)
    shares = [terminals * mbps(bits) for bits in OF_SCHEME[PRBS // terminals]]
    out = 1 - mean_rate([1.0] * 15, mean, 1)
    each = mean_rate(shares, mean, 1) * (1 - out**terminals) / (1 - out)
    return best / each


def diversity(runs: int, terminals: Sequence[int] = (2, 5, 10), seconds: int = 100) -> list[Row]:
    """What proportional fair gains over round robin where terminals fade: the ratio of both in each run."""
    # In 10 MHz, 100 m from the station, beyond 1 m with the exponent 2; the power that has the mean ratio there.
    loss = 20 * log10(4 * pi * 100 * 2e9 / 299_792_458)
    power = MEAN_DB + loss - 174 + 10 * log10(10e6) + 9
    channel = f'{{ type = "drawn", distance = 100, exponent = 2, power = {power:.6f}, doppler = 10 }}'
    rows = []
    for count in terminals:
        ratios = []
        for seed in range(1, runs + 1):
            total = []
            for scheduler in ('{ type = "proportional-fair", window = "20 s" }', '"round-robin"'):
                medium = (
                    f'type = "lte"\nbandwidth = "10 MHz"\nrlc = "um"\nblock_errors = "none"\nqueue = "5000 packets"\n'
                    f'cqi_period = "1 ms"\nscheduler = {scheduler}\nchannel = {channel}'
                )
                total.append(saturate(medium, count, 300 * count, up=False, seconds=seconds, seed=seed).mbps)
            ratios.append(total[0] / total[1])
        case = f"LTE, {count} terminals at {MEAN_DB:.0f} dB with Rayleigh fading: proportional fair over round robin"
        rows.append(near(case, gain(count), ratios, 0.03, "times"))
    return rows


def lte(runs: int) -> list[Row]:
    """All rows of cells beside closed forms."""
    return [*peaks(), *repetitions(runs), *delays_of_harq(runs), *acknowledged(), *diversity(runs)]
