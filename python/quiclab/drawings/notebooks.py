"""How a scenario, a run and a sweep show themselves: as text, and as HTML in notebooks. Both are of bounded size."""

from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import OutputError
from quiclab.drawings.plots.charts.labels import short
from quiclab.drawings.plots.style import styled
from quiclab.results import numbers, statistics
from quiclab.results.run import Run
from quiclab.results.scenario import Scenario
from quiclab.results.sweeps import Sweep
from quiclab.values import folders, grid
from quiclab.values.grid import ROWS, Grid

if TYPE_CHECKING:
    import pyarrow as pa

    from quiclab.results.figure import Figure

_LINES = 30
"""The most lines about a scenario."""
_CONNECTIONS = 5
"""The most connections that a text names."""
_VALUES = 8
"""The most values of what a sweep varies."""
_FAILURES = 3
_MOST_RUNS = 10_000
"""The most runs over which means are taken only to be shown."""
_MOST_MEANS = 6
_PIXELS_PER_INCH = 150
"""Of the picture of a figure, which is shown at two thirds of its size: sharp on screens of high resolution."""
_SHOWN_PER_INCH = 100


def _place(folder: Path) -> str:
    """A folder as it may stand in what is kept of a notebook."""
    return str(folders.without_home(str(folder)))


def scenario_html(scenario: Scenario) -> str:
    """What a scenario describes."""
    # Files are named as the scenario names them: what is kept of a notebook has no path of a machine.
    folder = f"{scenario._origin.absolute().parent}/"
    described = [(subject, text.replace(folder, "")) for subject, text in scenario.describe()]
    about = [pair for pair in described if pair[0] not in ("scenario", "seed")]
    table = Grid(["", ""], about[:_LINES], [True, True])
    more = grid.more(len(about) - _LINES, "line")
    return grid.page(_title("Scenario", scenario.name, scenario.seed), table.html(), grid.lines(more))


def run_text(run: Run) -> str:
    """A line about a run, and one for each of its connections."""
    summary = run.summary
    where = f" in {_place(run.path)}" if run.path else ""
    connections = summary.get("connections") or []
    metrics = {key: write for _, key, write in numbers.METRICS}
    without_end = numbers.endless(run)
    lines = []
    for connection in connections[:_CONNECTIONS]:
        ended = connection.get("completion_s")
        parts = [
            f"{grid.cell(connection.get('name'))}: {metrics['goodput_mbps'](connection.get('goodput_mbps'))}",
            f"completed in {metrics['completion_s'](ended)}"
            if ended is not None
            else numbers.ENDLESS
            if connection.get("name") in without_end
            else "not completed",
            f"mean RTT {metrics['rtt_mean_ms'](connection.get('rtt_mean_ms'))}",
            f"{metrics['packets_lost'](connection.get('packets_lost'))} packets lost",
        ]
        lines.append(f"  {', '.join(parts)}")
    lines += [f"  {line}" for line in grid.more(len(connections) - _CONNECTIONS, "connection")]
    return "\n".join([f"<quiclab.Run of {summary.get('scenario')!r}, seed {summary.get('seed')}{where}>", *lines])


def run_html(run: Run) -> str:
    """The numbers of a run: a column for each connection, or a row where there are many."""
    every = run.summary.get("connections") or []
    summary = {**run.summary, "connections": every[:ROWS]}
    names, rows = numbers.names(summary), numbers.rows(summary, numbers.endless(run))
    if len(names) > numbers.COLUMNS_AT_MOST:
        heads = ["connection", *(title for title, _ in rows)]
        cells = [[name, *(values[at] for _, values in rows)] for at, name in enumerate(names)]
    else:
        heads = ["connection", *names]
        cells = [[title, *values] for title, values in rows]
    table = Grid(heads, cells, [True, *[False] * (len(heads) - 1)])
    lines = grid.more(len(every) - ROWS, "connection")
    lines += [f"tables: {', '.join(run.tables)}"] if run.tables else ["made without tables"]
    lines += [f"folder: {_place(run.path)}"] if run.path else []
    with suppress(OutputError):
        # Of files that are gone there is nothing to say.
        lines += run.notes
    return grid.page(f"Run of {numbers.title(summary)}", table.html(), grid.lines(lines))


