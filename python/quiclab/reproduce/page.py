"""docs/papers.md: `python -m quiclab.reproduce.page REPRODUCED DOCS` writes it, `make papers` does so after all runs.

It copies rows and figures from the folders of full reproductions to DOCS/papers/, and writes DOCS/papers.md and the
names of the rows of each claim (`claims.json` beside the papers) from these and the catalogue. Figures without such a
folder keep what was copied before, as long as their sources are the same. Nothing on the page is written by hand; a
test compares it with its sources.
"""

import json
import shutil
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from quiclab import papers
from quiclab._quiclab import Error
from quiclab.reproduce import FIGURE, ROWS
from quiclab.reproduce.accept import OF, outcome
from quiclab.reproduce.measured import filled
from quiclab.reproduce.outcomes import CLAIMS, known
from quiclab.reproduce.paper_files import Figure, Paper, catalogue, figures

PAGE = "papers.md"
FOLDER = "papers"

_HEAD = """\
# Papers, reproduced

This page is generated. `make papers` repeats all runs, `quiclab reproduce ID` repeats those of one figure, and
`quiclab reproduce --list` names the figures. `paper` is what the paper says, in numbers or in its own words; where the
paper gives no number, or we ask for more, `target` is our own. A row holds if the value in `here` meets `accept`. Rows
that are known not to hold stand in a file, with the reason; a row that does not hold and is not in the file fails, and
so does a row that is in the file and holds. Rows that cannot fail are listed apart, and not counted.

The exit code of `quiclab reproduce` is 0 if every claim is judged and every row is as expected, 1 if a row is not, and
3 if rows are as expected but the quick form (`--quick`), which makes fewer runs, does not judge every claim; it lists
those that it does not.

Numbers below the tables come from the same runs. The folder `papers/` has what a figure is made of: scenario files, the
code that measures and draws, and what must hold. Change a scenario file and the figure changes.
"""

_TEXTS = ("case", "paper", "target", "here", "accept")
_JUDGED = ("of", "ok", "cannot_fail")

