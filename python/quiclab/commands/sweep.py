"""`quiclab sweep FILE`: makes the runs of a sweep and writes its tables."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from quiclab.commands import completions
from quiclab.commands.arguments import Json, ScenarioInput, Sets, read_scenario
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values import signals
from quiclab.values.plain_text import plain
from quiclab.values.suggestions import checked

with late():
    import quiclab.commands.plot as plot
    import quiclab.drawings.plots as plots
    import quiclab.drawings.plots.charts.labels as labels
    import quiclab.engines.sweeps as sweeps
    import quiclab.results.numbers as numbers
    import quiclab.results.statistics as statistics
    import quiclab.results.sweeps as swept


if TYPE_CHECKING:
    import pyarrow as pa

    from quiclab._quiclab import Sweep as Plan
    from quiclab.engines.sweeps import Engine
    from quiclab.results.statistics import Interval
    from quiclab.results.sweeps import Sweep

ENGINES = ("local", "dask")
INTERVALS = ("student", "bootstrap")
_INTERVAL_NAMES = {"student": "Student's t", "bootstrap": "bootstrap"}

_ROWS = 40
"""Combinations of values that are printed."""
_FAILURES = 10
"""Failed runs that are printed."""
_ROWS_AT_ONCE = 1 << 12
"""Rows of means that are counted at once."""
_MOST = 6
"""More columns do not go on a line: then they are named."""


def sweep(
    file: ScenarioInput,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=1024, help="Parallel runs. Default: one for each core.", show_default=False
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="ENGINE",
            help="local (threads) or dask (processes, here or on a cluster).",
            autocompletion=completions.words(*ENGINES),
        ),
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler: tcp://head:8786, or its file. Default: one here."),
    ] = None,
    set_: Sets = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder; it keeps finished runs. Default: sweeps/NAME."),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Print means of this column, named by its end. Repeatable. Default: goodput, completion time, RTT.",
            show_default=False,
            autocompletion=completions.columns,
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Print a row for each value of it; '' for all runs together. Repeatable. Default: all that varies.",
            show_default=False,
            autocompletion=completions.columns,
        ),
    ] = None,
    interval: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="95 % interval of the means: student or bootstrap.",
            autocompletion=completions.words(*INTERVALS),
        ),
    ] = "student",
    as_json: Json = False,
) -> None:
    """Run all combinations of a [sweep] table, on all cores: runs.parquet, series.parquet, means and intervals.

    Example: quiclab sweep examples/sweep.toml --by transport.ack_ratio

    If interrupted, the same command continues; with more values or repetitions, it runs only the new ones. The exit
    code is 1 if a run failed; the tables have the others.
    """
    checked("--interval", interval, INTERVALS)
    checked("--engine", engine, ENGINES)
    scenario = read_scenario(file, set_)
    plan = sweeps.planned(scenario)
    warning = _foretold(plan, show, by)
    try:
        result = sweeps.sweep(
            scenario,
            jobs=jobs,
            engine=cast("Engine", engine),
            scheduler=scheduler,
            out=True if out is None else out,
            progress=True,
        )
    except (KeyboardInterrupt, signals.Ended):
        echo("finished runs are kept: the same command continues", err=True)
        raise
    columns = _columns(result, show)
    of = cast("Interval", interval)
    groups = result.parameters if by is None else _groups(result, by)
    if as_json or by is not None:
        means = counts = result.means(*columns, by=groups, interval=of).arrow
    else:
        # Nobody waits for a million means of which some are printed.
        means, counts = result._first_means(columns, _ROWS, of)
    parted = statistics.parts(_incomplete(counts))
    empty = _empty(counts) if show is None else []
    if 0 < len(empty) < len(columns) and not as_json:
        # In place of a column without a number, and of a line about each, one line.
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = [name for name in columns if name not in empty]
        kept = pa.array(columns)
        means, counts = (table.filter(pc.is_in(table["column"], kept)) for table in (means, counts))
        parted = statistics.parts(_incomplete(counts))
        echo(f"note: no run has {', '.join(empty)}: endless, not completed, or failed", err=True)
    if as_json:
        document = {
            "folder": str(result.path),
            "reused": result.reused,
            **result.info,
            "by": groups,
            "means": means.to_pylist(),
            "warnings": [*result.warnings, *parted],
        }
        echo(json.dumps(document, indent=2))
    else:
        _print(result, columns, means, groups, show, interval)
    # What was said before the runs is not said again.
    _print_wrong(result, [*(result.warnings if warning is None else []), *parted])
    if result.failures:
        raise typer.Exit(1)


def _foretold(plan: "Plan", show: list[str] | None, by: list[str] | None) -> str | None:
    """Before the runs, which may take hours: checks the names of columns, and says what to expect of the sweep.

    Returns its warning, if there is one.
    """
    if (known := plan.columns()) is not None:
        paths = [(path, column) for path, _, column in plan.parameters]
        for name in show or ():
            _shown(name, known)
        for name in by or ():
            if name and swept.varied(name, paths) == name:
                statistics.resolve(name, known)
    if not plan.parameters and plan.repetitions == 1:
        echo(
            "note: one run: nothing varies without a [sweep] table (docs/sweeps.md) or --set sweep.KEY=VALUES", err=True
        )
    for note in [*plan.notes, *plan.file_notes()]:
        echo(f"note: {plain(note)}", err=True)
    warning = sweeps.foretold(plan)
    if warning:
        echo(f"warning: {warning}", err=True)
    return warning


def _print_wrong(result: "Sweep", warnings: list[str]) -> None:
    """Warnings, and the first runs that failed."""
    for told in warnings:
        echo(f"warning: {told}", err=True)
    for failure in result.failures[:_FAILURES]:
        values = "".join(f" --set {path}='{value}'" for path, value in failure["values"].items())
        line = f"run {failure['run']} failed: --seed {failure['seed']}{values}: {failure['error']}"
        echo(plain(line), err=True)
    if (more := result.info["failed"] - _FAILURES) > 0:
        echo(f"{more} more failed: see sweep.json", err=True)


def _columns(result: "Sweep", show: list[str] | None) -> list[str]:
    known = result.columns
    return (
        list(dict.fromkeys(column for name in show for column in _shown(name, known)))
        if show
        else numbers.important(known)
    )


def _shown(name: str, known: list[str]) -> list[str]:
    """The column with this name, or the columns of all flows that have it."""
    flows = list(numbers.of_flows(name, known).values())
    return flows if len(flows) > 1 and name not in known else [statistics.resolve(name, known)]


def _empty(counts: "pa.Table") -> list[str]:
    """The columns that have no value for any run."""
    import pyarrow.compute as pc

    if not len(counts):
        return []
    sums = counts.group_by("column").aggregate([("n", "sum")])
    return [str(name) for name in sums.filter(pc.equal(sums["n_sum"], 0))["column"].to_pylist()]


def _incomplete(means: "pa.Table") -> "Iterator[dict[str, Any]]":
    """The rows of the columns that have no value for some runs."""
    import pyarrow.compute as pc

    if not len(means):
        return
    some = pc.not_equal(means["n"], means["total"])
    names = pc.unique(means.filter(some)["column"])
    counts = means.select(["column", "n", "total"]).filter(pc.is_in(means["column"], names))
    for batch in counts.to_batches(_ROWS_AT_ONCE):
        yield from batch.to_pylist()


def _groups(result: "Sweep", by: list[str]) -> list[str]:
    """The columns of the groups; none for an empty name, which puts all runs together."""
    return [statistics.resolve(name, result.columns) for name in result._groups([name for name in by if name])]


def _print(
    result: "Sweep", columns: list[str], means: "pa.Table", by: list[str], show: list[str] | None, interval: str
) -> None:
    from rich.console import Console

    info = result.info
    shown = columns[:_MOST]
    known = result.columns
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    combinations = 0
    if columns:
        combinations = info["combinations"] if by == result.parameters else len(means) // len(columns)
    for row in means.slice(0, _ROWS * len(columns)).to_pylist():
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    rows = list(groups.items())[:_ROWS]
    first = [
        numbers.Column(labels.short(name, known), [_value(key[at]) for key, _ in rows]) for at, name in enumerate(by)
    ]
    others = [
        numbers.Column(labels.short(name, known), [_cell(cells[at]) for _, cells in rows])
        for at, name in enumerate(shown)
    ]
    runs = f"{info['runs']} run{'s' * (info['runs'] != 1)}"
    if rows:
        console = Console(highlight=False)
        for table in numbers.beside(f"{info['scenario']}, {runs}", first, others, console.width):
            console.print(table)
    if any(cell["low"] is not None for _, cells in rows for cell in cells):
        each = {cell["total"] for _, cells in rows for cell in cells}
        of = f" of {each.pop()} runs in each row" if len(each) == 1 else ""
        echo(f"±        95 % interval of the mean{of} ({_INTERVAL_NAMES[interval]})")
    more = []
    mixed = [labels.short(name, result.parameters) for name in result.parameters if name not in by]
    if mixed:
        more.append(f"means over all {', '.join(mixed)}")
    if combinations > _ROWS:
        more.append(f"{combinations - _ROWS} more combinations in runs.parquet")
    if len(columns) > _MOST:
        more.append(f"{len(columns) - _MOST} more columns: --show names others")
    for line in more:
        echo(line)
    echo(f"runs     {info['runs']}, {result.reused} reused, {info['failed']} failed")
    echo(f"folder   {plain(result.path)}")
    echo(f"next     {plain(_next(result, show))}")


def _next(result: "Sweep", show: list[str] | None) -> str:
    """The command that shows the results: a figure, or the page where nothing was varied."""
    columns = plots.usual(result)
    if columns and show:
        columns["y"] = show[0]
    folder = shlex.quote(str(result.path))
    return f"quiclab plot {folder} {plot.as_options(columns)}" if columns else f"quiclab report {folder}"


def _value(value: Any) -> str:
    """What was varied."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell(row: dict[str, Any]) -> str:
    """A mean with its interval, and how many runs it covers if not all."""
    mean = "-" if row["mean"] is None else _digits(row["mean"], 4)
    half = "" if row["low"] is None else f" ± {_digits((row['high'] - row['low']) / 2, 2)}"
    part = "" if row["n"] == row["total"] else f" ({row['n']} of {row['total']})"
    return mean + half + part


def _digits(value: float, digits: int) -> str:
    """A number with this many significant digits; a large one in full, and not by a power of ten."""
    text = f"{value:,.{digits}g}"
    return f"{float(text.replace(',', '')):,.0f}" if "e+" in text else text
