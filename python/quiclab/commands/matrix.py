"""`quiclab matrix`: QUIC stacks as commands, over many networks, in real time."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quiclab.commands import completions
from quiclab.commands.arguments import Json
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values import signals
from quiclab.values.plain_text import plain
from quiclab.values.quantities import read

with late():
    import quiclab.engines.matrix as matrices
    import quiclab.engines.matrix.networks as networks
    import quiclab.engines.matrix.results as matrix_results


if TYPE_CHECKING:
    from quiclab.engines.matrix import Cell, Matrix, Network, Outcome, Stack

_ROWS = 60
"""Cells that are printed."""
_FAILURES = 10
_MOST_BYTES = 1_000_000_000


def matrix(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SCENARIO", help="With gates named client and server.", show_default=False),
    ] = None,
    stack: Annotated[
        list[str] | None,
        typer.Option("--stack", metavar="NAME=COMMAND", help="A client and server, as ROLE says.", show_default=False),
    ] = None,
    client: Annotated[
        list[str] | None,
        typer.Option("--client", metavar="NAME=COMMAND", help="Only a client.", show_default=False),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option("--server", metavar="NAME=COMMAND", help="Only a server.", show_default=False),
    ] = None,
    pairs: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="same (each with itself) or all.", autocompletion=completions.words("same", "all")
        ),
    ] = "same",
    rate: Annotated[
        str | None, typer.Option(metavar="LIST", help="Built-in network: rates, Mbit/s: 5,20. Default: 20.")
    ] = None,
    rtt: Annotated[str | None, typer.Option(metavar="LIST", help="Its round-trip times, ms. Default: 40.")] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="LIST", help="Its losses to the client: 0,1%. Default: 0.")
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="LIST", help="Its queues: 1BDP,'100 packets'. Default: 1BDP.")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH=LIST", help="Vary the value at a path, as in --set.", show_default=False),
    ] = None,
    client_gate: Annotated[
        str | None, typer.Option(metavar="GATE", help="The client's gate in the scenarios.", show_default=False)
    ] = None,
    server_gate: Annotated[
        str | None, typer.Option(metavar="GATE", help="The server's gate in the scenarios.", show_default=False)
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Runs of each cell.")] = 1,
    seed: Annotated[int, typer.Option(metavar="N", min=0, max=2**53, help="The first seed.")] = 1,
    size: Annotated[str, typer.Option(metavar="SIZE", help="Size of the file.")] = "5MB",
    timeout: Annotated[float, typer.Option(metavar="S", min=0.1, max=3600.0, help="Limit for a client.")] = 60.0,
    testcase: Annotated[str, typer.Option(metavar="NAME", help="The variable TESTCASE.")] = "transfer",
    client_params: Annotated[str, typer.Option(metavar="TEXT", help="The variable CLIENT_PARAMS.")] = "",
    server_params: Annotated[str, typer.Option(metavar="TEXT", help="The variable SERVER_PARAMS.")] = "",
    jobs: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Parallel runs.")] = 1,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Keeps its finished runs.")] = Path("matrix"),
    again: Annotated[
        list[str] | None,
        typer.Option(metavar="WHICH", help="Rerun these: failed, or late.", show_default=False),
    ] = None,
    pcap: Annotated[bool, typer.Option("--pcap/--no-pcap", help="Keep captures.")] = True,
    max_lateness: Annotated[float, typer.Option(metavar="MS", min=0.0, help="Mark runs with 1 % later.")] = 5.0,
    as_json: Json = False,
) -> None:
    """Run QUIC stacks, given as commands, over many networks in real time: a table, heat maps, captures, qlogs.

    Example: quiclab matrix --stack NAME=COMMAND --rate 5,20 --loss 0,1%

    Commands follow the QUIC interop runner: they read ROLE, TESTCASE and so on from the environment, and exit with 127
    for what they do not support. If interrupted, the same command continues. The exit code is 1 if a run failed.
    """
    found = matrices.pairs(_stacks(stack, client, server), pairs)
    given = {"rate": rate, "rtt": rtt, "loss": loss, "queue": queue}
    networks = _networks(files or [], given, vary or [], client_gate, server_gate)
    for name, text in {"testcase": testcase, "client-params": client_params, "server-params": server_params}.items():
        if "\0" in text or len(text) > 10_000 or (name == "testcase" and not text.strip()):
            raise typer.BadParameter("expected a text of up to 10000 letters", param_hint=f"--{name}")
    task = matrices.Task(_bytes(size), timeout, testcase, client_params, server_params, max_lateness, pcap)
    try:
        result = matrices.run(
            found, networks, task, out, runs=runs, seed=seed, jobs=jobs, again=again or (), progress=_progress
        )
    except (KeyboardInterrupt, signals.Ended):
        echo("finished runs are kept: the same command continues", err=True)
        raise
    if as_json:
        echo(json.dumps(_document(result), indent=2, ensure_ascii=False))
    else:
        _print(result)
    for cell, outcome in result.failed[:_FAILURES]:
        echo(plain(f"{cell.label}: failed: {outcome.reason}"), err=True)
    if len(result.failed) > _FAILURES:
        echo(f"{len(result.failed) - _FAILURES} more failed: see the column reason of runs.parquet", err=True)
    if result.late:
        limit = f"1 % of events were more than {max_lateness:g} ms late"
        echo(f"warning: in {len(result.late)} runs {limit}: --again late reruns them", err=True)
    if result.failed:
        raise typer.Exit(1)


def _stacks(stack: Sequence[str] | None, client: Sequence[str] | None, server: Sequence[str] | None) -> "list[Stack]":
    both = [matrices.stack_of(text) for text in stack or ()]
    clients = [matrices.stack_of(text, ("client",), "--client") for text in client or ()]
    return both + clients + [matrices.stack_of(text, ("server",), "--server") for text in server or ()]


def _networks(
    files: Sequence[Path],
    given: dict[str, str | None],
    vary: Sequence[str],
    client_gate: str | None,
    server_gate: str | None,
) -> "list[Network]":
    """The built-in network if there is no file, or if it is asked for."""
    values = networks.varied(vary)
    found = []
    if not files and (client_gate or server_gate):
        raise typer.BadParameter("the built-in network has its own gates", param_hint="--client-gate, --server-gate")
    if not files or any(text is not None for text in given.values()):
        found += matrices.built_in(given, values)
    for file in files:
        found += matrices.from_file(file, values, client=client_gate, server=server_gate)
    return found


def _bytes(text: str) -> int:
    size = int(text) if text.isdecimal() else round(read(text, "B") or 0)
    if not 1 <= size <= _MOST_BYTES:
        raise typer.BadParameter(f"{text!r}: expected a size from 1 B to 1 GB, such as 5MB", param_hint="--size")
    return size


def _progress(done: int, total: int, cell: "Cell", outcome: "Outcome") -> None:
    if sys.stderr.isatty():
        told = "" if outcome.goodput_mbps is None else f" {outcome.goodput_mbps:.3g} Mbit/s"
        echo(plain(f"{done}/{total} {cell.label}: {outcome.result}{told}"), err=True)


def _cells(result: "Matrix") -> "list[list[tuple[Cell, Outcome]]]":
    """The runs by cell."""
    groups: dict[tuple[str, str, int], list[Any]] = {}
    for cell, outcome in result.runs:
        groups.setdefault((cell.client.name, cell.server.name, id(cell.network)), []).append((cell, outcome))
    return list(groups.values())


def _document(result: "Matrix") -> dict[str, Any]:
    columns = ("goodput_mbps", "duration_s", "rtt_mean_ms", "server_packets_lost", "client_packets_lost")
    cells = []
    for runs in _cells(result):
        cell = runs[0][0]
        medians = {name: matrix_results.median(getattr(outcome, name) for _, outcome in runs) for name in columns}
        cells.append(
            {
                "client": cell.client.name,
                "server": cell.server.name,
                "network": cell.network.scenario.name,
                "values": dict(cell.network.values),
                "runs": len(runs),
                "passed": sum(outcome.result == "passed" for _, outcome in runs),
                "medians": {name: None if value is None else asdict(value) for name, value in medians.items()},
            }
        )
    counts = {"failed": len(result.failed), "late": len(result.late), "reused": result.reused}
    return {"folder": str(result.path), **counts, "cells": cells, "runs": list(result.rows)}


def _print(result: "Matrix") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{len(result.runs)} run{'s' * (len(result.runs) != 1)}, medians", title_justify="left")
    for name in ("client", "server", "network"):
        table.add_column(name, overflow="fold")
    for name in ("passed", "Mbit/s", "RTT ms", "lost"):
        table.add_column(name, justify="right", overflow="fold")
    cells = _cells(result)
    for runs in cells[:_ROWS]:
        cell = runs[0][0]
        outcomes = [outcome for _, outcome in runs]
        passed = sum(outcome.result == "passed" for outcome in outcomes)
        late = sum(outcome.is_late(cell.task.max_lateness_ms) for outcome in outcomes)
        count = f"{passed} of {len(runs)}" + (f", {late} late" if late else "")
        if all(outcome.result == matrix_results.UNSUPPORTED for outcome in outcomes):
            count = matrix_results.UNSUPPORTED
        good = [outcome for outcome in outcomes if outcome.result == "passed"]
        median = matrix_results.median
        goodput, rtt = median(one.goodput_mbps for one in good), median(one.rtt_mean_ms for one in good)
        shares = [
            100 * one.server_packets_lost / one.server_packets
            for one in good
            if one.server_packets and one.server_packets_lost is not None
        ]
        lost = median(shares)
        table.add_row(
            cell.client.name,
            cell.server.name,
            cell.network.label,
            count,
            "-" if goodput is None else str(goodput),
            "-" if rtt is None else f"{rtt.value:.3g}",
            "-" if lost is None else f"{lost.value:.2g} %",
        )
    more = f"{len(cells) - _ROWS} more cells in runs.parquet" if len(cells) > _ROWS else None
    table.caption = more
    Console(highlight=False).print(table)
    echo(f"runs     {len(result.runs)}, {result.reused} reused, {len(result.failed)} failed")
    echo(f"folder   {plain(result.path)}")
