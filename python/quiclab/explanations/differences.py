"""What differs between two runs, scenarios or sweeps: `quiclab.diff`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard

from quiclab import _quiclab
from quiclab._quiclab import Error, OutputError
from quiclab.explanations import table_differences
from quiclab.results.agreement import NAMES
from quiclab.results.numbers import important
from quiclab.results.run import Run, load
from quiclab.results.scenario import Scenario
from quiclab.results.sweeps import Sweep, load_sweep
from quiclab.values import arguments, regular_files
from quiclab.values.rounding import decimals, is_number, text

Comparable = Run | Scenario | Sweep | str | PathLike[str]
"""What can be compared: an object, or the path of a run's folder, a sweep's folder, or a scenario file."""

_KINDS = {
    "connections": "connection",
    "links": "link",
    "media": "medium",
    "processing": "processing",
    "nodes": "node",
}
"""Lists of a summary, and how the names of their values begin: as the columns of a sweep do."""
_NOT_RESULTS = ("scenario", "seed")


@dataclass(frozen=True)
class Change:
    """A value that differs."""

    key: str
    """Its path: `transport.ack_ratio`, `connection.download.goodput_mbps`."""
    a: Any
    """The value in the first; None if it has none."""
    b: Any
    """The value in the second; None if it has none."""

    @property
    def difference(self) -> float | None:
        """`b - a`; None if one of them is not a number."""
        return self.b - self.a if is_number(self.a) and is_number(self.b) else None

    @property
    def percent(self) -> float | None:
        """The difference as percent of `a`; None if there is none, or if `a` is 0."""
        return 100 * self.difference / abs(self.a) if self.difference is not None and self.a else None

    def as_json(self) -> dict[str, Any]:
        """As `quiclab diff --json` prints it."""
        return {
            "key": self.key,
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "percent": self.percent,
        }

    def texts(self) -> tuple[str, str, str, str]:
        """For people: both values, evenly rounded, the difference and the percent."""
        digits = decimals([self.a, self.b])
        difference = "" if self.difference is None else f"{self.difference:+,.{digits}f}"
        percent = "" if self.percent is None else f"{self.percent:+,.1f} %"
        return value_text(self.a, digits), value_text(self.b, digits), difference, percent


@dataclass(frozen=True)
class Diff:
    """What differs. It is false if nothing does."""

    scenario: list[Change] = field(default_factory=list)
    """Keys of the resolved scenarios; of two sweeps, of their scenario files."""
    results: list[Change] = field(default_factory=list)
    """Numbers of the summaries, or where these are the same, of the tables; of two sweeps, the numbers of runs, and
    means over the runs of each combination."""
    notes: list[str] = field(default_factory=list)
    """What could not be compared."""

    def __bool__(self) -> bool:
        return bool(self.scenario or self.results)

    def __str__(self) -> str:
        lines = [f"{change.key} {value_text(change.a)} {value_text(change.b)}" for change in self.scenario]
        lines += [" ".join([change.key, *change.texts()]).rstrip() for change in self.results]
        return "\n".join([*lines, *self.notes]) or "nothing differs"


def diff(a: Comparable, b: Comparable) -> Diff:
    """What differs between two runs, two scenarios or two sweeps.

    :param a: the first: an object, or the path of a run's folder, a sweep's folder or a scenario file.
    :param b: the second. A run can be compared with a scenario, but not with a sweep.
    :raises Error: one of them cannot be read, or they cannot be compared.

    >>> scenario = quiclab.Scenario.from_file("examples/cellular.toml")
    >>> print(quiclab.diff(scenario, scenario.with_({"transport.ack_ratio": 4})))
    transport.ack_ratio 2 4
    >>> a, b = (scenario.with_({"transport.ack_ratio": n}).run(tables=False) for n in (2, 4))
    >>> [change.key for change in quiclab.diff(a, b).results if "goodput" in change.key]
    ['connection.download.goodput_mbps']
    """
    one, other = _read(a), _read(b)
    if isinstance(one, Sweep) != isinstance(other, Sweep):
        raise Error(f"{_told(a)} and {_told(b)}: a sweep can only be compared with another sweep")
    if isinstance(one, Sweep) and isinstance(other, Sweep):
        return _of_sweeps(one, other)
    assert not isinstance(one, Sweep) and not isinstance(other, Sweep)
    scenario = changes(_values(one), _values(other))
    if isinstance(one, Run) and isinstance(other, Run):
        found = changes(results(one.summary), results(other.summary))
        # The same numbers come from the same rows, unless somebody changed them.
        return Diff(scenario, found or [Change(*each) for each in table_differences.differences(one, other)])
    notes = []
    if isinstance(one, Run) or isinstance(other, Run):
        notes = [f"{_told(b if isinstance(one, Run) else a)} is a scenario: it has no results to compare"]
    return Diff(scenario, [], notes)


class Values(dict[str, Any]):
    """The values of a document by their paths."""

    def __init__(self, document: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
        """`kinds` says how the names of the values in a list begin, where that is not the key of the list."""
        super().__init__()
        self.entries: dict[str, Mapping[str, Any]] = {}
        """The tables in its lists, by their paths: links, flows, connections."""
        for key, value in document.items():
            if _are_tables(value):
                for at, entry in enumerate(value):
                    names = [str(entry[part]) for part in NAMES if isinstance(entry.get(part), str)]
                    if key not in kinds:
                        names = names[:1]
                    path = ".".join([kinds.get(key, key), *(names or [str(at)])])
                    named = NAMES if key in kinds else NAMES[:1]
                    self.entries[path] = entry
                    self.update(_leaves({part: one for part, one in entry.items() if part not in named}, path))
            else:
                self.update(_leaves(value, key))


def results(summary: Mapping[str, Any]) -> Values:
    """The values of a summary by the names that they have as columns of a sweep."""
    return Values({key: value for key, value in summary.items() if key not in _NOT_RESULTS}, _KINDS)


def scenario_values(document: Mapping[str, Any]) -> Values:
    """The values of a scenario's document by their paths, as `--set` has them."""
    return Values(document, {})


