"""`quiclab list`: what can stand in a scenario."""

import json
from typing import Annotated, Any

import typer

from quiclab.commands.arguments import Json


def list_(
    what: Annotated[
        str | None, typer.Argument(metavar="[WHAT]", help="A room or a component. Default: all.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List what can stand in a scenario: controllers, links, queues, losses, applications, with their options."""
    from quiclab import Error, rooms

    chosen = rooms()
    if what is not None:
        chosen = _choose(chosen, what)
        if not chosen:
            raise Error(f"no room and no component {what!r}: there are {', '.join(r['name'] for r in rooms())}")
    if as_json:
        typer.echo(json.dumps(chosen, indent=2))
        return
    _print(chosen)


def _choose(rooms: "list[dict[str, Any]]", what: str) -> "list[dict[str, Any]]":
    whole = [room for room in rooms if room["name"] == what]
    if whole:
        return whole
    parts = [{**room, "rows": [row for row in room["rows"] if row["name"] == what]} for room in rooms]
    return [room for room in parts if room["rows"]]


def _print(rooms: "list[dict[str, Any]]") -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for room in rooms:
        console.print(Text.assemble((room["name"], "bold underline"), f"  {room['about']}"))
        for row in room["rows"]:
            console.print(Padding(Text.assemble((row["name"], "bold"), f"  {row['about']}"), (0, 0, 0, 2)))
            if not row["parameters"]:
                continue
            table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
            table.add_column(no_wrap=True, style="cyan")
            table.add_column(ratio=2)
            table.add_column(ratio=1)
            table.add_column(ratio=4)
            for option in row["parameters"]:
                cells = (option["name"], option["kind"], option["default"], option["about"])
                table.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))
            console.print(Padding(table, (0, 0, 0, 6)))
        console.print()
