"""The tables of a run as files: written while the run goes on, and read in parts. Memory does not grow with them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab import _quiclab
from quiclab._quiclab import OutputError
from quiclab.values import libraries, regular_files, shapes
from quiclab.values.columns import mask, values

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS = 1 << 15
"""The rows of a row group, as many as the simulator hands over at a time."""

NOTE = b"quiclab.note"
"""The key in a table's schema, and so in its Parquet file, under which it says that it is not complete."""


class Files:
    """The tables of a run in a folder: the simulator's `store`, which appends to their files part by part."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._places: dict[str, Path] = {}
        """Of tables that were thinned: the files that are being written."""

    def append(self, part: "_quiclab.Table | pa.Table", name: str = "") -> None:
        """Writes the next rows of a table, at most `ROWS` in a row group. `name` is that of a pyarrow.Table."""
        if isinstance(part, _quiclab.Table):
            name = part.name
            if not self._writers:
                # The first part of all.
                with libraries.loaded(figures=False):
                    part = memory(part)
            else:
                part = memory(part)
        if name not in self._writers:
            self._writers[name] = parquet(self._place(name), part.schema)
        self._writers[name].write_table(part, row_group_size=ROWS)

    def thin(self, name: str, subject: Sequence[str]) -> int:
        """Drops every second row of each subject from what was written of a table; returns how many rows are left."""
        self._writers.pop(name).close()
        before = self._place(name)
        after = before.with_name(f"{name}.thinned" if before.suffix == ".parquet" else f"{name}.parquet")
        left = 0
        for part in _groups(_every_second(parts(before), subject)):
            if name not in self._writers:
                self._places[name] = after
            self.append(part, name)
            left += len(part)
        before.unlink()
        return left

    def finish(
        self, rest: "Iterable[tuple[str, _quiclab.Table | pa.Table, str | None]]"
    ) -> "dict[str, _quiclab.Table | pa.Table | Path]":
        """Writes the last rows of all tables, each with its note, and completes the files.

        Returns where each table is now: tables of no more than `ROWS` rows are still in memory, too.
        """
        sources: dict[str, _quiclab.Table | pa.Table | Path] = {}
        for name, part, note in rest:
            is_short = name not in self._writers and part.num_rows <= ROWS
            self.append(part, name)
            writer = self._writers.pop(name)
            if note is not None:
                writer.add_key_value_metadata({NOTE: note})
            writer.close()
            file = self._folder / f"{name}.parquet"
            if name in self._places:
                self._places[name].replace(file)
            sources[name] = part if is_short else file
        return sources

    def close(self) -> None:
        """Closes files that were not completed."""
        for writer in self._writers.values():
            writer.close()
        self._writers = {}

    def _place(self, name: str) -> Path:
        return self._places.get(name, self._folder / f"{name}.parquet")


@contextmanager
def writing(folder: Path) -> Iterator[Files]:
    """The files of a run's tables. After an error they are closed, and not complete."""
    files = Files(folder)
    try:
        yield files
    finally:
        files.close()


def memory(table: "_quiclab.Table") -> "pa.Table":
    """A table in the simulator's memory, not copied."""
    import pyarrow as pa

    # Not `pa.table`, which imports pandas, if it is installed, to see whether this is a frame of it.
    return pa.RecordBatchReader.from_stream(table).read_all()


def whole(source: "_quiclab.Table | pa.Table | Path") -> "pa.Table":
    """A table with all its rows. Raises `OutputError` if its file cannot be read."""
    if isinstance(source, Path):
        # Not `pq.read_table`, which imports pandas, if it is installed.
        with opened(source) as file:
            _check(file, [*shapes.NEEDED.get(source.stem, ()), *file.schema_arrow.names])
            # Every part of a file has its own list of words.
            table = _checked(file.read().unify_dictionaries())
            text = _note_in(file.metadata)
        return table if text is None else table.replace_schema_metadata({NOTE: text})
    if isinstance(source, _quiclab.Table):
        table = memory(source)
        return table if source.note is None else table.replace_schema_metadata({NOTE: source.note})
    return source


def note(source: "_quiclab.Table | pa.Table | Path") -> str | None:
    """What a table says about rows that are missing. Raises `OutputError` if its file cannot be read."""
    if isinstance(source, _quiclab.Table):
        return source.note
    if isinstance(source, Path):
        with opened(source) as file:
            text = _note_in(file.metadata)
    else:
        text = (source.schema.metadata or {}).get(NOTE)
    return None if text is None else text.decode(errors="replace")


