"""What the commands share that put the endpoint on the wire."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from quiclab.commands import completions
from quiclab.values import signals

PROTOCOLS = ("h3", "hq-interop")
"""The application protocols that are spoken, the preferred first."""

Protocols = Annotated[
    list[str] | None,
    typer.Option("--alpn", metavar="NAME", help="An application protocol, the preferred first.", show_default=False),
]
Controller = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="See `quiclab list controllers`.",
        show_default=False,
        autocompletion=completions.components("controllers"),
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="See `quiclab list schedulers`.",
        show_default=False,
        autocompletion=completions.components("schedulers"),
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="[transport] or [tls]: tls.tickets=4. Repeatable.",
        show_default=False,
    ),
]
OnlyCipher = Annotated[bool, typer.Option("--only-cipher", help="Only the cipher suite of tls.cipher.")]
Qlog = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="A folder for a qlog of each connection.", show_default=False),
]


def sets(controller: str | None, scheduler: str | None, given: Sequence[str] | None) -> list[str]:
    """The options of connections as changes to a scenario."""
    named = [("transport.controller", controller), ("transport.scheduler", scheduler)]
    return [f"{key}={value}" for key, value in named if value is not None] + list(given or ())


def protocols(given: Sequence[str] | None) -> list[str]:
    """The protocols to offer."""
    for name in given or ():
        if name not in PROTOCOLS:
            raise typer.BadParameter(f"{name!r} is not spoken here: {', '.join(PROTOCOLS)}", param_hint="--alpn")
    return list(given or PROTOCOLS)


def key_log() -> str | None:
    """Where the secrets of TLS are written, if the user wants that."""
    return os.environ.get("SSLKEYLOGFILE") or None


def end_on_signals() -> None:
    """The first signal ends a command in good order, and those after it change nothing."""
    signals.heed(signals.end_once())
