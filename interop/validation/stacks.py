"""Real QUIC stacks between two gates, and our endpoint, simulated with their controllers, on the same networks."""

import re
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.stacks import PEERS

import quiclab
from quiclab.engines.matrix import Network, Outcome, Stack, Task, run
from quiclab.engines.matrix.packets import DATA, Traffic, Way
from quiclab.values.median import interval_of_median
from validation.section import Section, wrapped

RUNS = 10
SIZE = 4_000_000
"""Bytes of a transfer."""
LATE_MS = 5.0
"""A run of which 1 % was later than this is made again."""
TRIES = 4
"""How often late runs are made again."""
LIMITS = {"plain": 0.05, "deep queue": 0.05, "1 % loss": 0.10, "LTE": 0.05}
"""How far the median goodput of our own stack may be from the simulated one, as a part of that."""
OURS = "quiclab"
TITLE = "## Other stacks"

LINK = """
[[link]]
name = "line"
from = "server"
to = "client"
"""
CELL = """
[[node]]
name = "enb"
kind = "router"
[[medium]]
name = "cell"
type = "lte"
station = "enb"
terminals = ["client"]
mcs = 20
[[link]]
name = "core"
from = "server"
to = "enb"
both = { rate = "1 Gbit/s", delay = "10 ms" }
"""
NETWORKS = {
    "plain": LINK + 'both = { rate = "20 Mbit/s", delay = "20 ms", queue = "1 BDP" }\n',
    "1 % loss": LINK + 'both = { rate = "20 Mbit/s", delay = "20 ms", queue = "1 BDP" }\nforward.loss = "1 %"\n',
    "deep queue": LINK + 'both = { rate = "20 Mbit/s", delay = "20 ms", queue = "500 ms" }\n',
    "LTE": CELL,
}
NODES = """
duration = "120 s"
[[node]]
name = "server"
kind = "{kind}"
[[node]]
name = "client"
kind = "{kind}"
"""
FLOW = """
[record]
packets = true
[tls]
certificate_chain = "713 B"
tickets = 2
[transport]
{options}
[[flow]]
name = "get"
client = "client"
server = "server"
application = {{ type = "hq", sizes = ["{size} B"] }}
"""


@dataclass(frozen=True)
class Subject:
    """A stack, and our endpoint set as it is by default."""

    name: str
    controller: str
    """As TOML has it."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Rows of [transport]."""

    @property
    def label(self) -> str:
        """The name of the controller."""
        return re.sub(r'^.*?"([\w+]+)".*$', r"\1", self.controller)

    def simulated(self, network: str, seed: int, size: int) -> Outcome:
        """The transfer in virtual time, measured by its packets as in real time."""
        options = {"controller": self.controller, **self.options}
        flow = FLOW.format(options="\n".join(f"{key} = {value}" for key, value in options.items()), size=size)
        text = NODES.format(kind="host") + NETWORKS[network] + flow
        result = quiclab.Scenario.from_text(text).run(seed)
        (connection,) = result.summary["connections"]
        assert connection["completion_s"] is not None
        outcome = Outcome("passed")
        outcome.measure(traffic(result.table("packet").to_pylist()), size)
        return outcome


SUBJECTS = [
    Subject(OURS, '"newreno"', {"ecn": "true", "mtu_discovery": "true"}),
    Subject(
        "quinn",
        '{ type = "cubic", slow_start = "standard" }',
        {"max_udp_payload": "1452", "initial_max_stream_data_bidi_local": '"1250 kB"'},
    ),
    Subject(
        "quic-go",
        # Its Reno keeps 0.7 of the window, and its HyStart has no conservative rounds.
        '{ type = "newreno", beta = 0.7, slow_start = "hystart++", css_rounds = 1 }',
        {"max_udp_payload": "1452", "initial_window": "32"},
    ),
    Subject(
        "aioquic",
        # Slow start ends when the RTT is a quarter above its least value.
        '{ type = "newreno", slow_start = "hystart++", min_rtt_divisor = 4, max_rtt_thresh = "10 s", css_rounds = 1 }',
        {"max_udp_payload": "1350"},
    ),
    Subject("quiche", '{ type = "cubic", slow_start = "hystart++" }', {"max_udp_payload": "1452"}),
]
"""Ours first. The controllers and windows are those of the peers' sources, at the versions of their lock files."""


def traffic(rows: Sequence[Mapping[str, object]]) -> Traffic:
    """What the network did with packets, from those that the two ends have sent and received."""
    return Traffic(_way(rows, "server", "client"), _way(rows, "client", "server"))


