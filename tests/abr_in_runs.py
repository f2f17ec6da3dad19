"""Whole runs beside the reference of rate adaptation: the same sessions, segment by segment.

50 drawn sessions of 40 segments each are played over HTTP/3 and a link without loss, whose delay is 1 us and whose rate
is the series of the session plus the headers of packets. `controller = "none"`, wide windows and a probe timeout of
16 s leave the link alone to decide when bytes arrive. Two comparisons:

* the reference gets the times of the downloads from the run;
* the reference plays the session alone, from the first request of the run on. Then it needs to know what a download
  costs beside its segment: a request, and the bytes of an answer on the link (`answer`), which follow from the size of
  the segment and from the formats of HTTP/3, QPACK, QUIC, UDP and IP. Nothing is fitted.

`tests/test_abr_in_runs.py` tests that both agree; `make validation-abr` writes how well to docs/validation.md.
"""

import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import quiclab
from abr_reference import ALGORITHMS, Past, Session, drawn

SESSIONS = 50
OPTIONS = {
    "bola": '{ type = "bola", variant = "bola-basic" }',
    "bba": '{ type = "bba", variant = "bba-0" }',
    "throughput": '{ type = "throughput", abandon = false, dead_time_latency = false }',
    "mpc": '{ type = "mpc", quality = "log", switching = 0.9 }',
}
PACKET, PAYLOAD = 1500, 1438
"""Bytes of a full packet on the link, and about as many of a segment in it: the rate of the link is that of the series
times their ratio. The costs of an answer are counted exactly."""
DELAY_S = 1e-6
"""The delay of the link in either direction."""

IP_AND_UDP = 28
SHORT_HEADER = 1 + 8
"""The first byte and the connection id of 8 bytes; the packet number follows (RFC 9000 section 17.3.1)."""
TAG = 16
"""Of the AEAD (RFC 9001 section 5.3)."""
FIRST_ANSWER = 28 + 1
"""NEW_CONNECTION_ID and HANDSHAKE_DONE in the first answer (RFC 9000 sections 19.15 and 19.20)."""
SETTINGS = IP_AND_UDP + SHORT_HEADER + 1 + TAG + 3 + 1 + 2 + 5
"""The packet with the server's control stream, which the first answer waits for: in a STREAM frame a stream type and a
SETTINGS frame with one setting, the limit of field sections (RFC 9114 sections 6.2.1 and 7.2.4). It leaves right behind
the handshake, with whose last packet the first request is sent: two delays before an answer could."""

SCENARIO = """
duration = "3000 s"
[record]
tables = ["segment", "playback"]
[transport]
controller = "none"
max_ack_delay = "16 s"
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
    probes: int
    """Probe timeouts of the server: an outage of more than 16 s. A probe repeats what is in the queue of the link."""


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
    return Played(chosen, asked, first, ended, connection["playback"]["stalled_s"], connection["probe_timeouts"])


@dataclass(frozen=True)
class Replayed:
    """What the reference makes of the downloads of a run."""

    chosen: list[int]
    ties: int
    """Choices that are another one of several best ones than the reference would make."""
    off_s: float
    """How far a request is from the run's at most."""


def replayed(session: Session, algorithm: str, played: Played) -> Replayed:
    """The choices of the reference with the downloads of the run."""
    past, segment_s, chosen = Past(session), session.segment_ms / 1000, []
    now, off, ties = played.asked_s[0], 0.0, 0
    for at in range(len(session.permille)):
        room = max(past.buffer_s + segment_s - session.max_buffer_ms / 1000, 0.0)
        now, past.buffer_s = now + room, past.buffer_s - room
        representation, pause, is_tie = decided(past, algorithm, played.chosen[at])
        ties += is_tie
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
    return Replayed(chosen, ties, off)


def decided(past: Past, algorithm: str, other: int) -> tuple[int, float, bool]:
    """The choice and the pause of the reference; of several best choices, the run's if it is one of them.

    The flag says that this is another choice than the reference would make by itself.
    """
    representation, pause = ALGORITHMS[algorithm](past)
    if representation == other:
        return representation, pause, False
    representation, pause = ALGORITHMS[algorithm](replace(past, other=other))
    return representation, pause, representation == other


