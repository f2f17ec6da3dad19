"""The commands: each one file and one row in `COMMANDS`."""

from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from quiclab._quiclab import VERSION
from quiclab.commands.group import Group, Row
from quiclab.commands.output import echo

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS: dict[str, Row] = {
    "run": Row(
        "Run a scenario in virtual time: write a folder of results, and print the most important ones.",
        short="Run a scenario: a folder of results, a table, a figure.",
        heading="Everyday",
    ),
    "new": Row(
        "Write a scenario to start from: a file with comments that runs as it is. It overwrites no file.",
        short="Write a scenario to start from.",
        heading="Everyday",
    ),
    "examples": Row(
        "List the examples, or copy them into a folder: scenarios, traces, pages, programs, notebooks.",
        short="List the examples, or copy them into a folder.",
        heading="Everyday",
    ),
    "check": Row(
        "Check a scenario without running it, and describe its network and flows.",
        short="Check a scenario without running it, and describe it.",
        heading="Everyday",
    ),
    "list": Row(
        "List what a scenario can contain: controllers, links, queues, losses, applications, with their options.",
        short="List what a scenario can contain, by topic.",
        where="listing:list_",
        heading="Everyday",
    ),
    "explain": Row(
        "Explain a key of a scenario, a component, a table or a column: kind, default, unit, source, an example.",
        short="Explain a key, a component, a table, a column, a paper.",
        heading="Everyday",
    ),
    "plot": Row(
        "Draw a run over time, or the runs of a sweep by naming columns.",
        short="Draw a run over time, or the runs of a sweep.",
        heading="Results",
    ),
    "view": Row(
        "Make a page for the browser: every packet by stream, losses and retransmissions, and what waited for what.",
        short="Make a page for the browser with every packet of a run.",
        heading="Results",
    ),
    "why": Row(
        "Say where the time of each flow of a run went, cause by cause, and what would change it.",
        short="Say where the time of each flow went, and why.",
        heading="Results",
    ),
    "report": Row(
        "Make a report: one HTML file of runs and sweeps, with tables, figures to zoom, and where the time went.",
        short="Make a report of runs and sweeps: one HTML file.",
        heading="Results",
    ),
    "diff": Row(
        "Say what differs between two runs, scenarios or sweeps. Exit code 1 if something does.",
        short="Say what differs between two runs, scenarios or sweeps.",
        heading="Results",
    ),
    "export": Row(
        "Export a table of a run or a sweep as CSV, JSON or Parquet. In CSV, null is an empty field.",
        short="Export a table of a run or a sweep as CSV, JSON, Parquet.",
        heading="Results",
    ),
    "sweep": Row(
        "Run all combinations of a [sweep] table, on all cores: runs.parquet, series.parquet, means and intervals.",
        short="Run all combinations of a [sweep] table, on all cores.",
        heading="Many runs",
    ),
    "reproduce": Row(
        "Reproduce figures of papers: run their experiments, draw them, and check what the paper says.",
        short="Reproduce figures of papers, and check what they say.",
        heading="Many runs",
    ),
    "emulate": Row(
        "Run a scenario in real time, with real applications at its gates.",
        short="Run a scenario in real time, with real applications.",
        heading="Real programs and real time",
    ),
    "matrix": Row(
        "Run QUIC stacks, given as commands, over many networks in real time: a table, heat maps, captures, qlogs.",
        short="Run QUIC stacks over many networks in real time.",
        heading="Real programs and real time",
    ),
    "video": Row(
        "Streamed video: make a film, play it for real, and rate what viewers of a run saw.",
        short="Make a film, play it for real, rate what viewers saw.",
        heading="Groups",
        example="quiclab video qoe runs/video-seed1",
    ),
    "video film": Row(
        "Make a film with ffmpeg: an MPEG-DASH presentation in several qualities, and the sizes of its segments.",
        short="Make a film to play and for scenarios, with ffmpeg.",
        old="film",
    ),
    "video play": Row(
        "Play the video of a scenario for real: dash.js in Chromium, over HTTP/3, through the network of the scenario.",
        short="Play the video of a scenario for real, in Chromium.",
        old="play",
    ),
    "video qoe": Row(
        "Quality of experience of each player of a run: the linear QoE of the literature, and scores of ITU-T P.1203.",
        short="Quality of experience of the players of a run.",
        old="qoe",
    ),
    "real": Row(
        "Real packets: files over QUIC, UDP through a scenario, a shell in one of its gates.",
        short="Serve and fetch files over QUIC, relay UDP, open a shell.",
        heading="Groups",
        example="quiclab real serve site",
    ),
    "real serve": Row(
        "Serve the files of a folder over QUIC until Ctrl-C.",
        old="serve",
    ),
    "real fetch": Row(
        "Fetch files over QUIC. In the end each is complete or absent; exit code 0 only if all are complete.",
        short="Fetch files over QUIC.",
        old="fetch",
    ),
    "real relay": Row(
        "Relay UDP between clients and a server through a scenario in real time, until Ctrl-C.",
        short="Relay UDP through a scenario in real time.",
        old="relay",
    ),
    "real shell": Row(
        "Open a shell in a gate of a scenario that runs in real time. The run ends with the shell.",
        short="Open a shell in a gate of a scenario in real time.",
        where="emulate:shell",
        old="shell",
    ),
    "trace": Row(
        "Traces of what a link can carry (Mahimahi files, CSV of time and rate); series of rate, delay and loss.",
        short="Read, draw, convert and make traces of links.",
        heading="Groups",
    ),
    "dev": Row(
        "Tools around the laboratory: packet-level scripts, its speed, help for editors and shells.",
        short="Packet scripts, speed, help for editors and shells.",
        heading="Groups",
        example="quiclab dev script tests/scripts/pto",
    ),
    "dev script": Row(
        "Run packet-level scripts against the endpoint, in virtual time.",
        short="Run packet-level scripts against the endpoint.",
        old="script",
    ),
    "dev bench": Row(
        "Measure a bulk transfer: data packets per second of CPU time, and what TLS, tables, qlog and pcap cost.",
        short="Measure the speed on this machine, and what traces cost.",
        old="bench",
    ),
    "dev schema": Row(
        "Print the JSON schema of scenario files, with which editors complete and check them.",
        short="Print the JSON schema of scenarios, for editors.",
        old="schema",
    ),
    "dev completion": Row(
        "Print the script with which a shell completes commands, options, files, columns and keys of scenarios.",
        short="Print the script for completion in bash, zsh or fish.",
        old="completion",
        quiet=True,
    ),
}
"""The words of a command: the first line of its manual, what a list of commands says, and where it is if not in a file
of its name. The first of two words is a group, whose row comes before those of its commands."""


