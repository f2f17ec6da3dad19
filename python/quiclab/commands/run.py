"""`quiclab run FILE`: runs a scenario and writes the run folder."""

import json
import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from quiclab.commands.arguments import Json, ScenarioInput, Sets, read_scenario
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain

with late():
    import quiclab.results.numbers as numbers

_SWEEP = re.compile(r"^\s*\[+\s*sweep\b", re.MULTILINE)
"""The head of the table."""


def run(
    file: ScenarioInput,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Instead of the scenario's own seed.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The run folder, a new one. Default: runs/NAME-seedN."),
    ] = None,
    set_: Sets = None,
    as_json: Json = False,
    qlog: Annotated[bool, typer.Option("--qlog", help="Write a qlog for each end of each connection.")] = False,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Write a packet capture with its keys (protection tls).")
    ] = False,
    no_tables: Annotated[
        bool, typer.Option("--no-tables", help="Keep the summary only: no tables, no figure, little memory.")
    ] = False,
) -> None:
    """Run a scenario in virtual time: write a folder of results, and print the most important ones.

    Example: quiclab run examples/cellular.toml --seed 7 --set link.wire.delay="50 ms"
    """
    scenario = read_scenario(file, set_)
    result = scenario.run(
        seed,
        qlog=qlog,
        pcap=pcap,
        out=True if out is None else out,
        tables=not no_tables,
        progress=True,
    )
    folder = result.path
    assert folder is not None, "a run with `out` has a folder"
    if as_json:
        notes = {"notes": result.notes} if result.notes else {}
        echo(json.dumps({"folder": str(folder), **result.summary, **notes}, indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for table in numbers.tables(result.summary, console.width, numbers.endless(result)):
        console.print(table)
    figure = folder / "figure.png"
    rows = [
        ("figure", figure if figure.exists() else None),
        ("tables", folder / "*.parquet" if result.tables else None),
        ("qlog", folder / "*.sqlog" if result.qlogs else None),
        ("capture", result.capture),
        ("folder", folder),
    ]
    for what, where in rows:
        if where is not None:
            # Not through rich, which would break a long path into lines.
            echo(f"{what:<8} {plain(where)}")
    if result.tables and result.summary.get("connections"):
        echo(f"next     quiclab why {plain(shlex.quote(str(folder)))}")
    if _SWEEP.search(scenario._text):
        echo(f"note: one run, without the [sweep] table: quiclab sweep {plain(file)} makes all", err=True)
    for note in result.notes:
        echo(f"note: {plain(note)}", err=True)