def _way(rows: Sequence[Mapping[str, object]], source: str, sink: str) -> Way:
    way, delays, sent = Way(), [], {}
    for row in rows:
        when, length = row["time_s"], row["length_bytes"]
        assert isinstance(when, float) and isinstance(length, int)
        packet = (row["kind"], row["number"])
        if row["side"] == source and row["direction"] == "sent":
            sent[packet] = when
            way.packets += 1
            way.sent_bytes += length
            way.first_s = when if way.first_s is None else way.first_s
        elif row["side"] == sink and row["direction"] == "received" and packet in sent:
            delays.append(when - sent.pop(packet))
            if length >= DATA:
                way.last_data_s = when
    way.lost, way.delays_s = len(sent), tuple(delays)
    return way


def real(folder: Path, names: Sequence[str], network: str, runs: int, size: int) -> dict[str, list[Outcome]]:
    """The runs of these stacks over a network in real time; late ones are made again."""
    stacks = [Stack(name, f"PYTHON={sys.executable} {PEERS / 'endpoint'} {name}") for name in names]
    scenario = quiclab.Scenario.from_text(NODES.format(kind="gate") + NETWORKS[network])
    networks = [Network(scenario, "client", "server", {}, network)]
    task = Task(size=size, timeout_s=90, max_lateness_ms=LATE_MS)
    out = folder / re.sub(r"\W+", "-", network)
    for _ in range(TRIES):
        result = run([(one, one) for one in stacks], networks, task, out, runs=runs, again=["late", "failed"])
        if not result.late and not result.failed:
            break
    assert not result.failed, result.failed[0]
    found: dict[str, list[Outcome]] = {name: [] for name in names}
    for cell, outcome in result.runs:
        found[cell.client.name].append(outcome)
    return found


@dataclass(frozen=True)
class Row:
    """A row of the table, as it is printed: medians."""

    network: str
    stack: str
    controller: str
    runs: int
    late: int
    """Runs that were late every time."""
    simulated: float
    """Mbit/s."""
    real: float
    """Mbit/s."""
    interval: tuple[float, float] | None
    """That of the real one; unknown for few runs."""
    rtt_ms: tuple[float, float]
    """That the packets met, simulated and real."""
    lost: tuple[float, float]
    """Packets of the server in percent, simulated and real."""

    @property
    def difference(self) -> float:
        """Of the real median to the simulated one, as a part of that."""
        return self.real / self.simulated - 1

    @property
    def holds(self) -> bool:
        """Whether the medians are within the limit of the network."""
        return abs(self.difference) <= LIMITS[self.network]


def measured(network: str, subject: Subject, simulated: Sequence[Outcome], real_: Sequence[Outcome]) -> Row:
    """The row of a stack on a network."""

    def medians(name: str) -> tuple[float, float]:
        return statistics.median(value(one, name) for one in simulated), statistics.median(
            value(one, name) for one in real_
        )

    # As they are printed, so that a difference is that of the printed numbers.
    goodput = [round(one, 2) for one in medians("goodput_mbps")]
    rtt, lost = medians("rtt_mean_ms"), medians("lost")
    interval = interval_of_median([value(one, "goodput_mbps") for one in real_])
    late = sum(one.is_late(LATE_MS) for one in real_)
    return Row(
        network,
        subject.name,
        subject.label,
        len(real_),
        late,
        goodput[0],
        goodput[1],
        None if interval is None else (round(interval[0], 2), round(interval[1], 2)),
        (round(rtt[0]), round(rtt[1])),
        (round(lost[0], 1), round(lost[1], 1)),
    )


