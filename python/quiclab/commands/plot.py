"""`quiclab plot FOLDER`: draws a run again, or in another format, or columns of a sweep."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import quiclab
from quiclab._quiclab import Error
from quiclab.commands import completions
from quiclab.commands.arguments import Json
from quiclab.commands.changed import reading
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.results.choice import SPREADS
from quiclab.values.folders import default_file
from quiclab.values.plain_text import plain
from quiclab.values.suggestions import checked

with late():
    import quiclab.drawings.plots as plots


if TYPE_CHECKING:
    from collections.abc import Mapping

    from quiclab import Sweep


# `--help` names them, and imports no drawings for that; a test compares them with the tables.
_OF_RUNS = ("overview", "flight", "rtt", "rate", "queue", "air", "playback")
_OF_SWEEPS = ("line", "bar", "box", "ecdf", "heatmap")
_STYLES = ("screen", "paper", "ieee", "acm")


def _column(help_: str) -> Any:
    return typer.Option(
        metavar="COLUMN", help=f"Sweep: {help_}", show_default=False, autocompletion=completions.columns
    )


def plot(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="The folder of a run or a sweep.",
            show_default=False,
            autocompletion=completions.folders,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A .png, .svg or .pdf. Default: FOLDER/figure.png."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Run: overview, flight, rtt, rate, queue, air, playback. Sweep: line, bar, box, ecdf, heatmap.",
            show_default=False,
            autocompletion=completions.words(*_OF_RUNS, *_OF_SWEEPS),
        ),
    ] = None,
    connection: Annotated[
        str | None, typer.Option(metavar="NAME", help="Run: only this connection. Default: all.", show_default=False)
    ] = None,
    x: Annotated[str | None, _column("the horizontal axis; time_s: over time.")] = None,
    y: Annotated[str | None, _column("the values; in a heat map, the vertical axis.")] = None,
    group: Annotated[str | None, _column("a colour for each of its values.")] = None,
    facet: Annotated[str | None, _column("a panel for each of its values.")] = None,
    value: Annotated[str | None, _column("the values of a heat map.")] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sweep: whose time series to draw.", show_default=False)
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Sweep: only these runs. Repeatable."),
    ] = None,
    spread: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Sweep: student, bootstrap or quantiles.",
            show_default=False,
            autocompletion=completions.words(*SPREADS),
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="PART", help="Sweep: confidence of intervals. Default: 0.95.", show_default=False),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(metavar="AXES", help="Sweep: logarithmic x, y, xy, or v for colours.", show_default=False),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Sweep: a title instead of the default one.")
    ] = None,
    style: Annotated[
        str,
        typer.Option(
            metavar="STYLE",
            help="screen; for print ieee, acm, or paper for both.",
            autocompletion=completions.words(*_STYLES),
        ),
    ] = "screen",
    column: Annotated[
        str,
        typer.Option(
            metavar="one|two",
            help="For print: columns that the figure spans.",
            autocompletion=completions.words("one", "two"),
        ),
    ] = "one",
    as_json: Json = False,
) -> None:
    """Draw a run over time, or the runs of a sweep by naming columns.

    Example: quiclab plot sweeps/sweep --x ack_ratio --y goodput_mbps

    A column is named as in runs.parquet, by its path in the scenario (link.cell.delay), or by the end of its name
    (goodput_mbps).
    """
    path = out or run / "figure.png"
    plots.check_format(path)
    look = plots.look(checked("--style", style, _STYLES), checked("--column", column, ("one", "two")))
    columns: dict[str, Any] = {"x": x, "y": y, "group": group, "facet": facet, "value": value}
    columns |= {"spread": spread, "confidence": confidence, "log": log, "title": title}
    given = {name: what for name, what in columns.items() if what is not None}
    if where:
        given["where"] = _where(where)
    if out is None:
        default_file(path)
    with reading(run), plots.drawn_for(look):
        if (run / "sweep.json").exists() or (run / "finished").is_dir():
            if connection is not None:
                raise Error("--connection is for runs; in a sweep, connections are columns")
            checked("--kind", kind or "line", _OF_SWEEPS)
            _sweep(quiclab.load_sweep(run), path, kind or "line", subject, given)
        elif run.is_dir() and (given or subject is not None):
            raise Error(f"{run}: not a sweep, and --{next(iter(given), 'subject')} is only for sweeps")
        else:
            plots.save(quiclab.load(run), path, kind or "overview", connection)
    echo(json.dumps({"figure": str(path)}) if as_json else f"figure   {plain(path)}")


def _sweep(sweep: "Sweep", path: Path, kind: str, subject: str | None, given: dict[str, Any]) -> None:
    chosen: dict[str, str] = {}
    if "x" not in given:
        usual = plots.usual(sweep)
        if kind != "line" or given.keys() & {"y", "group", "facet", "value"} or not usual:
            names = ", ".join(sweep.parameters) or "nothing"
            example = f", like {as_options(usual)}" if usual else ""
            raise Error(f"--x is missing; expected a varied column ({names}){example}")
        chosen = dict(usual)
        given = {**given, **chosen}
    figure, note = plots.draw_sweep(sweep, kind, subject, given)
    plots.save_figures([figure], path)
    if chosen:
        echo(f"columns  {as_options(chosen)}", err=True)
    if note:
        echo(f"warning: {note}", err=True)


def as_options(columns: "Mapping[str, str]") -> str:
    """Columns as the options that name them."""
    return " ".join(f"--{role} {shlex.quote(column)}" for role, column in columns.items())


def _where(texts: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise Error(f"--where {text}: expected COLUMN=VALUE")
        found.setdefault(name.strip(), []).append(value.strip())
    return found
