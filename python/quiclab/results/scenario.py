"""The class `Scenario`: what is simulated, read from a file, from text, or built in Python."""

import time
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from quiclab import _quiclab
from quiclab._quiclab import ScenarioError
from quiclab.results.attached import NotAttachedError, attached
from quiclab.results.run import Run
from quiclab.values import arguments, folders, regular_files, stored_tables, toml_text
from quiclab.values.plain_text import plain, short
from quiclab.values.progress import Callback, Progress, shown

Changes = Mapping[str, Any] | Iterable[str]
"""Changes to a document: `{"link.cell.forward.rate": "10 Mbit/s"}`, or `["link.cell.forward.rate=10 Mbit/s"]`."""


LONGEST = (16 << 20) + 1
"""Bytes of a file that are read: one more than the reader of scenarios takes, so that it says so."""

_MOST_DRAWS = 100_000_000

LARGEST_SEED = (1 << 63) - 1

_SECONDS_BETWEEN_REPORTS = 0.1


class Scenario:
    """A network and its traffic, read and checked.

    Built in Python, it is the same document as in a file, and the same reader checks it:

    >>> scenario = quiclab.Scenario(
    ...     name="two-hosts",
    ...     link=[{"name": "wire", "from": "server", "to": "client", "both": {"rate": "9 Mbit/s", "delay": "20 ms"}}],
    ...     flow=[{"name": "get", "client": "client", "server": "server", "application": "bulk"}],
    ...     duration="10 s",
    ... )
    >>> scenario.run()
    <quiclab.Run of 'two-hosts', seed 1>
      get: 8.491 Mbit/s, endless, mean RTT 62.26 ms, 73 packets lost

    Raises `ScenarioError` if the document is not valid. A scenario never changes; `with_` gives a changed copy.
    """

    def __init__(self, document_: Mapping[str, Any] | None = None, /, **keys: Any) -> None:
        self._origin = Path("<python>")
        self._sets: list[str] = []
        document = {} if document_ is None else arguments.table("Scenario: document", document_, "a table of its keys")
        try:
            self._inner, self._text = _quiclab.Scenario.of({**document, **keys}, self._origin)
        except UnicodeEncodeError as error:
            raise _no_text("Scenario", error) from error

    def _read(self, text: str, origin: Path, sets: list[str]) -> None:
        self._text = text
        self._origin = origin
        self._sets = sets
        self._inner = _quiclab.Scenario.parse(text, origin, sets)

    @classmethod
    def from_file(cls, path: str | PathLike[str], set: Changes = ()) -> "Scenario":
        """Reads a TOML file. Files named in it are relative to its folder. `set` changes it before it is checked.

        >>> quiclab.Scenario.from_file("examples/cellular.toml", {"seed": 7, "link.cell.forward.queue": "50 packets"})
        <quiclab.Scenario 'cellular' seed 7>

        :raises ScenarioError: the file cannot be read, or something in it is wrong: one line says where, and what.
        """
        where = arguments.path("from_file: path", path)
        try:
            with regular_files.opened(where) as file:
                text = file.read(LONGEST).decode("utf-8")
        except OSError as error:
            near = folders.beside(where) if isinstance(error, FileNotFoundError) else ""
            raise ScenarioError(f"{path}: {regular_files.reason(error)}{near}") from error
        except UnicodeDecodeError as error:
            raise ScenarioError(f"{path}: not text in UTF-8 (byte {error.start})") from error
        return cls._new(text, where, _sets(set))

    @classmethod
    def from_text(cls, text: str, set: Changes = (), *, origin: str | PathLike[str] = "<text>") -> "Scenario":
        """Reads a TOML document. Files named in it are relative to the folder of `origin`, which errors name too.

        >>> text = Path("examples/cellular.toml").read_text()
        >>> quiclab.Scenario.from_text(text, origin="examples/cellular.toml")
        <quiclab.Scenario 'cellular' seed 1>
        """
        document = arguments.text("from_text: text", text, "a scenario in TOML", most=None)
        return cls._new(document, arguments.path("from_text: origin", origin), _sets(set))

    @classmethod
    def _new(cls, text: str, origin: Path, sets: list[str]) -> "Scenario":
        scenario = cls.__new__(cls)
        scenario._read(text, origin, sets)
        return scenario

    def with_(self, changes: Changes = (), /, **keys: Any) -> "Scenario":
        """A copy with changes: by the paths of keys, or as keyword arguments for keys at the top of the file.

        >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml")
        >>> for controller in ("newreno", "bbr3"):
        ...     run = scenario.with_({"flow.download.transport.controller": controller}, duration="10 s").run()
        ...     print(controller, run.summary["connections"][0]["rtt_mean_ms"])
        newreno 287.974388
        bbr3 147.187284
        """
        return self._new(self._text, self._origin, [*self._sets, *_sets(changes), *_sets(keys)])

    def _seeded(self, seed: int) -> "Scenario":
        """`with_(seed=seed)`, which is not read again if the seed is right."""
        if type(seed) is not int or not 0 <= seed <= LARGEST_SEED:
            return self.with_(seed=seed)
        scenario = type(self).__new__(type(self))
        scenario._text, scenario._origin = self._text, self._origin
        scenario._sets = [*self._sets, f"seed={seed}"]
        scenario._inner = self._inner.with_seed(seed)
        return scenario

    @property
    def name(self) -> str:
        """Its name."""
        return self._inner.name

    @property
    def seed(self) -> int:
        """The seed of its random streams."""
        return self._inner.seed

    def to_toml(self) -> str:
        """The document with every default filled in. Reading it back gives the same run.

        >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml")
        >>> quiclab.Scenario.from_text(scenario.to_toml()).run().summary == scenario.run().summary
        True
        """
        return self._inner.to_toml()

    def describe(self) -> list[tuple[str, str]]:
        """A description for people: pairs of a subject and a text, as `quiclab check` prints them.

        >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml")
        >>> dict(scenario.describe())["flow download, server to client"]
        'bottleneck cell forward 6.005 Mbit/s, base RTT 50 ms, BDP 37.532 kB'
        """
        return self._inner.describe()

    @property
    def notes(self) -> list[str]:
        """A sentence for each thing that is left out of the files that it names, such as requests of a HAR file."""
        return self._inner.file_notes()

    def page_draws(self, flow: str, count: int) -> dict[str, bytes]:
        """The first random numbers, for each quantity, from which a run makes the web pages of a flow.

        By the name of the quantity (`main-size`), not rounded: bytes, objects or seconds, as doubles for
        `numpy.frombuffer`. Pages from a file have none. Raises `RunError` if the flow has no web pages.
        """
        arguments.text("page_draws: flow", flow, "the name of a flow with web pages")
        return self._inner.page_draws(flow, arguments.whole("page_draws: count", count, 0, _MOST_DRAWS))

    def __reduce__(self) -> tuple[Callable[..., "Scenario"], tuple[str, Path, list[str]]]:
        # For other processes, and for copies: it is read again there, its files too.
        return type(self)._new, (self._text, self._origin, self._sets)

    def __repr__(self) -> str:
        return f"<quiclab.Scenario {self.name!r} seed {self.seed}>"

    @attached
    def _repr_html_(self) -> str:
        raise NotAttachedError

    def run(
        self,
        seed: int | None = None,
        *,
        qlog: bool = False,
        pcap: bool = False,
        out: str | PathLike[str] | Literal[True] | None = None,
        tables: bool = True,
        figure: bool = True,
        progress: Callback | bool | None = None,
    ) -> Run:
        """Runs the scenario in virtual time, on the calling thread, without holding the GIL.

        >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml")
        >>> run = scenario.run(seed=2, qlog=True, out="runs/second")
        >>> [file.name for file in run.qlogs]
        ['download-client.sqlog', 'download-server.sqlog']

        :param seed: instead of the scenario's own. Equal seeds give equal results, byte for byte.
        :param qlog: write one .sqlog file for each end of each connection.
        :param pcap: write a capture with the TLS secrets in it (packets are then protected by real cryptography).
        :param out: the run folder; it must not exist. True: runs/NAME-seedN, with -2, -3 ... if that is taken.
            Long tables are written there during the run, and read from there later.
            None: no folder; results stay in memory, traces in a temporary folder, until `Run.save`.
        :param tables: keep the tables. Without them, or with a folder, memory does not grow with the bytes of the run.
        :param figure: draw figure.png into the run folder (if there is the table `connection`).
        :param progress: called with a `Progress` at most ten times a second; True shows it on stderr or in a notebook.
        :raises RunError: the run could not continue.
        :raises OutputError: results could not be written.
        :raises KeyboardInterrupt: within a tenth of a second; a run folder that is not complete is removed.
        """
        scenario = self if seed is None else self._seeded(seed)
        if progress is True:
            with shown(self.name) as callback:
                return scenario.run(qlog=qlog, pcap=pcap, out=out, tables=tables, figure=figure, progress=callback)
        report = _report(arguments.function("run: progress", progress) if progress else None)
        if out is None:
            # Held by the Run, and gone with it.
            traces = folders.temporary() if qlog or pcap else None
            run = scenario._run(Path(traces.name) if traces else Path(), qlog, pcap, tables, report)
            run._traces = traces
            return run
        names = (
            folders.numbered(self.name, scenario.seed) if out is True else folders.only(arguments.path("run: out", out))
        )
        with folders.complete(names) as (path, place):
            with stored_tables.writing(path) as files:
                run = scenario._run(path, qlog, pcap, tables, report, files)
            run._write(path, figure=figure)
        assert place.final is not None, "the folder is complete"
        run._moved(place.final)
        return run

    def _run(
        self,
        path: Path,
        qlog: bool,
        pcap: bool,
        tables: bool,
        report: Callable[..., object] | None,
        files: stored_tables.Files | None = None,
    ) -> Run:
        summary, results = self._inner.run(
            tables=tables,
            qlog=path if qlog else None,
            pcap=path / folders.CAPTURE if pcap else None,
            progress=report,
            store=files,
        )
        if files is None:
            return Run(summary, self, {table.name: table for table in results})
        return Run(summary, self, files.finish((table.name, table, table.note) for table in results))