def varint(value: int) -> int:
    """The bytes of an integer of variable length (RFC 9000 section 16)."""
    return 1 if value < 1 << 6 else 2 if value < 1 << 14 else 4 if value < 1 << 30 else 8


@dataclass(frozen=True)
class Answer:
    """What an answer is on the link: bytes of its packets, of the first of them, and their number."""

    link_bytes: int
    first_bytes: int
    packets: int


def answer(size: int, request: int, packet: int) -> Answer:
    """The answer with a segment of this many bytes to the request of this number, which was in the client's packet.

    All packets of an answer are sent at once, full ones of 1472 bytes and a last one.
    """
    # HEADERS: type and length; the prefix of the field section; ":status: 200" from the static table; content-length
    # with its name from there, a length and digits in Huffman code (RFC 9204, RFC 7541 appendix B: 0, 1 and 2 are codes
    # of 5 bits, the other digits of 6). DATA: type and length.
    digits = -(-sum(5 if digit in "012" else 6 for digit in str(size)) // 8)
    left = (2 + 2 + 1 + 2 + digits) + (1 + varint(size)) + size
    # The first packet acknowledges the request: type, largest, a delay of 0, no more ranges, and all packets from 0 on.
    first = 1 + varint(packet) + 1 + 1 + varint(packet) + (FIRST_ANSWER if request == 0 else 0)
    total = SETTINGS if request == 0 else 0
    first_bytes = total
    stream, offset = 4 * request, 0
    for at in itertools.count(1):
        # A packet number has one byte up to 128 after the largest acknowledged one, then two (RFC 9000 appendix A.2).
        # The first answer begins at number 1, and nothing is acknowledged: as if that were -1.
        head = SHORT_HEADER + (1 if at + (request == 0) <= 128 else 2) + TAG + (first if at == 1 else 0)
        # STREAM: type, stream, offset except for 0; a length if it does not fill the packet.
        head += 1 + varint(stream) + (varint(offset) if offset else 0)
        room = PACKET - IP_AND_UDP - head
        data = min(left, room)
        # A last byte for which a length is too long is padding.
        head += min(varint(data), room - data)
        total += IP_AND_UDP + head + data
        first_bytes = total if at == 1 else first_bytes
        left, offset = left - data, offset + data
        if left == 0:
            return Answer(total, first_bytes, at)
    raise AssertionError


def next_packet(packet: int, request: int, sent: Answer, waits: bool) -> int:
    """The number of the client's packet with the next request.

    The client acknowledges every second packet, at once. A request has the acknowledgement of the last one, if it is
    due or pending then.
    """
    packets = sent.packets + (1 if request == 0 else 0)
    return packet + packets // 2 + (1 if packets % 2 or waits else 0)


class Link:
    """The link of a session: when it has sent what arrives at a time while it is idle."""

    def __init__(self, session: Session) -> None:
        self._pieces = [(ms / 1000, round(rate * PACKET / PAYLOAD)) for ms, rate in session.series]
        self._total_s = sum(ms for ms, _ in session.series) / 1000

    def arrived_s(self, asked_s: float, link_bytes: int, request: int) -> float:
        """When this many bytes of the answer to a request are at the client, if they were asked for at a time."""
        begun_s = asked_s + (DELAY_S if request else -DELAY_S)
        now, took, bits = begun_s % self._total_s, 0.0, float(8 * link_bytes)
        for duration, rate in itertools.cycle(self._pieces):
            left = duration - now
            now = max(-left, 0.0)
            if left <= 0:
                continue
            if bits <= left * rate:
                return begun_s + took + bits / rate + DELAY_S
            bits, took = bits - left * rate, took + left
        raise AssertionError


@dataclass(frozen=True)
class Predicted:
    """What the reference makes of a session alone: choices, times, and stalls."""

    chosen: list[int]
    asked_s: list[float]
    ended_s: list[float]
    stalled_s: float


def alone(session: Session, algorithm: str, played: Played, *, costs: bool = True) -> Predicted:
    """The reference from the first request of the run on; without costs over the series, for the segments alone."""
    link, past, segment_s = Link(session), Past(session), session.segment_ms / 1000
    chosen: list[int] = []
    asked: list[float] = []
    ended: list[float] = []
    now, packet, stalled = played.asked_s[0], 0, 0.0
    sent: Answer | None = None
    for at in range(len(session.permille)):
        room = max(past.buffer_s + segment_s - session.max_buffer_ms / 1000, 0.0)
        now, past.buffer_s = now + room, past.buffer_s - room
        representation, pause, _ = decided(past, algorithm, played.chosen[at])
        now, past.buffer_s = now + pause, past.buffer_s - pause
        if sent is not None:
            packet = next_packet(packet, at - 1, sent, waits=room + pause > 0)
        bits = session.bits(at, representation)
        sent = answer(bits // 8, at, packet)
        if costs:
            first, end = link.arrived_s(now, sent.first_bytes, at), link.arrived_s(now, sent.link_bytes, at)
        else:
            first, end = now, now + session.download_s(now, bits)
        chosen.append(representation)
        asked.append(now)
        ended.append(end)
        took = end - now
        stalled += max(took - past.buffer_s, 0.0) if at else 0.0
        now, past.buffer_s = end, max(past.buffer_s - took, 0.0) + segment_s
        past.last = representation
        past.downloads.append((end - first, bits / max(took, 0.001)))
    return Predicted(chosen, asked, ended, stalled)


def off_of_downloads(session: Session, played: Played) -> float:
    """How far the time of a download is from the predicted one at most, if it was asked for when the run did."""
    link, packet, off = Link(session), 0, 0.0
    for at, (chosen, asked, ended) in enumerate(zip(played.chosen, played.asked_s, played.ended_s, strict=True)):
        sent = answer(session.bits(at, chosen) // 8, at, packet)
        off = max(off, abs(link.arrived_s(asked, sent.link_bytes, at) - ended))
        if at + 1 < len(played.asked_s):
            packet = next_packet(packet, at, sent, waits=played.asked_s[at + 1] > ended)
    return off


@dataclass
class Comparison:
    """An algorithm over all sessions."""

    choices: int = 0
    ties: int = 0
    """Choices of runs that are another one of several best ones than the reference would make."""
    differ_replayed: int = 0
    differ_alone: int = 0
    differ_without_costs: int = 0
    sessions_equal: int = 0
    request_off_s: float = 0.0
    """How far a request is from the reference's at most, with the downloads of the run."""
    sessions_probed: int = 0
    """Sessions with a probe timeout; the next two leave them out."""
    download_off_s: float = 0.0
    """How far a download is from its predicted time at most."""
    end_off_s: float = 0.0
    """How far the end of a session with equal choices is from that of the reference alone, at most."""


def differing(some: list[int], others: list[int]) -> int:
    """How many choices differ."""
    return sum(one != other for one, other in zip(some, others, strict=True))


def compared(algorithm: str, folder: Path, sessions: int = SESSIONS) -> Comparison:
    """Plays sessions with an algorithm, in runs and by the reference."""
    result = Comparison()
    for session in drawn(sessions, seed=2026):
        played = run(session, algorithm, folder)
        replay = replayed(session, algorithm, played)
        reference, bare = alone(session, algorithm, played), alone(session, algorithm, played, costs=False)
        differ = differing(reference.chosen, played.chosen)
        result.choices += len(replay.chosen)
        result.ties += replay.ties
        result.differ_replayed += differing(replay.chosen, played.chosen)
        result.differ_alone += differ
        result.differ_without_costs += differing(bare.chosen, played.chosen)
        result.sessions_equal += differ == 0
        result.request_off_s = max(result.request_off_s, replay.off_s)
        if played.probes:
            result.sessions_probed += 1
            continue
        result.download_off_s = max(result.download_off_s, off_of_downloads(session, played))
        if differ == 0:
            result.end_off_s = max(result.end_off_s, abs(reference.ended_s[-1] - played.ended_s[-1]))
    return result
