"""The page of a report: its sections, the data for its script, and the sources in `browser/`."""

import html
import os
from collections.abc import Sequence
from pathlib import Path

from quiclab import __version__, _folder, _selfcontained
from quiclab.report import figures, runs, sweep
from quiclab.report.packed import packed
from quiclab.report.tags import Html, joined, note
from quiclab.run import Run
from quiclab.sweeps import Sweep

_BROWSER = "report/browser"


def page(shown: Sequence[Run], sweeps: Sequence[Sweep], show: Sequence[str], beside: Path) -> tuple[str, list[str]]:
    """The HTML text, and what is left out."""
    labels = _labels([*shown, *sweeps])
    body, drawn, notes = runs.sections(shown, labels[: len(shown)]) if shown else (Html(""), [], [])
    parts = [body]
    data = []
    told = list(notes)
    for place, (one, label) in enumerate(zip(sweeps, labels[len(shown) :], strict=True)):
        head = label if len(labels) > 1 else "What was run"
        section, values, left_out = sweep.section(one, head, place, show, beside)
        parts.append(section)
        told += [f"{label}: {words}" for words in left_out]
        data.append(values)
    title = ", ".join(labels) if len(labels) <= 3 else _many(len(shown), len(sweeps))
    words = {
        "title": _folder.without_home(html.escape(title)),
        "version": html.escape(__version__),
        "body": _folder.without_home(joined([*map(note, notes), *parts])),
        "points": f"{figures.POINTS:,}",
        "data": packed({"figures": drawn, "sweeps": data}),
    }
    template = _selfcontained.source(f"{_BROWSER}/index.html")
    script = _selfcontained.bundle(f"{_BROWSER}/main.js")
    text = _selfcontained.filled(
        template, script=script, style=_selfcontained.source(f"{_BROWSER}/style.css"), parts=words
    )
    return text, told


def _many(run_count: int, sweep_count: int) -> str:
    counts = [(run_count, "run"), (sweep_count, "sweep")]
    return " and ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in counts if count)


def _labels(all_: Sequence[Run | Sweep]) -> list[str]:
    """What runs and sweeps are called: by scenario and seed, or by the name of their folder where that is the same."""
    labels = [
        f"{one.summary.get('scenario')}, seed {one.summary.get('seed')}" if isinstance(one, Run) else _sweep_label(one)
        for one in all_
    ]
    if len(set(labels)) < len(labels):
        labels = [
            Path(os.path.realpath(one.path)).name if one.path else label
            for one, label in zip(all_, labels, strict=True)
        ]
    if len(set(labels)) < len(labels):
        labels = [f"{label} ({at})" for at, label in enumerate(labels, 1)]
    return labels


def _sweep_label(sweep_: Sweep) -> str:
    return f"{sweep_.info['scenario']}, {sweep_.info['runs']:,} runs"
