"""Whether the files of a folder of results agree with each other; `shapes` checks what each of them holds by itself."""

from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import OutputError
from quiclab.results import numbers
from quiclab.results.recorded import Recorded
from quiclab.values import shapes, stored_tables
from quiclab.values.plain_text import plain
from quiclab.values.shapes import MISSING, WrongError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq


NAMES = ("name", "direction", "attachment", "to")
"""What together names an entry of a summary."""
_ALWAYS = ("sender", "completed", "completion_s", "goodput_mbps", "delivered_bytes", "packets_sent")
"""What the entry of a connection has that was begun; one that was not has only its name."""
_SIMULATED = "packets_lost"
"""What it has besides in a simulation, which knows more of a connection than gates with real programs."""
_AT_MOST = (
    ("completion_s", "duration_s"),
    ("first_byte_s", "duration_s"),
    ("first_byte_s", "completion_s"),
    ("packets_lost", "packets_sent"),
    ("data_packets_sent", "packets_sent"),
    ("return_packets_lost", "return_packets_sent"),
)
"""Pairs of numbers of a connection, the first of which is no larger than the second."""
_ROUNDED = 1e-6
"""How far rounding moves a number of a summary, in seconds or Mbit/s."""
_SAME = 1e-3
"""The share by which a goodput may differ from the bytes divided by the time."""
_IN_ORDER = {
    "connection": ("connection", "side"),
    "loss": ("connection", "side"),
    "event": ("connection", "side"),
    "wait": ("connection", "side"),
    "playback": ("connection",),
    "queue": ("link",),
    "drop": ("link",),
    "rate": ("subject", "kind"),
    "node": ("node", "gauge"),
    "air": ("link",),
}
"""The tables in which time never runs backwards, and the columns, at most two, that name whose time it is."""
_LONGEST = 60
"""Letters of a wrong name that an error shows."""
_OF_RUNS = (".packets_sent", ".sender")
"""How the columns of a connection end in the table of a sweep's runs."""
_NUMBERS = ("_s", "_ms", "_mbps", "_bytes", "packets_sent", "packets_lost")
"""How columns of numbers end there."""
_SIDES = frozenset({"client", "server"})


def summary(found: dict[str, Any]) -> None:
    """Checks that the numbers of a summary go together. Raises `WrongError`, which names the first that does not."""
    for kind in ("connections", "links", "media"):
        names = [tuple(entry.get(part) for part in NAMES) for entry in found.get(kind, [])]
        for at, name in enumerate(names):
            if name in names[:at]:
                raise WrongError(
                    f"{kind}.{at}", name, "each name once", said=f"has a name that {kind}.{names.index(name)} has"
                )
    carriers = _carriers(found)
    copies = sum(entry.get("duplicated", 0) for kind in ("links", "media") for entry in found.get(kind, []))
    for at, entry in enumerate(found.get("connections", [])):
        if entry.keys() > {"name"}:
            _connection(f"connections.{at}", entry, found["duration_s"], carriers, copies)
            if "emulation" not in found:
                _simulated(f"connections.{at}", entry)


def _simulated(path: str, entry: Mapping[str, Any]) -> None:
    if _SIMULATED not in entry:
        raise WrongError(f"{path}.{_SIMULATED}", MISSING, "it, as each connection that was begun has it")
    completion_s = entry["completion_s"]
    if completion_s and entry["goodput_mbps"] is not None and "parts" not in entry:
        # The goodput of a mix may be that of one direction; that of a played film counts from its first byte.
        rate = entry["delivered_bytes"] * 8e-6 / completion_s
        if abs(entry["goodput_mbps"] - rate) > rate * (_SAME + _ROUNDED / completion_s) + _ROUNDED:
            right = f"{rate:.6g}, as its delivered_bytes and completion_s have it"
            raise WrongError(f"{path}.goodput_mbps", entry["goodput_mbps"], right)


