"""`quiclab reproduce ID`: makes a figure of a paper again, and says whether it holds."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quiclab.commands import completions
from quiclab.commands.arguments import Json
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain
from quiclab.values.suggestions import checked

with late():
    import quiclab.reproduce as reproduced
    import quiclab.reproduce.outcomes as outcomes
    import quiclab.reproduce.paper_files as paper_files


if TYPE_CHECKING:
    from quiclab.reproduce import Reproduced
    from quiclab.values.progress import SweepProgress


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ID|PAPER|all",
            help="What to reproduce: see --list.",
            show_default=False,
            autocompletion=completions.figures,
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller version, in less than half a minute.")] = False,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to write a folder for each figure: figure, points, runs.")
    ] = Path("reproduced"),
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Parallel runs. Default: one for each core.", show_default=False),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what can be reproduced.")] = False,
    as_json: Json = False,
) -> None:
    """Reproduce figures of papers: run their experiments, draw them, and check what the paper says.

    Example: quiclab reproduce bdp-methods --quick

    Exit code 0: every claim is judged, with the expected outcome: it holds, or is known not to, and the reason stands
    below the table. 1: an outcome is not the expected one. 3: all outcomes are, but a quick form did not judge all
    claims, and lists the others.
    """
    if list_:
        return show_list(as_json)
    if name is None:
        raise typer.BadParameter("an id, the name of a paper, or all: see --list")
    known = paper_files.figures()
    checked("ID", name, ["all", *known, *{figure.paper: "" for figure in known.values()}])
    results = []
    for figure in reproduced.find(name):
        with shown(figure.id) as progress:
            result = reproduced.reproduce(figure.id, quick=quick, out=out, jobs=jobs, progress=progress)
        results.append(result)
        for warning in result.warnings:
            echo(f"warning: {figure.id}: {warning}", err=True)
        if not as_json:
            show(result)
    if as_json:
        told = [{**result.to_dict(), "folder": str(result.folder)} for result in results]
        echo(json.dumps(told, indent=2, ensure_ascii=False))
    if failed := outcomes.overall([result.code for result in results]):
        raise typer.Exit(failed)
    return None


def show_list(as_json: bool) -> None:
    """What can be reproduced."""
    papers = paper_files.catalogue()
    if as_json:
        told = [
            {"id": figure.id, "paper": paper.title, "figure": figure.figure, "title": figure.title}
            for paper in papers
            for figure in paper.figures
        ]
        echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    every = [figure for paper in papers for figure in paper.figures]
    of_id, of_figure = max(len(figure.id) for figure in every), max(len(figure.figure) for figure in every)
    for paper in papers:
        echo(f"{paper.name}: {paper.title} ({paper.venue})")
        for figure in paper.figures:
            echo(f"  {figure.id:<{of_id}}  {figure.figure:<{of_figure}}  {figure.title}")


def show(result: "Reproduced") -> None:
    """The rows of a figure as a table."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    took = f"{result.runs} runs, {result.seconds:.1f} s"
    table = Table(title=f"{result.figure.id}: {result.figure.title} ({took})", title_justify="left")
    for title in ("case", "paper", "target", "here", "accept", ""):
        table.add_column(title, justify="right" if title in ("paper", "target", "here") else "left", no_wrap=not title)
    for apart in (False, True):
        # Rows that cannot fail stand apart, at the end.
        for row in result.judged.shown:
            if (row.outcome == "cannot fail") is apart:
                verdict = row.outcome if row.expected else f"[red]{row.outcome.upper()}[/]"
                table.add_row(row.case, row.paper, row.target, row.here, row.accept, verdict)
        table.add_section()
    console.print(table)
    for line in notes(result):
        echo(line)
    echo(f"figure   {plain(result.folder / 'figure.svg')}")


def notes(result: "Reproduced") -> list[str]:
    """How many rows have each outcome, why rows differ or cannot fail, and what was not judged."""
    told = outcomes.counts([row.to_dict() for row in result.rows])
    lines = ["rows     " + ", ".join(f"{number} {outcome}" for outcome, number in told.items())]
    reasons: dict[str, list[str]] = {}
    for row in result.rows:
        if row.known or row.cannot_fail:
            reasons.setdefault(f"{row.outcome}: {row.known or row.cannot_fail}", []).append(row.name)
    lines += [f"{_named(names)}: {reason}" for reason, names in reasons.items()]
    lines += [f"NOT AS CLAIMED: {told}" for told in result.judged.unclaimed]
    for claim in result.unjudged:
        lines.append(f"not judged: {_named(claim.rows or [claim.claim])}: {claim.reason}")
        lines += [f"  in full it is known to differ: {name}: {reason}" for name, reason in claim.known.items()]
    return lines


def _named(names: Sequence[str]) -> str:
    """The first of some rows, and how many more there are."""
    return names[0] if len(names) == 1 else f"{names[0]}, and {len(names) - 1} more"


@contextmanager
def shown(title: str) -> "Iterator[Any]":
    """Shows progress on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def progress(sweep: str, far: "SweepProgress") -> None:
            if sweep not in tasks:
                tasks[sweep] = bar.add_task(f"{title} {sweep}")
            # What was there already would make the time left too short.
            bar.update(tasks[sweep], total=far.total - far.reused, completed=far.done - far.reused)

        yield progress
