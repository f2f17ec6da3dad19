"""`quiclab why FOLDER`: where the time of each flow of a run went."""

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quiclab.commands.arguments import Json

if TYPE_CHECKING:
    from quiclab.why import Answer


def why(
    run: Annotated[Path, typer.Argument(metavar="FOLDER", help="A run's folder.", show_default=False)],
    connection: Annotated[str | None, typer.Option(help="Only this connection. Default: all.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """Where the time of each flow of a run went: handshake, window, flow control, capacity, losses; what would change it.

    Every moment from the start of a flow to its end belongs to one cause: what the sender waited for, and, where that was its
    window or its pacer, whether the network had more to give (docs/why.md).
    """
    from quiclab import load

    answers = load(run).why(connection)
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(answer) for answer in answers], indent=2, ensure_ascii=False))
        return
    for answer in answers:
        _print(answer)


def _print(answer: "Answer") -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    done = "complete" if answer.completed else "not complete"
    table = Table(title=f"{answer.name}: {answer.end_s - answer.start_s:,.3f} s, {done}", title_justify="left", box=None)
    for title in ("cause", "seconds", "share", "longest"):
        table.add_column(title, justify="left" if title == "cause" else "right", no_wrap=True)
    table.add_column("what happened; what would change it")
    for cause in answer.causes:
        start, end = cause.longest
        longest = f"{start:,.3f} to {end:,.3f}" if end > start else ""
        table.add_row(
            cause.name, f"{cause.seconds:,.3f}", f"{cause.share:.1%}", longest, Text(f"{cause.what}; {cause.change}")
        )
    console.print(table)
    for line in (*((answer.unfinished,) if answer.unfinished else ()), *answer.beside):
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    console.print()
