"""`quiclab dev schema`: the JSON schema of scenario files, by which editors complete and check them."""

from pathlib import Path
from typing import Annotated

import typer

from quiclab._quiclab import schema_json
from quiclab.commands.output import echo
from quiclab.values.folders import write_whole
from quiclab.values.plain_text import plain


def schema(
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file to write. Default: standard output.", show_default=False),
    ] = None,
) -> None:
    """Print the JSON schema of scenario files, with which editors complete and check them.

    Example: quiclab dev schema --out quiclab.schema.json

    The line `#:schema quiclab.schema.json` at the top of a scenario tells taplo and Even Better TOML to use it.
    """
    text = schema_json()
    if out is None:
        echo(text, nl=False)
        return

    write_whole(out, text)
    echo(plain(out))
