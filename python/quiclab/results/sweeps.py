"""Sweeps: many runs of a scenario, their folder, their tables."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from quiclab._quiclab import OutputError
from quiclab.records.sweep_tables import INFO, RUNS, SERIES
from quiclab.records.sweep_tables import kept as kept_file
from quiclab.results import agreement, statistics
from quiclab.results.attached import NotAttachedError, attached
from quiclab.results.table import Table
from quiclab.values import arguments, regular_files, shapes, stored_tables

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from quiclab.results.choice import Options
    from quiclab.results.figure import Figure

FINISHED = "finished"
"""The folder in a sweep's folder that keeps its finished runs."""
_ROWS_OF_MEANS = 1 << 14
"""Rows whose means are computed at once."""


class Failure(TypedDict):
    """A run of a sweep that failed."""

    run: int
    repetition: int
    seed: int
    values: dict[str, str]
    """What was varied, by its path."""
    error: str
    """One line."""


class Sweep:
    """The results of a sweep: from `quiclab.sweep`, or read back by `quiclab.load_sweep`.

    >>> sweep = quiclab.sweep("examples/sweep.toml")
    >>> sweep
    <quiclab.Sweep of 'sweep', 150 runs>
      transport.ack_ratio: 1, 2, 5, 10, 20
      link.path.forward.loss.probability: 0.0, 0.001, 0.01
    >>> sweep.parameters
    ['transport.ack_ratio', 'link.path.forward.loss.probability']
    """

    def __init__(self, path: Path, info: dict[str, Any]) -> None:
        self._path = path
        self.info = info
        """The contents of sweep.json: scenario, version, runs, failed, repetitions, combinations, identical (whose
        repetitions all gave the same), parameters, series, keep, set, and failures."""
        self._tables: dict[str, Table] = {}
        self._is_checked = True
        self._held: tempfile.TemporaryDirectory[str] | None = None
        self.reused = 0
        """Runs that the folder had already when the sweep began."""

    @property
    def path(self) -> Path | None:
        """The sweep's folder; None if it has none."""
        return None if self._held else self._path

    @property
    def runs(self) -> Table:
        """A row for each run: run, repetition, seed, a column for each path that varies, error, and the summary."""
        return self._table(RUNS)

    @property
    def series(self) -> Table | None:
        """The time series: run, table, subject, quantity, time_s, value; None if the sweep keeps none."""
        return self._table(SERIES) if self.info["series"] else None

    @property
    def series_path(self) -> Path:
        """The file of the time series, which may be larger than memory; it exists if the sweep keeps series."""
        return self._path / SERIES

    def table(self, name: str) -> Table:
        """A table of all runs that the sweep keeps (`keep`): the column `run`, and those of the table in each run.

        Raises `OutputError` if the sweep does not keep it.
        """
        kept = self.info.get("keep", [])
        arguments.text("table: name", name, "the name of a table")
        if name not in kept:
            has = f"it keeps {', '.join(kept)}" if kept else "it keeps none"
            raise OutputError(f"{self._path}: the sweep does not keep the table {name!r}; {has}")
        return self._table(kept_file(name))

    @property
    def columns(self) -> list[str]:
        """The names of the columns of `runs`, without reading their values."""
        if RUNS in self._tables:
            return list(self._tables[RUNS].column_names)
        with self._parquet(RUNS) as file:
            return list(file.schema_arrow.names)

    @property
    def parameters(self) -> list[str]:
        """The columns of the varied values."""
        return [parameter["column"] for parameter in self.info["parameters"]]

    @property
    def warnings(self) -> list[str]:
        """What you should know before you use the results: repetitions that all gave the same results."""
        told = _identical_told(self.info)
        return [told] if told else []

    @property
    def notes(self) -> list[str]:
        """What you should know of the runs, a sentence for each thing.

        Values of the scenario that none has, because the sweep varies them; what was left out of files (of the first
        hundred values).
        """
        return list(self.info.get("notes", []))

    @property
    def failures(self) -> list[Failure]:
        """The first thousand runs that failed: run, repetition, seed, values (by path), error.

        `info["failed"]` is the number of all of them; `runs` has the error of each.
        """
        return list(self.info["failures"])

    def means(
        self,
        *columns: str,
        by: Sequence[str] | None = None,
        interval: statistics.Interval = "student",
        confidence: float = 0.95,
        seed: int = 1,
    ) -> Table:
        """Means with intervals over the runs of each group, as `quiclab.statistics.means` makes them.

        >>> sweep = quiclab.sweep("examples/sweep.toml")
        >>> means = sweep.means("goodput_mbps", by=["link.path.forward.loss.probability"])
        >>> means.select(["n", "mean", "low", "high"])
        <quiclab.Table, 3 rows, 4 columns>
         n     mean      low     high
        50  15.4093   15.297  15.5215
        50  13.1743  12.4261  13.9225
        50  3.41862  3.06814   3.7691
        >>> frame = means.to_polars()

        :param columns: names of columns of `runs`, or their ends if they are unique (`goodput_mbps`).
        :param by: the columns or paths that define the groups, or one; default: all that was varied. `[]`: all runs
            together.
        """
        import pyarrow as pa

        arguments.texts("means: columns", columns, "names of columns")
        groups = self._groups(by)

        def of(table: "pa.Table") -> "pa.Table":
            return statistics.means(table, columns, groups, interval=interval, confidence=confidence, seed=seed)

        if by is None and self.info["runs"] > _ROWS_OF_MEANS:
            # A table of a million means is small, and what it is made of in Python is not.
            pieces = [of(piece) for piece in self._combinations([*columns, *groups])]
            whole = pa.concat_tables(pieces, promote_options="default")
            if len(whole) == len(columns) * _groups_of(whole, groups):
                return Table(whole)
        return Table(of(self._runs_with([*columns, *groups])))

    def _first_means(
        self, columns: Sequence[str], most: int, interval: statistics.Interval
    ) -> "tuple[pa.Table, pa.Table]":
        """Means of the first `most` combinations, or of more; and column, n and total for each mean of all of them."""
        import pyarrow as pa

        combinations = self.info["combinations"]
        if self.info["runs"] > _ROWS_OF_MEANS and combinations > most:
            table = self._runs_with([*columns, *self.parameters])
            counted = [(name, "count") for name in columns]
            counts = table.group_by(self.parameters).aggregate([*counted, ([], "count_all")])
            if len(counts) == combinations:
                first = table.slice(0, most * self.info["repetitions"])
                total = counts["count_all"]
                each = [
                    pa.table({"column": [name] * combinations, "n": counts[f"{name}_count"], "total": total})
                    for name in columns
                ]
                means = statistics.means(first, columns, self.parameters, interval=interval)
                return means, pa.concat_tables(each) if each else means
        means = self.means(*columns, interval=interval).arrow
        return means, means

    def quantiles(
        self,
        *columns: str,
        by: Sequence[str] | None = None,
        q: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95),
    ) -> Table:
        """Quantiles over the runs of each group, as `quiclab.statistics.quantiles` makes them.

        >>> sweep = quiclab.sweep("examples/sweep.toml")
        >>> sweep.quantiles("completion_s", by=[], q=[0.5, 0.9])
        <quiclab.Table, 1 row, 5 columns>
        column                              n  total     q50      q90
        connection.download.completion_s  150    150  1.1334  5.87783
        """
        arguments.texts("quantiles: columns", columns, "names of columns")
        groups = self._groups(by)
        return Table(statistics.quantiles(self._runs_with([*columns, *groups]), columns, groups, q))

    @attached
    def plot(
        self,
        path: str | PathLike[str] | None = None,
        kind: str = "line",
        *,
        subject: str | None = None,
        **choice: "Unpack[Options]",
    ) -> "Figure":
        """Draws columns of the runs by name, and returns a matplotlib figure, which a notebook shows.

        >>> sweep = quiclab.sweep("examples/sweep.toml")
        >>> figure = sweep.plot("figure.pdf", x="ack_ratio", y="goodput_mbps", group="loss.probability", log="x")

        :param path: also write it there: .png, .svg or .pdf.
        :param kind: line (means with a band), bar (means with error bars), box, ecdf or heatmap.
        :param subject: of a time series, if several have it: "download server", "cell forward".
        :param choice: the fields of `quiclab.plots.Choice`: x, y, group, facet, value, where, spread ... With
            `x="time_s"` the time series are drawn, and y is a quantity of them.

        If some runs have no value (not completed, or failed), the figure shows how many have one. Raises `Error` if
        there is no such column, or nothing to draw.
        """
        raise NotAttachedError

    def _groups(self, by: Sequence[str] | None) -> list[str]:
        if by is None:
            return self.parameters
        return [self._varied(name) for name in arguments.texts("by", by, "names of columns")]

    def _varied(self, name: str) -> str:
        """The column of what is varied, by its path or the end of that; any other name as it is."""
        return varied(name, ((parameter["path"], parameter["column"]) for parameter in self.info["parameters"]))

    def _runs_with(self, names: Sequence[str]) -> "pa.Table":
        """The table of runs, with at least these columns: a million runs with all that is known of them fill memory."""
        if RUNS in self._tables:
            return self.runs.arrow
        return self._read(RUNS, self._resolved(names))

    def _combinations(self, names: Sequence[str]) -> "Iterator[pa.Table]":
        """Columns of the table of runs, piece by piece. All repetitions of a combination are in one piece."""
        import pyarrow as pa

        repetitions = self.info["repetitions"]
        at_once = max(1, _ROWS_OF_MEANS // repetitions) * repetitions
        with self._parquet(RUNS) as file:
            waiting: list[pa.Table] = []
            for batch in file.iter_batches(columns=self._resolved(names), batch_size=_ROWS_OF_MEANS):
                waiting.append(pa.Table.from_batches([batch]))
                rows = sum(map(len, waiting))
                if rows >= at_once:
                    table = pa.concat_tables(waiting).unify_dictionaries()
                    whole = rows // repetitions * repetitions
                    yield table.slice(0, whole)
                    waiting = [table.slice(whole)]
            if any(map(len, waiting)):
                yield pa.concat_tables(waiting).unify_dictionaries()

    def _resolved(self, names: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(statistics.resolve(name, self.columns) for name in names))

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            self._tables[name] = Table(self._read(name))
        return self._tables[name]

    def _read(self, name: str, columns: list[str] | None = None) -> "pa.Table":
        with self._parquet(name) as file:
            return file.read(columns)

    def _select(self, name: str, columns: Sequence[str], where: "pc.Expression") -> "pa.Table":
        """Columns of the rows of a kept table, or of "series", that meet a condition on these columns.

        Read in parts, so that the table may be larger than memory.
        """
        import pyarrow as pa

        with self._parquet(SERIES if name == "series" else kept_file(name)) as file:
            parts = (pa.Table.from_batches([part]) for part in file.iter_batches(columns=list(columns)))
            found = [part for part in (part.filter(where) for part in parts) if len(part)]
            empty = file.schema_arrow.empty_table().select(list(columns))
        return pa.concat_tables(found).unify_dictionaries() if found else empty

    @contextmanager
    def _parquet(self, name: str) -> "Iterator[pq.ParquetFile]":
        with stored_tables.opened(self._path / name) as file:
            needed = ["run", *shapes.NEEDED.get(Path(name).stem, ())]
            if name == RUNS:
                needed = ["run", "repetition", "seed", "error", *self.parameters]
            shapes.has(self._path / name, file.schema_arrow, needed)
            if name == RUNS and not self._is_checked:
                self._agree(file)
            yield file

    def _check(self) -> None:
        """Raises `OutputError` if the table of runs cannot be read, or does not agree with sweep.json."""
        with self._parquet(RUNS):
            pass

    def _agree(self, file: "pq.ParquetFile") -> None:
        """Raises `OutputError` if the table of runs was changed so that it and sweep.json do not agree."""
        try:
            agreement.of_sweep(file, self.info)
        except shapes.WrongError as error:
            raise OutputError(f"{self._path / RUNS}: cannot be read: {error}") from error
        self._is_checked = True

    def _first(self, most: int) -> "pa.Table":
        """The first runs, at most this many."""
        import pyarrow as pa

        if RUNS in self._tables:
            return self._tables[RUNS].arrow.slice(0, most)
        with self._parquet(RUNS) as file:
            batch = next(file.iter_batches(most), None)
            return pa.Table.from_batches([] if batch is None else [batch], file.schema_arrow)

    @attached
    def __repr__(self) -> str:
        raise NotAttachedError

    @attached
    def _repr_html_(self) -> str:
        raise NotAttachedError


def varied(name: str, parameters: Iterable[tuple[str, str]]) -> str:
    """The column of what is varied, by its path or by the end of a path or column where only one ends so.

    Any other name is given back as it is. `queue` is `link.cell.forward.queue_bdp` if `link.cell.forward.queue` is
    varied, though results have names that end alike.

    :param parameters: the path and the column of each.
    """
    known = list(parameters)
    exact = [column for path, column in known if name in (path, column)]
    ends = [column for path, column in known if path.endswith(f".{name}") or column.endswith(f".{name}")]
    return exact[0] if exact else ends[0] if len(ends) == 1 else name


REMEDY = "; use one, or add something random: loss, jitter, a trace with offset = 'random', or a generated trace"


def _identical_told(info: dict[str, Any]) -> str | None:
    identical, combinations = info.get("identical", 0), info.get("combinations", 0)
    if not identical:
        return None
    where = "" if combinations == 1 else f" in {identical} of {combinations} combinations"
    same = f"all {info['repetitions']} repetitions gave the same results{where}: no random draw had an effect"
    # Where others differ, as at a loss of 0 beside one of 1 %, this is what was asked for.
    return f"{same}{REMEDY}" if identical == combinations else f"{same} there, and ± 0 is no interval"


def _groups_of(table: "pa.Table", by: Sequence[str]) -> int:
    """How many different values these columns have together."""
    return len(table.group_by(list(by)).aggregate([])) if by else 1


def load_sweep(path: str | PathLike[str]) -> Sweep:
    """Reads a sweep's folder back. Raises `OutputError` if it is not one, or not complete.

    >>> sweep = quiclab.sweep("examples/sweep.toml", out="sweeps/losses")
    >>> quiclab.load_sweep("sweeps/losses").runs == sweep.runs
    True
    """
    where = arguments.path("load_sweep: path", path)
    try:
        info = regular_files.read_json(where / INFO)
        shapes.sweep("", info)
    except FileNotFoundError as error:
        unfinished = (where / FINISHED).is_dir()
        why = "the sweep is not complete: run it again to continue" if unfinished else f"it has no {INFO}"
        raise OutputError(f"{where}: not a finished sweep: {why}") from error
    except (OSError, ValueError, shapes.WrongError) as error:
        raise OutputError(f"{where}: cannot be read as a sweep: {INFO}: {regular_files.reason(error)}") from error
    sweep = Sweep(where, info)
    sweep._is_checked = False
    return sweep
