"""The chart of a sweep: its columns by path or name, its time series, and a title that says over what the means are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.plots.charts import Choice, chart_with_note
from quiclab.plots.charts.labels import short
from quiclab.plots.charts.panels import chosen
from quiclab.plots.charts.series import TIME, over_time
from quiclab.statistics import resolve

if TYPE_CHECKING:
    import pyarrow as pa

    from quiclab.plots.figure import Figure
    from quiclab.sweeps import Sweep

_COLUMNS = ("x", "y", "group", "facet", "value")


def draw_sweep(
    sweep: "Sweep", kind: str, subject: str | None, choice: Mapping[str, Any]
) -> "tuple[Figure, str | None]":
    """Draws what the fields of a `Choice` name; and what there is to say if it shows a part of the runs.

    Raises `Error` if there is no such column, or nothing to draw.
    """
    paths = {parameter["path"]: parameter["column"] for parameter in sweep.info["parameters"]}
    fields = {
        key: paths.get(value, value) if key in _COLUMNS and isinstance(value, str) else value
        for key, value in choice.items()
    }
    where = {paths.get(name, name): value for name, value in fields.pop("where", {}).items()}
    try:
        wanted = Choice(where=where, **fields)
    except TypeError as error:
        raise Error(f"a chart needs a column for x, and knows {', '.join(Choice.__dataclass_fields__)}") from error
    table = sweep.runs.arrow
    if wanted.x == TIME and kind == "line":
        if not sweep.info["series"]:
            raise Error('a chart over time needs series, but this sweep keeps none: set sweep.series = ["connection"]')
        if wanted.y is None:
            raise Error("a chart over time needs a quantity of the series as y")
        keep = {resolve(name, table.column_names) for name in (wanted.group, wanted.facet, *where) if name is not None}
        runs = table.filter(chosen(table, wanted.where))
        table = over_time(runs, sweep.series_path, wanted.y, subject, sorted(keep | set(sweep.parameters)))
    elif subject is not None:
        raise Error("a subject is only for charts over time: x must be time_s")
    return chart_with_note(table, kind, wanted, _title(sweep, table, kind, wanted))


def _title(sweep: "Sweep", table: "pa.Table", kind: str, wanted: Choice) -> str:
    rows = table.filter(chosen(table, wanted.where))
    runs = len(rows.column("run").unique())
    what = [f"{sweep.info['scenario']}, {runs} run{'s' * (runs != 1)}"]
    percent = format(100 * wanted.confidence, ".4g")
    spread = wanted.spread or ("student" if kind in ("line", "bar") else None)
    if spread is not None and table.num_rows:
        what.append(_spread_told(kind, spread, percent))
    mixed = _mixed(sweep, rows, wanted)
    if mixed:
        what.append(f"over all {', '.join(mixed)}")
    return ", ".join(what)


def _spread_told(kind: str, spread: str, percent: str) -> str:
    by = {"student": "Student", "bootstrap": "bootstrap"}.get(spread)
    if kind == "ecdf":
        return f"with {percent} % intervals ({by}) at each value"
    if kind == "box" and by is None:
        return f"whiskers around the middle {percent} %"
    return f"means with {percent} % intervals ({by})" if by else f"medians and the middle {percent} %"


def _mixed(sweep: "Sweep", rows: "pa.Table", wanted: Choice) -> list[str]:
    """What was varied and is not told apart: its values go into the same means."""
    known = rows.column_names
    named = [resolve(name, known) for name in wanted.named()]
    named = [name for name in dict.fromkeys(named) if name in sweep.parameters]
    keys = list(zip(*(rows.column(name).to_pylist() for name in named), strict=True)) if named else [()] * rows.num_rows
    mixed = []
    for parameter in sweep.parameters:
        with_it = set(zip(keys, rows.column(parameter).to_pylist(), strict=True))
        if len(with_it) > len(set(keys)):
            mixed.append(short(parameter, sweep.parameters))
    return mixed
