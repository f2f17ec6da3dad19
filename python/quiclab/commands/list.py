"""`quiclab list`: what can stand in a scenario."""

import json
from typing import Annotated, Any

import typer

from quiclab.commands.arguments import Json

_PAGES = {
    "controllers": "{row}",
    "queues": "{row}",
    "schedulers": "scheduler-{row}",
    "rates": "link",
    "offsets": "link",
    "losses": "loss",
    "kinds": "middleboxes",
    "visits": "hosts",
    "presets": "satellite",
    "series": "satellite",
    "middleboxes": "middleboxes",
    "sides": "pep",
    "media": "media",
    "channels": "cell",
    "block_errors": "cell",
    "cell_schedulers": "cell",
    "handovers": "cell",
    "frame_errors": "wlan",
    "rate_controls": "wlan",
    "events": "events",
    "resumptions": "resume",
    "tcp_resumptions": "resume",
    "jitters": "jitter",
    "applications": "applications",
    "pages": "pages",
    "presentations": "presentations",
    "abrs": "abr",
    "sources": "cross-traffic",
    "changes": "applications",
}
"""Of each room, the pages of docs/model that describe its rows: one for all, or one of the row's name for each."""


def list_(
    what: Annotated[
        str | None, typer.Argument(metavar="[WHAT]", help="A room or a component. Default: all.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List what can stand in a scenario: controllers, links, queues, losses, applications, with their options."""
    from quiclab import Error, rooms

    chosen = [{**room, "rows": [{**row, "page": _page(room, row)} for row in room["rows"]]} for room in rooms()]
    if what is not None:
        chosen = _choose(chosen, what)
        if not chosen:
            raise Error(f"no room and no component {what!r}: there are {', '.join(r['name'] for r in rooms())}")
    if as_json:
        typer.echo(json.dumps(chosen, indent=2))
        return
    _print(chosen)


_OWN_PAGES = {"media/lte": "cell", "media/nr": "cell", "media/wlan": "wlan", "kinds/gate": "gates"}
"""The pages of components that have not that of their room."""


def _page(room: dict[str, Any], row: dict[str, Any]) -> str | None:
    """Where the model is described: scope, equations, validation, references."""
    page = _OWN_PAGES.get(f"{room['name']}/{row['name']}") or _PAGES.get(room["name"])
    return page and f"docs/model/{page.format(row=row['name'])}.md"


def _choose(rooms: "list[dict[str, Any]]", what: str) -> "list[dict[str, Any]]":
    whole = [room for room in rooms if room["name"] == what]
    if whole:
        return whole
    parts = [{**room, "rows": [row for row in room["rows"] if row["name"] == what]} for room in rooms]
    return [room for room in parts if room["rows"]]


def _print(rooms: "list[dict[str, Any]]") -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)

    def line(indent: int, *parts: "str | tuple[str, str]") -> None:
        # Text, not markup: "[tls]" is a table of a scenario here.
        console.print(Padding(Text.assemble(*parts), (0, 0, 0, indent)))

    for room in rooms:
        line(0, (room["name"], "bold underline"), f": {room['about']}")
        if room["shorthand"] is not None:
            row, option = room["shorthand"]["row"], room["shorthand"]["option"]
            line(2, (f'a bare value is short for {{ type = "{row}", {option} = VALUE }}', "dim"))
        for row in room["rows"]:
            line(2, (row["name"], "bold"), f": {row['about']}")
            if row["page"] is not None:
                line(4, (row["page"], "dim"))
            for option in row["parameters"]:
                line(4, (option["name"], "cyan"), f"  {option['kind']}", (_default(option), "green"))
                line(8, (option["about"], "dim"))
        console.print()


def _default(option: dict[str, Any]) -> str:
    if option["default"] is not None:
        return f"  default {option['default']}"
    return "  required" if option["required"] else ""
