"""What a report has of a sweep: its runs in columns, series of some, and how to repeat one."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from quiclab._quiclab import Error, OutputError
from quiclab.drawings.report.packed import shortened, steps
from quiclab.drawings.report.tags import Html, joined, note, table, tag
from quiclab.drawings.report.whole import whole
from quiclab.results.numbers import important
from quiclab.results.run import load
from quiclab.results.statistics import resolve, student_quantile
from quiclab.results.sweeps import Sweep
from quiclab.values import folders as _folder
from quiclab.values import regular_files
from quiclab.values.columns import numbers
from quiclab.values.downsampling import downsample
from quiclab.values.rounding import decimals, text

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

RUNS = 100_000
"""Runs of a sweep on a page at most; of more, runs at equal distances are taken."""
CELLS = 2_000_000
"""Values of runs on a page at most: of many runs a page has fewer columns."""
_COLUMNS = 20
"""Columns that a page has even so."""
POINTS = 400_000
"""Points of time series on a page at most."""
_SPANS = 50
"""Spans of time of a series: of each up to four points are kept."""
_DEGREES = 100
"""Degrees of freedom up to which the page has the quantiles of Student's distribution."""
_FOLDERS = 50
"""The most run folders that are searched for those of the sweep's runs."""
_FIRST = ("run", "repetition", "seed")


@dataclass
class _Columns:
    """The runs in columns."""

    columns: list[dict[str, Any]]
    same: dict[str, Any]
    """Columns with one value in all runs, and the value: None if they have none at all."""
    left_out: list[str]
    every: int
    """One run in this many is on the page."""


def section(
    sweep: Sweep, label: str, place: int, show: Sequence[str], beside: Path
) -> tuple[Html, dict[str, Any], list[str]]:
    """The HTML of a sweep, the data for what its script shows, and what is left out.

    :param place: which of the page's sweeps it is.
    :param show: columns to show first, by the end of their name; default: goodput, completion time, mean RTT.
    :param beside: the folder of the page, for links to the folders of runs.
    :raises Error: there is no such column. :raises OutputError: a table cannot be read.
    """
    notes: list[str] = []
    found = _columns(sweep, show, notes)
    data = {
        "columns": found.columns,
        "same": [
            [name, shortened([value])[0] if isinstance(value, float) else value] for name, value in found.same.items()
        ],
        "quantiles": [student_quantile(0.975, degrees) for degrees in range(1, _DEGREES + 1)],
        "normal": 1.959964,
        "series": _series(sweep, found.every, notes),
        "repeat": _repeat(sweep, found, beside),
    }
    info = sweep.info
    facts = [
        ["scenario", info["scenario"]],
        ["version of quiclab", info.get("version", "-")],
        ["runs", f"{info['runs']:,}"],
        ["failed", f"{len(sweep.failures):,}"],
        ["repetitions of each combination", f"{info.get('repetitions', 1):,}"],
        ["folder", sweep.path.name if sweep.path else "not saved"],
    ]
    facts += [[f"varied: {one['path']}", ", ".join(map(_value, one.get("values", [])))] for one in info["parameters"]]
    same = [[name, text(value, decimals([value]))] for name, value in found.same.items() if value is not None]
    document = sweep.series_path.with_name("sweep.toml")
    parts = [
        tag("h2", label),
        table("Scenario, and what was varied", ["", "value"], facts, words=(0, 1)),
        whole("The whole scenario", _read(document), f"{document}"),
        tag(
            "details",
            tag("summary", f"The same in all runs: {len(same)} value{'s' * (len(same) != 1)}"),
            table("The same in all runs", ["", "value"], same, words=(0, 1)),
        )
        if same
        else "",
        joined(note(words) for words in [*sweep.warnings, *sweep.notes, *notes]),
        tag("div", class_="runs"),
    ]
    return tag("section", *parts, class_="sweep", data_sweep=place), data, notes


def _read(path: Path) -> str:
    try:
        return regular_files.text(path)
    except (OSError, ValueError) as error:
        raise OutputError(f"{path}: cannot be read: {regular_files.reason(error)}") from error


