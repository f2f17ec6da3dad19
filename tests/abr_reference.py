"""Four algorithms of rate adaptation and a player, without a transport: a reference to compare quiclab with.

It is written from the papers and shares no code with quiclab. A session is played over a series of throughputs: a
download takes the time in which the series carries its bits. Sizes and times are integers, so that another program can
play the same sessions. Run with `--vectors`, it prints sessions and what became of them: the file `VECTORS`.
"""

import itertools
import json
import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

VECTORS = Path(__file__).parents[1] / "crates" / "video" / "tests" / "abr_reference.json"
LADDER = (230, 331, 477, 688, 991, 1427, 2056, 2962, 5027, 6000)
SESSIONS = 20
SAME = 1e-9
"""Values of plans that differ by less are equal but for rounding."""


@dataclass(frozen=True)
class Session:
    """What is played, and the network: bitrates in kbit/s, sizes in thousandths of bitrate x duration, times in ms."""

    segment_ms: int
    max_buffer_ms: int
    ladder_kbit: list[int]
    permille: list[int]
    series: list[tuple[int, int]]
    """Pieces of this many ms and bit/s, over and over again."""

    def bits(self, segment: int, representation: int) -> int:
        return 8 * (self.ladder_kbit[representation] * self.segment_ms * self.permille[segment] // 8000)

    def download_s(self, start_s: float, bits: float) -> float:
        """The time that a download takes from a moment on."""
        total_s = sum(ms for ms, _ in self.series) / 1000
        now = start_s % total_s
        took = 0.0
        for ms, rate in itertools.cycle(self.series):
            left = ms / 1000 - now
            now = max(-left, 0.0)
            if left <= 0:
                continue
            if bits <= left * rate:
                return took + bits / rate
            bits -= left * rate
            took += left
        raise AssertionError


@dataclass
class Outcome:
    """What became of a session."""

    chosen: list[int] = field(default_factory=list)
    completed_s: list[float] = field(default_factory=list)
    stalled_s: float = 0.0


@dataclass
class Past:
    """What an algorithm knows: the buffer, the last representation, the times and bits/s of the downloads."""

    session: Session
    buffer_s: float = 0.0
    last: int | None = None
    downloads: list[tuple[float, float]] = field(default_factory=list)
    other: int | None = None
    """What another program chose: where several choices are the best ones, it is taken if it is one of them."""


Algorithm = Callable[[Past], tuple[int, float]]


def play(session: Session, algorithm: Algorithm) -> Outcome:
    """Plays all segments: the first picture comes with the first segment, and a stall ends with the next one."""
    now, segment_s, past, outcome = 0.0, session.segment_ms / 1000, Past(session), Outcome()
    for segment in range(len(session.permille)):
        room = max(past.buffer_s + segment_s - session.max_buffer_ms / 1000, 0.0)
        now, past.buffer_s = now + room, past.buffer_s - room
        representation, pause = algorithm(past)
        now, past.buffer_s = now + pause, past.buffer_s - pause
        bits = session.bits(segment, representation)
        took = session.download_s(now, bits)
        if segment > 0:
            outcome.stalled_s += max(took - past.buffer_s, 0.0)
        now, past.buffer_s = now + took, max(past.buffer_s - took, 0.0) + segment_s
        past.last = representation
        past.downloads.append((took, bits / max(took, 0.001)))
        outcome.chosen.append(representation)
        outcome.completed_s.append(now)
    return outcome


def bola(past: Past, gp: float = 5.0, most_s: float = 25.0) -> tuple[int, float]:
    """BOLA-BASIC (Spiteri, Urgaonkar, Sitaraman 2016), with the buffer in seconds."""
    ladder, segment_s = past.session.ladder_kbit, past.session.segment_ms / 1000
    utility = [math.log(kbit / ladder[0]) for kbit in ladder]
    vp = (min(most_s, past.session.max_buffer_ms / 1000) - segment_s) / (utility[-1] + gp)
    # Nothing is asked for while all scores are negative; the highest utility is the first to be worth it.
    buffer_s = min(past.buffer_s, vp * (utility[-1] + gp))
    score = [(vp * (u + gp) - buffer_s) / kbit for u, kbit in zip(utility, ladder, strict=True)]
    return score.index(max(score)), past.buffer_s - buffer_s


def bba(past: Past, reservoir_s: float = 5.0, cushion_s: float = 10.0) -> tuple[int, float]:
    """BBA-0 (Huang et al. 2014, algorithm 1)."""
    ladder = past.session.ladder_kbit
    last = ladder[past.last or 0]
    higher = min((kbit for kbit in ladder if kbit > last), default=ladder[-1])
    lower = max((kbit for kbit in ladder if kbit < last), default=ladder[0])
    mapped = ladder[0] + (past.buffer_s - reservoir_s) / cushion_s * (ladder[-1] - ladder[0])
    if past.buffer_s <= reservoir_s:
        rate = ladder[0]
    elif past.buffer_s >= reservoir_s + cushion_s:
        rate = ladder[-1]
    elif mapped >= higher:
        rate = max((kbit for kbit in ladder if kbit < mapped), default=ladder[0])
    elif mapped <= lower:
        rate = min((kbit for kbit in ladder if kbit > mapped), default=ladder[-1])
    else:
        rate = last
    return ladder.index(rate), 0.0


def throughput(past: Past, half_lives_s: tuple[float, float] = (3.0, 8.0)) -> tuple[int, float]:
    """ThroughputRule of dash.js: of two averages the lower one, times 0.9. An average is a sum over the past."""

    def average(half_life_s: float) -> float:
        weighted, weights, age = 0.0, 0.0, 0.0
        for took, rate in reversed(past.downloads):
            weight = 2 ** (-age / half_life_s) * (1 - 2 ** (-took / half_life_s))
            weighted, weights, age = weighted + weight * rate, weights + weight, age + took
        return weighted / weights

    if not past.downloads:
        return 0, 0.0
    estimate = 0.9 * min(map(average, half_lives_s))
    return sum(1000 * kbit <= estimate for kbit in past.session.ladder_kbit[1:]), 0.0


def mpc(past: Past) -> tuple[int, float]:
    """RobustMPC: the lowest of the best choices, or that of `Past.other` if it is one of them."""
    best = mpc_best(past)
    return past.other if past.other in best else best[0], 0.0


def mpc_best(past: Past, horizon: int = 5, stall: float = 2.66, change: float = 0.9) -> list[int]:
    """The representations with which a best plan of RobustMPC begins (Yin et al. 2015, section 4.3).

    Its quality is the logarithmic one of Pensieve. There can be several. Without stalls, plans that step down and up
    again at other times have the same sum of qualities and of changes. (A change counts a little less than the quality
    that it gains: with equal weights, many more plans have the same value.)
    """
    session, rates = past.session, [rate for _, rate in past.downloads]
    if not rates:
        return [0]

    def mean(before: int) -> float:
        """The harmonic mean of the five throughputs before a download."""
        known = rates[max(before - 5, 0) : before]
        return len(known) / sum(1 / rate for rate in known)

    errors = [abs(mean(number) - rates[number]) / rates[number] for number in range(1, len(rates))]
    expected = mean(len(rates)) / (1 + max(errors[-5:], default=0.0))
    quality = [math.log(kbit / session.ladder_kbit[0]) for kbit in session.ladder_kbit]
    segment_s, room_s = session.segment_ms / 1000, (session.max_buffer_ms - session.segment_ms) / 1000
    first, end = len(rates), min(len(rates) + horizon, len(session.permille))
    values = [-math.inf] * len(quality)

    def go_on(segment: int, buffer_s: float, plan: tuple[int, ...], value: float) -> None:
        if segment == end:
            values[plan[0]] = max(values[plan[0]], value)
            return
        # The player asks for a segment when it has room.
        buffer_s = min(buffer_s, room_s)
        before = quality[plan[-1] if plan else past.last or 0]
        for representation, here in enumerate(quality):
            took = session.bits(segment, representation) / expected
            after = value + here - change * abs(here - before) - stall * max(took - buffer_s, 0.0)
            # What follows brings at most the highest quality, and the way to it costs a change.
            most = after + (end - segment - 1) * quality[-1]
            if segment + 1 < end:
                most -= min(change, 1.0) * (quality[-1] - here)
            if most >= max(values) - SAME:
                go_on(segment + 1, max(buffer_s - took, 0.0) + segment_s, (*plan, representation), after)

    go_on(first, past.buffer_s, (), 0.0)
    return [number for number, value in enumerate(values) if value >= max(values) - SAME]


ALGORITHMS: dict[str, Algorithm] = {"bola": bola, "bba": bba, "throughput": throughput, "mpc": mpc}


def drawn(count: int, seed: int = 20) -> Iterator[Session]:
    """Sessions by chance, the same ones for equal seeds."""
    chance = random.Random(seed)

    def between(low: float, high: float) -> int:
        return round(low * math.exp(math.log(high / low) * chance.random()))

    for _ in range(count):
        ladder = [kbit for kbit in LADDER if chance.random() < 0.7] or [LADDER[0]]
        segment_ms = (1000, 2000, 3000, 4000, 6000)[int(chance.random() * 5)]
        permille = [between(500, 1800) for _ in range(40)]
        series = [(between(500, 20_000), between(200_000, 9_000_000)) for _ in range(12)]
        if chance.random() < 0.5:
            series[3] = (series[3][0], 0)
        yield Session(segment_ms, segment_ms + between(4000, 30_000), ladder, permille, series)


def vectors() -> str:
    """Sessions and their outcomes as JSON, one session in a line."""
    lines = []
    for session in drawn(SESSIONS):
        runs = {}
        for name, algorithm in ALGORITHMS.items():
            best: list[list[int]] = []

            def choose(past: Past, algorithm: Algorithm = algorithm, best: list[list[int]] = best) -> tuple[int, float]:
                chosen, pause = algorithm(past)
                best.append(mpc_best(past) if algorithm is mpc else [chosen])
                return chosen, pause

            outcome = play(session, choose)
            times = [round(time, 6) for time in outcome.completed_s]
            stalled = round(outcome.stalled_s, 6)
            runs[name] = {"chosen": outcome.chosen, "completed_s": times, "stalled_s": stalled}
            several = {segment: equal for segment, equal in enumerate(best) if len(equal) > 1}
            if several:
                runs[name]["several"] = several
        lines.append(json.dumps({**vars(session), "runs": runs}, separators=(",", ":")))
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--vectors"]:
        sys.exit("usage: python tests/abr_reference.py --vectors > crates/video/tests/abr_reference.json")
    print(vectors(), end="")
