"""The class `Run`: the results of a run, in memory or in a run folder."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab import _quiclab
from quiclab._quiclab import Error, OutputError
from quiclab.results import agreement
from quiclab.results.attached import NotAttachedError, attached
from quiclab.results.recorded import Simulated
from quiclab.results.table import Table
from quiclab.values import arguments, folders, libraries, regular_files, shapes, stored_tables

if TYPE_CHECKING:
    import tempfile

    import pyarrow as pa

    from quiclab.results.answer import Answer
    from quiclab.results.figure import Figure

_NOTES = "notes"
"""The key of summary.json with what was left out of files."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*", re.ASCII)
"""What the name of a table may be."""


class Run:
    """The results of a run: from `Scenario.run`, or read back by `load`.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> run
    <quiclab.Run of 'cellular', seed 1>
      download: 5.401 Mbit/s, completed in 14.812 s, mean RTT 290.67 ms, 233 packets lost
    >>> run.summary["connections"][0]["packets_lost"]
    233
    >>> int(run.table("connection").to_pandas()["cwnd_bytes"].max())
    659456
    """

    def __init__(
        self,
        summary: dict[str, Any] | _quiclab.Summary,
        scenario: Simulated | str,
        tables: "Mapping[str, _quiclab.Table | pa.Table | Path]",
    ) -> None:
        """The values of the summary, and the document of the scenario, are made when they are asked for."""
        if isinstance(summary, dict):
            self.summary = summary
        else:
            self._inner = summary
        self._scenario = scenario
        self._left_out: list[str] | None = None
        self._sources = dict(tables)
        self._tables: dict[str, Table] = {}
        self._traces: tempfile.TemporaryDirectory[str] | None = None
        self._path: Path | None = None
        self._is_checked = True

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The numbers: scenario, seed, version, duration_s, and one entry per connection and per link direction.

        Units are the last word of a key: ``goodput_mbps`` (application bytes, 10^6 bit/s), ``rtt_mean_ms``,
        ``completion_s`` (None if not completed). ``packets_lost`` counts packets lost in the network,
        ``packets_declared_lost`` those that the sender declared lost.
        """
        return self._inner.read()

    @property
    def path(self) -> Path | None:
        """The run folder; None if it was not saved."""
        return self._path

    @cached_property
    def scenario_toml(self) -> str:
        """The scenario as it was run, with every default filled in."""
        return self._scenario if isinstance(self._scenario, str) else self._scenario.to_toml()

    @cached_property
    def _document(self) -> dict[str, Any]:
        """The values of the resolved scenario. Raises `OutputError` if its file was changed so that it is none."""
        try:
            document = regular_files.toml_values(self.scenario_toml)
            shapes.scenario("", document)
        except (ValueError, shapes.WrongError) as error:
            where = self._path / folders.SCENARIO if self._path else folders.SCENARIO
            raise OutputError(f"{where}: cannot be read: {error}") from error
        return document

    def _recorded(self, sets: Sequence[str] = ()) -> _quiclab.Scenario:
        """The scenario, to look at it, without the code that it names. Raises `ScenarioError` if it cannot be read."""
        where = self._path or Path()
        return _quiclab.Scenario.recorded(self.scenario_toml, where / folders.SCENARIO, sets)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables."""
        return tuple(self._sources)

    def table(self, name: str) -> Table:
        """A table by name: a view of the simulator's memory, without copying, or read from its file.

        All its rows are then in memory, as long as the run exists: see `parts` for long tables. Raises `Error`
        if there is no such table, and `OutputError` if the file cannot be read.

        >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
        >>> run.table("drop")
        <quiclab.Table, 233 rows, 4 columns>
          time_s  link          length_bytes  reason
        0.599292  cell forward          1500  queue
        0.602268  cell forward          1500  queue
         0.60228  cell forward          1500  queue
        0.602292  cell forward          1500  queue
          0.6155  cell forward          1500  queue
        0.615512  cell forward          1500  queue
        0.615524  cell forward          1500  queue
        0.615536  cell forward          1500  queue
         0.62028  cell forward          1500  queue
        0.620292  cell forward          1500  queue
        and 223 more rows
        """
        arguments.text("table: name", name, "the name of a table")
        if name not in self._tables:
            self._tables[name] = Table(stored_tables.whole(self._source(name)))
        return self._tables[name]

    @attached
    def why(self, connection: str | None = None, *, tries: bool = True) -> "list[Answer]":
        """Where the time of each connection went, or of one: see `quiclab.why.why`.

        >>> (answer,) = quiclab.Scenario.from_file("examples/cellular.toml").run().why("download")
        >>> answer.completed, answer.causes[0].name
        (True, 'capacity')
        """
        raise NotAttachedError

    def parts(self, name: str, columns: Sequence[str], *, backwards: bool = False) -> Iterator[Table]:
        """The rows of a table in parts, with these columns: a file is read one part after the other.

        >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
        >>> max(max(part["cwnd_bytes"].to_pylist()) for part in run.parts("connection", ["cwnd_bytes"]))
        659456

        :param backwards: begin with the last part.
        :raises OutputError: the file cannot be read.
        """
        source = self._source(arguments.text("parts: name", name, "the name of a table"))
        columns = arguments.texts("parts: columns", columns, "names of columns")
        of_file = isinstance(source, Path) and name not in self._tables
        parts = stored_tables.parts(source if of_file else self.table(name).arrow, columns, backwards=backwards)
        return map(Table, parts)

    def _check(self) -> None:
        """Raises `OutputError` if its folder was changed so that its summary, scenario and tables do not agree."""
        if not self._is_checked and self._path is not None:
            with libraries.loaded(figures=False):
                agreement.of_run(self, self._path)
            self._is_checked = True

    def _source(self, name: str) -> "_quiclab.Table | pa.Table | Path":
        if name not in self._sources:
            known = ", ".join(self._sources) or "the run was made without tables"
            raise Error(f"no table {name!r}: {known}")
        return self._sources[name]

    @property
    def memory(self) -> list[dict[str, Any]]:
        """What the hosts know about paths at the end, if the option `resume` asks for it.

        These are entries `[[memory]]` of a scenario: `scenario.with_(memory=run.memory)` starts with them. Each has the
        keys name, node, peer, protocol, capacity, rtt, age and ip, and address if the peer is not known by that of its
        node. Each may be changed before it is passed on: `{**entry, "capacity": "100 MB"}`.
        """
        return [_remembered(number, entry) for number, entry in enumerate(self.summary.get("memory") or [])]

    @property
    def notes(self) -> list[str]:
        """What you should know before you use the results: a sentence for each thing that is missing in them.

        First what was left out of the files of the scenario (entries of a HAR file, sets of an MPD), as
        `Scenario.notes` says it; then the tables from which rows are missing because there would have been too many.
        """
        notes = (stored_tables.note(source) for source in self._sources.values())
        return [*self._notes_of_files(), *(note for note in notes if note is not None)]

    def _notes_of_files(self) -> list[str]:
        if self._left_out is None:
            self._left_out = [] if isinstance(self._scenario, str) else self._scenario.notes
        return self._left_out

    @property
    def qlogs(self) -> list[Path]:
        """The qlog files, one for each end of each connection, if they were asked for."""
        where = self._files
        return sorted(where.glob("*.sqlog")) if where else []

    @property
    def capture(self) -> Path | None:
        """The packet capture, if it was asked for."""
        where = self._files
        return where / folders.CAPTURE if where and (where / folders.CAPTURE).exists() else None

    @property
    def _files(self) -> Path | None:
        if self._path is not None:
            return self._path
        return Path(self._traces.name) if self._traces else None

    def save(self, path: str | PathLike[str], *, figure: bool = True) -> Path:
        """Writes the run folder, which must not exist. Runs of equal seeds give equal bytes.

        >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
        >>> sorted(file.name for file in run.save("there").iterdir())[:3]
        ['air.parquet', 'connection.parquet', 'drop.parquet']

        Raises `OutputError` if it cannot be written; then nothing of it remains.
        """
        where = arguments.path("save: path", path)
        with folders.complete(folders.only(where)) as (partial, place):
            for trace in [*self.qlogs, *([self.capture] if self.capture else [])]:
                shutil.copyfile(trace, partial / trace.name)
            self._write(partial, figure=figure)
        self._path = place.final
        return where

    @attached
    def plot(
        self,
        path: str | PathLike[str] | None = None,
        kind: str = "overview",
        *,
        connection: str | None = None,
    ) -> "Figure":
        """Draws the run over time: window, RTT, rates, queue, losses, link layers.

        Returns a matplotlib figure, which a notebook shows.

        >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
        >>> figure = run.plot("figure.pdf", kind="rtt")
        >>> figure.axes[0].get_ylabel()
        'RTT (ms)'

        :param path: also write it there: .png, .svg or .pdf (a PDF has one page per connection).
        :param kind: one of `quiclab.plots.PLOTS`.
        :param connection: only this one; otherwise all, side by side.
        """
        raise NotAttachedError

    def __getstate__(self) -> dict[str, Any]:
        # A copy, or another process, does not read the scenario again.
        known = {"summary": self.summary, "_scenario": self.scenario_toml, "_left_out": self._notes_of_files()}
        state = {**self.__dict__, **known}
        state.pop("_inner", None)
        return state

    @attached
    def __repr__(self) -> str:
        raise NotAttachedError

    @attached
    def _repr_html_(self) -> str:
        raise NotAttachedError

    @attached
    def _draw(self, path: Path) -> None:
        """Draws the overview into a file of the run folder."""
        raise NotAttachedError

    def _moved(self, path: Path) -> None:
        """Says where its folder is now."""
        self._path = path
        self._sources = {
            name: path / source.name if isinstance(source, Path) else source for name, source in self._sources.items()
        }

    def _write(self, path: Path, *, figure: bool) -> None:
        (path / folders.SCENARIO).write_text(folders.without_home(self._toml_in(path)), encoding="utf-8")
        left_out = self._notes_of_files()
        whole = {**self.summary, _NOTES: left_out} if left_out else self.summary
        summary = json.dumps(folders.without_home(whole), indent=2, ensure_ascii=False)
        (path / folders.SUMMARY).write_text(summary + "\n", encoding="utf-8")
        if not self.tables:
            return
        # A run is kept even where there is nothing to draw.
        figure = figure and "connection" in self.tables and bool(self.summary.get("connections"))
        with libraries.loaded(figures=figure):
            self._write_tables(path)
            if figure:
                self._draw(path / folders.FIGURE)

    def _toml_in(self, folder: Path) -> str:
        """The scenario for a file in a folder: the files that it names are found from there (`Scenario.to_toml_in`)."""
        if not isinstance(self._scenario, str):
            return self._scenario._inner.to_toml(folder)
        try:
            return self._recorded().to_toml(folder)
        except Error:
            # Files that it names are gone.
            return self._scenario

    def _write_tables(self, path: Path) -> None:
        with stored_tables.writing(path) as files:
            for name, source in self._sources.items():
                if isinstance(source, Path):
                    if source.parent != path:
                        shutil.copyfile(source, path / source.name)
                else:
                    files.finish([(name, self.table(name).arrow, stored_tables.note(source))])


