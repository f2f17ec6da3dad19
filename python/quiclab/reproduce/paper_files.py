"""The papers and figures that can be reproduced, as the files of `quiclab.papers` describe them.

A paper is a folder PAPER with `paper.toml` (title, authors, venue, about). A figure of it is three files:

* `FIGURE.toml`: what the paper says, our choices where it says nothing, the checks, and a text on the results, whose
  numbers come from the points;
* `FIGURE.scenario.toml`: the runs, with a `[sweep]` table (or several such files, named under `[scenarios]`);
* `FIGURE.py`: `measure(sweeps)` makes the points of the figure from the runs, `draw(points)` makes the drawing.

Its id is PAPER-FIGURE, with hyphens for underscores. The folders are the catalogue; there is no other list. What is
known to differ from a paper stands in `differences.toml` beside them: see `quiclab.reproduce.outcomes`.
"""

import hashlib
import importlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from quiclab import papers
from quiclab._quiclab import Error
from quiclab.reproduce.accept import Rule
from quiclab.reproduce.measured import Measured, names
from quiclab.reproduce.outcomes import DIFFERENCES, Difference, claims, differences
from quiclab.reproduce.points import Points
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.sources import code, data

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_ROOT = Path(papers.__file__).parent
_SCENARIO = ".scenario.toml"


class Module(Protocol):
    """The code of a figure."""

    def measure(self, sweeps: Mapping[str, Runs]) -> Points:
        """The points of the figure, from the finished sweeps by name."""

    def draw(self, points: Points) -> "Drawing":
        """The drawing, with the axes and series of the paper."""


