"""`quiclab why FOLDER`: where the time of each flow of a run went."""

import dataclasses
import json
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import quiclab
from quiclab.commands.arguments import Json
from quiclab.commands.changed import reading
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain

if TYPE_CHECKING:
    from quiclab.explanations.why import Answer, Cause


def why(
    run: Annotated[Path, typer.Argument(metavar="FOLDER", help="A run's folder.", show_default=False)],
    connection: Annotated[
        str | None, typer.Option(help="Only this connection. Default: all.", show_default=False)
    ] = None,
    no_try: Annotated[bool, typer.Option("--no-try", help="Answer from the records alone.")] = False,
    as_json: Json = False,
) -> None:
    """Say where the time of each flow of a run went, cause by cause, and what would change it.

    Every moment from the start of a flow to its end belongs to one cause: what the sender waited for, and, where that
    was its window or its pacer, whether the network had more to give (docs/why.md). Remedies are tried by running the
    scenario again, unless it names components in Python or is long.

    Example: quiclab why runs/cellular-seed1
    """
    with reading(run):
        answers = quiclab.load(run).why(connection, tries=not no_try)
    if as_json:
        echo(json.dumps([dataclasses.asdict(answer) for answer in answers], indent=2, ensure_ascii=False))
        return
    if not answers:
        echo("the run has no connections")
    for number, answer in enumerate(answers):
        _print(answer, first=number == 0)


def _print(answer: "Answer", *, first: bool) -> None:
    if not first:
        echo()
    done = "completed" if answer.completed else "not completed"
    echo(plain(f"{answer.connection}: {answer.end_s - answer.start_s:,.3f} s, {done}"))
    if answer.unfinished is not None:
        _indented(f"Not completed: {answer.unfinished}.", 2)
    for text in answer.notes:
        _indented(f"{text[0].upper()}{text[1:]}.", 2)
    for cause in answer.causes:
        _cause(cause)
    if answer.beside:
        echo("  At the same time:")
    for cause in answer.beside:
        _cause(cause)


def _cause(cause: "Cause") -> None:
    start, end = cause.longest
    longest = f"longest {start:,.3f} to {end:,.3f} s" if end > start else ""
    head = f"{cause.share:7.1%}  {cause.seconds:9,.3f} s  {cause.name:17}"
    if len(f"{head}  {longest}") <= _width():
        echo(f"{head}  {longest}".rstrip())
    else:
        echo(head.rstrip())
        _indented(longest, 9)
    _indented(cause.advice, 9)


def _width() -> int:
    """That of the terminal, or 80 without one; no less than a line of words needs."""
    return min(max(shutil.get_terminal_size().columns, 40), 120)


def _indented(text: str, by: int) -> None:
    """Wraps a text to the width of the terminal."""
    if text:
        echo(textwrap.fill(plain(text), _width(), initial_indent=" " * by, subsequent_indent=" " * by))