def _connection(path: str, entry: Mapping[str, Any], duration_s: float, carriers: set[str], copies: int) -> None:
    for key in _ALWAYS:
        if key not in entry:
            raise WrongError(f"{path}.{key}", MISSING, "it, as each connection that was begun has it")
    numbers = {**entry, "duration_s": duration_s}
    for key, limit in _AT_MOST:
        value, most = numbers.get(key), numbers.get(limit)
        # Copies that a link makes of packets may be lost too.
        more = copies if key.endswith("packets_lost") else _ROUNDED
        if value is not None and most is not None and value > most + more:
            raise WrongError(f"{path}.{key}", value, f"no more than its {limit}, {most:g}")
    completion_s = entry["completion_s"]
    if entry["completed"] != (completion_s is not None):
        right = "a number for what is completed" if completion_s is None else "null for what is not completed"
        raise WrongError(f"{path}.completion_s", completion_s, right)
    bottleneck = entry.get("bottleneck")
    if bottleneck is not None and bottleneck not in carriers:
        raise WrongError(f"{path}.bottleneck", bottleneck, "a link, medium or node of it", said=_quoted(bottleneck))


def _carriers(found: Mapping[str, Any]) -> set[str]:
    """What can hold packets: links with their directions, lanes of media, nodes that take time."""
    names = {" ".join(entry[part] for part in NAMES if part in entry) for entry in found.get("links", [])}
    names |= {" ".join(entry[part] for part in NAMES if part in entry) for entry in found.get("media", [])}
    return names | {f"{entry['name']} processing" for entry in found.get("processing", [])}


def of_run(run: Recorded, where: "Path") -> None:
    """Checks that the summary, the scenario and the tables of a run's folder go together. Raises `OutputError`.

    Every table is read once.
    """
    document = run._document
    _parts_of_scenario(run.summary, document, where)
    flows = [flow["name"] for flow in document.get("flow", [])]
    connections = [entry["name"] for entry in run.summary.get("connections", [])]
    recorded = document.get("record", {}).get("tables", [])
    for name in recorded if run.tables and isinstance(recorded, list) else []:
        if name not in run.tables:
            raise OutputError(
                f"{where / f'{name}.parquet'}: is missing; expected every table of record.tables in scenario.toml, "
                "or none"
            )
    words: dict[str, Set[str]] = {
        "connection": {*flows, *connections},
        "link": {*_carriers(run.summary), *_texts(document)},
        "side": _SIDES,
    }
    for name in run.tables:
        if name in shapes.NEEDED or name in recorded:
            _table(run, where / f"{name}.parquet", words, flows)


def of_sweep(file: "pq.ParquetFile", info: Mapping[str, Any]) -> None:
    """Checks that the table of a sweep's runs goes with sweep.json. Raises `WrongError`.

    The numbers are read only where the file does not say how small and how large they are.
    """
    import numpy as np
    import pyarrow as pa

    schema, parameters = file.schema_arrow, {parameter["column"] for parameter in info["parameters"]}
    rows, runs = file.metadata.num_rows, info["runs"]
    if rows != runs:
        raise WrongError("the table", rows, f"{runs}, the runs of sweep.json", said=f"has {rows} rows")
    names = [name for name in schema.names if name.startswith("connection.") and name.endswith(_OF_RUNS)]
    begun = dict.fromkeys(name.rpartition(".")[0] for name in names)
    for path in (f"{start}.{key}" for start in begun for key in _ALWAYS):
        if path not in schema.names:
            raise WrongError(f"column {path}", MISSING, "it, as each connection has it")
    for field in schema:
        name = field.name.rpartition(".")[2]
        is_number = pa.types.is_floating(field.type) or pa.types.is_integer(field.type)
        if field.name in {*parameters, "error", "seed"}:
            continue
        if not is_number and (field.name.endswith(_NUMBERS) or field.name in ("run", "repetition")):
            raise WrongError(f"column {field.name}", field.type, "numbers")
        if is_number and not name.startswith(shapes.BELOW_ZERO):
            _in_range(file, field.name)
    numbers = file.read(["run"])["run"].to_numpy()
    if len(np.unique(numbers)) < runs:
        raise WrongError("column run", int(numbers[0]), "each run once", said="has a run twice")


def _in_range(file: "pq.ParquetFile", name: str) -> None:
    """Checks that the numbers of a column are possible, by what the file says of its parts, or by reading it."""
    at = next(at for at in range(file.metadata.num_columns) if file.schema.column(at).path == name)
    for group in range(file.metadata.num_row_groups):
        known = file.metadata.row_group(group).column(at).statistics
        if known is None or not known.has_min_max or known.min < 0 or known.max >= shapes.LARGEST:
            shapes.sound(file.read_row_group(group, [name]))