def load(path: str | PathLike[str]) -> Run:
    """Reads a run folder back. Raises `OutputError` if it is not one, or not complete.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run(out="runs/cellular")
    >>> quiclab.load("runs/cellular").summary == run.summary
    True
    """
    where = arguments.path("load: path", path)
    if not where.is_dir():
        found = folders.file_instead(where) or f"there is no such run folder{folders.beside(where)}"
        raise OutputError(f"{where}: {found}")
    name = folders.SUMMARY
    try:
        summary = regular_files.read_json(where / name)
        name = folders.SCENARIO
        scenario = regular_files.text(where / name)
    except FileNotFoundError as error:
        why = folders.instead(where) or f"it has no {name}"
        raise OutputError(f"{where}: not a run folder: {why}") from error
    except (OSError, ValueError) as error:
        raise OutputError(f"{where}: cannot be read as a run folder: {name}: {regular_files.reason(error)}") from error
    try:
        shapes.summary("", summary)
        agreement.summary(summary)
    except shapes.WrongError as wrong:
        raise OutputError(f"{where}: cannot be read as a run folder: {folders.SUMMARY}: {wrong}") from wrong
    left_out = summary.pop(_NOTES, [])
    # What has a name that no table has was put there by something else.
    files = (file for file in sorted(where.glob("*.parquet")) if _NAME.fullmatch(file.stem))
    run = Run(summary, scenario, {file.stem: file for file in files})
    run._path, run._left_out, run._is_checked = where, left_out, False
    return run


def _remembered(number: int, entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of a summary as an entry of a scenario."""
    values = {
        "capacity": f"{entry['capacity_bytes']} B",
        "rtt": f"{entry['rtt_ms']} ms",
        "age": f"{entry['age_s']} s",
    }
    same: dict[str, Any] = {key: entry[key] for key in ("node", "peer", "protocol", "ip", "address") if key in entry}
    return {"name": f"path-{number}", **same, **values}
