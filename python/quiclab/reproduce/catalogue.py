"""What there is to reproduce: papers and their figures, as the files of `quiclab.papers` describe them.

A paper is a folder PAPER with `paper.toml` (title, authors, venue, about). A figure of it is three files:

* `FIGURE.toml`: what the paper says, what was chosen where it says nothing, what must hold, and what came out, in words
  whose numbers are taken from the points;
* `FIGURE.scenario.toml`: the runs, with a `[sweep]` table (or several such files, named under `[scenarios]`);
* `FIGURE.py`: `measure(sweeps)`, from the runs to the points of the figure, and `draw(points)`, from these to the
  figure.

Its id is PAPER-FIGURE, with hyphens for underscores. The folders are the catalogue: there is no list to keep.
"""

import hashlib
import importlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from quiclab import papers
from quiclab._quiclab import Error
from quiclab.reproduce.accept import Rule
from quiclab.reproduce.measured import Measured, names
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
        """The points of the figure, from the finished sweeps by their names."""

    def draw(self, points: Points) -> "Drawing":
        """The figure in the paper's own form: same axes, same series."""


@dataclass(frozen=True)
class Paper:
    """A paper."""

    name: str
    """The name of its folder, and the first word of the ids of its figures."""
    title: str
    authors: str
    venue: str
    about: str
    """What it is about and what its figures have in common."""
    figures: "tuple[Figure, ...]"
    """In the order of the paper."""


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper."""

    paper: str
    name: str
    """The name of its files."""
    title: str
    """What it shows."""
    figure: str
    """Where it is in the paper: `Fig. 3`."""
    order: int
    """Its place among the figures of the paper."""
    says: str
    """What the paper says, in our words."""
    chosen: str
    """What the paper leaves open and what was chosen here."""
    found: str
    """What came out beyond the rows, and the reason where it differs from the paper."""
    numbers: tuple[Measured, ...]
    """The numbers that `chosen` and `found` name."""
    folder: Path
    """Where its files are."""
    scenarios: Mapping[str, Path]
    """The files of the sweeps by name."""
    quick: Mapping[str, Sequence[str]]
    """For `--quick`, the changes to each of them."""
    rules: tuple[Rule, ...]
    """What must hold."""

    @property
    def id(self) -> str:
        """What it is called on the command line."""
        return f"{self.paper}-{self.name}".replace("_", "-")

    @cached_property
    def module(self) -> Module:
        """Its code."""
        return cast(Module, importlib.import_module(f"quiclab.papers.{self.paper}.{self.name}"))

    @cached_property
    def digest(self) -> str:
        """A hash of what decides its numbers and its drawing: scenarios, data, rules, and the code that reads them.

        Comments do not count, nor do the words about it, which the page takes from the file itself.
        """
        described = {
            "scenarios": {name: _toml(path) for name, path in self.scenarios.items()},
            "rules": [rule.described for rule in self.rules],
            "numbers": {number.name: number.described for number in self.numbers},
            "code": code(self.folder / f"{self.name}.py"),
            "data": data(self.folder, self.name, self.scenarios.values()),
        }
        text = json.dumps(described, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def catalogue(root: Path = _ROOT) -> tuple[Paper, ...]:
    """All papers, in the order of their names."""
    return tuple(_paper(path.parent) for path in sorted(root.glob("*/paper.toml")))


def figures() -> dict[str, Figure]:
    """All figures by their ids."""
    return {figure.id: figure for paper in catalogue() for figure in paper.figures}


def find(name: str) -> list[Figure]:
    """The figures that a word of the command line means: an id, the name of a paper, or `all`."""
    known = figures()
    if name == "all":
        return list(known.values())
    if name in known:
        return [known[name]]
    of_paper = [figure for figure in known.values() if figure.paper == name]
    if not of_paper:
        raise Error(f"nothing is called {name!r}: there are {', '.join(known)}")
    return of_paper


def _paper(folder: Path) -> Paper:
    words = _toml(folder / "paper.toml")
    files = [path for path in folder.glob("*.toml") if path.name != "paper.toml" and not path.name.endswith(_SCENARIO)]
    of_it = sorted((_figure(folder, path) for path in files), key=lambda figure: (figure.order, figure.name))
    return Paper(
        folder.name, words["title"], words["authors"], words["venue"], words["about"].strip(), figures=tuple(of_it)
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
        raise Error(f"{path}: chosen, found: {error}: a brace that is meant is written twice") from error
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
    """Each number that a text names is there, and each that is there is named."""
    for name in sorted(asked - numbers):
        raise Error(f"{path}: {{{name}}}: there is no numbers.{name}")
    for name in sorted(numbers - asked):
        raise Error(f"{path}: numbers.{name}: no text names it")


def _known(table: dict[str, Any], keys: Any, path: Path) -> dict[str, Any]:
    for key in table:
        if key not in keys:
            raise Error(f"{path}: {key}: not known")
    return table


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Error(f"{path}: {error}") from error