def _parts_of_scenario(summary: Mapping[str, Any], document: Mapping[str, Any], where: "Path") -> None:
    """Checks that a summary is that of a scenario: its name and seed, and an entry of each link, medium and flow."""
    for key, name in (("name", "scenario"), ("seed", "seed")):
        if key in document and document[key] != summary[name]:
            told, right = plain(str(summary[name])[:_LONGEST]), plain(str(document[key])[:_LONGEST])
            raise OutputError(f"{where}: summary.json: {name} is {told}; expected {right}, as in scenario.toml")
    flows = [flow["name"] for flow in document.get("flow", [])]
    begun = [numbers.flow_of(entry["name"], flows) for entry in summary.get("connections", [])]
    links = [f"{entry['name']} {entry['direction']}" for entry in summary.get("links", [])]
    directions = [f"{link['name']} {way}" for link in document.get("link", []) for way in ("forward", "backward")]
    media = [entry["name"] for entry in summary.get("media", [])]
    for kind, key, wanted, found in (
        ("flow", "connections", flows, begun),
        ("link", "links", directions, links),
        ("medium", "media", [medium["name"] for medium in document.get("medium", [])], media),
    ):
        missing = [name for name in wanted if name not in found]
        if missing and key in summary:
            raise OutputError(
                f"{where}: summary.json: {key} has none of the {kind} {plain(missing[0])}; expected one of each {kind}"
            )
        other = [name for name in found if name not in wanted]
        if other and wanted:
            raise OutputError(
                f"{where}: summary.json: {key} has {plain(other[0])}, which is no {kind} of scenario.toml"
            )


def _texts(value: Any) -> Iterator[str]:
    """All texts of a scenario: among them are the names of its nodes, which drop packets too."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(inner)


def _table(run: Recorded, path: "Path", words: Mapping[str, Set[str]], flows: list[str]) -> None:
    """Reads a table, and checks whose rows it has, and that their times are in order."""
    seen: set[str] = set()
    last: dict[int, float] = {}
    subjects: dict[str, int] = {}
    for part in stored_tables.parts(path):
        try:
            for column in words.keys() & set(part.column_names):
                found = part[column].unique().to_pylist()
                for word in found:
                    name = numbers.flow_of(word, flows) if column == "connection" else word
                    if name not in words[column] and words[column]:
                        raise WrongError(f"column {column}", word, _known(column, words[column]), said=_quoted(word))
                seen.update(found if column == "connection" else ())
            _in_order(part, _IN_ORDER.get(path.stem, ()), subjects, last, run.summary["duration_s"])
        except WrongError as wrong:
            raise OutputError(f"{path}: cannot be read: {wrong}") from wrong
    # What an emulation counts at a gate is of programs, whose connections nobody sees.
    sees_all = path.stem == "connection" and "emulation" not in run.summary
    for entry in run.summary.get("connections", []) if sees_all else ():
        if entry.get("packets_sent") and entry["name"] not in seen:
            raise OutputError(
                f"{path}: has no row of the connection {entry['name']}; expected some, as it sent packets"
            )


def _quoted(word: str) -> str:
    return f"has {plain(word[:_LONGEST])!r}"


def _known(column: str, words: Set[str]) -> str:
    return "client or server" if words is _SIDES else f"a {column} of the run"


def _in_order(
    part: "pa.Table", columns: tuple[str, ...], subjects: dict[str, int], last: dict[int, float], duration_s: float
) -> None:
    """Checks that time does not run backwards for any subject, nor beyond the end. `last` has the latest of each."""
    import numpy as np

    if not columns or not len(part):
        return
    times = part["time_s"].to_numpy()
    if times.max() > duration_s + _ROUNDED:
        raise WrongError("column time_s", float(times.max()), f"no more than the duration_s of the run, {duration_s:g}")
    codes = stored_tables.subjects(part, columns, subjects)
    order = np.argsort(codes, kind="stable")
    codes, times = codes[order], times[order]
    starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    before = np.concatenate(([-np.inf], times[:-1]))
    before[starts] = [last.get(int(code), -np.inf) for code in codes[starts]]
    if (times < before).any():
        at = int(np.flatnonzero(times < before)[0])
        raise WrongError("column time_s", float(times[at]), f"{before[at]:g} or later, as in the row before")
    ends = np.append(starts[1:], len(times)) - 1
    last.update((int(code), float(time)) for code, time in zip(codes[ends], times[ends], strict=True))