def changes(a: Values, b: Values) -> list[Change]:
    """What differs between two documents: see `compared`."""
    return [Change(key, one, other) for key, (one, other) in compared([a, b]).items()]


def compared(documents: Sequence[Values]) -> dict[str, list[Any]]:
    """The paths whose values are not the same in all documents, with their values.

    In the order of the first document; what it does not have comes last. Components of different types are one path:
    their options have nothing to do with each other. So is a link or a flow that not all have.
    """
    documents = _with_inherited(documents)
    found: dict[str, list[Any]] = {}
    below: list[str] = []
    keys = dict.fromkeys(key for one in documents for key in one)
    types = {key.removesuffix(".type") for key in keys if key.endswith(".type")}
    for path in dict.fromkeys(path for one in documents for path in one.entries):
        if not all(path in one.entries for one in documents):
            below.append(f"{path}.")
            found[path] = [one.entries.get(path) for one in documents]
    for place in types:
        values = [one.get(f"{place}.type", one.get(place)) for one in documents]
        if not _same(values) and not place.startswith(tuple(below)):
            below.append(f"{place}.")
            found[place] = [_component(one, place) for one in documents]
    for key in keys:
        values = [one.get(key) for one in documents]
        if key not in found and not key.startswith(tuple(below)) and not _same(values):
            found[key] = values
    places = {key: at for at, key in reversed(list(enumerate(keys)))}
    firsts = {path: next((places[key] for key in keys if _is_at(key, path)), 0) for path in found}
    return dict(sorted(found.items(), key=lambda pair: firsts[pair[0]]))


def _with_inherited(documents: Sequence[Values]) -> Sequence[Values]:
    """The documents with what a flow of one has of its own, as the others take it from the tables of all flows."""
    own = {
        (path, f"{table}.{key}")
        for one in documents
        for path, entry in one.entries.items()
        if path.startswith("flow.")
        for table in ("transport", "tcp")
        if isinstance(entry.get(table), Mapping)
        for key in entry[table]
    }
    found = []
    for document in documents:
        whole = copy(document)
        for path, key in sorted(own):
            place = f"{path}.{key}"
            if path in document.entries and not any(_is_at(one, place) for one in document):
                whole.update({f"{path}.{one}": value for one, value in document.items() if _is_at(one, key)})
        found.append(whole)
    return found


def _is_at(key: str, place: str) -> bool:
    return key == place or key.startswith(f"{place}.")


def value_text(value: Any, digits: int | None = None) -> str:
    """A value of a scenario or of a summary for people, on one line: numbers with `digits` decimals, or as they are."""
    if isinstance(value, Mapping):
        if "name" in value:
            # A link or a flow that the other does not have.
            return "present"
        options = [f"{key}={value_text(one)}" for key, one in value.items() if key != "type"]
        return " ".join([*([str(value["type"])] if "type" in value else []), *options])
    if isinstance(value, list):
        return ", ".join(value_text(one) for one in value) or "none"
    return f"{value:.10g}" if is_number(value) and digits is None else text(value, digits or 0)