def sweep_text(sweep: Sweep) -> str:
    """A line about a sweep, and one for each thing that it varies."""
    where = f" in {_place(sweep.path)}" if sweep.path else ""
    lines = [f"  {path}: {values}" for path, values in _varied(sweep)]
    return "\n".join([f"<quiclab.Sweep of {sweep.info['scenario']!r}, {_counts(sweep)}{where}>", *lines])


def sweep_html(sweep: Sweep) -> str:
    """What a sweep varies, the means of its first combinations, and what failed."""
    varied = Grid(["varied", "values"], [list(pair) for pair in _varied(sweep)], [True, True])
    failures = sweep.failures
    lines = [f"run {failure['run']} failed: {failure['error']}" for failure in failures[:_FAILURES]]
    lines += grid.more(len(failures) - _FAILURES, "failure")
    lines += [*sweep.warnings, *sweep.notes]
    lines += [f"folder: {_place(sweep.path)}"] if sweep.path else []
    title = f"Sweep of {sweep.info['scenario']}, {_counts(sweep)}"
    return grid.page(title, varied.html() if varied.rows else "", _means(sweep), grid.lines(lines))


def figure_png(figure: "Figure") -> tuple[bytes, dict[str, Any]]:
    """A figure as a picture, and the size at which it is shown."""
    file = BytesIO()
    with styled():
        figure.savefig(file, format="png", dpi=_PIXELS_PER_INCH, metadata={"Software": None})
    width, height = (round(float(inches) * _SHOWN_PER_INCH) for inches in figure.get_size_inches())
    return file.getvalue(), {"width": width, "height": height}


def _title(what: str, name: str, seed: int) -> str:
    return f"{what} {name}, seed {seed}"


def _counts(sweep: Sweep) -> str:
    runs, failed = sweep.info["runs"], sweep.info.get("failed", len(sweep.failures))
    return f"{runs:,} run{'s' * (runs != 1)}" + (f", {failed:,} failed" if failed else "")


def _varied(sweep: Sweep) -> list[tuple[str, str]]:
    """What is varied, and its values."""
    found = []
    for parameter in sweep.info["parameters"][:ROWS]:
        values = [grid.cell(value) for value in parameter.get("values", [])]
        more = f", ... ({len(values)} in all)" if len(values) > _VALUES else ""
        found.append((grid.cell(parameter["path"]), ", ".join(values[:_VALUES]) + more))
    return found


def _means(sweep: Sweep) -> str:
    """HTML of the means of the first combinations; empty where there are none to be shown."""
    repetitions = max(sweep.info.get("repetitions") or 1, 1)
    combinations = sweep.info.get("combinations") or sweep.info["runs"]
    shown = min(combinations, ROWS, _MOST_RUNS // repetitions)
    if not shown:
        return ""
    try:
        runs = sweep._first(shown * repetitions)
    except OutputError:
        return ""
    columns = [name for name in runs.column_names if _is_shown(name, runs)][:_MOST_MEANS]
    if not columns:
        return ""
    by = sweep.parameters
    found = statistics.means(runs, columns, by).to_pylist()
    rows: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in found:
        rows.setdefault(tuple(row[name] for name in by), {})[row["column"]] = _mean(row)
    cells = [[*map(grid.cell, key), *(row[name] for name in columns)] for key, row in rows.items()]
    heads = [*(short(name, by) for name in by), *(name.removeprefix("connection.") for name in columns)]
    left = [*(_is_text(runs, name) for name in by), *[False] * len(columns)]
    more = grid.more(combinations - shown, "combination")
    interval = ["means, with the half width of their 95 % intervals"] if repetitions > 1 else []
    return Grid(heads, cells, left).html() + grid.lines([*more, *interval])


def _is_shown(name: str, runs: "pa.Table") -> bool:
    ends = tuple(f".{end}" for end in numbers.IMPORTANT)
    return name.startswith("connection.") and name.endswith(ends) and runs.column(name).null_count < len(runs)


def _is_text(runs: "pa.Table", name: str) -> bool:
    import pyarrow as pa

    kind = runs.schema.field(name).type
    return not (pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _mean(row: dict[str, Any]) -> str:
    if row["mean"] is None:
        return "-"
    text = f"{row['mean']:.4g}"
    if row["low"] is not None and row["high"] > row["low"]:
        text += f" \N{PLUS-MINUS SIGN} {(row['high'] - row['low']) / 2:.2g}"
    return text if row["n"] == row["total"] else f"{text} ({row['n']} of {row['total']})"
