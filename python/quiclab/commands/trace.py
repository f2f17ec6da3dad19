"""`quiclab trace info|plot|convert|generate`: traces of capacity."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from quiclab._quiclab import Error
from quiclab.commands.arguments import Json
from quiclab.commands.group import Command, PlainGroup
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values.folders import write_whole
from quiclab.values.plain_text import plain
from quiclab.values.suggestions import checked
from quiclab.values.traces import KINDS, laws, read, write
from quiclab.values.traces import generate as make
from quiclab.values.traces.capacity import form_of

with late():
    import quiclab.drawings.plots as plots
    import quiclab.drawings.traces as trace_figures


trace = typer.Typer(
    cls=PlainGroup,
    help="Traces of what a link can carry (Mahimahi files, CSV of time and rate); series of rate, delay and loss.\n\n"
    "Example: quiclab trace info examples/traces/driving.csv",
    add_completion=False,
    rich_markup_mode=None,
)

_Trace = Annotated[Path, typer.Argument(metavar="TRACE", help="Mahimahi, or CSV of time and rate.", show_default=False)]
_Out = Annotated[Path, typer.Option(metavar="FILE", help="The file to write.", show_default=False)]
_PERCENTILES = (5, 25, 50, 75, 95)


@trace.command(cls=Command, short_help="Describe a trace: duration, mean, percentiles, outages.")
def info(
    file: _Trace,
    below: Annotated[
        float, typer.Option(metavar="MBPS", help="An outage is at least 100 ms of at most this rate.")
    ] = 1.0,
    as_json: Json = False,
) -> None:
    """Describe a trace: duration, mean, extremes and percentiles over 10 ms, outages.

    Example: quiclab trace info examples/traces/driving.csv
    """
    capacity = read(file)
    _note(file, capacity.notes)
    if not below >= 0:
        raise Error(f"--below {below:g}: expected a rate in Mbit/s, 0 or more")
    with _named(file):
        rates = sorted(capacity.binned(10_000_000))
    outages = capacity.outages(100_000_000, below)
    numbers: dict[str, Any] = {
        "duration_s": capacity.duration_s,
        "mean_mbps": round(capacity.mean_mbps, 6),
        "least_10ms_mbps": round(rates[0], 6),
        "most_10ms_mbps": round(rates[-1], 6),
    }
    numbers |= {f"p{p}_10ms_mbps": round(rates[min(len(rates) * p // 100, len(rates) - 1)], 6) for p in _PERCENTILES}
    numbers |= {
        "outages": len(outages),
        "outages_s": round(sum(end - start for start, end in outages) / 1e9, 9),
        "longest_outage_ms": max((end - start for start, end in outages), default=0) / 1e6,
    }
    if as_json:
        echo(json.dumps(numbers, indent=2))
        return
    for name, value in numbers.items():
        echo(f"{name:18} {value:g}")


@trace.command(cls=Command, short_help="Draw its rate over time, and how its rates are spread.")
def plot(
    file: _Trace,
    out: _Out,
    bin_ms: Annotated[int, typer.Option("--bin", metavar="MS", min=1, help="Milliseconds per point.")] = 100,
    as_json: Json = False,
) -> None:
    """Draw a trace: its rate over time, and the distribution of its rates.

    Example: quiclab trace plot examples/traces/driving.csv --out driving.png
    """
    plots.check_format(out)
    capacity = read(file)
    _note(file, capacity.notes)
    with _named(file):
        figure = trace_figures.draw(capacity, file.name, bin_ms)
    plots.save_figures([figure], out)
    _tell({"figure": str(out)}, out, as_json)


@trace.command(cls=Command, short_help="Write a trace in the other form: CSV or Mahimahi.")
def convert(
    file: _Trace,
    out: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="With .csv: CSV of time and rate; else Mahimahi.", show_default=False),
    ],
    as_json: Json = False,
) -> None:
    """Write a trace in the other form. From CSV to Mahimahi, times become whole milliseconds and amounts 1500 bytes.

    Example: quiclab trace convert examples/traces/lte-like.down lte.csv
    """
    capacity = read(file)
    _note(file, capacity.notes)
    with _named(file):
        text = write(capacity, form_of(out))
    _save(out, text)
    _tell({"trace": str(out)}, out, as_json)


@trace.command(cls=Command, short_help="Make a trace or a series from a seed.")
def generate(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="mmwave or lte-driving; leo or geo, a series.", show_default=False)
    ],
    out: _Out,
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds give equal bytes.")] = 1,
    duration: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Its length, up to an hour. Default: 120 s; for geo 1200 s.", show_default=False
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="An option of leo or geo: see `quiclab list series`.", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a trace or a series from a seed, and print the statistics that it keeps. docs/traces.md says how it is made.

    Example: quiclab trace generate lte-driving --seed 7 --out drive.csv
    """
    checked("KIND", kind, KINDS)
    options = {}
    for given in option or []:
        name, equals, value = given.partition("=")
        if not equals:
            raise Error(f"--option {given!r}: expected NAME=VALUE")
        options[name.strip()] = value.strip()
    text = make(kind, seed=seed, duration_s=_seconds(duration), options=options)
    _save(out, text)
    kept = list(laws(text))
    _tell({"trace": str(out), "shortest_s": KINDS[kind].shortest_s, "laws": kept}, out, as_json)
    if as_json:
        return
    echo(f"duration: at least {KINDS[kind].shortest_s:g} s for {kind}, a shorter one {KINDS[kind].too_short}")
    for line in kept:
        echo(line)


def _seconds(duration: str | None) -> float | None:
    if duration is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|min|h)", duration.strip())
    if found is None:
        raise Error(f"--duration {duration!r}: expected a time with its unit (ms, s, min, h), like '120 s'")
    return float(found[1]) * {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}[found[2]]


def _note(file: Path, notes: list[str]) -> None:
    for note in notes:
        echo(f"note: {plain(file)}, {plain(note)}", err=True)


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """What is wrong with a trace is told with its name."""
    try:
        yield
    except Error as problem:
        raise Error(f"{file}: {problem}") from None


def _save(out: Path, text: str) -> None:
    write_whole(out, text)


def _tell(told: dict[str, Any], out: Path, as_json: bool) -> None:
    echo(json.dumps(told, indent=2) if as_json else plain(out))