def _report(callback: Callback | None) -> Callable[..., object] | None:
    if callback is None:
        return None
    next_call = 0.0

    def report(now: float, end: float, done: int, total: int | None) -> None:
        nonlocal next_call
        if (clock := time.monotonic()) >= next_call:
            next_call = clock + _SECONDS_BETWEEN_REPORTS
            callback(Progress(now, end, done, total))

    return report


def _sets(changes: Changes) -> list[str]:
    if isinstance(changes, str):
        return [arguments.text("changes", changes, _CHANGES, most=None)]
    if not isinstance(changes, Iterable):
        raise ScenarioError(f"changes: {changes!r} is not a set of changes; expected {_CHANGES}")
    given = list(changes)
    wrong = [one for one in given if not isinstance(one, str)]
    if wrong:
        raise ScenarioError(f"changes: {wrong[0]!r} is not the path of a key; expected {_CHANGES}")
    try:
        if isinstance(changes, Mapping):
            for key in given:
                arguments.text("changes", key, "the path of a key")
            return [f"{key}={toml_text.literal(value, key)}" for key, value in changes.items()]
        for one in given:
            one.encode()
    except UnicodeEncodeError as error:
        raise _no_text("changes", error) from error
    return given


def _no_text(what: str, error: UnicodeEncodeError) -> ScenarioError:
    return ScenarioError(short(f"{what}: {plain(error.object)}: not text in UTF-8", _LONGEST_LINE))


_LONGEST_LINE = 280
"""The longest error, in letters."""
_CHANGES = '{"link.cell.rate": "5 Mbit/s"}, or ["link.cell.rate=5 Mbit/s"]'
