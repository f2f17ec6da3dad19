"""`quiclab plot RUN`: draws a run folder again, or in another format."""

import json
from pathlib import Path
from typing import Annotated

import typer

from quiclab.commands.arguments import Json


def plot(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(metavar="F.png|svg|pdf", help="The figure's file. Default: figure.png in the run folder."),
    ] = None,
    kind: Annotated[str, typer.Option(help="overview, flight, rtt, rate or queue.")] = "overview",
    connection: Annotated[
        str | None, typer.Option(help="Only this connection. Default: all, side by side.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw a run: window, RTT, rates, queue and losses over time."""
    from quiclab import load, plots

    path = out or run / "figure.png"
    plots.check_format(path)
    plots.save(load(run), path, kind, connection)
    typer.echo(json.dumps({"figure": str(path)}) if as_json else f"figure   {path}")
