"""docs/papers.md: `python -m quiclab.reproduce.page REPRODUCED DOCS` writes it, `make papers` does so after all runs.

It copies rows and figures from the folders of full reproductions to DOCS/papers/, and writes DOCS/papers.md from these
and the catalogue. Nothing on the page is written by hand; a test compares it with its sources.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from quiclab._quiclab import Error
from quiclab.reproduce import FIGURE, ROWS
from quiclab.reproduce.catalogue import Figure, Paper, catalogue, figures
from quiclab.reproduce.measured import filled

PAGE = "papers.md"
FOLDER = "papers"

_HEAD = """\
# Papers, reproduced

This page is generated. `make papers` repeats all runs, `quiclab reproduce ID` repeats those of one figure, and
`quiclab reproduce --list` names the figures. `paper` is what the paper says, in numbers or in its own words; where the
paper gives no number, or we ask for more, `target` is our own. A row holds if the value in `here` meets `accept`; the
exit code of the command is 0 only if all rows hold. Numbers below the tables come from the same runs. The folder
`papers/` has what a figure is made of: scenario files, the code that measures and draws, and what must hold.
Change a scenario file and the figure changes.
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
        kept = {key: told[key] for key in ("id", "ok", "runs", "definition", "rows", "listed", "numbers")}
        text = json.dumps(kept, indent=2, ensure_ascii=False) + "\n"
        (docs / FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
        shutil.copyfile(reproduced / name / FIGURE, docs / FOLDER / f"{name}.svg")


def render(docs: Path) -> str:
    """The page. Raises `Error` if a figure was not collected, or if its sources have changed since."""
    return _HEAD + "".join(_paper(paper, docs) for paper in catalogue())


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
        _table(told["listed"]),
        f"Chosen here: {chosen}" if chosen else "",
        found,
        f"{told['runs']} runs. Files: {_files(figure)}.",
    ]
    return "".join(f"\n{paragraph}\n" for paragraph in paragraphs if paragraph)


def results(figure: Figure, docs: Path) -> dict[str, Any]:
    """The collected results of a figure."""
    path = docs / FOLDER / f"{figure.id}.json"
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Error(f"{path}: {error.strerror}: run make papers") from error
    if told["definition"] != figure.digest:
        raise Error(f"{path}: its scenarios, data, rules or code have changed since: run make papers")
    return told


def _table(rows: list[dict[str, Any]]) -> str:
    lines = ["| case | paper | target | here | accept | |", "| --- | ---: | ---: | ---: | --- | --- |"]
    for row in rows:
        verdict = "holds" if row["ok"] else "**does not hold**"
        cells = [row[name] for name in ("case", "paper", "target", "here", "accept")]
        lines.append(f"| {' | '.join([*cells, verdict])} |")
    return "\n".join(lines)


def _files(figure: Figure) -> str:
    names = [f"{figure.name}.toml", f"{figure.name}.py", *(path.name for path in figure.scenarios.values())]
    return ", ".join(f"[{name}](../python/quiclab/papers/{figure.paper}/{name})" for name in names)


def main(arguments: list[str]) -> None:
    """REPRODUCED DOCS."""
    reproduced, docs = map(Path, arguments)
    collect(reproduced, docs)
    (docs / PAGE).write_text(render(docs), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
