"""semi-real: a player in a browser, and the simulated one, through the same networks."""

import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quiclab
from quiclab.engines.play import film
from quiclab.values.median import interval_of_median
from validation.section import Section, wrapped

RUNS = 6
"""Played sessions of each network: as many as an interval of 95 % of a median needs."""
SIMULATED = 30
"""Simulated sessions of each network."""
AT_A_TIME = 3
"""Played sessions at a time."""
BITRATES_BPS = (300_000, 750_000, 1_200_000, 1_850_000, 2_850_000, 4_300_000)
DURATION_S = 40
SEGMENT_S = 2
LATEST_MS = 10.0
"""How late 1 % of the events of a world may be; a session in which more were is played again, three times at most."""
TITLE = "## A player in a browser"
FIGURE = "semi-real.svg"

FLOW = f"""
duration = "240 s"
[[node]]
name = "server"
[[node]]
name = "client"
[transport]
controller = {{ type = "cubic", beta = 0.85 }}
initial_window = 32
max_idle_timeout = "240 s"
[[flow]]
name = "film"
client = "client"
server = "server"
[flow.application]
type = "video"
presentation = {{ type = "mpd", file = "film/{film.MANIFEST}", sizes = "film/{film.SIZES}" }}
abr = "dynamic"
start_up = "1 s"
resume = "1 s"
"""
LOSS = """
[[link]]
name = "network"
from = "server"
to = "client"
both = {{ rate = "20 Mbit/s", delay = "10 ms", loss = {loss} }}
"""
LTE = """
[[node]]
name = "enb"
kind = {kind}
[[medium]]
name = "cell"
type = "lte"
station = "enb"
terminals = ["client"]
bandwidth = "5 MHz"
channel = 20.0
block_errors = {errors}
[[link]]
name = "wired"
from = "server"
to = "enb"
both = {{ rate = "1 Gbit/s", delay = "50 ms" }}
"""
WLAN = """
[[node]]
name = "ap"
kind = {kind}
[[medium]]
name = "air"
type = "wlan"
standard = "b"
rate = "1 Mbit/s"
station = "ap"
terminals = ["client"]
queue = "500 packets"
frame_errors = {errors}
[[link]]
name = "wired"
from = "server"
to = "ap"
both = {{ rate = "5 Mbit/s", delay = "60 ms" }}
"""
LDAD = '{{ type = "ldad", wireless = ["{medium}"], fixed_rtt = "{rtt}" }}'


def networks() -> dict[str, str]:
    """The networks by name, as parts of scenarios."""
    found = {f"loss {round(100 * loss)} %": LOSS.format(loss=loss) for loss in (0.1, 0.2, 0.3, 0.4, 0.5)}
    for errors in (0.1, 0.3):
        for name, kind in ("", '"router"'), (", LDAD", LDAD.format(medium="cell", rtt="100 ms")):
            found[f"LTE, BLER {round(100 * errors)} %{name}"] = LTE.format(kind=kind, errors=errors)
    for name, kind in ("", '"router"'), (", LDAD", LDAD.format(medium="air", rtt="120 ms")):
        found[f"802.11b, PER 15 %{name}"] = WLAN.format(kind=kind, errors=0.15)
    return found


@dataclass(frozen=True)
class Measure:
    """A number of a session, and how far the medians may be from each other."""

    name: str
    of: Callable[[Mapping[str, Any]], float | None]
    unit: str
    part: float
    """Of the simulated median."""
    least: float
    """In its unit, where a part of the simulated median is less than that."""

    def bound(self, simulated: float) -> float:
        """How far the played median may be from this simulated one."""
        return max(self.part * abs(simulated), self.least)


def _number(key: str, times: float = 1.0) -> Callable[[Mapping[str, Any]], float | None]:
    def of(playback: Mapping[str, Any]) -> float | None:
        value = playback[key]
        return None if value is None else times * float(value)

    return of


MEASURES = (
    Measure("bitrate", _number("bitrate_mean_mbps"), "Mbit/s", 0.2, 0.1),
    Measure("picture stands", _number("standing_ratio", 100), "%", 0.0, 10.0),
    Measure("start-up", _number("start_up_s"), "s", 0.25, 0.25),
)
"""Chosen before the sessions were played; the paper has no numbers."""


@dataclass(frozen=True)
class Row:
    """A row of the table, as it is printed."""

    network: str
    measure: str
    runs: int
    """The played sessions that have this number."""
    simulated: float
    real: float
    interval: tuple[float, float] | None
    """That of the played median; unknown for few sessions."""

    @property
    def holds(self) -> bool:
        """Whether the medians are as near as they should be."""
        measure = next(one for one in MEASURES if one.name == self.measure)
        return abs(self.real - self.simulated) <= measure.bound(self.simulated) + 1e-9


