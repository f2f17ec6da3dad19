"""The chart of a sweep: its columns by path or name, its time series, and a title that says over what the means are."""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from quiclab._quiclab import Error
from quiclab.drawings.plots.charts import CHARTS, Choice, chart_with_note
from quiclab.drawings.plots.charts.labels import short
from quiclab.drawings.plots.charts.panels import chosen
from quiclab.drawings.plots.charts.series import TIME, over_time
from quiclab.drawings.plots.files import save_figures
from quiclab.results.choice import Options
from quiclab.results.numbers import of_flows
from quiclab.results.statistics import resolve
from quiclab.results.sweeps import Sweep
from quiclab.values import arguments

if TYPE_CHECKING:
    import pyarrow as pa

    from quiclab.results.figure import Figure

FLOW = "flow"
"""The column that tells the flows apart, where a number of all of them is drawn."""
_VARIED = ("x", "group", "facet")
"""What may be named by the end of a path that was varied; of a heat map also y."""
_OF_FLOWS = {"line": "y", "bar": "y", "box": "y", "ecdf": "x"}
"""Kinds that draw several flows, and which column has the values."""
_GOODPUT = "goodput_mbps"
_MOST = 8
"""More colours or panels are not drawn unless they are asked for."""


def usual(sweep: Sweep) -> dict[str, str]:
    """The columns of a line chart if none are named: goodput over what was varied. None if there is neither."""
    known, varied = sweep.columns, sweep.parameters
    flows = of_flows(_GOODPUT, known)
    if not varied or not flows:
        return {}
    found = {"x": short(varied[0], known), "y": _GOODPUT}
    if len(varied) > 1 and len(sweep.info["parameters"][1]["values"]) <= _MOST:
        found["facet" if len(flows) > 1 else "group"] = short(varied[1], known)
    return found


def plot_sweep(
    sweep: Sweep,
    path: str | PathLike[str] | None = None,
    kind: str = "line",
    *,
    subject: str | None = None,
    **choice: Unpack[Options],
) -> "Figure":
    """The body of `Sweep.plot`."""
    where = None if path is None else arguments.path("plot: path", path)
    figure, _ = draw_sweep(sweep, kind, subject, choice)
    if where is not None:
        save_figures([figure], where)
    return figure


def draw_sweep(sweep: Sweep, kind: str, subject: str | None, choice: Mapping[str, Any]) -> "tuple[Figure, str | None]":
    """Draws what the fields of a `Choice` name; and what there is to say if it shows a part of the runs.

    Raises `Error` if there is no such column, or nothing to draw.
    """
    arguments.text("kind", kind, f"one of {', '.join(CHARTS)}")
    roles = (*_VARIED, "y") if kind == "heatmap" else _VARIED
    fields: dict[str, Any] = {
        key: sweep._varied(value) if key in roles and isinstance(value, str) else value for key, value in choice.items()
    }
    where = {
        sweep._varied(name): value
        for name, value in arguments.table("where", fields.pop("where", {}), "a table of columns").items()
    }
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
    else:
        table, wanted = _of_flows(sweep, table, kind, wanted)
    return chart_with_note(table, kind, wanted, _title(sweep, table, kind, wanted))


def _of_flows(sweep: Sweep, table: "pa.Table", kind: str, wanted: Choice) -> "tuple[pa.Table, Choice]":
    """Where a number is named that several flows have: a row for each run and flow, and a colour for each flow."""
    role = _OF_FLOWS.get(kind)
    name = getattr(wanted, role) if role else None
    flows = of_flows(name, table.column_names) if name is not None else {}
    if name is None or len(flows) < 2 or name in table.column_names or wanted.group not in (None, FLOW):
        return table, wanted
    import pyarrow as pa

    known = table.column_names
    others = [resolve(other, known) for other in (*wanted.named(), *sweep.parameters) if other not in (name, FLOW)]
    kept = table.select(list(dict.fromkeys(["run", *others])))
    parts = [
        kept.append_column(name, table.column(column)).append_column(FLOW, pa.array([flow] * table.num_rows))
        for flow, column in flows.items()
    ]
    return pa.concat_tables(parts, promote_options="permissive"), replace(wanted, group=FLOW)


def _title(sweep: Sweep, table: "pa.Table", kind: str, wanted: Choice) -> str:
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


def _mixed(sweep: Sweep, rows: "pa.Table", wanted: Choice) -> list[str]:
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
