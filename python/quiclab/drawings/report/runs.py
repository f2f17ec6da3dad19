"""The sections of a report about runs: what was run, what differs, results, figures, where the time went."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from quiclab._quiclab import Error
from quiclab.drawings.report import figures
from quiclab.drawings.report.tags import Html, joined, note, table, tag, worded
from quiclab.drawings.report.whole import whole
from quiclab.explanations.differences import Change, compared, run_document, scenario_values, value_text
from quiclab.explanations.differences import results as result_values
from quiclab.results import numbers as _results
from quiclab.results.run import Run
from quiclab.values import folders
from quiclab.values.rounding import decimals, text

_SIDE_BY_SIDE = 8
"""Up to this many connections are columns of the table of results; more are rows."""
_FIGURES = 24
"""Connections with figures, and with answers, on a page at most."""
_DIFFERENCES = 1000
"""Lines of a table of differences at most."""
_WARNING = ", warning"
"""How the subjects of warnings end, in the description of a scenario."""
_UNITS = ("Mbit/s", "ms", "s", "bytes", "packets")
"""Units that are taken from the cells of a row to its head."""


@dataclass(frozen=True)
class Shown:
    """A run of a report."""

    run: Run
    label: str
    """What it is called on the page."""

    @property
    def connections(self) -> list[dict[str, Any]]:
        """Those of its summary."""
        return list(self.run.summary.get("connections") or [])

    @cached_property
    def described(self) -> list[tuple[str, str]]:
        """What `quiclab check` says of its scenario; empty if files that it names are gone."""
        try:
            return self.run._recorded().describe()
        except Error:
            return []


def sections(runs: Sequence[Run], labels: Sequence[str]) -> tuple[Html, list[dict[str, Any]], list[str]]:
    """The HTML of runs beside each other, the data of their figures, and what is left out."""
    shown = [Shown(run, label) for run, label in zip(runs, labels, strict=True)]
    drawn, notes = _figures(shown)
    for one in shown:
        notes += [f"{one.label}: {words}" for words in one.run.notes]
    parts = [
        tag("section", tag("h2", "What was run"), _what(shown), id="what"),
        _differences(shown),
        tag("section", tag("h2", "Results"), *_result_tables(shown), id="results"),
        tag("section", tag("h2", "Over time"), tag("div", class_="figures"), id="figures") if drawn else Html(""),
        tag("section", tag("h2", "Where the time went"), _why(shown, drawn, notes), id="why"),
    ]
    return joined(parts), drawn, notes


def _figures(shown: Sequence[Shown]) -> tuple[list[dict[str, Any]], list[str]]:
    drawn: list[dict[str, Any]] = []
    notes: list[str] = []
    for at, one in enumerate(shown):
        # Every run has its share of the page.
        most = max(_FIGURES // len(shown), 1)
        try:
            found = figures.figures(one.run, most)
        except Error as error:
            notes.append(f"{one.label}: no figures: {error}")
            continue
        names = {str(entry["name"]) for entry in one.connections}
        if len(names) > most:
            notes.append(f"{one.label}: figures and answers of the first {most} of {len(names)} connections")
        title = one.label if len(shown) > 1 else ""
        drawn += [{"run": at, "title": " · ".join(filter(None, [title, f["connection"]])), **f} for f in found]
    return drawn, notes


def _what(shown: Sequence[Shown]) -> Html:
    facts: dict[str, list[object]] = {
        "scenario": [one.run.summary.get("scenario") for one in shown],
        "seed": [one.run.summary.get("seed") for one in shown],
        "version of quiclab": [one.run.summary.get("version", "-") for one in shown],
        "simulated (s)": [*_texts([one.run.summary.get("duration_s") for one in shown])],
        "folder": [one.run.path.name if one.run.path else "not saved" for one in shown],
    }
    networks = [_joined([line for line in one.described if not line[0].endswith(_WARNING)]) for one in shown]
    subjects = list(dict.fromkeys(subject for network in networks for subject in network))
    common = [subject for subject in subjects if all(subject in network for network in networks)]
    # Networks that have little in common stand below each other.
    is_beside = 2 * len(common) >= len(subjects)
    if is_beside:
        facts |= {subject: [network.get(subject, "-") for network in networks] for subject in subjects}
    differs = [len(shown) > 1 and name != "folder" and len(set(map(str, cells))) > 1 for name, cells in facts.items()]
    heads = ["", *(one.label for one in shown)] if len(shown) > 1 else ["", "value"]
    rows = [[name, *cells] for name, cells in facts.items()]
    parts = [table("Scenario, network and flows", heads, rows, words=range(len(heads)), marked=differs)]
    for one, network in [] if is_beside else zip(shown, networks, strict=True):
        inside = table(f"Network and flows of {one.label}", ["", "value"], network.items(), words=(0, 1))
        parts.append(tag("details", tag("summary", f"Network and flows: {one.label}"), inside))
    gone = [one.label for one in shown if not one.described]
    if gone:
        parts.append(note(f"{', '.join(gone)}: the network is not described: a file that the scenario names is gone"))
    for one in shown:
        warned = [(subject, told) for subject, told in one.described if subject.endswith(_WARNING)]
        where = f"{one.label}: " if len(shown) > 1 else ""
        parts += [note(f"{where}{subject.removesuffix(_WARNING)}: {told}") for subject, told in warned]
    for one in shown:
        title = "The whole scenario" if len(shown) == 1 else f"The whole scenario: {one.label}"
        folder = one.run.path or Path()
        parts.append(whole(title, one.run._toml_in(folder), f"{folder / folders.SCENARIO}"))
    return joined(parts)


def _joined(described: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What is said of each subject, on one line."""
    found: dict[str, str] = {}
    for subject, told in described:
        if subject not in ("scenario", "seed"):
            found[subject] = f"{found[subject]}; {told}" if subject in found else told
    return found