def measured(network: str, simulated: Sequence[Mapping[str, Any]], real: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The rows of a network, from the entries `playback` of its sessions."""
    rows = []
    for measure in MEASURES:
        ours = [value for value in map(measure.of, simulated) if value is not None]
        theirs = [round(value, 2) for value in map(measure.of, real) if value is not None]
        medians = round(statistics.median(ours), 2), round(statistics.median(theirs), 2)
        rows.append(Row(network, measure.name, len(theirs), *medians, interval_of_median(theirs)))
    return rows


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as they are printed."""
    lines = [
        "| network | | sessions | simulated | played | 95 % interval | bound |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        measure = next(one for one in MEASURES if one.name == row.measure)
        interval = "unknown" if row.interval is None else f"{row.interval[0]:.2f} to {row.interval[1]:.2f}"
        bound = f"{measure.bound(row.simulated):.2f} {'' if row.holds else 'MISSED'}".rstrip()
        lines.append(
            f"| {row.network} | {row.measure}, {measure.unit} | {row.runs} | {row.simulated:.2f} | {row.real:.2f} "
            f"| {interval} | {bound} |"
        )
    return lines


_ROW = re.compile(
    r"^\| ([^|]+) \| ([\w -]+), [\w/%]+ \| (\d+) \| ([\d.]+) \| ([\d.]+) \| (?:([\d.]+) to ([\d.]+)|unknown) "
    r"\| [\d.]+(?: MISSED)? \|$",
    re.MULTILINE,
)


def read(page: str) -> list[Row]:
    """The rows of a printed table."""
    section = page.partition(TITLE)[2].partition("\n## ")[0]
    return [
        Row(network, measure, int(runs), float(simulated), float(real), (float(low), float(high)) if low else None)
        for network, measure, runs, simulated, real, low, high in _ROW.findall(section)
    ]


INTRODUCTION = [
    TITLE,
    "",
    "semi-real: a real player in the networks of the SEMI paper. `quiclab video play` has dash.js in Chromium play a",
    "film that `quiclab real serve` sends over HTTP/3, and `quiclab run` simulates the same scenario with the rate",
    f"adaptation `dynamic`, which is that of dash.js. The film lasts {DURATION_S} s, in segments of {SEGMENT_S} s, at",
    "six bitrates from 0.3 to 4.3 Mbit/s. The networks are: 20 Mbit/s and 10 ms each way with random losses in both",
    "directions; LTE of 5 MHz and 802.11b at 1 Mbit/s as in the figures of LDAD, without LDAD, and with it at the",
    f"base station or the access point. The table has medians of {RUNS} played and of {SIMULATED} simulated sessions.",
    "*Picture stands* is the share of the time from the start of the player to the end of the film without a moving",
    "picture. The bounds are this page's own: 20 % of the bitrate (at least 0.1 Mbit/s), 10 percentage points of",
    "time, 25 % of the start-up (at least 0.25 s). Written by `make validation-player`.",
]
FOUND = (
    "At 30 % loss one download decides. Both players had the same throughput (session medians of 0.33 to 0.42 Mbit/s), "
    "but after its first segment the simulated player requested 1.85 or 4.3 Mbit/s in each of eight sessions that were "
    "examined, and dash.js requested 0.3 or 0.75 in two of six: its first sample was lower."
)
"""What was found at 30 % loss."""
RULES = (
    "By default, dash.js has rules that `dynamic` does not have, and that `quiclab video play` turns off: about past "
    "switches, and a pause of 10 s in the lowest bitrate after an abandoned download. With both, the bitrate at 10 % "
    "was 0.79 Mbit/s (0.42 to 1.31), with the pause alone 0.86 (0.50 to 1.19), as medians of six sessions."
)
"""The rules of dash.js that are turned off, and what they do."""


def reasons(rows: Sequence[Row]) -> list[str]:
    """What was found where the medians differ."""
    beyond = [row for row in rows if not row.holds]
    apart = [row for row in beyond if row.interval and not row.interval[0] <= row.simulated <= row.interval[1]]
    of = "Where a median is beyond its bound, the interval of the played median contains the simulated one"
    names = "; ".join(f"{row.network}, {row.measure}" for row in apart)
    told = f"{of}, except for {names}." if apart else f"{of}: {RUNS} sessions cannot tell them apart."
    stands = [row for row in rows if row.measure == "picture stands" and row.network.startswith("loss")]
    less = [row.network.removeprefix("loss ") for row in stands if row.real < row.simulated]
    less_words = f"The played picture stands less at a loss of {', '.join(less)}." if less else ""
    starts = [row for row in rows if row.measure == "start-up" and not row.network.startswith("loss")]
    sooner = [row.simulated - row.real for row in starts]
    start = (
        f"In LTE and 802.11b the played film starts {min(sooner):.2f} to {max(sooner):.2f} s earlier: its connection "
        "has carried a request before the player begins, and has an RTT sample."
        if sooner and min(sooner) > 0
        else ""
    )
    return [*wrapped(" ".join(word for word in (told, FOUND, less_words, start) if word)), "", *wrapped(RULES)]


def claim(rows: Sequence[Row]) -> str:
    """What the rows show, and no more."""
    beyond = [f"{row.network}, {row.measure} ({row.simulated:.2f}, {row.real:.2f})" for row in rows if not row.holds]
    if beyond:
        others = f"The other {len(rows) - len(beyond)} of {len(rows)} rows are within it."
        return f"Beyond the bound: {'; '.join(beyond)}. {others}"
    return f"All {len(rows)} medians of played sessions are within their bounds of the simulated ones."


def late(latest_ms: float) -> str:
    """How late the worlds were."""
    return f"In the latest session, 1 % of all events were more than {latest_ms:.1f} ms late."


def simulated(path: Path, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """The entries `playback` of simulated sessions."""
    scenario = quiclab.Scenario.from_file(path)
    return [scenario.run(seed).summary["connections"][0]["playback"] for seed in seeds]


@dataclass(frozen=True)
class Session:
    """A played session."""

    playback: dict[str, Any] | None
    """The entry of its summary; None if nothing was played."""
    late_ms: float
    """How late 1 % of the events of its world were."""


def played(path: Path, seed: int) -> Session:
    """The best of three sessions, the first one that was not too late."""
    sessions = []
    words = [sys.executable, "-m", "quiclab", "video", "play", path.name, "--seed", str(seed), "--json"]
    for attempt in range(3):
        out = f"{path.stem}-{seed}-{attempt}"
        done = subprocess.run([*words, "--out", out], cwd=path.parent, capture_output=True, text=True, check=False)
        if not done.stdout:
            raise RuntimeError(f"{path.stem}, seed {seed}: {done.stderr}")
        told = json.loads(done.stdout)
        late = told["emulation"]["lateness"]["p99_us"] / 1000
        of = told["connections"][0]["playback"] if told["connections"] else None
        last = done.stderr.strip().splitlines()[-1:] if done.returncode else []
        print(f"{path.stem}, seed {seed}: late {late:.2f} ms for 1 %", *last, file=sys.stderr, flush=True)
        sessions.append(Session(of, late))
        if late <= LATEST_MS:
            break
    return min(sessions, key=lambda session: session.late_ms)


def study(folder: Path, runs: int | None, named: Sequence[str] = ()) -> Section:
    """Plays and simulates all networks, or those that are named."""
    film.make(folder / "film", BITRATES_BPS, duration_s=DURATION_S, segment_s=SEGMENT_S)
    rows: list[Row] = []
    paths = {}
    for name, network in networks().items():
        paths[name] = folder / f"{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}.toml"
        # The tables come behind the keys that stand for themselves.
        paths[name].write_text(FLOW + network, encoding="utf-8")
    chosen = {name: path for name, path in paths.items() if not named or name in named}
    seeds, latest_ms = range(1, (runs or RUNS) + 1), 0.0
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        asked = {name: [pool.submit(played, path, seed) for seed in seeds] for name, path in chosen.items()}
        for name, path in chosen.items():
            sessions = [one.result() for one in asked[name]]
            latest_ms = max([latest_ms, *(session.late_ms for session in sessions)])
            real = [session.playback for session in sessions if session.playback is not None]
            rows += measured(name, simulated(path, range(1, (SIMULATED if runs is None else runs) + 1)), real)
            print("\n".join(table(rows[-len(MEASURES) :])[2:]), file=sys.stderr, flush=True)
    lines = [
        *INTRODUCTION,
        "",
        claim(rows),
        "",
        late(latest_ms),
        "",
        *table(rows),
        "",
        f"![{TITLE[3:]}](images/{FIGURE})",
        "",
        *reasons(rows),
        "",
    ]
    draw(rows, folder / FIGURE)
    return Section(lines, all(row.holds for row in rows), (folder / FIGURE,))


def draw(rows: Sequence[Row], path: Path) -> None:
    """Each measure in a panel: what was simulated, and what was played with its interval, by network."""
    from matplotlib import pyplot

    from quiclab.drawings.plots import style

    names = list(dict.fromkeys(row.network for row in rows))
    figure, panels = pyplot.subplots(1, len(MEASURES), figsize=(10, 4.2), layout="constrained", sharey=True)
    for axes, measure in zip(panels, MEASURES, strict=True):
        of = [row for row in rows if row.measure == measure.name]
        for place, row in enumerate(of):
            bound = measure.bound(row.simulated)
            axes.plot(
                [max(0.0, row.simulated - bound), row.simulated + bound], [place] * 2, color=style.GREY, alpha=0.3, lw=8
            )
            if row.interval is not None:
                axes.plot(row.interval, [place] * 2, color=style.VERMILLION, lw=1.5)
        places = range(len(of))
        axes.plot(
            [row.simulated for row in of],
            places,
            "|",
            color=style.BLUE,
            ms=14,
            mew=2,
            label="simulated, with the bound",
        )
        axes.plot(
            [row.real for row in of], places, "o", color=style.VERMILLION, ms=4, label="played, with its interval"
        )
        axes.set_xlabel(f"{measure.name} ({measure.unit})")
        axes.set_xlim(0, None)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(path)
    pyplot.close(figure)
