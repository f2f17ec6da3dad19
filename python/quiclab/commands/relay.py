"""`quiclab real relay FILE`: a scenario in real time, between UDP sockets."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import quiclab
from quiclab import _quiclab
from quiclab.commands.arguments import Json, ScenarioFile, Sets
from quiclab.commands.emulate import warn_if_late
from quiclab.commands.output import echo
from quiclab.values import folders, signals
from quiclab.values.plain_text import plain


def relay(
    file: ScenarioFile,
    listen: Annotated[
        list[str],
        typer.Option(metavar="ADDRESS", help="An address for clients. Each has its --to."),
    ],
    to: Annotated[list[str], typer.Option(metavar="ADDRESS", help="The server behind it.")],
    seed: Annotated[
        int | None, typer.Option(min=0, help="Instead of the scenario's own seed.", show_default=False)
    ] = None,
    blackout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FROM-UNTIL",
            help="Drop all packets in this period: '5 s-7 s'.",
            show_default=False,
        ),
    ] = None,
    rebind_port: Annotated[
        list[str] | None,
        typer.Option(metavar="TIME", help="When clients move to another port.", show_default=False),
    ] = None,
    rebind_addr: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            help="When they move to another address (127.0.0.0/8).",
            show_default=False,
        ),
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder for captures of both ends.",
            show_default=False,
        ),
    ] = None,
    client_gate: Annotated[
        str | None,
        typer.Option(metavar="NODE", help="The gate of clients; default: the first.", show_default=False),
    ] = None,
    server_gate: Annotated[
        str | None,
        typer.Option(metavar="NODE", help="The gate of servers; default: the second.", show_default=False),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="End after this time. Default: at Ctrl-C.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a run folder; it must not exist.", show_default=False),
    ] = None,
    set_: Sets = None,
    as_json: Json = False,
) -> None:
    """Relay UDP between clients and a server through a scenario in real time, until Ctrl-C.

    Example: quiclab real relay examples/cellular.toml --listen 127.0.0.1:4433 --to 127.0.0.1:4434

    Datagrams enter at one gate of the scenario (a node with kind = "gate") and leave at another, among the packets of
    its simulated hosts. In a scenario without gates, client and server of the first flow are gates, and the flows there
    do not run. Times count from a client's first packet.
    """
    if len(listen) != len(to):
        raise typer.BadParameter("each --listen needs a --to, in the same order")
    scenario = _quiclab.Scenario.parse(
        quiclab.Scenario.from_file(file, set_ or ()).to_toml(), file, [] if seed is None else [f"seed={seed}"]
    )

    def ready(pairs: list[tuple[str, str]]) -> None:
        for clients, server in pairs:
            echo(f"relaying {clients} to {server}", err=as_json)

    # All signals ask for the end, with results and complete captures. They interrupt nothing, however many come.
    asked: list[int] = []
    signals.heed(lambda number, frame: asked.append(number))
    blackouts = [period(text) for text in blackout or ()]
    rebinds = [(at, "port") for at in rebind_port or ()] + [(at, "address") for at in rebind_addr or ()]

    def relayed() -> tuple[dict[str, Any], str, list[_quiclab.Table]]:
        try:
            return _quiclab.relay(
                scenario,
                list(zip(listen, to, strict=True)),
                seed=scenario.seed,
                ready=ready,
                goes_on=lambda: not asked,
                blackouts=blackouts,
                rebinds=rebinds,
                capture=capture,
                gates=(client_gate, server_gate),
                duration=duration,
                tables=out is not None,
            )
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    if out is None:
        told, *_ = relayed()
    else:
        with folders.complete(folders.only(out)) as (path, _):
            told, summary, tables = relayed()
            whole = {**json.loads(summary), "relay": told}
            run = quiclab.Run(whole, scenario.to_toml(), {table.name: table for table in tables})
            run._write(path, figure=bool(whole["connections"]))
    if as_json:
        echo(json.dumps({"seed": scenario.seed, **told}, indent=2))
    else:
        show(told)
        if out is not None:
            echo(f"folder: {plain(out)}", err=True)
    warn_if_late(told["world"], told["tolerance_us"])


def period(text: str) -> tuple[str, str]:
    """From and until of a blackout."""
    start, dash, end = text.partition("-")
    if not dash:
        raise typer.BadParameter(f"{text!r} is not a period; expected one like '5 s-7 s'")
    return start.strip(), end.strip()


def show(told: dict[str, Any]) -> None:
    """What the relay did, for people."""
    for way, links in ("clients", "to_servers"), ("servers", "to_clients"):
        echo(f"from {way:<8} {told[f'from_{way}']:>9} datagrams, sent on {told[links]}")
    for what in "blacked_out", "astray", "not_sent", "rebinds":
        if told[what]:
            echo(f"{what.replace('_', ' '):<13} {told[what]:>9}")
    for link in told["links"]:
        counts = ", ".join(
            f"{name.replace('_', ' ')} {count}" for name, count in link.items() if name != "link" and count
        )
        echo(f"{link['link']:<13} {counts or 'nothing'}")
    late = told["lateness"]
    echo(f"sent on late  {late['median_us']:.0f} us median, {late['p99_us']:.0f} us at the 99th percentile")
