"""`quiclab video film DIR`: a film to be played."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from quiclab._quiclab import OutputError
from quiclab.commands.arguments import Json
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain

with late():
    import quiclab.engines.play.film as films


def film(
    to: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the film; it must not exist.")],
    bitrates: Annotated[
        str, typer.Option(metavar="KBIT/S,...", help="The bitrates of the qualities, rising.")
    ] = "300,750,1200,1850,2850,4300",
    duration: Annotated[float, typer.Option(metavar="SECONDS", help="The duration.")] = 60.0,
    segment: Annotated[float, typer.Option(metavar="SECONDS", help="The duration of a segment.")] = 2.0,
    height: Annotated[int, typer.Option(metavar="PIXELS", help="The height of the picture, in all qualities.")] = 180,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A video to use instead of a test pattern.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a film with ffmpeg: an MPEG-DASH presentation in several qualities, and the sizes of its segments.

    Example: quiclab video film film --bitrates 300,750,1200

    A scenario names it: presentation = { type = "mpd", file = "DIR/film.mpd", sizes = "DIR/film.csv" }. quiclab run
    simulates a player of it, quiclab video play plays it.
    """
    if os.path.lexists(to):
        raise OutputError(f"{to}: exists already; choose another folder or remove it")
    try:
        ladder = [round(1000 * float(text)) for text in bitrates.split(",")]
    except ValueError:
        expected = "expected numbers in kbit/s, as 300,750,1200"
        raise typer.BadParameter(f"{bitrates!r}: {expected}", param_hint="--bitrates") from None
    manifest = films.make(to, ladder, duration_s=duration, segment_s=segment, height=height, picture=picture)
    if as_json:
        echo(json.dumps({"film": str(manifest), "sizes": str(to / films.SIZES)}))
        return
    echo(f"film     {plain(manifest)}")
    echo(f"sizes    {plain(to / films.SIZES)}")