def load(name: str) -> "Callable[..., None] | typer.Typer":
    """A command by its words: its function, whose docstring is its manual, or a group of commands."""
    row = COMMANDS[name]
    if row.example:
        return _group(name, row)
    word = name.rpartition(" ")[2]
    module, _, attribute = (row.where or f"{word}:{word}").partition(":")
    found: Callable[..., None] | typer.Typer = getattr(import_module(f"quiclab.commands.{module}"), attribute)
    return found


class _Commands(Group):
    """All of them. Only the one that is named is imported."""

    rows = COMMANDS

    def load(self, name: str) -> "Callable[..., None] | typer.Typer":
        """By its row."""
        return load(name)


def _group(name: str, row: Row) -> typer.Typer:
    """A group whose commands are rows of `COMMANDS`."""
    group = typer.Typer(
        cls=type(f"_{name.title()}", (_Commands,), {"words": f"{name} "}),
        help=f"{row.help}\n\nExample: {row.example}",
        add_completion=False,
        rich_markup_mode=None,
    )
    # Without a callback it would be no group to typer.
    group.callback()(lambda: None)
    return group


app = typer.Typer(
    name="quiclab",
    cls=_Commands,
    help="A laboratory for QUIC: describe a network and its traffic in a file, run it in virtual time.\n\n"
    "Example: quiclab new first --like cellular, then quiclab run first.toml",
    add_completion=False,
    pretty_exceptions_enable=False,
    # The texts are no markup: "[sweep]" is a table of a scenario.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"quiclab {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