def _columns(sweep: Sweep, show: Sequence[str], notes: list[str]) -> _Columns:
    with sweep._parquet("runs.parquet") as file:
        names: list[str] = file.schema_arrow.names
        first = [resolve(name, names) for name in show] if show else important(names)
        total = file.metadata.num_rows
        every = -(-total // RUNS) if total > RUNS else 1
        most = max(_COLUMNS, CELLS // max(-(-total // every), 1))
        order = dict.fromkeys([*_FIRST, *sweep.parameters, "error", *first, *names])
        found = _Columns([], {}, [], every)
        for name in order:
            if name not in names:
                continue
            column = file.read(columns=[name])[name]
            is_full = len(found.columns) >= most and name not in first
            _add(found, name, column, is_full, name in first, name in sweep.parameters)
    if every > 1:
        notes.append(f"The page has one run in {every:,} of {total:,}: means and charts are of these.")
    if found.left_out:
        notes.append(
            f"{len(found.left_out)} columns are left out, because the page would be too large: "
            f"{', '.join(found.left_out[:5])} ... --show names a column to be there."
        )
    return found


def _value(value: object) -> str:
    """A value that is varied, as the table of the runs has it: 0 and not 0.0."""
    written = str(value)
    return written.removesuffix(".0") if re.fullmatch(r"-?\d+\.0", written) else written


def _add(found: _Columns, name: str, column: "pa.ChunkedArray", is_full: bool, shown: bool, varied: bool) -> None:
    """Adds a column, or its only value; nothing if the page is full."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count == len(column) and not varied:
        found.same[name] = None
        return
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    # An error that all runs have is not what they were made with: it stands with each.
    may_be_same = name not in (*_FIRST, "error") and not varied
    if may_be_same and not column.null_count and pc.count_distinct(column).as_py() == 1:
        found.same[name] = column[0].as_py()
        return
    if is_full:
        found.left_out.append(name)
        return
    every = found.every
    kept = column.take(pa.array(range(0, len(column), every))) if every > 1 else column
    one: dict[str, Any] = {"name": name, "shown": shown or varied or name in ("run", "error"), "varied": varied}
    if pa.types.is_boolean(kept.type):
        one |= {"kind": "flag", "values": [None if value is None else int(value) for value in kept.to_pylist()]}
    elif name == "seed" or not (pa.types.is_integer(kept.type) or pa.types.is_floating(kept.type)):
        # A seed has more digits than a number of the browser.
        texts = [None if value is None else str(value) for value in kept.to_pylist()]
        words = {word: at for at, word in enumerate(dict.fromkeys(word for word in texts if word is not None))}
        one |= {"kind": "text", "words": list(words), "values": [None if w is None else words[w] for w in texts]}
    else:
        values = [float("nan") if value is None else value for value in kept.to_pylist()]
        one |= {"kind": "number", "values": shortened(values, 7), "whole": bool(pa.types.is_integer(kept.type))}
    found.columns.append(one)


def _series(sweep: Sweep, among: int, notes: list[str]) -> list[list[Any]]:
    """For each series its run, whose it is, its quantity, times and values: of as many runs as the page can hold.

    `among`: one run in this many is on the page.
    """
    if not sweep.info["series"]:
        return []
    total = int(sweep.info["runs"])
    with sweep._parquet("series.parquet") as file:
        if not file.metadata.num_rows:
            return []
        each = _first_count(file)
        runs = max(min(total, POINTS // (4 * _SPANS * each)), 1)
        # Only of runs that are on the page.
        every = among * -(-total // (runs * among))
        if every > 1:
            notes.append(f"The page has the time series of one run in {every:,} of {total:,}.")
        return [
            [run, whose, quantity, steps(times), shortened(values)]
            for run, (whose, quantity), times, values in _reduced(file, every)
        ]


def _first_count(file: "pq.ParquetFile") -> int:
    """How many series the first run has, about: as many as its first rows tell."""
    part = file.read_row_group(0, ["run", "table", "subject", "quantity"]).slice(0, 1 << 16)
    first = part["run"][0].as_py()
    import pyarrow.compute as pc

    part = part.filter(pc.equal(part["run"], first))
    return max(len(part.group_by(["table", "subject", "quantity"]).aggregate([])), 1)


def _reduced(file: "pq.ParquetFile", every: int) -> Iterator[tuple[int, tuple[str, str], Any, Any]]:
    """The series of every so manieth run, one run after the other."""
    import numpy as np

    waiting: dict[tuple[str, str], list[tuple[Any, Any]]] = {}
    now = -1

    def done() -> Iterator[tuple[int, tuple[str, str], Any, Any]]:
        for what, parts in waiting.items():
            times, values = (np.concatenate(one) for one in zip(*parts, strict=True))
            yield now, what, *downsample(times, values, _SPANS)

    for group in range(file.num_row_groups):
        part = file.read_row_group(group).unify_dictionaries()
        runs = numbers(part["run"]).astype(np.int64)
        keys = [part[name].combine_chunks() for name in ("table", "subject", "quantity")]
        codes = np.stack([runs, *(np.asarray(key.indices) for key in keys)])
        times, values = numbers(part["time_s"]), numbers(part["value"])
        starts = np.flatnonzero(np.append(True, (np.diff(codes) != 0).any(axis=0)))
        for start, end in zip(starts, [*starts[1:], len(runs)], strict=True):
            run = int(runs[start])
            if (run - 1) % every:
                continue
            if run != now:
                yield from done()
                waiting.clear()
                now = run
            table_, subject, quantity = (str(key.dictionary[int(codes[at, start])]) for at, key in enumerate(keys, 1))
            waiting.setdefault((f"{table_} {subject}", quantity), []).append((times[start:end], values[start:end]))
    yield from done()


def _repeat(sweep: Sweep, found: _Columns, beside: Path) -> list[list[Any]]:
    """For each run on the page the options of `quiclab run` that repeat it, and a link to its folder or None."""
    columns = {column["name"]: column for column in found.columns}
    texts: list[tuple[str, dict[Any, str]]] = []
    for parameter in sweep.info["parameters"]:
        column = columns.get(parameter["column"])
        values = list(dict.fromkeys(column["values"])) if column else []
        if len(values) != len(parameter.get("values", [])):
            # Two ways to write one value: which of them a run had is not known.
            return []
        texts.append((parameter["path"], dict(zip(values, parameter["values"], strict=True))))
    sets = [
        [f"{path}={of[value]}" for (path, of), value in zip(texts, row, strict=True)]
        for row in zip(*(columns[one["column"]]["values"] for one in sweep.info["parameters"]), strict=True)
    ] or [[] for _ in columns["seed"]["values"]]
    seeds = [columns["seed"]["words"][at] for at in columns["seed"]["values"]]
    folders = _folders(sweep, seeds, sets, beside)
    # Changes of the table have no effect on a run.
    words = [one for one in sweep.info.get("set", []) if not one.startswith("sweep.")]
    return [
        [" ".join(["--seed", seed, *(f"--set {shlex.quote(one)}" for one in [*words, *own])]), folders.get(at)]
        for at, (seed, own) in enumerate(zip(seeds, sets, strict=True))
    ]


def _folders(sweep: Sweep, seeds: Sequence[str], sets: Sequence[list[str]], beside: Path) -> dict[int, str]:
    """The folders of runs that were made again by `quiclab run`, by the place of the run: as links from the page."""
    start = str(_folder.numbered(str(sweep.info["scenario"]), 0).first.name).removesuffix("0")
    found: dict[int, str] = {}
    for path in _named(start, [Path("runs"), *([sweep.path.parent.parent / "runs"] if sweep.path else [])]):
        link = _link(path, beside)
        if link is None:
            continue
        try:
            run = load(path)
            if run.summary.get("version") != sweep.info.get("version"):
                continue
            seed = str(run.summary.get("seed"))
            resolved = run._recorded().to_toml()
            # The run has these values if setting them changes nothing.
            same = [at for at, one in enumerate(seeds) if one == seed and run._recorded(sets[at]).to_toml() == resolved]
        except (Error, OSError, ValueError):
            # Whatever lies there is no run of this sweep.
            continue
        if len(same) == 1:
            found.setdefault(same[0], link)
    return found


def _named(start: str, places: Sequence[Path]) -> list[Path]:
    """The first folders whose names begin with `start`. Links are followed; broken ones are skipped."""
    found: dict[Path, None] = {}
    for place in places:
        with suppress(OSError):
            named = sorted(path for path in place.iterdir() if path.name.startswith(start))
            found |= dict.fromkeys(Path(os.path.realpath(path)) for path in named)
    return [path for path in found if path.is_dir()][:_FOLDERS]


def _link(path: Path, beside: Path) -> str | None:
    """The relative address of a folder; None if it would say where the user's home is."""
    page = os.path.realpath(beside)
    if _folder.below_home(str(path)) and not _folder.below_home(page):
        return None
    return quote(os.fsencode(Path(os.path.relpath(path, page)).as_posix())) + "/"
