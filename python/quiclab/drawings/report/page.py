"""The page of a report: its sections, the data for its script, and the sources in `browser/`."""

import html
import os
from collections.abc import Sequence
from pathlib import Path

from quiclab._quiclab import VERSION
from quiclab.drawings import self_contained
from quiclab.drawings.report import figures, runs, sweep
from quiclab.drawings.report.packed import packed
from quiclab.drawings.report.tags import Html, joined, note
from quiclab.results.run import Run
from quiclab.results.sweeps import Sweep
from quiclab.values import folders

_BROWSER = "drawings/report/browser"


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
        "title": folders.without_home(html.escape(title)),
        "version": html.escape(VERSION),
        "body": folders.without_home(joined([*map(note, notes), *parts])),
        "points": f"{figures.POINTS:,}",
        "data": packed({"figures": drawn, "sweeps": data}),
    }
    template = self_contained.source(f"{_BROWSER}/index.html")
    script = self_contained.bundle(f"{_BROWSER}/main.js")
    text = self_contained.filled(
        template, script=script, style=self_contained.source(f"{_BROWSER}/style.css"), parts=words
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
