"""Cells of LTE beside the tables of the standard and the laws of HARQ."""

from collections.abc import Sequence

from validation.saturated import Row, near, saturate

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


def acknowledged() -> list[Row]:
    """What the acknowledged mode makes of blocks that HARQ does not repeat."""
    lossy = LTE.format(width="5 MHz", mcs=10, errors=0.5, queue="6 MB")
    lossy = lossy.replace('"um"', '"am"\nharq_retransmissions = 0')
    gap_us = 12_000
    found = saturate(lossy, 1, gap_us, up=False, seconds=60)
    case = "LTE, acknowledged mode without HARQ, half of all blocks lost: what was sent comes"
    rows = [near(case, 12_000 / gap_us, [found.mbps], 0.02, "Mbit/s")]
    rows.append(Row("the same: lost packets", "0", str(found.lost), "none", found.lost == 0))
    return rows


def lte(runs: int) -> list[Row]:
    """All rows of cells beside closed forms."""
    return [*peaks(), *repetitions(runs), *acknowledged()]
