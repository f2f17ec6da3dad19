"""The commands: each one file and one line in `COMMANDS`."""

from collections.abc import Callable
from typing import Annotated

import typer

from quiclab.commands.bench import bench
from quiclab.commands.check import check
from quiclab.commands.emulate import emulate, shell
from quiclab.commands.fetch import fetch
from quiclab.commands.film import film
from quiclab.commands.list import list_
from quiclab.commands.matrix import matrix
from quiclab.commands.play import play
from quiclab.commands.plot import plot
from quiclab.commands.qoe import qoe
from quiclab.commands.relay import relay
from quiclab.commands.reproduce import reproduce
from quiclab.commands.run import run
from quiclab.commands.script import script
from quiclab.commands.serve import serve
from quiclab.commands.sweep import sweep
from quiclab.commands.trace import trace
from quiclab.commands.view import view

COMMANDS: dict[str, Callable[..., None] | typer.Typer] = {
    "run": run,
    "sweep": sweep,
    "check": check,
    "plot": plot,
    "view": view,
    "qoe": qoe,
    "list": list_,
    "bench": bench,
    "serve": serve,
    "fetch": fetch,
    "relay": relay,
    "emulate": emulate,
    "shell": shell,
    "film": film,
    "play": play,
    "matrix": matrix,
    "script": script,
    "trace": trace,
    "reproduce": reproduce,
}
"""The word for a command: its function, whose docstring is its manual, or a group of them."""

app = typer.Typer(
    name="quiclab",
    help="A laboratory for QUIC: describe a network and its traffic in a file, run it in virtual time.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # The texts are no markup: "[sweep]" is a table of a scenario.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from quiclab import __version__

        typer.echo(f"quiclab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


for _name, _function in COMMANDS.items():
    if isinstance(_function, typer.Typer):
        app.add_typer(_function, name=_name)
    else:
        app.command(_name)(_function)