_COUNTED = """
Of {rows} rows about the papers, {number} compare with a number that the paper gives (in its text, tables or formulas),
{sentence} with a sentence of it, and {ours} with a target of our own. {differ} of them differ, for known reasons.
{vacuous} rows more cannot fail. Rows about theory compare with RFCs, drafts and closed forms.

| | rows | a number of the paper | a sentence of the paper | ours | differ, as known | cannot fail, not counted |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def collect(reproduced: Path, docs: Path) -> None:
    """Copies rows and figures of all full reproductions in a folder."""
    for name in figures():
        rows = reproduced / name / ROWS
        if not rows.exists():
            continue
        (docs / FOLDER).mkdir(parents=True, exist_ok=True)
        told = json.loads(rows.read_text(encoding="utf-8"))
        # Durations and warnings differ from machine to machine.
        kept = {key: told[key] for key in ("id", "runs", "definition", "claims", "numbers")}
        # The texts stand in what is listed.
        kept["rows"] = [{key: row[key] for key in ("name", *_JUDGED)} for row in told["rows"]]
        kept["listed"] = [{key: row[key] for key in ("name", *_TEXTS, *_JUDGED)} for row in told["listed"]]
        text = json.dumps(kept, indent=2, ensure_ascii=False) + "\n"
        (docs / FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
        shutil.copyfile(reproduced / name / FIGURE, docs / FOLDER / f"{name}.svg")


def claims(docs: Path) -> str:
    """The names of the rows of each rule of each figure, for the quick form: see `quiclab.reproduce.outcomes`."""
    told = {}
    for figure in (figure for paper in catalogue() for figure in paper.figures):
        of_figure = results(figure, docs)
        names = iter([row["name"] for row in of_figure["rows"]][-sum(of_figure["claims"]) :])
        told[figure.id] = [list(islice(names, count)) for count in of_figure["claims"]]
    return json.dumps(told, indent=0, ensure_ascii=False) + "\n"


def render(docs: Path) -> str:
    """The page. Raises `Error` if a figure was not collected, or if its sources have changed since."""
    of_all = catalogue()
    return _HEAD + _counted(of_all, docs) + "".join(_paper(paper, docs) for paper in of_all)


def _counted(of_all: tuple[Paper, ...], docs: Path) -> str:
    """How many rows there are of each kind: of each paper, of all papers, and of theory."""

    def kinds(papers: list[Paper]) -> dict[str, int]:
        return _kinds([row for paper in papers for figure in paper.figures for row in results(figure, docs)["rows"]])

    about = [paper for paper in of_all if not paper.theory]
    lines = {paper.title: kinds([paper]) for paper in about}
    lines["all papers"] = kinds(about)
    lines |= {paper.title: kinds([paper]) for paper in of_all if paper.theory}
    table = "".join(f"| {name} | {' | '.join(map(str, line.values()))} |\n" for name, line in lines.items())
    return _COUNTED.format(**lines["all papers"]) + table


def _kinds(rows: list[dict[str, Any]]) -> dict[str, int]:
    can = [row for row in rows if row["outcome"] != "cannot fail"]
    kinds = {kind: sum(row["of"] == kind for row in can) for kind in OF}
    differ = sum(not row["ok"] for row in can)
    return {"rows": len(can), **kinds, "differ": differ, "vacuous": len(rows) - len(can)}


def _paper(paper: Paper, docs: Path) -> str:
    sections = "".join(_section(figure, docs) for figure in paper.figures)
    return f"\n## {paper.title}\n\n{paper.authors}, {paper.venue}.\n\n{paper.about}\n{sections}"


def _section(figure: Figure, docs: Path) -> str:
    told = results(figure, docs)
    chosen, found = (filled(text, told["numbers"]) for text in (figure.chosen, figure.found))
    paragraphs = [
        f"### {figure.id}: {figure.title}",
        f"{figure.figure}. {figure.says}",
        f"![{figure.title}]({FOLDER}/{figure.id}.svg)",
        _table([row for row in told["listed"] if row["outcome"] != "cannot fail"]),
        *_reasons(told),
        f"Chosen here: {chosen}" if chosen else "",
        found,
        f"{told['runs']} runs. Files: {_files(figure)}.",
    ]
    return "".join(f"\n{paragraph}\n" for paragraph in paragraphs if paragraph)


def results(figure: Figure, docs: Path) -> dict[str, Any]:
    """The collected results of a figure, each row with what is known of it and its outcome."""
    path = docs / FOLDER / f"{figure.id}.json"
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Error(f"{path}: {error.strerror}: run make papers") from error
    if told["definition"] != figure.digest:
        raise Error(f"{path}: its scenarios, data, rules or code have changed since: run make papers")
    reasons = known(figure.differences, "full")
    for row in [*told["rows"], *told["listed"]]:
        row["known"] = reasons.get(row["name"], "")
        row["outcome"] = outcome(ok=row["ok"], known=row["known"], cannot_fail=row["cannot_fail"])
    return told


def _table(rows: list[dict[str, Any]]) -> str:
    lines = ["| case | paper | target | here | accept | |", "| --- | ---: | ---: | ---: | --- | --- |"]
    for row in rows:
        verdict = "holds" if row["outcome"] == "holds" else f"**{row['outcome']}**"
        cells = [row[name] for name in _TEXTS]
        lines.append(f"| {' | '.join([*cells, verdict])} |")
    return "\n".join(lines)


def _reasons(told: dict[str, Any]) -> list[str]:
    """Why rows differ; then the rows that cannot fail, and why they cannot."""
    paragraphs = []
    differ = _by_reason([row for row in told["rows"] if row["known"]], "known")
    if differ:
        paragraphs.append(
            "Why rows differ:\n\n" + "\n".join(f"* {names}: {reason}" for reason, names in differ.items())
        )
    vacuous = [row for row in told["listed"] if row["outcome"] == "cannot fail"]
    if vacuous:
        reasons = "\n".join(f"* {names}: {reason}" for reason, names in _by_reason(vacuous, "cannot_fail").items())
        paragraphs.append(f"Rows that cannot fail, and are not counted:\n\n{reasons}\n\n{_table(vacuous)}")
    return paragraphs


def _by_reason(rows: list[dict[str, Any]], key: str) -> dict[str, str]:
    """The first row of each reason, and how many there are."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row["name"])
    return {
        reason: names[0] if len(names) == 1 else f"{names[0]}, and {len(names) - 1} more"
        for reason, names in found.items()
    }


def _files(figure: Figure) -> str:
    names = [f"{figure.name}.toml", f"{figure.name}.py", *(path.name for path in figure.scenarios.values())]
    return ", ".join(f"[{name}](../python/quiclab/papers/{figure.paper}/{name})" for name in names)


def main(arguments: list[str]) -> None:
    """REPRODUCED DOCS."""
    reproduced, docs = map(Path, arguments)
    collect(reproduced, docs)
    (docs / PAGE).write_text(render(docs), encoding="utf-8")
    (Path(papers.__file__).parent / CLAIMS).write_text(claims(docs), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
