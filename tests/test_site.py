"""docs/site: the navigation has every page, and what is checked of the finished site can fail."""

import importlib
import re
import sys
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

import quiclab

ROOT = Path(__file__).parents[1]
PARTS = ROOT / "docs" / "site"


@pytest.fixture(scope="module")
def check() -> Any:
    """The module `check` of the site."""
    return _part("check")


def _part(name: str) -> Any:
    sys.path.insert(0, str(PARTS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(PARTS))


def page(body: str) -> str:
    return f'<html><body><a href="index.html">home</a><article role="main">{body}</article></body></html>'


def site(folder: Path, check: Any, **pages: str) -> list[str]:
    """What is wrong with these pages, beside what is missing of the real site."""
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(page(body), encoding="utf-8")
    found: list[str] = check.problems(folder)
    return [problem for problem in found if "WITHOUT_EXAMPLE" not in problem]


def test_a_good_site_has_no_problem(tmp_path: Path, check: Any) -> None:
    index = '<pre>quiclab</pre><a href="other.html#place">other</a><a href="https://example.org">far</a>'
    assert site(tmp_path, check, index=index, other='<pre id="place">x</pre>') == []


@pytest.mark.parametrize(
    ("index", "other", "problem"),
    [
        ('<a href="other.html">x</a><a href="none.html">x</a>', "<pre></pre>", "index.html: none.html does not exist"),
        ('<a href="other.html#no">x</a>', "<pre></pre>", "index.html: other.html#no: no such place on other.html"),
        (
            '<a href="#no">x</a><a href="other.html">x</a>',
            "<pre></pre>",
            "index.html: #no: no such place on index.html",
        ),
        ('<a href="other.html">x</a>', "words", "other.html: no example: no block of code, command or figure"),
        ("", "<pre></pre>", "other.html: no way leads there from index.html"),
        (
            '<a href="../up.html">x</a><a href="other.html">x</a>',
            "<pre></pre>",
            "index.html: ../up.html does not exist",
        ),
        (
            '<a href="other.html">x</a>',
            '<img src="https://example.org/x.png">',
            "other.html: https://example.org/x.png is loaded from the network",
        ),
        ('<a href="other.html">x</a>', '<img src="x.png">', "other.html: x.png does not exist"),
        (
            '<a href="other.html">x</a>',
            "<pre>$A$</pre><code>$B$</code> $5 or $ 6 <p>$C$, RFC</p>",
            "other.html: $C$ is no formula on the page",
        ),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, check: Any, index: str, other: str, problem: str) -> None:
    assert site(tmp_path, check, index=f"<pre></pre>{index}", other=other) == [problem]


def test_exceptions_are_pages(tmp_path: Path, check: Any) -> None:
    site(tmp_path, check, index="<pre></pre>")
    told = [problem for problem in check.problems(tmp_path) if "WITHOUT_EXAMPLE" in problem]
    assert len(told) == len(check.WITHOUT_EXAMPLE)


def test_every_page_is_in_the_navigation() -> None:
    pages = _part("navigation").pages()
    written = {path.relative_to(ROOT).as_posix().removesuffix(".md") for path in (ROOT / "docs").rglob("*.md")}
    written = {name for name in written if not name.startswith("docs/site/")} - {"docs/index"}
    assert len(pages) == len(set(pages))
    assert not written - set(pages), "add it to docs/site/navigation.toml"
    made = ("reference/", "notebooks/")
    assert not [name for name in pages if not name.startswith(made) and not (ROOT / f"{name}.md").is_file()]


def test_every_notebook_has_a_page() -> None:
    notebooks = {f"notebooks/{path.stem}" for path in (ROOT / "examples" / "notebooks").glob("*.ipynb")}
    assert notebooks == {name for name in _part("navigation").pages() if name.startswith("notebooks/")}


def test_no_line_ends_between_a_number_and_its_unit() -> None:
    unbroken = _part("finish").unbroken
    space = "\N{NO-BREAK SPACE}"
    assert unbroken("from 5 ms at 10 Mbit/s, -0.19 % of 3 kB") == (
        f"from 5{space}ms at 10{space}Mbit/s, -0.19{space}% of 3{space}kB"
    )
    for text in ("2 packets", "3 mice", "5 hosts", "RFC 9000 section 8.1", "1 bit/second", "a ms"):
        assert unbroken(text) == text


def test_figures_lead_to_themselves_unless_they_lead_elsewhere() -> None:
    linked = _part("finish").linked
    picture = '<img alt="x" src="../_images/x.svg" />'
    assert linked(f"<p>{picture}</p>") == f'<p><a class="picture" href="../_images/x.svg">{picture}</a></p>'
    for text in (f'<a href="there.html">{picture}</a>', '<img src="other/x.svg">', "<p>x.svg</p>"):
        assert linked(text) == text


def test_neighbours_are_called_as_in_the_navigation() -> None:
    titles = _part("finish").titles()
    assert titles["README"] == "Five minutes"
    assert titles["docs/model/cubic"] == "CUBIC"
    assert "docs/sweeps" not in titles


def test_what_is_to_be_typed_keeps_its_quotes() -> None:
    plain = _part("markup").plain
    assert plain("Change a value: link.cell.delay='10 ms'. Repeatable.") == (
        "Change a value: `link.cell.delay='10 ms'`. Repeatable."
    )
    assert plain("'' for all") == "`''` for all"
    assert plain("the sender's `a='b'` and *") == "the sender's `a='b'` and \\*"


def test_components_are_told_in_sentences_and_without_an_empty_column() -> None:
    reference = _part("scenario_reference")
    assert reference.sentence("packets are lost by their number") == "Packets are lost by their number."
    assert reference.sentence("satellite: low orbit") == "Satellite: low orbit."
    assert reference.sentence("dvb-rcs2 as it is") == "dvb-rcs2 as it is."
    option = {"name": "a", "kind": "text", "default": None, "required": True, "about": "what it is"}
    sourced = {**option, "about": "what it is (RFC 9000 section 4.1)"}
    assert "source" not in reference._options([option])
    assert "default" in reference._options([option])
    optional = {**option, "required": False}
    assert "default" not in reference._options([optional])
    assert "default" in reference._options([optional, {**optional, "default": "1"}])
    assert "rfc9000.html#section-4.1" in reference._options([option, sourced])


def test_the_page_of_scenarios_has_all_units() -> None:
    page = " ".join((PARTS / "pages" / "scenario.md").read_text(encoding="utf-8").split())
    for key, kind in ("delay", "duration"), ("rate", "rate"):
        with pytest.raises(quiclab.ScenarioError) as error:
            quiclab.Scenario.from_text(f'[[link]]\nname = "a"\nfrom = "b"\nto = "c"\n{key} = "1 apple"\n')
        units = re.search(r"with its unit (\([^)]*\))", str(error.value))
        assert units is not None
        assert units[1] in page, kind


def test_no_table_of_a_command_has_an_empty_column() -> None:
    lines = _part("command_reference").commands_page(ROOT).split("\n")
    heads = [at for at, line in enumerate(lines) if line.startswith("| ---")]
    for head in heads:
        rows = list(takewhile(lambda line: line.startswith("|"), lines[head + 1 :]))
        cells = [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]
        assert all(any(column) for column in zip(*([c.strip() for c in row] for row in cells), strict=True)), rows
    assert len(heads) > 20


def test_a_notebook_without_outputs_says_so(tmp_path: Path) -> None:
    pages = _part("notebook_pages")
    notebooks = ROOT / "examples" / "notebooks"
    said = {path.stem: "kept without outputs" in pages.write(path, tmp_path / "x.md") for path in notebooks.iterdir()}
    assert said == {"compare-controllers": True, "first-steps": False, "own-controller": False}


def test_types_are_called_as_everywhere() -> None:
    type_of = _part("python_reference")._type
    assert type_of("list[dict[str, _Any]]") == "list[dict[str, Any]]"
    assert type_of("A_B | pa._Table") == "A_B | pa._Table"
