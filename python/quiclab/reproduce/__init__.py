"""Figures of papers, reproduced: the runs behind them, the drawing, and whether the paper's statements hold here."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.drawings.plots.edges import with_whole_marks
from quiclab.drawings.plots.inside import covered, cut, outside
from quiclab.drawings.plots.style import styled
from quiclab.reproduce import points as points_
from quiclab.reproduce.accept import Row, shown, unproved
from quiclab.reproduce.measured import taken
from quiclab.reproduce.outcomes import UNEXPECTED, Unjudged, code, counts, expected, unclaimed, undecided, unjudged
from quiclab.reproduce.paper_files import Figure, Paper, catalogue, figures, find
from quiclab.reproduce.points import Points
from quiclab.reproduce.runs import Runs, make
from quiclab.values.folders import writing
from quiclab.values.progress import SweepProgress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure as Drawing

__all__ = [
    "Figure",
    "Judged",
    "Paper",
    "Points",
    "Reproduced",
    "Row",
    "Runs",
    "Unjudged",
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
class Judged:
    """The checks of a figure, with their outcomes."""

    rows: list[Row]
    """All of them."""
    shown: list[Row]
    """As a table shows them: of a rule with many cases, the nearest to its limit and those that do not hold."""
    listed: list[Row]
    """As docs/papers.md lists them: with all cases of rules that have `every`."""
    unjudged: list[Unjudged]
    """The claims that the quick form did not judge, each with the reason. The full form judges all."""
    claims: list[int]
    """The number of rows of each rule."""
    unclaimed: list[str]
    """How the rows of the full form differ from those that `claims.json` has. Of the quick form: empty."""


@dataclass(frozen=True)
class Reproduced:
    """A reproduced figure."""

    figure: Figure
    quick: bool
    judged: Judged
    """The checks."""
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
    def rows(self) -> list[Row]:
        """The checks, each with its outcome."""
        return self.judged.rows

    @property
    def unjudged(self) -> list[Unjudged]:
        """The claims that the quick form did not judge, each with the reason."""
        return self.judged.unjudged

    @property
    def code(self) -> int:
        """The exit code: see `quiclab.reproduce.outcomes`."""
        return UNEXPECTED if self.judged.unclaimed else code(self.rows, self.unjudged)

    @property
    def ok(self) -> bool:
        """Whether the rows are those that there should be, and each holds, or is known not to."""
        return self.code != UNEXPECTED

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        rows = [row.to_dict() for row in self.rows]
        return {
            "id": self.figure.id,
            "quick": self.quick,
            "ok": self.ok,
            "code": self.code,
            "outcomes": counts(rows),
            "unjudged": [claim.to_dict() for claim in self.unjudged],
            "unclaimed": self.judged.unclaimed,
            "runs": self.runs,
            "seconds": round(self.seconds, 1),
            "warnings": self.warnings,
            "definition": self.figure.digest,
            "rows": rows,
            "shown": [row.to_dict() for row in self.judged.shown],
            "listed": [row.to_dict() for row in self.judged.listed],
            "claims": self.judged.claims,
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
    :param quick: fewer and shorter runs, in less than half a minute. What they do not judge is in `unjudged`.
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
        others = [*failures(sweeps), *hidden(drawing), *vacuous(figure, points, quick=quick)]
        judged = judge(figure, points, others, quick=quick)
        took = time.monotonic() - start
        result = Reproduced(figure, quick, judged, points, numbers, made, took, folder, warnings)
        drawing.savefig(folder / FIGURE, format="svg", metadata={"Date": None, "Creator": None})
        text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False)
        (folder / ROWS).write_text(text + "\n", encoding="utf-8")
    return result


def judge(figure: Figure, points: Points, others: list[Row], *, quick: bool) -> Judged:
    """The rows of a figure's rules for these points, after `others`, with what is known of them."""
    of_rules = [rule.rows(points, quick=quick) for rule in figure.rules]
    full = None if figure.claims is None else {name for some in figure.claims for name in some}
    every = [*others, *(row for some in of_rules for row in some)]
    rows = expected(every, figure.differences, quick=quick, full=full)
    told = {row.name: row for row in rows}
    parts = [[told.pop(row.name) for row in some] for some in of_rules]
    rest = list(told.values())
    lacking = unjudged(figure.rules, parts, figure.claims, figure.differences) if quick else []
    if quick:
        open_ = undecided(rows, figure.differences)
        rows, rest, *parts = ([row for row in some if row.name not in open_] for some in (rows, rest, *parts))
    listed = [some if rule.every else shown(some) for rule, some in zip(figure.rules, parts, strict=True)]
    return Judged(
        rows=rows,
        shown=[*rest, *(row for some in parts for row in shown(some))],
        listed=[*rest, *(row for some in listed for row in some)],
        unjudged=lacking,
        claims=[len(some) for some in parts],
        unclaimed=[] if quick else unclaimed(of_rules, figure.claims),
    )


def hidden(drawing: "Drawing") -> list[Row]:
    """Rows that do not hold: something lies outside its axes, a legend covers something, a legend is cut off."""
    found = (
        ("drawn outside of the axes", outside(drawing)),
        ("drawn under a legend", covered(drawing)),
        ("legends that are cut off", cut(drawing)),
    )
    return [Row(case, "", "0", f"{len(told)}, the first: {told[0]}", "none", ok=False) for case, told in found if told]


def vacuous(figure: Figure, points: Points, *, quick: bool) -> list[Row]:
    """A row that does not hold if rules look as if they could not fail, and do not say so."""
    found = unproved(figure.rules, points, quick=quick)
    if not found:
        return []
    here = f"{len(found)}, the first: {found[0]}"
    return [Row("rules whose rows look as if they could not fail", "", "0", here, "cannot_fail or can_fail", ok=False)]


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

    with styled():
        # Text stays text in the SVG: it is smaller, and can be searched.
        matplotlib.rcParams["svg.fonttype"] = "none"
        yield with_whole_marks(figure.module.draw(points))