def _differences(shown: Sequence[Shown]) -> Html:
    """Which values of the scenarios, and which numbers, are not the same in all runs."""
    if len(shown) < 2:
        return Html("")
    scenarios = compared([scenario_values(run_document(one.run)) for one in shown])
    numbers = compared([result_values(one.run.summary) for one in shown])
    heads = ["", *(one.label for one in shown)]
    parts = [
        table(
            "Values of the scenario that differ",
            heads,
            [[key, *map(value_text, values)] for key, values in list(scenarios.items())[:_DIFFERENCES]],
            words=range(len(heads)),
        )
        if scenarios
        else tag("p", "The scenarios do not differ."),
        tag(
            "details",
            tag("summary", f"Results that differ: {len(numbers):,}"),
            table("Results that differ", heads, list(_compared_rows(numbers))[:_DIFFERENCES]),
        )
        if numbers
        else tag("p", "The results do not differ."),
    ]
    if max(len(scenarios), len(numbers)) > _DIFFERENCES:
        parts.append(note(f"Only the first {_DIFFERENCES:,} differences of a table are shown: see quiclab diff."))
    return tag("section", tag("h2", "What differs"), *parts, id="differences")


def _compared_rows(numbers: Mapping[str, list[Any]]) -> Iterable[list[object]]:
    for key, values in numbers.items():
        digits = decimals(values)
        yield [
            key,
            *(
                _with_change(value_text(value, digits), values[0] if at else None, value)
                for at, value in enumerate(values)
            ),
        ]


def _with_change(written: str, first: Any, value: Any) -> Html:
    """A value with how much it is more or less than that of the first run."""
    percent = Change("", first, value).percent
    more = Html("") if percent is None else tag("small", f" {percent:+,.1f} %")
    return joined([Html(tag("span", written)), more])


