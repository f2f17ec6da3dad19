"""Wireless LANs beside closed forms."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from validation.saturated import Row, near, saturate, scene

B = 'type = "wlan"\nstandard = "b"\nbasic_rates = ["1 Mbit/s"]\nqueue = "20 packets"'
G = 'type = "wlan"\nstandard = "g"\nqueue = "20 packets"'


DATA_US, SLOT_US, EIFS_US = 1310, 20, 364
"""Of 802.11b at 11 Mbit/s with 1500 bytes: a frame, a slot, and SIFS, an ACK of 1 Mbit/s and DIFS (10.3.2.3.7)."""


def data_frames(medium: str, stations: int, seconds: int) -> list[tuple[int, int]]:
    """The start in us and the sender of each data frame of saturated stations of 802.11b."""
    record = "tables = []\nblocks = true"
    blocks = scene(medium, stations, 1800, up=True, seconds=seconds, record=record).run().table("block").to_pylist()
    return [(round(1e6 * block["time_s"]) - DATA_US, int(block["link"].removeprefix("air t"))) for block in blocks]


def waits_us(frames: Iterable[tuple[int, int]]) -> list[int]:
    """From the end of each collision to the next frame, if those that send it took no part in the collision.

    Frames that overlap are one collision: they may begin a time of carrier sense apart. It ends with the last of them.
    Who took part waits for the end of its timeout instead of EIFS, and others whose turn comes within the time of
    carrier sense behind it collide with it: such a collision does not say when they would have begun.
    """
    collisions: list[tuple[int, int, set[int]]] = []
    for start, sender in sorted(frames):
        if collisions and start < collisions[-1][1] + DATA_US:
            first, _, senders = collisions.pop()
            collisions.append((first, start, senders | {sender}))
        else:
            collisions.append((start, start, {sender}))
    return [
        then - last - DATA_US
        for (_, last, senders), (then, _, later) in pairwise(collisions)
        if len(senders) > 1 and not later & senders
    ]


def share_of_eifs(waits: Sequence[int]) -> float:
    """Those of them that are EIFS and whole slots."""
    return sum(wait >= EIFS_US and (wait - EIFS_US) % SLOT_US == 0 for wait in waits) / len(waits)


def after_collisions(case: str, waits: Sequence[int]) -> Row:
    """Whether who did not take part in a collision waits for EIFS after it."""
    share = share_of_eifs(waits)
    case = f"{case}: others wait for EIFS after a collision, of {len(waits)}"
    return Row(case, "100%", f"{share:.1%}", "at least 99%", share >= 0.99)


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


def alone(runs: int) -> list[Row]:
    """One station with nobody beside it."""
    # DIFS, 15.5 slots, data, SIFS, ACK at 1 Mbit/s, in us.
    expected = 12_000 / (50 + 15.5 * 20 + 1310 + 10 + 304)
    rates = [saturate(B, 1, 1800, up=True, seconds=60, seed=seed).mbps for seed in range(1, runs + 1)]
    return [near("802.11b, one station, closed form", expected, rates, 0.005, "Mbit/s")]


def saturation(runs: int, counts: Sequence[int] = (1, 2, 5, 10, 20, 50), seconds: int = 20) -> list[Row]:
    """Numbers of stations beside Bianchi's model."""
    rows = []
    unlimited = "\nattempts = 255"
    success = 1310 + 10 + 304 + 50
    for standard, medium, windows, gap_us, times in (
        ("b", B, (32, 5), 1800.0, (20.0, success, success)),
        ("g", G, (16, 6), 380.0, (9.0, 254 + 10 + 34 + 28, 254 + 10 + 50 + 28)),
    ):
        for stations in counts:
            expected = bianchi(stations, windows, times)
            measured = [
                saturate(medium + unlimited, stations, gap_us, up=True, seconds=seconds, seed=seed).mbps
                for seed in range(1, runs + 1)
            ]
            case = f"802.11{standard}, {stations} saturated stations, Bianchi 2000"
            rows.append(near(case, expected, measured, 0.03, "Mbit/s"))
    return rows


def fairness(runs: int) -> list[Row]:
    """Equal stations have equal shares."""
    indices = []
    for seed in range(1, runs + 1):
        each = saturate(B, 10, 1800, up=True, seconds=60, seed=seed).each_mbps
        indices.append(sum(each) ** 2 / (10 * sum(x * x for x in each)))
    low = min(indices)
    case = f"802.11b, ten equal stations, Jain's index of 60 s, the least of {runs} runs"
    return [Row(case, "1", f"{low:.4f}", "at least 0.99", low >= 0.99)]


def anomaly(runs: int) -> list[Row]:
    """A slow station beside a fast one."""
    t = tau(2, 32, 5)
    behind = 10 + 304 + 50
    between = (1 - t) / t * 20 + t / (1 - t) * (12_480 + behind)
    expected = 2 * 12_000 / (1310 + 12_480 + 2 * behind + between)
    rates = [
        saturate(B, 2, 1800, up=True, seconds=120, seed=seed, own=["", 'rate = "1 Mbit/s"']).mbps
        for seed in range(1, runs + 1)
    ]
    return [near("802.11b, a station of 11 and one of 1 Mbit/s, both together", expected, rates, 0.02, "Mbit/s")]


def wlan(runs: int) -> list[Row]:
    """All rows of wireless LANs beside closed forms."""
    return [*alone(runs), *saturation(runs), *fairness(runs), *anomaly(runs)]
