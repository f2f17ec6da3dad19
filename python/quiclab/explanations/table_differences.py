"""What differs between the tables of two runs whose summaries are the same: then one of them was changed."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from quiclab.values import libraries, stored_tables

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from quiclab import _quiclab
    from quiclab.results.run import Run

    Source: TypeAlias = _quiclab.Table | pa.Table | Path


def differences(a: "Run", b: "Run") -> Iterator[tuple[str, Any, Any]]:
    """For each table that differs: its rows, its columns or its first value that differs, and what both runs have.

    A run without any tables is not compared.
    """
    if not a.tables or not b.tables:
        return
    with libraries.loaded(figures=False):
        for name in dict.fromkeys([*a.tables, *b.tables]):
            rows = [_rows(run._source(name)) if name in run.tables else None for run in (a, b)]
            if rows[0] != rows[1]:
                yield f"table.{name}.rows", rows[0], rows[1]
            else:
                yield from _first(name, a._source(name), b._source(name))


def _rows(source: "Source") -> int:
    if isinstance(source, Path):
        with stored_tables.opened(source) as file:
            return int(file.metadata.num_rows)
    return source.num_rows


def _first(name: str, a: "Source", b: "Source") -> Iterator[tuple[str, Any, Any]]:
    """The first value that differs in tables of equally many rows, which are read part by part."""
    ones, others = stored_tables.parts(a), stored_tables.parts(b)
    one, other = next(ones, None), next(others, None)
    while one is not None and other is not None:
        only = [sorted({*x.column_names}.difference(y.column_names)) for x, y in ((one, other), (other, one))]
        if any(only):
            yield f"table.{name}.columns", only[0], only[1]
            return
        length = min(len(one), len(other))
        for column in one.column_names:
            x, y = (_values(part[column].slice(0, length)) for part in (one, other))
            if not x.equals(y):
                pairs = zip(x.to_pylist(), y.to_pylist(), strict=True)
                found = next(((left, right) for left, right in pairs if left != right), None)
                if found is not None:
                    yield f"table.{name}.{column}", *found
                    return
        one = one.slice(length) if length < len(one) else next(ones, None)
        other = other.slice(length) if length < len(other) else next(others, None)


def _values(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """The column with words as words."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
