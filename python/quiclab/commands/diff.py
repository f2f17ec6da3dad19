"""`quiclab diff A B`: what differs between two runs, scenarios or sweeps."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quiclab.commands.arguments import Json
from quiclab.commands.changed import reading
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain

with late():
    import quiclab.explanations.differences as differences


_WIDEST = 44
"""Characters of a value that are printed; --json has all."""


def diff(
    a: Annotated[
        Path, typer.Argument(metavar="A", help="A run's folder, a sweep's folder or a scenario.", show_default=False)
    ],
    b: Annotated[Path, typer.Argument(metavar="B", help="The one to compare it with.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Say what differs between two runs, scenarios or sweeps. Exit code 1 if something does.

    One line for each key of the resolved scenario and for each number of the results. The exit code is 0 if nothing
    differs, 1 if something does, and 2 for an error. Two sweeps are compared by their scenario files and by the means
    of each combination.

    Example: quiclab diff runs/cellular-seed1 runs/cellular-seed2
    """
    with reading(a, b):
        found = differences.diff(a, b)
    if as_json:
        parts = {"scenario": found.scenario, "results": found.results}
        told = {name: [change.as_json() for change in part] for name, part in parts.items()}
        echo(json.dumps({"a": str(a), "b": str(b), **told, "notes": found.notes}, indent=2, ensure_ascii=False))
    elif not found:
        echo("nothing differs")
    else:
        values = [
            (change.key, differences.value_text(change.a), differences.value_text(change.b))
            for change in found.scenario
        ]
        _print(("scenario", "A", "B"), values)
        _print(("results", "A", "B", "B - A", "%"), [(change.key, *change.texts()) for change in found.results])
    for note in [] if as_json else found.notes:
        echo(f"note: {plain(note)}", err=True)
    if found:
        raise typer.Exit(1)


def _print(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Heads and rows in columns: numbers end below each other."""
    if not rows:
        return
    cells = [heads, *((f"  {plain(key)}", *map(_cut, values)) for key, *values in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(heads))]
    for first, *rest in cells:
        line = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        echo("  ".join(line).rstrip())


def _cut(text: str) -> str:
    text = plain(text).removesuffix(" %")
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."