def _component(values: Mapping[str, Any], place: str) -> Any:
    """A component with its options, as it stands in the document."""
    if place in values:
        return values[place]
    return {key[len(place) + 1 :]: value for key, value in values.items() if key.startswith(f"{place}.")} or None


def _same(values: Sequence[Any]) -> bool:
    return all(value == values[0] and isinstance(value, bool) == isinstance(values[0], bool) for value in values[1:])


def _are_tables(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The values below a value, by their paths."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    elif _are_tables(value):
        for at, entry in enumerate(value):
            yield from _leaves(entry, f"{path}.{at}")
    else:
        yield path, value


def _read(given: Comparable) -> "Run | Scenario | Sweep | _quiclab.Scenario":
    if isinstance(given, Run | Scenario | Sweep):
        return given
    path = arguments.path("diff", given)
    if path.is_dir():
        return folder(path)
    if not path.exists():
        raise Error(f"{path}: there is no such run folder, sweep folder or scenario file")
    # Who compares runs nothing: code that the scenario names is not loaded.
    return _recorded(path)


def _recorded(path: Path) -> _quiclab.Scenario:
    try:
        text = regular_files.text(path)
    except (OSError, ValueError) as error:
        raise Error(f"{path}: {regular_files.reason(error)}") from error
    return _quiclab.Scenario.recorded(text, path)


def folder(path: Path) -> Run | Sweep:
    """The run or the sweep of a folder. Raises `OutputError` if it is neither, or if its files do not agree."""
    is_sweep = (path / "sweep.json").exists() or (path / "finished").is_dir()
    if is_sweep:
        return load_sweep(path)
    run = load(path)
    run._check()
    return run


def _told(given: Comparable) -> str:
    return repr(given) if isinstance(given, Run | Scenario | Sweep) else str(given)


def _values(of: "Run | Scenario | Sweep | _quiclab.Scenario") -> Values:
    """The resolved scenario; of a sweep its scenario file, and what was set beside it."""
    if isinstance(of, Sweep):
        document = sweep_document(of)
        sets = dict(one.partition("=")[::2] for one in of.info.get("set", []))
        return scenario_values({**document, **({"--set": sets} if sets else {})})
    if isinstance(of, Run):
        return scenario_values(run_document(of))
    return scenario_values(_from_here(of._inner if isinstance(of, Scenario) else of))


def run_document(run: Run) -> dict[str, Any]:
    """The resolved scenario of a run, with files as they are named from here. Raises `OutputError` if it is none."""
    try:
        return _from_here(run._recorded())
    except Error:
        # Files that it names are gone, or another version wrote it.
        return run._document


def _from_here(scenario: _quiclab.Scenario) -> dict[str, Any]:
    """The values of a scenario: one file has one name, whichever folder the scenario is in."""
    return regular_files.toml_values(scenario.to_toml(Path.cwd()))


def sweep_document(sweep: Sweep) -> dict[str, Any]:
    """The scenario file of a sweep. Raises `OutputError` if it cannot be read."""
    where = sweep.series_path.with_name("sweep.toml")
    try:
        return regular_files.read_toml(where)
    except (OSError, ValueError) as error:
        raise OutputError(f"{where}: cannot be read: {regular_files.reason(error)}") from error


def _of_sweeps(a: Sweep, b: Sweep) -> Diff:
    scenario = changes(_values(a), _values(b))
    one, other = _means(a), _means(b)
    both = [key for key in one if key in other]
    found = [Change(key, a.info[key], b.info[key]) for key in ("runs", "failed") if a.info.get(key) != b.info.get(key)]
    found += [Change(key, one[key], other[key]) for key in both if one[key] != other[key]]
    notes = [
        f"{len(keys)} means are only in the {which} sweep: the other lacks their combinations or columns"
        for which, keys in (("first", one.keys() - other.keys()), ("second", other.keys() - one.keys()))
        if keys
    ]
    return Diff(scenario, found, notes)


def _means(sweep: Sweep) -> dict[str, float | None]:
    """The means of the most important columns, by combination."""
    columns = important(sweep.runs.column_names)
    rows: Iterable[dict[str, Any]] = sweep.means(*columns).to_pylist() if columns else []
    return {
        ", ".join([*(f"{name}={row[name]}" for name in sweep.parameters), f"mean {row['column']}"]): row["mean"]
        for row in rows
    }
