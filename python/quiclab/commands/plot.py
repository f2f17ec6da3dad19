"""`quiclab plot FOLDER`: draws a run again, or in another format, or columns of a sweep."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quiclab._lines import plain
from quiclab.commands.arguments import Json

if TYPE_CHECKING:
    from quiclab import Sweep


def _column(help_: str) -> Any:
    return typer.Option(metavar="COLUMN", help=f"Sweep: {help_}", show_default=False)


def plot(
    run: Annotated[Path, typer.Argument(metavar="FOLDER", help="A run's or a sweep's folder.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(metavar="F.png|svg|pdf", help="The figure's file. Default: figure.png in the folder."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Of a run overview, flight, rtt, rate, queue, air or playback; of a sweep line, bar, box, ecdf or "
            "heatmap. Default: overview; line.",
            show_default=False,
        ),
    ] = None,
    connection: Annotated[
        str | None, typer.Option(help="Run: only this connection. Default: all, side by side.", show_default=False)
    ] = None,
    x: Annotated[str | None, _column("what is along the horizontal axis; time_s for the time series.")] = None,
    y: Annotated[str | None, _column("the values; of a heat map what is along the vertical axis.")] = None,
    group: Annotated[str | None, _column("a colour for each of its values.")] = None,
    facet: Annotated[str | None, _column("a panel for each of its values.")] = None,
    value: Annotated[str | None, _column("of a heat map the values, as colours.")] = None,
    subject: Annotated[
        str | None, typer.Option(help="Sweep: whose time series, if several have it.", show_default=False)
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Sweep: only these runs. May be given more than once."),
    ] = None,
    spread: Annotated[
        str | None, typer.Option(help="Sweep: student (default), bootstrap or quantiles.", show_default=False)
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Sweep: of the band. Default: 0.95.", show_default=False)
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(metavar="AXES", help="Sweep: logarithmic x, y, xy, or v for colours.", show_default=False),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Sweep: instead of the one that says what is shown.")] = None,
    as_json: Json = False,
) -> None:
    """Draw a run over time, or the runs of a sweep by naming columns.

    A column is named as in runs.parquet, by its path in the scenario (link.cell.delay), or by the end of its name
    (goodput_mbps).
    """
    from quiclab import Error, load, load_sweep, plots

    path = out or run / "figure.png"
    plots.check_format(path)
    columns: dict[str, Any] = {"x": x, "y": y, "group": group, "facet": facet, "value": value}
    columns |= {"spread": spread, "confidence": confidence, "log": log, "title": title}
    given = {name: what for name, what in columns.items() if what is not None}
    if where:
        given["where"] = _where(where)
    if (run / "sweep.json").exists() or (run / "finished").is_dir():
        if connection is not None:
            raise Error("--connection is for a run; in a sweep its name is in the columns")
        _sweep(load_sweep(run), path, kind or "line", subject, given)
    elif given or subject is not None:
        raise Error(f"{run}: not a sweep: --{next(iter(given), 'subject')} names a column of one")
    else:
        plots.save(load(run), path, kind or "overview", connection)
    typer.echo(json.dumps({"figure": str(path)}) if as_json else f"figure   {plain(path)}")


def _sweep(sweep: "Sweep", path: Path, kind: str, subject: str | None, given: dict[str, Any]) -> None:
    from quiclab import Error, plots

    if "x" not in given:
        names = ", ".join(sweep.parameters) or "nothing"
        raise Error(f"--x names a column: {names} was varied; runs.parquet has the others")
    figure, note = plots.draw_sweep(sweep, kind, subject, given)
    plots.save_figures([figure], path)
    if note:
        typer.echo(f"warning: {note}", err=True)


def _where(texts: list[str]) -> dict[str, list[str]]:
    from quiclab import Error

    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Error(f"--where {text}: expected COLUMN=VALUE")
        found.setdefault(name.strip(), []).append(value.strip())
    return found
