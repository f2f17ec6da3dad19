"""`quiclab report RUN|SWEEP...`: runs and sweeps as one HTML file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from quiclab.commands.arguments import Json
from quiclab.commands.changed import reading
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain

with late():
    import quiclab.drawings.report as report_page


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="FOLDER...", help="Folders of runs and sweeps, up to 24.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The report's file. Default: report.html in the folder, or in the current one for several.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Sweep: show this column first, named by the end of its name. May be given more than once. Default: "
            "goodput, completion time, mean RTT.",
            show_default=False,
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    as_json: Json = False,
) -> None:
    """Make a report: one HTML file of runs and sweeps, with tables, figures to zoom, and where the time went.

    Runs are shown side by side. A sweep has a table of its runs to sort and filter, and charts of its columns. The
    file is self-contained.

    Example: quiclab report runs/cellular-seed1 --open
    """
    with reading(*folders):
        made = report_page.write(folders, out, show=show or ())
    if as_json:
        echo(json.dumps(made.as_json(), indent=2))
    else:
        echo(f"report   {plain(made.report)} ({made.size_bytes / 1e6:,.1f} MB)")
        for note in made.notes:
            echo(f"note: {plain(note)}", err=True)
    if open_:
        typer.launch(str(made.report))
