"""Pages of models and papers in the terminal, and the examples that come with the package."""

import json
import re
import stat
from pathlib import Path

import pytest

from conftest import Command
from quiclab.commands.pager import console_text
from quiclab.commands.pages import as_text, formula, rendered, section
from quiclab.reproduce.paper_files import catalogue, figures
from quiclab.values import package_data

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs" / "model").glob("*.md"))

FORMULAS = {
    r"W_\mathrm{cubic}(t) = C\,(t - K)^3 + W_{\max}": "W_cubic(t) = C (t - K)^3 + W_max",
    r"K = \sqrt[3]{(W_{\max} - W) / C}": "K = ∛((W_max - W) / C)",
    r"\frac{\mathrm{interval}}{\sqrt{n}}": "interval/(√(n))",
    r"\tfrac{7}{8}\,\mathrm{srtt}": "7/8 srtt",
    r"p^{k-1} (1-p)": "p^(k-1) (1-p)",
    r"10^{-5}": "10^-5",
    r"W \leftarrow W/2": "W ← W/2",
    r"p \le\theta_{\max}": "p ≤ θ_max",
}


@pytest.mark.parametrize("tex", FORMULAS)
def test_a_formula_becomes_text(tex: str) -> None:
    assert formula(tex) == FORMULAS[tex]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_formula_of_a_page_stays_in_tex(page: Path) -> None:
    text = as_text(page.read_text(encoding="utf-8"))
    # Blocks of code have commands of shells; signs of Markdown are escaped.
    words = re.sub(r"^```(sh|toml|python|json).*?^```$|^ {4}.*?$|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not re.findall(r"\\[A-Za-z]+|\$", words)
    assert "](" not in re.sub(r"\]\(https?:[^)]*\)", "", words)


def test_signs_of_a_formula_mean_nothing_in_a_table() -> None:
    table = "| a | b |\n| --- | --- |\n| $|m - R|$ | $\\max(*) \\cdot x_y$ |\n"
    told = console_text(rendered(table), width=60)
    assert "|m - R|" in told and "max(*) · x_y" in told


def test_code_is_left_alone() -> None:
    page = "`$PAGER` and\n\n```sh\necho $A ![x](y) $B\n```\n"
    assert as_text(page).startswith("`$PAGER`") and "echo $A" in as_text(page) and "$B" in as_text(page)


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    page = "# T\n\n## A\n\none\n\n### B\n\ntwo\n\n## C\n"
    assert section(page, "A") == "## A\n\none\n\n### B\n\ntwo\n"
    assert section(page, "B") == "### B\n\ntwo\n"
    assert section(page, "D") is None


def test_a_component_is_listed_with_its_page(command: Command) -> None:
    told = command("list", "cubic").stdout
    assert told.index("fast_convergence") < told.index("Equations") < told.index("References")
    assert "Equations" not in command("list", "controllers").stdout
    assert [
        row["name"] for topic in json.loads(command("list", "cubic", "--json").stdout) for row in topic["rows"]
    ] == ["cubic"]


def test_every_component_that_names_a_page_has_it() -> None:
    from quiclab import topics

    # Components in Python, which other tests have registered, are called by their files.
    rows = [row for topic in topics() for row in topic["rows"] if ":" not in row["name"]]
    named = {row["page"] for row in rows if row["page"] is not None}
    assert len(named) > 40
    assert not [page for page in named if package_data.model_page(page) is None]


def test_every_paper_and_figure_is_explained(command: Command) -> None:
    for paper in catalogue():
        assert section(package_data.papers(), paper.title)
    for name in figures():
        assert section(package_data.papers(), f"{name}: "), name
    assert "holds" in command("explain", "inet-flow-control").stdout
    assert json.loads(command("explain", "bdp", "--json").stdout)[0]["what"] == "a paper, reproduced"
    assert "did you mean 'bdp-storage'" in command("explain", "bdp-storag").stderr


def test_examples_are_listed_and_copied(command: Command) -> None:
    listed = json.loads(command("examples", "--json").stdout)
    assert [row["scenario"] for row in listed] == sorted(file.name for file in (ROOT / "examples").glob("*.toml"))
    assert all(10 < len(row["about"]) < 200 for row in listed), listed
    told = command("examples", "mine")
    assert told.returncode == 0 and "quiclab run mine/cellular.toml" in told.stdout
    ours = {file.relative_to(ROOT / "examples") for file in (ROOT / "examples").rglob("*.toml")}
    theirs = {file.relative_to(command.folder / "mine") for file in (command.folder / "mine").rglob("*.toml")}
    assert theirs == {file for file in ours if not {"own-controller", "own-parts"} & set(file.parts)}
    assert (command.folder / "mine" / "traces" / "leo.csv").read_bytes() == (
        ROOT / "examples/traces/leo.csv"
    ).read_bytes()
    assert (command.folder / "mine" / "cellular.toml").stat().st_mode & stat.S_IWUSR


def test_a_folder_that_is_there_is_left_alone(command: Command) -> None:
    (command.folder / "mine").mkdir()
    told = command("examples", "mine")
    assert told.returncode == 2
    assert told.stderr == "quiclab: mine: exists already; choose another folder or remove it\n"
    assert not list((command.folder / "mine").iterdir())
