"""The door to the terminal: whatever words a file has, they cannot move the cursor, colour or erase."""

import typer

from quiclab.values.plain_text import harmless


def echo(message: object = "", nl: bool = True, err: bool = False) -> None:
    """Prints a text, also one of several lines, or a document of JSON, with control characters as escapes."""
    typer.echo(harmless(str(message)), nl=nl, err=err)
