"""Figures of papers, reproduced: the runs behind them, the drawing, and whether the paper's statements hold here."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab._folder import writing
from quiclab.progress import SweepProgress
from quiclab.reproduce import points as points_
from quiclab.reproduce.accept import Row, shown
from quiclab.reproduce.catalogue import Figure, Paper, catalogue, figures, find
from quiclab.reproduce.measured import taken
from quiclab.reproduce.points import Points
from quiclab.reproduce.runs import Runs, make

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure as Drawing

__all__ = [
    "Figure",
    "Paper",
    "Points",
    "Reproduced",
    "Row",
    "Runs",
    "catalogue",
    "failures",
    "figures",
    "find",
    "reproduce",
]

FIGURE = "figure.svg"
POINTS = "points.csv"
ROWS = "rows.json"


@dataclass(frozen=True)
class Reproduced:
    """A reproduced figure."""

    figure: Figure
    quick: bool
    rows: list[Row]
    """The checks, each with its outcome."""
    shown: list[Row]
    """The checks as a table shows them: of a rule with many cases, the nearest to its limit and those that fail."""
    listed: list[Row]
    """The checks as docs/papers.md lists them: with all cases of rules that have `every`."""
    points: Points
    """The points of the figure."""
    numbers: Mapping[str, str]
    """The measured numbers in the texts of the figure, by name."""
    runs: int
    """The number of runs."""
    seconds: float
    """The duration of the whole, in seconds."""
    folder: Path
    """The folder of the figure, its points, its rows and its sweeps."""
    warnings: list[str]
    """Warnings of its sweeps, and numbers in its texts that could not be measured."""

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(row.ok for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "id": self.figure.id,
            "quick": self.quick,
            "ok": self.ok,
            "runs": self.runs,
            "seconds": round(self.seconds, 1),
            "warnings": self.warnings,
            "definition": self.figure.digest,
            "rows": [row.to_dict() for row in self.rows],
            "shown": [row.to_dict() for row in self.shown],
            "listed": [row.to_dict() for row in self.listed],
            "numbers": dict(self.numbers),
        }


def reproduce(
    name: str,
    *,
    quick: bool = False,
    out: str | PathLike[str] = "reproduced",
    jobs: int | None = None,
    progress: Callable[[str, SweepProgress], object] | None = None,
) -> Reproduced:
    """Makes the runs behind a figure, draws it, and checks what the paper says.

    Writes the folder OUT/ID (OUT/ID-quick): `figure.svg`, `points.csv` (the drawn data), `rows.json` (the checks), and
    one folder per sweep: scenario, tables, and finished runs, which a second call does not repeat.

    :param name: the id of a figure, see `figures`.
    :param quick: fewer and shorter runs, in less than half a minute.
    :param jobs: parallel runs; default: one for each core.
    :param progress: called with the name of a sweep and its progress.
    """
    figure = figures().get(name) or find(name)[0]
    folder = Path(out) / (f"{figure.id}-quick" if quick else figure.id)
    start = time.monotonic()
    sweeps = {}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for sweep, scenario in figure.scenarios.items():

        def report(far: SweepProgress, sweep: str = sweep) -> None:
            if progress is not None:
                progress(sweep, far)

        sets = figure.quick.get(sweep, ()) if quick else ()
        sweeps[sweep] = make(scenario, sets, folder / sweep, jobs, report)
    points = figure.module.measure(sweeps)
    numbers, lacking = taken(figure.numbers, points, quick=quick)
    made = sum(runs.made for runs in sweeps.values())
    warnings = [f"{name}: {told}" for name, runs in sweeps.items() for told in runs.warnings] + lacking
    with writing(folder), drawn(figure, points) as drawing:
        (folder / POINTS).write_text(points_.to_csv(points), encoding="utf-8")
        judged = [(failures(sweeps), False), (hidden(drawing), False)]
        judged += [(rule.rows(points, quick=quick), rule.every) for rule in figure.rules]
        rows = [row for some, _ in judged for row in some]
        few = [row for some, _ in judged for row in shown(some)]
        page = [row for some, every in judged for row in (some if every else shown(some))]
        took = time.monotonic() - start
        result = Reproduced(figure, quick, rows, few, page, points, numbers, made, took, folder, warnings)
        drawing.savefig(folder / FIGURE, format="svg", metadata={"Date": None, "Creator": None})
        text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False)
        (folder / ROWS).write_text(text + "\n", encoding="utf-8")
    return result


def hidden(drawing: "Drawing") -> list[Row]:
    """Rows that do not hold: something lies outside its axes, a legend covers something, a legend is cut off."""
    from quiclab.plots.inside import covered, cut, outside

    found = (
        ("drawn outside of the axes", outside(drawing)),
        ("drawn under a legend", covered(drawing)),
        ("legends that are cut off", cut(drawing)),
    )
    return [Row(case, "", "0", f"{len(told)}, the first: {told[0]}", "none", ok=False) for case, told in found if told]


def failures(sweeps: Mapping[str, Runs]) -> list[Row]:
    """A row that does not hold if runs failed."""
    told = [failure for runs in sweeps.values() for failure in runs.failures]
    if not told:
        return []
    return [Row("runs that fail", "", "0", f"{len(told)}, the first: {told[0]}", "none", ok=False)]


@contextmanager
def drawn(figure: Figure, points: Points) -> "Iterator[Drawing]":
    """The drawing, in the style of all figures."""
    import matplotlib

    from quiclab.plots.style import styled

    with styled():
        # Text stays text in the SVG: it is smaller, and can be searched.
        matplotlib.rcParams["svg.fonttype"] = "none"
        yield figure.module.draw(points)
