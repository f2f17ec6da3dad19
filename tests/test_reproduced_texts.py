"""What the texts of reproduced figures say with numbers is measured, and a page that is out of step is found."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from quiclab import Error, papers
from quiclab.reproduce import page
from quiclab.reproduce.measured import Measured, filled, names, taken
from quiclab.reproduce.paper_files import Figure, catalogue
from quiclab.reproduce.sources import code

POINTS = [{"what": "run", "rounds": 11, "share": 0.25}, {"what": "run", "rounds": 12, "share": 0.75}]
PAPERS = Path(papers.__file__).parent


def number(**table: Any) -> Measured:
    return Measured.read("kept", table, "a.toml")


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({"here": "rounds", "where": {"share": 0.25}}, "11"),
        ({"here": "rounds", "as": "least"}, "11"),
        ({"here": "rounds", "as": "most"}, "12"),
        ({"here": "rounds", "as": "mean", "digits": 1}, "11.5"),
        ({"here": "share", "as": "sum", "digits": 2}, "1.00"),
        ({"here": "share", "as": "range", "times": 100}, "25 to 75"),
        ({"here": "share", "as": "range", "times": 0.1}, "0"),
        ({"as": "count", "where": {"what": "run"}}, "2"),
        ({"as": "count", "where": {"what": "page"}}, "0"),
        ({"here": "rounds", "times": -1e-3, "as": "mean"}, "0"),
    ],
)
def test_a_number_is_taken_from_the_points(table: dict[str, Any], text: str) -> None:
    assert number(**table).text(POINTS) == text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"here": "rounds"}, "rounds is 11 and 12"),
        ({"here": "rounds", "where": {"share": 2}}, "no point has"),
        ({"here": "lost"}, "lost is None; expected a number"),
        ({"here": "what", "as": "most"}, "what is 'run'; expected a number"),
    ],
)
def test_a_number_that_the_points_do_not_have_is_an_error(table: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=re.escape(message)):
        number(**table).text(POINTS)


@pytest.mark.parametrize(
    "table", [{}, {"here": "a", "as": "median"}, {"here": "a", "were": {}}, {"here": "a", "in": []}]
)
def test_a_malformed_number_is_reported(table: dict[str, Any]) -> None:
    with pytest.raises(Error, match=r"a\.toml: numbers\.kept"):
        number(**table)


def test_a_text_is_filled_in_and_a_missing_number_is_an_error() -> None:
    kept = number(here="rounds", **{"as": "range"})
    full = number(here="rounds", **{"as": "most", "in": ["full"]})
    assert taken((kept,), POINTS, quick=True) == ({"kept": "11 to 12"}, [])
    assert taken((full,), POINTS, quick=True) == ({}, [])
    assert names("kept for {kept} round trips") == {"kept"}
    assert filled("kept for {kept} round trips", {"kept": "11"}) == "kept for 11 round trips"
    with pytest.raises(Error, match="kept: this number was not measured"):
        filled("kept for {kept} round trips", {})


_NAMES = re.compile(
    r"RFC \d+( section [\d.]+)?|section [\d.]+|draft-[\w-]+|[A-Za-z]+v\d|[A-Za-z]+\d|HTTP/[\d.]+|1:\d+|A\.\d+|\{\w+\}"
    r"|`[^`]*`|sqrt\([^)]*\)"
)
"""What has a number in it and is none."""
_NUMBER = re.compile(r"(?<![\w.])\.?\d[\d.,]*(?<![.,])")


@pytest.mark.parametrize("one", [one for paper in catalogue() for one in paper.figures], ids=lambda one: one.id)
def test_a_number_in_found_is_measured_or_given(one: Figure) -> None:
    """It is taken from the points, or stands in the scenario, in what the paper says or in what must hold."""
    files = " ".join(path.read_text(encoding="utf-8") for path in one.scenarios.values())
    given = set(_NUMBER.findall(f"{files} {one.says} {[rule.described for rule in one.rules]}"))
    given |= set(re.findall(r"\d+(?:\.\d+)?", files))
    typed = [number for number in _NUMBER.findall(_NAMES.sub(" ", one.found)) if number not in given]
    assert not typed, f"{one.id}: {typed} are typed: see quiclab.reproduce.measured"


def test_labels_of_figures_have_no_tex_in_them() -> None:
    """Math is not read in figures, so that labels in TeX would stand there as they are."""
    drawn = sorted((Path(__file__).parent.parent / "docs" / "papers").glob("*.svg"))
    raw = [path.name for path in drawn if re.search(r"mathdefault|\\times", path.read_text(encoding="utf-8"))]
    assert len(drawn) >= 20 and not raw


def copied(folder: Path) -> Path:
    """The papers, where a test may change them."""
    return Path(shutil.copytree(PAPERS, folder / "papers"))


def figure(root: Path, name: str) -> Figure:
    (found,) = (one for paper in catalogue(root) for one in paper.figures if one.id == name)
    return found


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_numbers_that_the_points_do_not_have_are_told_and_the_others_taken() -> None:
    kept = Measured.read("kept", {"here": "rounds", "as": "most"}, "a.toml")
    lost = Measured.read("lost", {"here": "rounds", "where": {"share": 2}}, "a.toml")
    assert taken((kept, lost), POINTS, quick=False) == ({"kept": "12"}, ["numbers.lost: no point has {'share': 2}"])


def test_a_brace_that_is_not_closed_is_reported_with_its_file(tmp_path: Path) -> None:
    root = copied(tmp_path)
    edit(root / "inet/flow_control.toml", "Goodput is", "In } cases goodput is")
    with pytest.raises(Error, match=r"flow_control\.toml: chosen, found: "):
        catalogue(root)


def test_a_text_that_names_a_number_which_is_not_there_is_reported(tmp_path: Path) -> None:
    root = copied(tmp_path)
    edit(root / "inet/flow_control.toml", "Goodput is", "In {nothing} cases goodput is")
    with pytest.raises(Error, match=r"flow_control\.toml: \{nothing\} needs a table numbers\.nothing"):
        catalogue(root)


def test_a_number_that_no_text_names_is_reported(tmp_path: Path) -> None:
    root = copied(tmp_path)
    file = root / "inet/flow_control.toml"
    file.write_text(file.read_text() + '\n[numbers.most]\nhere = "goodput_mbps"\nas = "most"\n')
    with pytest.raises(Error, match=r"flow_control\.toml: numbers\.most: no text uses it"):
        catalogue(root)


@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("ns3-bbr-capacity", "ns3/bbr_capacity.py", "_STEP_S = 0.1", "_STEP_S = 0.2"),
        ("ns3-bbr-capacity", "ns3/traces.py", "pacing_gain > 2", "pacing_gain > 3"),
        ("ns3-bbr-capacity", "ns3/bbr_capacity.scenario.toml", 'queue = "360 kB"', 'queue = "350 kB"'),
        ("ns3-bbr-capacity", "ns3/bbr_capacity.toml", "digits = 0", "digits = 1"),
        ("inet-lossy-link", "inet/measures.py", "IP_UDP = 28", "IP_UDP = 48"),
        ("sched-adaptive", "sched/adaptive.ends.scenario.toml", "rows = 4000", "rows = 3000"),
        ("sched-control-traffic", "sched/delays.py", "fmean", "median"),
        ("sched-adaptive", "sched/adaptive.mine.csv", "0", "1"),
    ],
)
def test_a_page_that_is_out_of_step_with_code_data_scenario_or_rules_is_found(
    name: str, file: str, old: str, new: str, tmp_path: Path
) -> None:
    root, docs = copied(tmp_path), tmp_path / "docs"
    (docs / page.FOLDER).mkdir(parents=True)
    if file.endswith(".csv"):
        # No figure has data beside its code; one that had some would name it like this.
        (root / file).write_text(old)
    told = {"definition": figure(root, name).digest, "rows": [], "listed": []}
    (docs / page.FOLDER / f"{name}.json").write_text(json.dumps(told))
    assert page.results(figure(root, name), docs) == told
    edit(root / file, old, new)
    with pytest.raises(Error, match="have changed since: run make papers"):
        page.results(figure(root, name), docs)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("ns3/bbr_capacity.py", "_STEP_S = 0.1", "# Of the figure.\n_STEP_S = 0.1"),
        ("ns3/bbr_capacity.toml", "the old bandwidth counts as remembered", "the old bandwidth is remembered"),
        ("ns3/bbr_fairness.py", "_STEP_S = 0.1", "_STEP_S = 0.2"),
        ("inet/measures.py", "IP_UDP = 28", "IP_UDP = 48"),
    ],
)
def test_comments_words_and_other_figures_do_not_count(file: str, old: str, new: str, tmp_path: Path) -> None:
    root = copied(tmp_path)
    before = figure(root, "ns3-bbr-capacity").digest
    edit(root / file, old, new)
    assert figure(root, "ns3-bbr-capacity").digest == before


def test_the_digest_is_that_of_the_installed_figure(tmp_path: Path) -> None:
    assert figure(copied(tmp_path), "ns3-bbr-capacity").digest == figure(PAPERS, "ns3-bbr-capacity").digest


def test_of_a_package_only_the_imported_modules_count() -> None:
    """A panel that is added to the figure of a run changes no figure of a paper."""
    shown = figure(PAPERS, "ns3-bbr-capacity")
    found = code(shown.folder / f"{shown.name}.py")
    assert "quiclab.drawings.plots.style" in found
    assert "quiclab.drawings.plots" not in found
