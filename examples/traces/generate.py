"""Writes lte-like.down: a made-up trace of the capacity that one user of a mobile network gets.

The rate is a random walk around a mean, with fades and one outage. The radio serves the user in some milliseconds and
others in the rest. The program uses only whole numbers and the one random generator whose sequence Python promises to
keep, so it writes the same file on every machine:

    python3 examples/traces/generate.py
"""

import random
from pathlib import Path

SEED = 2
LENGTH_MS = 60_000
"""The last time in the file, after which it is played again from its start."""
STEP_MS = 20
"""How long a rate lasts."""
KBIT_PER_LEVEL = 100
"""The rate is a level times this, in kbit/s: that is, in bits per millisecond."""
USUAL = 74
"""The level around which the walk goes."""
HIGHEST = 160
FADES = [(4_500, 6_500, 20), (22_000, 26_000, 25), (46_500, 48_500, 8)]
"""From, to (ms), and the level that the walk is drawn to: a building, a long shadow, a tunnel's mouth."""
OUTAGE = (10_200, 10_800)
"""From, to (ms): nothing at all."""
SERVED_PERCENT = 40
"""In how many milliseconds of a hundred the radio serves this user; between them, capacity adds up."""
PACKET_BITS = 1500 * 8


def opportunities() -> list[int]:
    """The time in ms of each opportunity to send 1500 bytes."""
    chance = random.Random(SEED)
    level, waiting = USUAL, 0
    times: list[int] = []
    for now in range(1, LENGTH_MS + 1):
        if now % STEP_MS == 0:
            level = walk(level, target(now), chance)
        if not OUTAGE[0] <= now < OUTAGE[1]:
            waiting += level * KBIT_PER_LEVEL
        # Drawn in every millisecond, so that a change of one number above does not move all that follows.
        if chance.random() * 100 < SERVED_PERCENT:
            count, waiting = divmod(waiting, PACKET_BITS)
            times += [now] * count
    if times[-1] != LENGTH_MS:
        times.append(LENGTH_MS)
    return times


def target(now: int) -> int:
    """The level that the walk is drawn to."""
    for start, end, level in FADES:
        if start <= now < end:
            return level
    return USUAL


def walk(level: int, towards: int, chance: random.Random) -> int:
    """The next level: a random step, and a sixteenth of the way to where it is drawn."""
    step = int(chance.random() * 23) - 11
    pull = (towards - level) // 16
    return min(max(level + step + pull, 1), HIGHEST)


if __name__ == "__main__":
    path = Path(__file__).with_name("lte-like.down")
    path.write_text("".join(f"{time}\n" for time in opportunities()), encoding="ascii")
