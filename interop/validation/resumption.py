"""How long the second download of a returning client takes, from what the first one learned of the path."""

import json
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import quiclab
from quiclab.values.median import interval_of_median
from validation.section import Section
from validation.transfer import SAME, address_of, ended, fetched, process, relaying, set_words, site

FIRST = 10_000_000
SECOND = 500_000
RUNS = 10
LIMIT = 0.05
"""How far the median of the real times may be from the simulated one."""
PRESET = "geo-constant"

CARRIERS = {
    "none": '"none"',
    "store": '{ type = "careful" }',
    "bdp_frame": '{ type = "careful", store = "off", bdp_frame = true }',
}
"""The option `resume` of both ends: without resumption, from the server's own store, and in BDP_FRAME."""

OPTIONS = {"new_tokens": "1", "initial_max_data": '"16 MB"', "initial_max_stream_data_bidi_local": '"16 MB"'}
"""What both have, too: credit, and a token, without which a server waits until the client's address is validated."""

SCENARIO = """
duration = "120 s"
[tls]
protection = "tls"
certificate_chain = "1000 B"
tickets = 2
early_data = true
[transport]
{options}
[[link]]
name = "satellite"
from = "server"
to = "client"
preset = "{preset}"
[[flow]]
name = "files"
client = "client"
server = "server"
early_data = true
application = {{ type = "http3", sizes = ["{first} B"] }}
visits = [{{ at = "60 s", application = {{ type = "http3", sizes = ["{second} B"] }} }}]
"""


@dataclass(frozen=True)
class Return:
    """A client that downloads a file, and another one over a second connection with 0-RTT."""

    carrier: str
    first: int = FIRST
    second: int = SECOND

    def options(self) -> dict[str, str]:
        """Rows of [transport]."""
        return SAME | OPTIONS | {"resume": CARRIERS[self.carrier]}

    def scenario(self) -> str:
        """The document of the simulation; the relay takes the path from it."""
        options = "\n".join(f"{name} = {value}" for name, value in self.options().items())
        return SCENARIO.format(options=options, preset=PRESET, first=self.first, second=self.second)

    def simulated(self) -> float:
        """The duration of the second download in virtual time. Nothing is random on this path."""
        connections = quiclab.Scenario.from_text(self.scenario()).run(1).summary["connections"]
        duration: float = connections[1]["completion_s"]
        return duration

    def real(self, folder: Path, number: int = 1) -> float:
        """The same in real time, with a server and a relay of its own."""
        served = site(folder, {"first": self.first, "second": self.second})
        (folder / "satellite.toml").write_text(self.scenario(), encoding="utf-8")
        sets = set_words(self.options())
        words = ["serve", str(served), "--listen", "127.0.0.1:0", "--early-data", "--json", *sets]
        with process("real", *words) as server:
            with relaying(folder / "satellite.toml", address_of(server), number) as address:
                words = ["--resume", "--early-data", "--alpn", "h3", *sets]
                told = fetched(folder / f"out-{self.carrier}-{number}", served, address, ["first", "second"], words)
            stats = json.loads(ended(server))
        # Otherwise it would be a time of something else.
        assert told["urls"][1]["early_data"], told
        assert stats["capacities_accepted"] == (self.carrier != "none"), stats
        returned = told["connections"][1]["capacity_returned_bytes"] is not None
        assert returned == (self.carrier == "bdp_frame"), told
        duration: float = told["connections"][1]["duration_s"]
        return duration


@dataclass(frozen=True)
class Row:
    """A row of the table, as it is printed."""

    carrier: str
    runs: int
    simulated_s: float
    real_s: float
    """The median."""
    interval_s: tuple[float, float] | None
    """The interval of the median; unknown for few runs."""

    @property
    def difference(self) -> float:
        """Of the real time to the simulated one, as a part of that."""
        return self.real_s / self.simulated_s - 1

    @property
    def holds(self) -> bool:
        """Whether the median is within the limit."""
        return abs(self.difference) <= LIMIT