def value(outcome: Outcome, name: str) -> float:
    """A number of an outcome, or the part of the server's packets that was lost, in percent."""
    if name == "lost":
        assert outcome.server_packets and outcome.server_packets_lost is not None
        return 100 * outcome.server_packets_lost / outcome.server_packets
    found: float = getattr(outcome, name)
    return found


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as they are printed."""
    lines = [
        "| network | stack | controller | runs | late | simulated | real | 95 % interval | difference | RTT | lost |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        interval = "unknown" if row.interval is None else f"{row.interval[0]:.2f} to {row.interval[1]:.2f}"
        lines.append(
            f"| {row.network} | {row.stack} | `{row.controller}` | {row.runs} | {row.late} "
            f"| {row.simulated:.2f} Mbit/s | {row.real:.2f} Mbit/s | {interval} | {row.difference:+.1%} "
            f"| {row.rtt_ms[0]:.0f}, {row.rtt_ms[1]:.0f} ms | {row.lost[0]:.1f}, {row.lost[1]:.1f} % |"
        )
    return lines


_ROW = re.compile(
    r"^\| ([\w %]+) \| ([\w-]+) \| `(\w+)` \| (\d+) \| (\d+) \| ([\d.]+) Mbit/s \| ([\d.]+) Mbit/s "
    r"\| (?:([\d.]+) to ([\d.]+)|unknown) \| \S+% \| (\d+), (\d+) ms \| ([\d.]+), ([\d.]+) % \|$",
    re.MULTILINE,
)


def read(page: str) -> list[Row]:
    """The rows of a printed table."""
    rows = []
    for found in _ROW.findall(page.partition(TITLE)[2]):
        network, stack, controller, runs, late, simulated, real_, low, high, *pairs = found
        interval = (float(low), float(high)) if low else None
        rtt, lost = (float(pairs[0]), float(pairs[1])), (float(pairs[2]), float(pairs[3]))
        rows.append(
            Row(network, stack, controller, int(runs), int(late), float(simulated), float(real_), interval, rtt, lost)
        )
    return rows


TEXT = (
    f"Each stack sends a file of {SIZE // 1_000_000} MB over hq-interop to itself between two gates, by "
    "`quiclab matrix`. The simulation runs quiclab's endpoint on the same network with the defaults of that stack: "
    "congestion controller, slow start, initial window, size of datagrams, flow-control window. The link has 20 "
    "Mbit/s, 20 ms each way and a queue of 1 BDP, or of 500 ms; the LTE cell is that of `examples/gates.toml` with "
    f"the client as its only phone. The table has medians of {RUNS} runs, of both with the seeds from 1 on. Goodput "
    "counts from the client's first datagram to the last data at the client, RTT is the mean delay in the network in "
    "both directions, and lost are packets of the server; the simulated number comes first, then the real one. All "
    "numbers are measured from packets. For quiclab's own `serve` and `fetch` the bound is 5 %, and 10 % under loss; "
    "for the other stacks larger differences are explained. `late` counts runs of which 1 % of events were more than "
    f"{LATE_MS:g} ms late, even after they were repeated. Written by `make validation-stacks`."
)
INTRODUCTION = [TITLE, "", *wrapped(TEXT)]
FOUND = [
    "quiche under loss: like that of quinn, its CUBIC reduces the window to 0.7 of what it was. But it takes the loss "
    "for spurious, and restores the window, if fewer packets were lost in the round trip than a fifth of the window "
    "(`ROLLBACK_THRESHOLD_PERCENT` in its cubic.rs). So random losses of 1 % hardly slow it down. The packets of these "
    "runs show it: after a loss without another one within a round trip, the server sends in the third round trip, in "
    "the median, 0.97 times what it had sent in the last one before the loss. The other stacks follow their factors: "
    "quinn (0.72) and quic-go (0.75) reduce the window to 0.7 of what it was, aioquic (0.54) and quiclab's own stack "
    "(0.48) to half.",
    "quic-go in the LTE cell: slow start ends by chance, since HARQ and requests for the uplink vary the RTT by "
    "milliseconds. In the simulation, 20 runs range from 22.5 to 29.6 Mbit/s for the same reason. quic-go ends slow "
    "start sooner: it compares the minimum RTT of a round with that of the whole connection (hybrid_slow_start.go), "
    "quiclab with that of the previous round (RFC 9406). Nothing was lost, and packets met a shorter queue than in "
    "the simulation; in the slowest run the server sends some 21 Mbit/s from 0.1 s on, where the cell has 31, and "
    "grows by a packet per round trip.",
]
"""What was found in packets and sources where medians differ by more than the bound: a paragraph for each."""
REASONS = [line for text in FOUND for line in ("", *wrapped(text))][1:]


def claim(rows: Sequence[Row]) -> str:
    """What the rows show, and no more."""

    def told(some: Sequence[Row]) -> str:
        return ", ".join(f"{row.stack} on {row.network} ({row.difference:+.1%})" for row in some)

    ours = [row for row in rows if row.stack == OURS and not row.holds]
    others = [row for row in rows if row.stack != OURS and not row.holds]
    first = f"Beyond the bound: {told(ours)}." if ours else "Every median of quiclab's own stack is within its bound."
    if others:
        return f"{first} Medians of other stacks beyond the bound: {told(others)}."
    return f"{first} So is every median of the others."


def study(folder: Path, runs: int | None) -> Section:
    """Measures all cells."""
    count, rows = runs or RUNS, []
    for network in NETWORKS:
        found = real(folder, [subject.name for subject in SUBJECTS], network, count, SIZE)
        for subject in SUBJECTS:
            simulated = [subject.simulated(network, seed, SIZE) for seed in range(1, count + 1)]
            rows.append(measured(network, subject, simulated, found[subject.name]))
            print(table(rows)[-1], file=sys.stderr, flush=True)
    lines = [*INTRODUCTION, "", claim(rows), "", *table(rows), "", *REASONS, ""]
    return Section(lines, all(row.holds for row in rows if row.stack == OURS))
