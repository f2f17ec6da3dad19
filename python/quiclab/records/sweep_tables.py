"""The tables of a sweep's folder, written piece by piece from its finished runs: memory does not grow with the runs."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab import _quiclab
from quiclab.values import folders, stored_tables

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

INFO = "sweep.json"
DOCUMENT = "sweep.toml"
RUNS = "runs.parquet"
SERIES = "series.parquet"

_ROWS_AT_ONCE = 1 << 14
_POINTS_AT_ONCE = 1 << 18
"""Rows of the two tables that are in memory at once; also what decides their row groups."""

Written = Callable[[float], object]
"""Is told what part of the tables is written."""


class Tables:
    """What is written once all runs are finished."""

    def __init__(self, finished: _quiclab.FinishedSweep, series: bool, keep: list[str], written: Written) -> None:
        self._finished = finished
        self._series = series
        self._keep = keep
        self._written = written
        _, _, _, self._total = finished.counts
        # Equal repetitions, the columns, and each of the tables.
        self._passes = 3 + series + len(keep)
        self._passed = 0

    def identical(self, repetitions: int) -> int:
        """How many combinations have repetitions that all gave the same."""
        combinations = self._total // repetitions
        at_once = max(1, _ROWS_AT_ONCE // repetitions)
        found = 0
        for first in range(0, combinations, at_once):
            found += self._finished.identical(first, at_once)
            self._far(min(combinations, first + at_once) * repetitions)
        self._end_pass()
        return found

    def write(self, path: Path, document: str, info: dict[str, Any]) -> None:
        """Writes the files of a sweep's folder: sweep.json is there when the others are complete."""
        with folders.writing(path):
            _remove_leftovers(path)
            # The tables of another state of the sweep are none of this one: it has them when sweep.json is there.
            for name in _kept_before(path):
                (path / kept(name)).unlink(missing_ok=True)
            (path / INFO).unlink(missing_ok=True)
            _write_text(path / DOCUMENT, folders.without_home(document))
            self._columns()
            _write_table(path / RUNS, self._runs())
            if self._series:
                _write_table(path / SERIES, self._pieces(self._finished.series_rows))
            else:
                (path / SERIES).unlink(missing_ok=True)
            for name in self._keep:
                _write_table(path / kept(name), self._pieces(self._rows_of(name)))
            _write_text(path / INFO, json.dumps(info, indent=2, ensure_ascii=False) + "\n")

    def _columns(self) -> None:
        known = 0
        while known < self._total:
            known = self._finished.read_columns(_ROWS_AT_ONCE)
            self._far(known)
        self._end_pass()

    def _runs(self) -> "Iterator[pa.Table]":
        for first in range(0, self._total, _ROWS_AT_ONCE):
            yield _without_home(stored_tables.memory(self._finished.runs(first, _ROWS_AT_ONCE)))
            self._far(min(self._total, first + _ROWS_AT_ONCE))
        self._end_pass()

    def _pieces(self, rows: "Callable[[int, int], tuple[_quiclab.Table, int]]") -> "Iterator[pa.Table]":
        first = 0
        while first < self._total:
            piece, first = rows(first, _POINTS_AT_ONCE)
            yield stored_tables.memory(piece)
            self._far(first)
        self._end_pass()

    def _rows_of(self, name: str) -> "Callable[[int, int], tuple[_quiclab.Table, int]]":
        def rows(first: int, most: int) -> tuple[_quiclab.Table, int]:
            return self._finished.kept_rows(name, first, most)

        return rows

    def _far(self, runs: int) -> None:
        """Says how many runs are done in this pass."""
        self._written((self._passed + runs / max(1, self._total)) / self._passes)

    def _end_pass(self) -> None:
        self._passed += 1


def _without_home(table: "pa.Table") -> "pa.Table":
    """The table of runs, whose texts are values of the scenario and errors, as others may read it."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_dictionary(field.type):
            words = {word: folders.without_home(word) for word in table.column(at).unique().to_pylist()}
            if any(word != after for word, after in words.items()):
                after = pa.array([words[word] for word in table.column(at).to_pylist()], pa.string())
                table = table.set_column(at, field, after.cast(field.type))
    return table


def kept(name: str) -> str:
    """The file of a table that a sweep keeps."""
    return f"{name}.parquet"


def _kept_before(path: Path) -> list[str]:
    """The tables that the folder's sweep kept when it was complete last."""
    try:
        names = json.loads((path / INFO).read_text(encoding="utf-8")).get("keep", [])
    except (OSError, ValueError, AttributeError):
        return []
    return [name for name in names if isinstance(name, str) and name.isidentifier()] if isinstance(names, list) else []


def _write_table(path: Path, pieces: "Iterator[pa.Table]") -> None:
    with _beside(path) as partial:
        writer: pq.ParquetWriter | None = None
        try:
            for piece in pieces:
                writer = writer or stored_tables.parquet(partial, piece.schema)
                writer.write_table(piece, row_group_size=_POINTS_AT_ONCE)
        finally:
            if writer is not None:
                writer.close()


def _write_text(path: Path, text: str) -> None:
    with _beside(path) as partial:
        partial.write_text(text, encoding="utf-8")


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A file to write that gets its name when it is complete."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def _remove_leftovers(path: Path) -> None:
    """Removes what processes of this machine left half-written when they were killed."""
    if os.name != "posix":
        return
    for partial in path.glob(".*.partial-*"):
        owner = partial.name.rsplit("-", 1)[-1]
        try:
            os.kill(int(owner), 0)
        except ProcessLookupError:
            partial.unlink(missing_ok=True)
        except (ValueError, OSError):
            # Not ours, or of somebody who lives.
            continue
