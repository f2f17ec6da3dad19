"""`quiclab export FOLDER [TABLE]`: a table of a run or a sweep as CSV, JSON or Parquet."""

import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

import quiclab
from quiclab._quiclab import Error
from quiclab.commands import completions
from quiclab.commands.changed import reading
from quiclab.commands.output import echo
from quiclab.results.statistics import resolve
from quiclab.values import stored_tables
from quiclab.values.folders import SCENARIO, SUMMARY, SWEEP, writing
from quiclab.values.plain_text import harmless, plain
from quiclab.values.suggestions import checked, hint, listed

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("csv", "json", "jsonl", "parquet")
_ROWS_AT_ONCE = 1 << 15


def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="A run's or a sweep's folder.",
            show_default=False,
            autocompletion=completions.folders,
        ),
    ],
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="A table: connection, queue, ... Default: the summary of a run's connections, the runs of a sweep.",
            show_default=False,
            autocompletion=completions.tables,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Only this column. May be given more than once.", show_default=False),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="csv (default), json, jsonl or parquet; without it, by the ending of --out.",
            show_default=False,
            autocompletion=completions.words(*FORMATS),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The file to write. Default: standard output.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of CSV.")] = False,
) -> None:
    """Export a table of a run or a sweep as CSV, JSON or Parquet. In CSV, null is an empty field.

    Example: quiclab export runs/cellular-seed1 connection --out connection.csv
    """
    printed = as_json and out is None
    kind = _format(format_ or ("json" if printed else None), out)
    if printed and kind != "json":
        raise Error(f"--format {kind} and --json exclude each other on standard output; expected --out FILE")
    with reading(folder):
        name, schema, parts = _table(folder, table, column or [])
    if out is None:
        if kind == "parquet":
            raise Error("parquet needs a file; expected --out FILE")
        with reading(folder):
            _write(sys.stdout, kind, schema, parts)
        return
    _keep_own(folder, out)
    with writing(out), reading(folder), _place(out) as place:
        if kind == "parquet":
            _write_parquet(place, schema, parts)
        else:
            with place.open("w", encoding="utf-8", newline="") as file:
                _write(file, kind, schema, parts)
    echo(json.dumps({name: str(out)}) if as_json else f"{name}    {plain(out)}")


def _keep_own(folder: Path, out: Path) -> None:
    """Raises `Error` if a file is one of those that make the folder a run or a sweep."""
    own = out.suffix == ".parquet" or out.name in (SUMMARY, SCENARIO, SWEEP, "sweep.toml")
    if own and out.exists() and Path(os.path.realpath(out)).parent == Path(os.path.realpath(folder)):
        raise Error(f"--out {out}: a file of {folder} itself; expected another name")


@contextmanager
def _place(out: Path) -> Iterator[Path]:
    """Where to write: beside the file, and moved there when whole. A device or a link is written to as it is."""
    if out.is_symlink() or (out.exists() and not out.is_file()):
        yield out
        return
    partial = out.with_name(f".{out.name}.partial-{os.getpid()}")
    try:
        yield partial
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)


def _format(given: str | None, out: Path | None) -> str:
    if given is not None:
        return checked("--format", given, FORMATS)
    ending = out.suffix[1:].lower() if out else ""
    return ending if ending in FORMATS else "csv"


def _table(folder: Path, table: str | None, columns: list[str]) -> "tuple[str, pa.Schema, Iterator[pa.Table]]":
    """The name of a table, its schema, and its rows in parts."""
    if (folder / "sweep.json").exists() or (folder / "finished").is_dir():
        sweep = quiclab.load_sweep(folder)
        sweep._check()
        known = ["runs", *(["series"] if sweep.info["series"] else []), *sweep.info.get("keep", [])]
        name = _known(folder, table or "runs", known)
        return name, *_of_file(folder / f"{name}.parquet", columns)
    run = quiclab.load(folder)
    run._check()
    if table is None:
        return "connections", *_of_summary(run.summary.get("connections") or [], columns)
    name = _known(folder, table, run.tables)
    return name, *_of_file(folder / f"{name}.parquet", columns)


def _known(folder: Path, name: str, known: "list[str] | tuple[str, ...]") -> str:
    if name not in known:
        has = f"it has {listed(known)}" if known else "it was made without tables"
        raise Error(f"{folder}: no table {name!r}; {has}{hint(name, known)}")
    return name


def _chosen(columns: list[str], known: list[str]) -> list[str]:
    return [resolve(name, known) for name in columns] if columns else known


def _of_file(path: Path, columns: list[str]) -> "tuple[pa.Schema, Iterator[pa.Table]]":
    import pyarrow as pa

    with stored_tables.opened(path) as file:
        chosen = _chosen(columns, file.schema_arrow.names)
        schema = pa.schema([_plain(file.schema_arrow.field(name)) for name in chosen])

    def parts() -> "Iterator[pa.Table]":
        with stored_tables.opened(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=chosen):
                yield pa.Table.from_batches([batch]).select(chosen).cast(schema)

    return schema, parts()


def _of_summary(rows: "list[dict[str, Any]]", columns: list[str]) -> "tuple[pa.Schema, Iterator[pa.Table]]":
    """The numbers and words of each connection; of what is within others, by its path."""
    import pyarrow as pa

    flat = [dict(_flat(row, "")) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    table = pa.table({name: [row.get(name) for row in flat] for name in _chosen(columns, names)})
    return table.schema, iter([table])


def _flat(row: "dict[str, Any]", start: str) -> "Iterator[tuple[str, Any]]":
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{start}{name}.")
        elif not isinstance(value, list):
            yield start + name, value


def _plain(field: "pa.Field") -> "pa.Field":
    """Words as words: in the file, those that repeat are numbers into a list."""
    import pyarrow as pa

    return pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)


def _write(file: IO[str], kind: str, schema: "pa.Schema", parts: "Iterator[pa.Table]") -> None:
    if kind == "csv":
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(harmless, schema.names))
        for part in parts:
            columns = (["" if value is None else _text(value) for value in one.to_pylist()] for one in part.columns)
            writer.writerows(zip(*columns, strict=True))
        return
    start, between, end = ("[", ",\n ", "]\n") if kind == "json" else ("", "\n", "\n")
    file.write(start)
    first = True
    for part in parts:
        for row in part.to_pylist():
            file.write(("" if first else between) + harmless(json.dumps(row, ensure_ascii=False)))
            first = False
    file.write("" if first and kind == "jsonl" else end)


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Who looks at the file in a terminal, or opens it in another program, did not write them.
        return harmless(value)
    return json.dumps(value) if isinstance(value, list | dict) else value


def _write_parquet(path: Path, schema: "pa.Schema", parts: "Iterator[pa.Table]") -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(str(path), schema) as writer:
        for part in parts:
            writer.write_table(part)
