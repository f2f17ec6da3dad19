"""The commands: each one file and one line in `COMMANDS`."""

from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from quiclab.commands.group import Group, Row

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS: dict[str, Row] = {
    "run": Row("Run a scenario in virtual time: a folder of results, a table of the most important of them."),
    "sweep": Row(
        "Make all runs of a scenario's [sweep] table, on all cores: runs.parquet, series.parquet, means with intervals."
    ),
    "check": Row("Check a scenario without running it, and print what it describes."),
    "plot": Row("Draw a run over time, or the runs of a sweep by naming columns."),
    "view": Row(
        "Make a page for the browser: every packet by stream, losses and retransmissions, and what waited for what."
    ),
    "why": Row("Say where the time of each flow of a run went, cause by cause, and what would change it."),
    "qoe": Row(
        "Quality of experience of each player of a run: the linear QoE of the literature, and scores of ITU-T P.1203."
    ),
    "list": Row(
        "List what can stand in a scenario: controllers, links, queues, losses, applications, with their options.",
        "list:list_",
    ),
    "bench": Row(
        "Measure a bulk transfer: data packets per second of CPU time, and what TLS, tables, qlog and pcap cost."
    ),
    "serve": Row("Serve the files of a folder over QUIC until Ctrl-C."),
    "fetch": Row("Fetch files over QUIC. Each is whole or not there at the end; exit code 0 only if all are."),
    "relay": Row("Relay UDP between clients and a server through a scenario in real time, until Ctrl-C."),
    "emulate": Row("Run a scenario in real time, with real applications at its gates."),
    "shell": Row(
        "Open a shell in a gate of a scenario that runs in real time. The run ends with the shell.", "emulate:shell"
    ),
    "film": Row(
        "Make a film: an MPEG-DASH presentation in several qualities, by ffmpeg, with the sizes of its segments."
    ),
    "play": Row(
        "Play the video of a scenario for real: dash.js in Chromium, over HTTP/3, through the network of the scenario."
    ),
    "matrix": Row(
        "Run QUIC stacks, given as commands, over many networks in real time: a table, heat maps, captures, qlogs."
    ),
    "script": Row("Run packet-level scripts against the endpoint, in virtual time."),
    "reproduce": Row("Reproduce figures of papers: run what is behind them, draw them, and check what the paper says."),
    "trace": Row(
        "Traces of what a link can carry (Mahimahi files, CSV of time and rate); series of rate, delay and loss."
    ),
}
"""The word for a command: the first line of its manual, and where it is if not `NAME` in `NAME.py`."""


def load(name: str) -> "Callable[..., None] | typer.Typer":
    """A command by its word: its function, whose docstring is its manual, or a group of commands."""
    module, _, attribute = (COMMANDS[name].where or f"{name}:{name}").partition(":")
    found: Callable[..., None] | typer.Typer = getattr(import_module(f"quiclab.commands.{module}"), attribute)
    return found


class _Commands(Group):
    """All of them. Only the one that is named is imported."""

    rows = COMMANDS

    def load(self, name: str) -> "Callable[..., None] | typer.Typer":
        """By its row."""
        return load(name)


app = typer.Typer(
    name="quiclab",
    cls=_Commands,
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