def _note_in(file: "pq.FileMetaData") -> bytes | None:
    text: bytes | None = (file.metadata or {}).get(NOTE)
    return text


def parts(
    source: "_quiclab.Table | pa.Table | Path", columns: Sequence[str] | None = None, *, backwards: bool = False
) -> "Iterator[pa.Table]":
    """The rows of a table in parts that are read one after the other, of these columns only, from the end if asked for.

    Raises `OutputError` if its file cannot be read.
    """
    if isinstance(source, Path):
        with opened(source) as file:
            _check(file, columns or [*shapes.NEEDED.get(source.stem, ()), *file.schema_arrow.names])
            groups = range(file.num_row_groups)
            for group in reversed(groups) if backwards else groups:
                yield _checked(file.read_row_group(group, columns, use_threads=False))
        return
    table = whole(source)
    names = table.column_names if columns is None else list(columns)
    starts = range(0, len(table), ROWS)
    yield from (table.slice(start, ROWS).select(names) for start in (reversed(starts) if backwards else starts))


def parquet(path: Path, schema: "pa.Schema") -> "pq.ParquetWriter":
    """A file to write rows to. Equal rows in equal parts give equal bytes."""
    import pyarrow.parquet as pq

    texts = [field.name for field in schema if str(field.type).startswith("dictionary")]
    # All options that could change the bytes are fixed; a Parquet file has no time of writing in it.
    return pq.ParquetWriter(
        str(path),
        schema,
        version="2.6",
        compression="zstd",
        compression_level=3,
        use_dictionary=texts,
        write_statistics=True,
        store_schema=True,
    )


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, UnicodeEncodeError, pa.ArrowException, shapes.WrongError) as error:
        raise OutputError(f"{path}: cannot be read: {regular_files.reason(error)}") from error


@contextmanager
def opened(path: Path) -> "Iterator[pq.ParquetFile]":
    """A file of Parquet. Raises `OutputError` if it cannot be read, now or later."""
    import pyarrow.parquet as pq

    with _reading(path):
        regular_files.check(path)
        # Not `pq.read_table`, which imports pandas, if it is installed.
        with pq.ParquetFile(str(path)) as file:
            yield file


def _check(file: "pq.ParquetFile", columns: Sequence[str]) -> None:
    shapes.columns(file.schema_arrow, columns)


def _checked(part: "pa.Table") -> "pa.Table":
    shapes.without_null(part)
    shapes.sound(part)
    for at, name in enumerate(part.column_names):
        if name in shapes.TEXTS and not str(part.schema.field(at).type).startswith("dictionary"):
            # As other programs write it.
            part = part.set_column(at, name, part.column(at).dictionary_encode())
    return part


def _groups(parts: "Iterable[pa.Table]") -> "Iterator[pa.Table]":
    """The same rows in parts of `ROWS` at least, but for the last one."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= ROWS:
            yield pa.concat_tables(waiting).unify_dictionaries()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).unify_dictionaries()


def _every_second(parts: "Iterable[pa.Table]", subject: Sequence[str]) -> "Iterator[pa.Table]":
    """Of each subject the first row, the third and so on. Rows of a subject have the same text in these columns."""
    import numpy as np

    words: dict[str, int] = {}
    seen: dict[int, int] = {}
    """The rows of each subject so far."""
    for part in parts:
        found, places = np.unique(subjects(part, subject, words), return_inverse=True)
        counts = np.bincount(places)
        # The how-manieth row of its subject each row is, within the part.
        ranks = np.empty(len(places), np.int64)
        starts = np.repeat(np.cumsum(counts) - counts, counts)
        ranks[np.argsort(places, kind="stable")] = np.arange(len(places)) - starts
        before = np.array([seen.get(int(one), 0) for one in found])
        yield part.filter(mask((before[places] + ranks) % 2 == 0))
        seen.update((int(one), int(earlier + more)) for one, earlier, more in zip(found, before, counts, strict=True))


def subjects(part: "pa.Table", columns: Sequence[str], words: dict[str, int]) -> "npt.NDArray[np.int64]":
    """A number for the subject of each row: the same in all parts with the same `words`."""
    import numpy as np

    numbers: Any = np.zeros(len(part), np.int64)
    for column in columns:
        for_words = part[column].combine_chunks()
        codes = [words.setdefault(word, len(words)) for word in for_words.dictionary.to_pylist()]
        numbers = (numbers << 32) + np.array(codes, np.int64)[values(for_words.indices)]
    return numbers  # type: ignore[no-any-return]
