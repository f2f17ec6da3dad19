"""`quiclab examples`: the scenarios, traces, programs and notebooks that come with quiclab."""

import json
import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from quiclab._quiclab import Error, OutputError
from quiclab.commands.arguments import Json
from quiclab.commands.output import echo
from quiclab.commands.pager import NoPager, console_text, show
from quiclab.values import package_data
from quiclab.values.folders import complete, only
from quiclab.values.plain_text import plain


def examples(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="Where all of them are copied to: a folder that does not exist. Default: the list.",
            show_default=False,
        ),
    ] = None,
    no_pager: NoPager = False,
    as_json: Json = False,
) -> None:
    """List the examples, or copy them into a folder: scenarios, traces, pages, programs, notebooks.

    Example: quiclab examples examples, then quiclab run examples/cellular.toml
    """
    if folder is None:
        found = list(package_data.examples())
        if as_json:
            echo(json.dumps([{"scenario": name, "about": about} for name, about in found], indent=2))
        else:
            show(_listed(found), no_pager)
        return
    files = _copied(folder)
    if as_json:
        echo(json.dumps({"folder": str(folder), "files": files}))
        return
    echo(f"written  {plain(folder)} ({files} files)")
    echo(f"next     quiclab run {plain(folder / 'cellular.toml')}")


def _listed(found: list[tuple[str, str]]) -> str:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, about in found:
        table.add_row(Text(name, "bold"), Text(about))
    table.add_row("", "")
    return (
        console_text(table) + "quiclab examples FOLDER copies them, with their traces, pages, programs and notebooks\n"
    )


def _copied(folder: Path) -> int:
    """How many files the folder has now."""
    if os.path.lexists(folder):
        raise OutputError(f"{folder}: exists already; choose another folder or remove it")
    files = list(package_data.example_files())
    if not files:
        raise Error("there are no examples in this installation of quiclab: its folder share has no files, or no links")
    with complete(only(folder)) as (partial, _):
        for file in files:
            copy = partial / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            # Contents alone: what is installed may be read-only.
            shutil.copyfile(package_data.EXAMPLES / file, copy)
    return len(files)
