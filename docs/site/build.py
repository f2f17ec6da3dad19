"""`make docs`: builds the site into `target/site/`, and checks it. Open `target/site/index.html` from the disk.

1. `target/site-work/source/` has the pages of `navigation.toml`, those that are generated in `reference/` and
   `notebooks/`, and the start page.
2. Sphinx makes pages of it (`conf.py`); a warning is an error.
3. `check.py` reads the pages that came out. The JSON schema of scenarios lies beside them.
"""

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import check
import navigation
import notebook_pages
import sources
from command_reference import commands_page
from python_reference import python_page
from scenario_reference import examples_page, scenario_page
from tables_reference import tables_page

from quiclab._quiclab import schema_json

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
PICTURES = ["docs/images", "docs/papers"]


def main() -> int:
    """Builds and checks; the exit code is 0 only if nothing is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=PROJECT / "target/site", help="where the site goes")
    parser.add_argument("--fresh", action="store_true", help="read every page again, also those that have not changed")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    work = out.with_name(f"{out.name}-work")
    start = time.monotonic()
    if arguments.fresh:
        shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    stage(work / "source")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--builder",
        "html",
        "--conf-dir",
        str(HERE),
        "--doctree-dir",
        str(work / "doctrees"),
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        "--jobs",
        "auto",
        str(work / "source"),
        str(out),
    ]
    if subprocess.run(command, check=False).returncode != 0:
        print("the site has the warnings above; each is an error", file=sys.stderr)
        return 1
    (out / "quiclab.schema.json").write_text(schema_json(), encoding="utf-8")
    problems = check.problems(out, work / "source")
    for problem in problems:
        print(problem, file=sys.stderr)
    pages = len(list(out.rglob("*.html")))
    if problems:
        print(f"{len(problems)} problems in {pages} pages", file=sys.stderr)
        return 1
    print(f"{pages} pages in {time.monotonic() - start:.0f} s: {out / 'index.html'}")
    return 0


def stage(source: Path) -> None:
    """Makes the folder that Sphinx reads: the pages of the navigation, their pictures, and what is generated."""
    notebooks = notebook_pages.pages(PROJECT)
    wanted = {f"{page}.md" for page in navigation.pages()} - set(GENERATED) - set(notebooks)
    wanted |= {path.relative_to(PROJECT).as_posix() for folder in PICTURES for path in (PROJECT / folder).iterdir()}
    written = {path.relative_to(PROJECT).as_posix() for path in (PROJECT / "docs").rglob("*.md")}
    missing = {name for name in written - wanted if not name.startswith("docs/site/")} - {"docs/index.md"}
    if missing:
        raise SystemExit(f"navigation.toml has no {', '.join(sorted(missing))}")
    for name in wanted:
        sources.copy(PROJECT / name, source / name)
    for name in GENERATED:
        _write(source / name, _page(name))
    for name, notebook in notebooks.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        _write(source / name, notebook_pages.write(notebook, source / name))
    for path in source.rglob("*.md"):
        name = path.relative_to(source).as_posix()
        if name not in wanted and name not in GENERATED and name not in notebooks:
            path.unlink()


def _page(name: str) -> str:
    """The text of a page: that of `pages/`, the generated part, and on the start page the navigation."""
    place = Path(__file__).with_name("pages") / posixpath.basename(name)
    folder = posixpath.dirname(name) or "."

    def link(found: re.Match[str]) -> str:
        path = posixpath.relpath(posixpath.normpath(posixpath.join("docs/site/pages", found[1])), folder)
        return f"]({path})"

    parts = [re.sub(r"\]\(((?!https?:|#)[^)]+)\)", link, place.read_text(encoding="utf-8")), GENERATED[name](PROJECT)]
    return "\n".join(parts)


def _navigation(project: Path) -> str:
    trees = [navigation.toctree(one["pages"], root="index", caption=one["title"]) for one in navigation.sections()]
    return "\n".join(trees)


def _write(place: Path, text: str) -> None:
    """Only if it differs: Sphinx reads a page again when its file is newer."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.is_file() or place.read_text(encoding="utf-8") != text:
        place.write_text(text, encoding="utf-8")


GENERATED = {
    "index.md": _navigation,
    "reference/scenario.md": scenario_page,
    "reference/examples.md": examples_page,
    "reference/commands.md": commands_page,
    "reference/python.md": python_page,
    "reference/tables.md": tables_page,
}
"""Pages that begin with a text of `pages/`, and what makes the rest of them from the program."""


if __name__ == "__main__":
    sys.exit(main())
