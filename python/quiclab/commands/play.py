"""`quiclab video play FILE`: the video of a scenario, played for real by a browser."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

import quiclab
from quiclab._quiclab import Error
from quiclab.commands.arguments import Json, ScenarioFile, Sets
from quiclab.commands.emulate import Counters, emulator_of, show, summary_of, warn_if_late
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.results.numbers import tables as results_of
from quiclab.values import folders

with late():
    import quiclab.drawings.plots as plots
    import quiclab.engines.emulation as emulations
    import quiclab.engines.play.browser as browsers
    import quiclab.engines.play.dashjs as bundles
    import quiclab.engines.play.session as sessions


def play(
    file: ScenarioFile,
    flow: Annotated[
        str | None, typer.Option(metavar="NAME", help="The flow, if several play a video.", show_default=False)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Instead of the scenario's own seed.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The run folder. Default: runs/NAME-seedN."),
    ] = None,
    pcap: Annotated[bool, typer.Option("--pcap", help="Write a capture of the packets at both ends.")] = False,
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="JSON with settings of dash.js that override all others.", show_default=False
        ),
    ] = None,
    dashjs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A bundle of dash.js. Default: fetched by npm once.", show_default=False),
    ] = None,
    browser: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="Chromium. Default: the installed one.", show_default=False)
    ] = None,
    set_: Sets = None,
    as_json: Json = False,
) -> None:
    """Play the video of a scenario for real: dash.js in Chromium, over HTTP/3, through the network of the scenario.

    Example: quiclab video play film.toml --out played

    The client and the server of a flow with application = "video" become gates: quiclab real serve sends the files
    beside the manifest of the presentation (type "mpd"; see quiclab video film), dash.js plays them, and the rest of
    the scenario is simulated around them, in real time. Results have the tables segment and playback, like those of
    quiclab run.
    """
    import pyarrow as pa
    from rich.console import Console

    scenario = quiclab.Scenario.from_file(file, set_ or ())
    if seed is not None:
        scenario = scenario.with_(seed=seed)
    planned = sessions.plan(scenario, flow, _settings(settings))
    program = browser or browsers.find()
    if program is None:
        raise Error(f"no browser found: install {browsers.PROGRAMS[0]}, or give its path with --browser")
    # Before the namespaces: there is no network in them.
    bundle = (dashjs or bundles.bundle()).resolve()
    if not bundle.is_file():
        raise Error(f"{bundle}: no such file")
    if not emulations.inside():
        for name in planned.left_out:
            echo(f"flow {name} does not run, because its host is now real", err=True)
        raise typer.Exit(emulations.enter(sys.argv[1:]))
    names = folders.numbered(scenario.name, scenario.seed) if out is None else folders.only(out)
    with folders.complete(names) as (path, place), tempfile.TemporaryDirectory() as work:
        emulator = emulator_of(planned.gated)
        gates = [entry["name"] for entry in emulator.gates()]
        running = emulations.Emulation(emulator)
        try:
            session = sessions.Session(planned, running, Path(work), program, bundle)
        except BaseException:
            running.close()
            raise
        shown = Counters(gates) if sys.stderr.isatty() and not as_json else None
        capture = path / folders.CAPTURE if pcap else None
        summary, results, status = running.run(status=session.watching(shown), until=planned.client, pcap=capture)
        if shown is not None:
            shown.clear()
        whole = json.loads(summary)
        whole["scenario"] = scenario.name
        whole["emulation"] = summary_of(running, gates, status)
        tables: dict[str, Any] = {table.name: table for table in results}
        record = session.record(whole["duration_s"])
        if record is not None:
            whole["connections"].insert(0, sessions.connection(planned, record, whole["emulation"]["gates"]))
            for name in {"segment", "playback"} & tables.keys():
                tables[name] = record.added(name, planned.flow, pa.table(tables[name]))
        run = quiclab.Run(whole, scenario, tables)
        run._write(path, figure=False)
        if record is not None and record.has_started:
            plots.save(run, path / folders.FIGURE, "playback")
    assert place.final is not None, "the folder is complete"
    if as_json:
        echo(json.dumps({"folder": str(place.final), **whole}, indent=2))
    else:
        console = Console(highlight=False)
        for table in results_of(whole, console.width):
            console.print(table)
        show(whole["emulation"], place.final)
    warn_if_late(status["lateness"], status["tolerance_us"])
    # A video that is longer than the scenario has not failed.
    raise typer.Exit(1 if record is None or (session.player.code and not session.player.was_ended) else 0)


def _settings(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else f"not JSON: {error}"
        raise typer.BadParameter(f"{path}: {why}", param_hint="--settings") from None
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{path}: expected an object", param_hint="--settings")
    return found
