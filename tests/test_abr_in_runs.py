"""Whole runs decide as the reference of rate adaptation, segment by segment.

50 drawn sessions of 40 segments each are played over HTTP/3 and a link without loss, whose delay is 1 us and whose rate
is the series of the session plus the headers of packets. `controller = "none"` and wide windows leave the link alone to
decide when bytes arrive. Two comparisons:

* the reference gets the times of the downloads from the run: all choices must be equal;
* the reference plays the session alone: times differ by the requests and the last packet of each segment, so that a
  choice close to a threshold may differ, and what follows it. How many do is counted and bounded.

`python tests/test_abr_in_runs.py` prints the table of `docs/model/abr.md`.
"""

import bisect
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import quiclab
from abr_reference import ALGORITHMS, Outcome, Past, Session, drawn, play

SESSIONS = 50
OPTIONS = {
    "bola": '{ type = "bola", variant = "bola-basic" }',
    "bba": '{ type = "bba", variant = "bba-0" }',
    "throughput": '{ type = "throughput", abandon = false, dead_time_latency = false }',
}
DIFFERENT = 0.08
"""The part of all choices that may differ where the reference plays alone."""
PACKET, PAYLOAD = 1500, 1438
"""Bytes of a full packet on the link, and the bytes of a segment in it; over a session within 0.3 % of the ratio."""

SCENARIO = """
duration = "3000 s"
[record]
tables = ["segment", "playback"]
[transport]
controller = "none"
max_idle_timeout = "0 s"
initial_max_data = "100 MB"
initial_max_stream_data_bidi_local = "100 MB"
[[link]]
name = "cell"
from = "server"
to = "client"
delay = "1 us"
forward = {{ rate = {rate}, queue = "unlimited" }}
[[flow]]
name = "film"
client = "client"
server = "server"
[flow.application]
type = "video"
abr = {abr}
start_up = "0 s"
resume = "0 s"
max_buffer = "{max_buffer} ms"
presentation = {{ type = "sizes", file = "{file}", segment = "{segment} ms", bitrates = [{bitrates}] }}
"""


@dataclass(frozen=True)
class Played:
    """A session as a run played it: for each segment its choice, when it was asked for, its first and last byte."""

    chosen: list[int]
    asked_s: list[float]
    first_s: list[float]
    ended_s: list[float]
    stalled_s: float


def run(session: Session, algorithm: str, folder: Path) -> Played:
    """Plays a session in the simulator."""
    file = folder / "sizes.csv"
    names = [f"r{kbit}" for kbit in session.ladder_kbit]
    ladder = range(len(names))
    lines = [",".join(names)]
    lines += [",".join(str(session.bits(at, one) // 8) for one in ladder) for at in range(len(session.permille))]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    steps, now = [], 0
    for ms, rate in session.series:
        steps.append(f'["{now} ms", "{round(rate * PACKET / PAYLOAD)} bit/s"]')
        now += ms
    scenario = SCENARIO.format(
        rate=f'{{ type = "changes", steps = [{", ".join(steps)}], repeat = "{now} ms" }}',
        abr=OPTIONS[algorithm],
        max_buffer=session.max_buffer_ms,
        file=file,
        segment=session.segment_ms,
        bitrates=", ".join(f'"{kbit} kbit/s"' for kbit in session.ladder_kbit),
    )
    played = quiclab.Scenario.from_text(scenario).run()
    table = played.table("segment")
    connection = played.summary["connections"][0]
    assert connection["completed"], connection
    assert set(table["outcome"].to_pylist()) == {"complete"}
    chosen, asked, first, ended = (
        table[name].to_pylist() for name in ("representation", "asked_s", "first_byte_s", "ended_s")
    )
    return Played(chosen, asked, first, ended, connection["playback"]["stalled_s"])


def replayed(session: Session, algorithm: str, played: Played) -> tuple[list[int], float]:
    """The choices of the reference with the downloads of the run, and how far a request is from the run's at most."""
    past, segment_s, chosen = Past(session), session.segment_ms / 1000, []
    now, off = played.asked_s[0], 0.0
    for at in range(len(session.permille)):
        room = max(past.buffer_s + segment_s - session.max_buffer_ms / 1000, 0.0)
        now, past.buffer_s = now + room, past.buffer_s - room
        representation, pause = ALGORITHMS[algorithm](past)
        now, past.buffer_s = now + pause, past.buffer_s - pause
        chosen.append(representation)
        off = max(off, abs(now - played.asked_s[at]))
        # What follows is the run's, so that each choice is compared alone.
        took = played.ended_s[at] - played.asked_s[at]
        bits = session.bits(at, played.chosen[at])
        past.buffer_s = max(past.buffer_s - took, 0.0) + segment_s
        now = played.ended_s[at]
        past.last = played.chosen[at]
        # An estimate counts a download for the time in which its bytes came.
        past.downloads.append((played.ended_s[at] - played.first_s[at], bits / max(took, 0.001)))
    return chosen, off


def alone(session: Session, algorithm: str, played: Played) -> Outcome:
    """The reference over the series, from the first request of the run on."""
    begin_ms = round(1000 * played.asked_s[0])
    total = sum(ms for ms, _ in session.series)
    ends = [sum(ms for ms, _ in session.series[: at + 1]) for at in range(len(session.series))]
    at = bisect.bisect_right(ends, begin_ms % total)
    left = ends[at] - begin_ms % total
    ms, rate = session.series[at]
    turned = [(left, rate), *session.series[at + 1 :], *session.series[:at], (ms - left, rate)]
    return play(replace(session, series=turned), ALGORITHMS[algorithm])


@dataclass
class Comparison:
    """An algorithm over all sessions."""

    choices: int = 0
    differ_replayed: int = 0
    differ_alone: int = 0
    sessions_equal: int = 0
    off_s: float = 0.0
    stall_off_s: float = 0.0


def compared(algorithm: str, folder: Path) -> Comparison:
    """Plays all sessions with an algorithm, in runs and by the reference."""
    result = Comparison()
    for session in drawn(SESSIONS, seed=2026):
        played = run(session, algorithm, folder)
        chosen, off = replayed(session, algorithm, played)
        reference = alone(session, algorithm, played)
        differ = sum(one != other for one, other in zip(reference.chosen, played.chosen, strict=True))
        result.choices += len(chosen)
        result.differ_replayed += sum(one != other for one, other in zip(chosen, played.chosen, strict=True))
        result.differ_alone += differ
        result.sessions_equal += differ == 0
        result.off_s = max(result.off_s, off)
        if differ == 0:
            result.stall_off_s = max(result.stall_off_s, abs(reference.stalled_s - played.stalled_s))
    return result


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_decisions_of_whole_runs_are_those_of_the_reference(algorithm: str, tmp_path: Path) -> None:
    result = compared(algorithm, tmp_path)
    assert result.choices == SESSIONS * 40
    assert result.differ_replayed == 0, result
    assert result.off_s < 1e-5, result
    assert result.differ_alone <= DIFFERENT * result.choices, result


def main() -> None:
    """Prints the table."""
    print("| algorithm | choices | differ, same downloads | differ, alone | sessions equal throughout |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with TemporaryDirectory() as folder:
        for name in ALGORITHMS:
            one = compared(name, Path(folder))
            alone_ = f"{one.differ_alone} ({one.differ_alone / one.choices:.1%})"
            equal = f"{one.sessions_equal} of {SESSIONS}"
            print(f"| `{name}` | {one.choices} | {one.differ_replayed} | {alone_} | {equal} |")


if __name__ == "__main__":
    main()
