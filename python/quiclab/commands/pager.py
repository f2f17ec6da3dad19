"""Long texts page by page where a person reads them, and as they are everywhere else."""

import os
import shlex
import shutil
import subprocess
import sys
from io import StringIO
from typing import Annotated

import typer

NoPager = Annotated[bool, typer.Option("--no-pager", help="Print everything at once, even on a terminal.")]


def show(text: str, no_pager: bool = False) -> None:
    """Prints a text: through $PAGER, or less, if standard output is a terminal that it does not fit.

    `NO_PAGER`, or a PAGER that is empty or `cat`, prints it at once.
    """
    program = None if no_pager or os.environ.get("NO_PAGER") else _program()
    if program is None or not sys.stdout.isatty() or text.count("\n") < shutil.get_terminal_size().lines:
        typer.echo(text, nl=False)
        return
    # As git does: colours are kept, and a text that fits after all stays on the screen.
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    sys.stdout.flush()
    try:
        process = subprocess.Popen(program, stdin=subprocess.PIPE, env=environment)
    except OSError:
        # There is no such pager.
        typer.echo(text, nl=False)
        return
    try:
        process.communicate(text.encode("utf-8", "backslashreplace"))
    except KeyboardInterrupt:
        # It is for the pager, which ends by `q`.
        process.wait()


def _program() -> list[str] | None:
    wanted = os.environ.get("PAGER")
    if wanted is None:
        return ["less"] if shutil.which("less") else None
    words = shlex.split(wanted)
    return None if words in ([], ["cat"]) else words


def console_text(printed: "object", width: int | None = None) -> str:
    """What rich prints of something, with colours only if standard output is a terminal that wants them."""
    from rich.console import Console

    terminal = Console(highlight=False)
    file = StringIO()
    console = Console(
        file=file,
        highlight=False,
        width=width or terminal.width,
        force_terminal=terminal.is_terminal,
        color_system="auto" if terminal.is_terminal else None,
        no_color=terminal.no_color,
    )
    console.print(printed)
    return file.getvalue()