def measured(carrier: str, simulated_s: float, real_s: Sequence[float]) -> Row:
    """The row of a carrier, to whole milliseconds, so that its difference is that of the numbers in it."""
    times = round(simulated_s, 3), round(statistics.median(real_s), 3)
    return Row(carrier, len(real_s), *times, interval_of_median(real_s))


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as they are printed."""
    lines = [
        "| carrier | downloads | simulated | real | 95 % interval | difference |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        interval = "unknown" if row.interval_s is None else f"{row.interval_s[0]:.3f} s to {row.interval_s[1]:.3f} s"
        lines.append(
            f"| `{row.carrier}` | {row.runs} | {row.simulated_s:.3f} s | {row.real_s:.3f} s | {interval} "
            f"| {row.difference:+.1%} |"
        )
    return lines


_ROW = re.compile(
    r"^\| `(\w+)` \| (\d+) \| ([\d.]+) s \| ([\d.]+) s \| (?:([\d.]+) s to ([\d.]+) s|unknown) \| \S+% \|$",
    re.MULTILINE,
)


def read(page: str) -> list[Row]:
    """The rows of a printed table."""
    return [
        Row(carrier, int(runs), float(simulated), float(real), (float(low), float(high)) if low else None)
        for carrier, runs, simulated, real, low, high in _ROW.findall(page)
    ]


def claim(rows: Sequence[Row]) -> str:
    """What the rows show, and no more."""
    beyond = [f"`{row.carrier}`" for row in rows if not row.holds]
    if beyond:
        return f"The medians differ from the simulation by more than {LIMIT:.0%} for {' and '.join(beyond)}."
    times = {row.carrier: row for row in rows}
    saved = [
        (1 - times[carrier].simulated_s / times["none"].simulated_s, 1 - times[carrier].real_s / times["none"].real_s)
        for carrier in CARRIERS
        if carrier != "none"
    ]
    gains = " and ".join(f"{real:.0%} (simulated: {simulated:.0%})" for simulated, real in saved)
    return (
        f"Every median is within {LIMIT:.0%} of the simulation. From the store and from BDP_FRAME the second download\n"
        f"takes less time than without resumption, by {gains}."
    )


INTRODUCTION = [
    f"A client fetches a file of {FIRST // 1_000_000} MB, then one of {SECOND // 1000} kB over a second connection",
    f"with 0-RTT (`quiclab real fetch --resume --early-data`), over the preset `{PRESET}` (50 and 10 Mbit/s, 300 ms",
    "each way, a queue of one BDP). The table has the time of the second download, from its first packet to its last",
    'byte. Without resumption (`none`) the server starts from the initial window; with `resume = "careful"` it starts',
    "from the capacity that it measured in the first download. That capacity comes from the server's own store, or",
    "from the client in a BDP_FRAME ([resume.md](model/resume.md)). Each download has its own server, which reports at",
    "its end that it has used the saved capacity. Real times are medians, with an interval that contains the median",
    "with at least 95 % for any distribution (order statistics). `make validation ARGUMENTS='--only resumption",
    "--write'` measures only this section.",
]


def study(folder: Path, runs: int | None = None) -> Section:
    """Both kinds of time for every carrier; it holds if all medians agree."""
    rows = []
    for carrier in CARRIERS:
        client = Return(carrier)
        rows.append(
            measured(carrier, client.simulated(), [client.real(folder, number) for number in range(runs or RUNS)])
        )
        print(table(rows)[-1], flush=True)
    lines = table(rows)
    # Sentence and verdict follow from the rows as they are printed.
    printed = read("\n".join(lines))
    return Section(
        ["## Resumption over a satellite", "", *INTRODUCTION, "", claim(printed), "", *lines],
        all(row.holds for row in printed),
    )
