"""`quiclab view RUN`: a page with every packet of a run, stream by stream, and what waited for what."""

import json
from pathlib import Path
from typing import Annotated

import typer

from quiclab.commands.arguments import Json
from quiclab.commands.changed import reading
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain
from quiclab.values.progress import shown_reading

with late():
    import quiclab.drawings.view as view_page


def view(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="A run's folder, any folder with qlog files, or a qlog file.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page's file. Default: view.html in the folder.")
    ] = None,
    connection: Annotated[
        list[str] | None,
        typer.Option(help="Only this connection. May be given more than once. Default: all.", show_default=False),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: Json = False,
) -> None:
    """Make a page for the browser: every packet by stream, losses and retransmissions, and what waited for what.

    Example: quiclab view runs/objects-seed3 --open

    The run needs a qlog: `quiclab run FILE --qlog`. The page is one self-contained file. Press ? in it for its keys.
    """
    with reading(run), shown_reading("view") as progress:
        shown = view_page.write(run, out, connections=connection or (), progress=progress)
    if as_json:
        echo(json.dumps(shown.as_json(), indent=2))
    else:
        for entry in shown.connections:
            for numbers in entry["directions"]:
                if not numbers["packets_sent"]:
                    echo(f"{entry['connection']}, from the {numbers['sender']}: window and round-trip times only")
                    continue
                one_stream = numbers["waited_one_stream_s"]
                packets = _count(numbers["packets_sent"], "packet")
                echo(
                    f"{entry['connection']}, from the {numbers['sender']}: {packets}, "
                    f"{numbers['packets_declared_lost']} declared lost; {_count(numbers['streams'], 'stream')}, "
                    f"which waited {numbers['waited_s']:.3f} s"
                    + (f", as one byte stream {one_stream:.3f} s" if one_stream is not None else "")
                )
        echo(f"view     {plain(shown.view)}")
        for note in shown.notes:
            echo(f"note: {plain(note)}", err=True)
    if open_:
        typer.launch(str(shown.view))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
