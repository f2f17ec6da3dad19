"""The class `Table`: the tables of runs and sweeps, for pyarrow, pandas, polars and SQL."""

import re
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.values import grid
from quiclab.values.extras import install

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import CapsuleType

_NO_NAME = re.compile(r"[^A-Za-z0-9_]")
_RESERVED_WORDS = """
    all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default
    deferrable desc describe distinct do else end except false fetch for foreign from grant group having in initially
    intersect into lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider placing
    primary qualify references returning select show some summarize symmetric table then to trailing true union unique
    unpivot using variadic when where window with
"""
"""Of DuckDB and of PostgreSQL: they are no names without quotes."""
_RESERVED = frozenset(_RESERVED_WORDS.split())


class Table:
    """A table of a run or of a sweep, in memory: a `pyarrow.Table` with a few ways out.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> queue = run.table("queue")
    >>> queue.column_names
    ['time_s', 'link', 'packets', 'bytes']
    >>> frame = queue.to_pandas()
    >>> frame = queue.to_polars()

    Libraries that read Arrow take it without a copy: `polars.DataFrame(queue)`, `pyarrow.table(queue)`, and DuckDB by
    the name of the variable, `duckdb.sql("SELECT max(packets) FROM queue")`. It has all methods and attributes of a
    `pyarrow.Table` (`filter`, `select`, `slice`, `sort_by`, `schema`, `queue["packets"]` ...), of which those that
    return a table return a `Table`. Functions of pyarrow that take nothing but its own tables, such as
    `pyarrow.parquet.write_table` and `pyarrow.concat_tables`, take `queue.arrow`.
    """

    __slots__ = ("_arrow",)

    def __init__(self, arrow: "pa.Table") -> None:
        self._arrow = arrow

    @property
    def arrow(self) -> "pa.Table":
        """The `pyarrow.Table` itself, for `pyarrow.parquet.write_table(table.arrow, ...)` and the like."""
        return self._arrow

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self._arrow.num_rows)

    @property
    def num_columns(self) -> int:
        """The number of columns."""
        return int(self._arrow.num_columns)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, whose last word is the unit."""
        return list(self._arrow.column_names)

    def to_pandas(self, **options: Any) -> "pd.DataFrame":
        """A DataFrame of pandas.

        :param options: those of `pyarrow.Table.to_pandas`.
        :raises Error: pandas is not installed.
        """
        _needed("pandas")
        return self._arrow.to_pandas(**options)

    def to_polars(self) -> "pl.DataFrame":
        """A DataFrame of polars.

        :raises Error: polars is not installed.
        """
        _needed("polars")
        import polars

        frame = polars.from_arrow(self._arrow)
        assert isinstance(frame, polars.DataFrame), "of a table"
        return frame

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows, each as a dictionary by the names of the columns."""
        return list(self._arrow.to_pylist())

    def to_pydict(self) -> dict[str, list[Any]]:
        """The columns as lists, by their names."""
        return dict(self._arrow.to_pydict())

    def for_sql(self) -> "Table":
        """The same columns with names that SQL takes without quotes; nothing is copied.

        Every character other than an ASCII letter, a digit or an underscore becomes an underscore:
        `transport.ack_ratio` is `transport_ack_ratio`. A reserved word gets one at its end (`table_`), a name that
        begins with a digit gets one at its start, and the second of two equal names gets `_2`. SQL ignores case.

        >>> import duckdb
        >>> sweep = quiclab.sweep("examples/sweep.toml")
        >>> runs = sweep.runs.for_sql()
        >>> rows = duckdb.sql("SELECT transport_ack_ratio, avg(connection_download_goodput_mbps) FROM runs GROUP BY 1")
        """
        return Table(self._arrow.rename_columns(sql_names(self.column_names)))

    def __len__(self) -> int:
        return self.num_rows

    def __getitem__(self, column: str | int) -> "pa.ChunkedArray":
        """A column, by its name or number, as a `pyarrow.ChunkedArray`."""
        return self._arrow[column]

    def __eq__(self, other: object) -> bool:
        other = _bare(other)
        return bool(self._arrow == other)

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        """What else a `pyarrow.Table` has."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = getattr(self._arrow, name)
        return _method(found) if callable(found) else found

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self._arrow)})

    def __arrow_c_schema__(self) -> "CapsuleType":
        schema: CapsuleType = self._arrow.schema.__arrow_c_schema__()
        return schema

    def __arrow_c_stream__(self, requested_schema: "CapsuleType | None" = None) -> "CapsuleType":
        stream: CapsuleType = self._arrow.__arrow_c_stream__(requested_schema)
        return stream

    def __reduce__(self) -> "tuple[type[Table], tuple[pa.Table]]":
        return type(self), (self._arrow,)

    def __repr__(self) -> str:
        return "\n".join([f"<quiclab.Table, {self._size()}>", self._head().text(), *self._more()])

    def _repr_html_(self) -> str:
        return grid.page(self._size(), self._head().html(), grid.lines(self._more()))

    def _size(self) -> str:
        rows, columns = self.num_rows, self.num_columns
        return f"{rows:,} row{'s' * (rows != 1)}, {columns} column{'s' * (columns != 1)}"

    def _more(self) -> list[str]:
        return grid.more(self.num_rows - grid.ROWS, "row")

    def _head(self) -> grid.Grid:
        """The first rows."""
        columns = self._arrow.slice(0, grid.ROWS).to_pydict().values()
        rows = [[grid.cell(value) for value in row] for row in zip(*columns, strict=True)]
        left = [not _is_number(field.type) for field in self._arrow.schema]
        return grid.Grid(self.column_names, rows, left)


def sql_names(names: Sequence[str]) -> list[str]:
    """Names that SQL takes without quotes, in the same order: see `Table.for_sql`."""
    taken: set[str] = set()
    found = []
    for name in names:
        plain = _NO_NAME.sub("_", name) or "_"
        if plain[0].isdigit():
            plain = f"_{plain}"
        if plain.lower() in _RESERVED:
            plain = f"{plain}_"
        unique, number = plain, 2
        while unique.lower() in taken:
            unique, number = f"{plain}_{number}", number + 1
        taken.add(unique.lower())
        found.append(unique)
    return found


def _method(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a `pyarrow.Table` that takes tables of ours, and returns one where it returns a table."""

    @wraps(method)
    def called(*arguments: Any, **named: Any) -> Any:
        import pyarrow as pa

        result = method(*map(_bare, arguments), **{name: _bare(value) for name, value in named.items()})
        return Table(result) if isinstance(result, pa.Table) else result

    return called


def _bare(value: object) -> object:
    return value._arrow if isinstance(value, Table) else value


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _needed(library: str) -> None:
    if find_spec(library) is None:
        raise Error(f"a DataFrame of {library} needs the package {library}: {install(library)}")