@dataclass(frozen=True)
class Paper:
    """A paper and its figures."""

    name: str
    """The name of its folder, which begins the ids of its figures."""
    title: str
    authors: str
    venue: str
    about: str
    """Its subject, and what its figures have in common."""
    figures: "tuple[Figure, ...]"
    """In the order of the paper."""
    theory: bool = False
    """Whether it is no paper, but RFCs, drafts and closed forms."""


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    paper: str
    name: str
    """The name of its files."""
    title: str
    """Its title."""
    figure: str
    """Its place in the paper: `Fig. 3`."""
    order: int
    """Its position among the figures of the paper."""
    says: str
    """What the paper says, in our words."""
    chosen: str
    """What the paper leaves open, and our choices."""
    found: str
    """Results beyond the rows, and why they differ from the paper where they do."""
    numbers: tuple[Measured, ...]
    """The measured numbers in `chosen` and `found`."""
    folder: Path
    """The folder of its files."""
    scenarios: Mapping[str, Path]
    """The scenario files of its sweeps, by name."""
    quick: Mapping[str, Sequence[str]]
    """The changes to each of them for `--quick`."""
    rules: tuple[Rule, ...]
    """The checks."""
    differences: tuple[Difference, ...] = ()
    """The rows that are known not to hold."""
    claims: tuple[tuple[str, ...], ...] | None = None
    """The names of the rows of each rule in the full form; None if they are not known."""

    @property
    def id(self) -> str:
        """Its id on the command line."""
        return f"{self.paper}-{self.name}".replace("_", "-")

    @cached_property
    def module(self) -> Module:
        """Its code."""
        return cast(Module, importlib.import_module(f"quiclab.papers.{self.paper}.{self.name}"))

    @cached_property
    def digest(self) -> str:
        """A hash of all that decides its numbers and its drawing: scenarios, data, rules, and code.

        Comments do not count, nor do the texts, which the page reads from the file itself, nor where code lies.
        """
        described = {
            "scenarios": {name: _toml(path) for name, path in self.scenarios.items()},
            "rules": [rule.described for rule in self.rules],
            "numbers": {number.name: number.described for number in self.numbers},
            "code": sorted(code(self.folder / f"{self.name}.py").values()),
            "data": data(self.folder, self.name, self.scenarios.values()),
        }
        text = json.dumps(described, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def catalogue(root: Path = _ROOT) -> tuple[Paper, ...]:
    """All papers, in the order of their names."""
    known, full = differences(root), claims(root)
    papers = tuple(_paper(path.parent) for path in sorted(root.glob("*/paper.toml")))
    ids = {figure.id for paper in papers for figure in paper.figures}
    for name in sorted(known.keys() - ids):
        raise Error(f"{root / DIFFERENCES}: {name}: no figure has this id")
    return tuple(
        replace(paper, figures=tuple(_expecting(figure, known, full) for figure in paper.figures)) for paper in papers
    )


def _expecting(figure: Figure, known: dict[str, tuple[Difference, ...]], full: dict[str, list[list[str]]]) -> Figure:
    """The figure with its known differences, and the names of its rows if they are known of just these rules."""
    named = full.get(figure.id, [])
    of_rules = tuple(map(tuple, named)) if len(named) == len(figure.rules) else None
    return replace(figure, differences=known.get(figure.id, ()), claims=of_rules)


def figures() -> dict[str, Figure]:
    """All figures by their ids."""
    return {figure.id: figure for paper in catalogue() for figure in paper.figures}


def find(name: str) -> list[Figure]:
    """The figures that a name stands for: the id of a figure, the name of a paper, or `all`."""
    known = figures()
    if name == "all":
        return list(known.values())
    if name in known:
        return [known[name]]
    of_paper = [figure for figure in known.values() if figure.paper == name]
    if not of_paper:
        raise Error(f"unknown figure or paper {name!r}: expected all, {', '.join(known)}")
    return of_paper


def _paper(folder: Path) -> Paper:
    words = _toml(folder / "paper.toml")
    files = [path for path in folder.glob("*.toml") if path.name != "paper.toml" and not path.name.endswith(_SCENARIO)]
    of_it = sorted((_figure(folder, path) for path in files), key=lambda figure: (figure.order, figure.name))
    return Paper(
        folder.name,
        words["title"],
        words["authors"],
        words["venue"],
        words["about"].strip(),
        figures=tuple(of_it),
        theory=words.get("theory", False),
    )


def _figure(folder: Path, path: Path) -> Figure:
    words = _toml(path)
    name = path.stem
    scenarios = {key: folder / file for key, file in words.pop("scenarios", {"main": f"{name}{_SCENARIO}"}).items()}
    quick = words.pop("quick", {})
    rules = tuple(Rule.read(rule, str(path)) for rule in words.pop("accept"))
    texts = {key: words.pop(key, "").strip() for key in ("says", "chosen", "found")}
    numbers = tuple(Measured.read(key, table, str(path)) for key, table in words.pop("numbers", {}).items())
    try:
        asked = names(texts["chosen"]) | names(texts["found"])
    except ValueError as error:
        raise Error(f"{path}: chosen, found: {error}: a literal brace is written twice") from error
    _asked({number.name for number in numbers}, asked, path)
    return Figure(
        paper=folder.name,
        name=name,
        title=words.pop("title"),
        figure=words.pop("figure"),
        order=words.pop("order"),
        **texts,
        scenarios=scenarios,
        quick=_known(quick, scenarios, path),
        rules=rules,
        numbers=numbers,
        folder=folder,
        **_known(words, (), path),
    )


def _asked(numbers: set[str], asked: set[str], path: Path) -> None:
    """Checks that the texts use exactly the numbers that are there."""
    for name in sorted(asked - numbers):
        raise Error(f"{path}: {{{name}}} needs a table numbers.{name}")
    for name in sorted(numbers - asked):
        raise Error(f"{path}: numbers.{name}: no text uses it")


def _known(table: dict[str, Any], keys: Any, path: Path) -> dict[str, Any]:
    for key in table:
        if key not in keys:
            raise Error(f"{path}: {key}: unknown key")
    return table


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Error(f"{path}: {error}") from error