def _result_tables(shown: Sequence[Shown]) -> list[Html]:
    columns = [(one, entry) for one in shown for entry in one.connections]
    several = len(shown) > 1
    parts: list[Html] = []
    if not columns:
        parts.append(tag("p", "There is no connection."))
    elif len(columns) <= _SIDE_BY_SIDE:
        parts.append(_beside(shown, columns))
    else:
        for one in shown:
            rows = [_united(title, texts) for title, texts in _rows(one, one.connections)]
            heads = ["connection", *(title for title, _ in rows)]
            lines = [
                [entry["name"], *(texts[at] or "-" for _, texts in rows)] for at, entry in enumerate(one.connections)
            ]
            parts.append(table(f"Connections of {one.label}" if several else "Connections", heads, lines))
    for title, key in (
        ("Links", "links"),
        ("Media", "media"),
        ("Processing at nodes", "processing"),
        ("Middleboxes and proxies", "nodes"),
    ):
        rows_ = [(one.label, entry) for one in shown for entry in one.run.summary.get(key) or []]
        if rows_:
            make = _nodes if key == "nodes" else _carriers
            parts.append(make(title, rows_, several))
    return parts


def _beside(shown: Sequence[Shown], columns: Sequence[tuple[Shown, dict[str, Any]]]) -> Html:
    """The connections as columns: their values with the difference to the same connection of the first run."""
    several = len(shown) > 1
    found: dict[str, list[str]] = {}
    at = 0
    for one in shown:
        for title, texts in _rows(one, one.connections):
            found.setdefault(title, ["-"] * len(columns))[at : at + len(texts)] = [cell or "-" for cell in texts]
        at += len(one.connections)
    keys = {title: key for title, key, _ in _results.METRICS}
    firsts = {entry["name"]: entry for entry in shown[0].connections}
    rows: list[list[object]] = []
    for title, texts in found.items():
        head, cells = _united(title, texts)
        key = keys.get(title, "")
        values = [
            _with_change(cell, firsts.get(entry["name"], {}).get(key) if one is not shown[0] else None, entry.get(key))
            for cell, (one, entry) in zip(cells, columns, strict=True)
        ]
        rows.append([head, *values])
    heads = [f"{one.label} · {entry['name']}" if several else entry["name"] for one, entry in columns]
    return table("Connections", ["", *heads], rows)


def _rows(one: Shown, connections: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """The rows that are printed after a run: a title, and a text for each connection."""
    return _results.rows({**one.run.summary, "connections": connections}, _results.endless(one.run))


def _united(title: str, texts: Sequence[str]) -> tuple[str, list[str]]:
    """The unit that all cells of a row end with is put into its head."""
    for unit in _UNITS:
        numbers = [cell for cell in texts if cell[:1].isdigit()]
        if numbers and all(cell.endswith(f" {unit}") for cell in numbers):
            return f"{title} ({unit})", [cell.removesuffix(f" {unit}") if cell in numbers else cell for cell in texts]
    return title, list(texts)


_CARRIER: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("delivered (packets)", ("delivered_packets",), 1),
    ("delivered (MB)", ("delivered_bytes",), 1e-6),
    ("utilisation (%)", ("utilisation",), 100),
    ("queue, mean (packets)", ("queue_mean_packets",), 1),
    ("queue, maximum (packets)", ("queue_max_packets",), 1),
    ("dropped by the queue", ("drops", "queue"), 1),
    ("lost", ("drops", "loss"), 1),
    ("too large", ("drops", "mtu"), 1),
    ("marked", ("marked_packets",), 1),
)
"""What is shown of a direction of a link, or of an attachment of a medium."""
_CARRIER_DECIMALS = 2
"""Of its shares and means at most: a queue of 0.00012 packets is none."""


def _carriers(title: str, rows: Sequence[tuple[str, dict[str, Any]]], several: bool) -> Html:
    columns = [[_scaled(entry, path, factor) for _, entry in rows] for _, path, factor in _CARRIER]
    texts = [_texts(values, _CARRIER_DECIMALS) for values in columns]
    names = [
        " ".join(str(entry[key]) for key in ("name", "direction", "attachment", "to") if entry.get(key))
        for _, entry in rows
    ]
    heads = [*(["run"] if several else []), title.lower(), *(head for head, _, _ in _CARRIER)]
    lines = [
        [*([label] if several else []), tag("span", names[at], class_="name"), *(column[at] for column in texts)]
        for at, (label, _) in enumerate(rows)
    ]
    return table(title, heads, lines, words=(0, 1) if several else (0,))


def _scaled(entry: Mapping[str, Any], path: Sequence[str], factor: float) -> Any:
    value: Any = entry
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value * factor if factor != 1 and value is not None else value


def _nodes(title: str, rows: Sequence[tuple[str, dict[str, Any]]], several: bool) -> Html:
    lines: list[list[object]] = []
    for label, entry in rows:
        for key, value in result_values({"nodes": [entry]}).items():
            name = key.removeprefix(f"node.{entry.get('name')}.")
            lines.append([*([label] if several else []), entry.get("name"), name, text(value, decimals([value]))])
    heads = [*(["run"] if several else []), "node", "what", "count"]
    return table(title, heads, lines, words=range(len(heads) - 1))


def _why(shown: Sequence[Shown], drawn: Sequence[Mapping[str, Any]], notes: list[str]) -> Html:
    """Where the time of each connection went: runs side by side."""
    places = {(figure["run"], figure["connection"]): at for at, figure in enumerate(drawn)}
    parts: list[Html] = []
    for at, one in enumerate(shown):
        most = max(_FIGURES // len(shown), 1)
        try:
            answers = one.run.why(tries=False)[:most]
        except Error as error:
            notes.append(f"{one.label}: cannot say where the time went: {error}")
            continue
        for answer in answers:
            figure = places.get((at, answer.connection))
            name = f"{one.label} · {answer.connection}" if len(shown) > 1 else answer.connection
            parts.append(_answer(name, answer, figure))
    return tag("div", *parts, class_="answers") if parts else tag("p", "There is no answer: see the notes above.")


def _answer(name: str, answer: Any, figure: int | None) -> Html:
    done = "completed" if answer.completed else "not completed"
    caption = f"{name}: {answer.end_s - answer.start_s:,.3f} s, {done}"
    causes = [*answer.causes, *answer.beside]
    rows = [_cause(cause, figure) for cause in causes]
    if answer.beside:
        rows.insert(len(answer.causes), [tag("em", "at the same time"), *[""] * 4])
    unfinished = [note(worded(f"Not completed: {answer.unfinished}."))] if answer.unfinished else []
    heads = ["cause", "time (s)", "share (%)", "longest (s)", "what happened, and what would change it"]
    # The caption of the table says whose it is: before it, the note would seem to belong to the flow above.
    return tag("div", table(caption, heads, rows, words=(0, 4)), *unfinished)


def _cause(cause: Any, figure: int | None) -> list[object]:
    start, end = cause.longest
    span = f"{start:,.3f} to {end:,.3f}" if end > start else ""
    longest: object = span or "-"
    if span and figure is not None:
        label = f"Show {cause.name} from {span} s in the figure"
        longest = tag("button", span, type="button", data_figure=figure, data_from=start, data_to=end, aria_label=label)
    bar = Html(
        f'<svg class="bar" aria-hidden="true"><rect width="{100 * min(cause.share, 1):.1f}%" height="100%"/></svg>'
    )
    return [
        cause.name,
        f"{cause.seconds:,.3f}",
        joined([tag("span", f"{100 * cause.share:.1f}"), bar]),
        longest,
        worded(cause.advice),
    ]


def _texts(values: Sequence[Any], most: int = 6) -> list[str]:
    """Values with as many decimals each, at most this many."""
    digits = min(decimals(values), most)
    return [text(value, digits) for value in values]
