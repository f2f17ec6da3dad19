"""Reproduced papers: the rules by which rows are judged, the quick form of each figure, and the generated page."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quiclab import Error
from quiclab.cli import main
from quiclab.reproduce import failures, figures, hidden, page
from quiclab.reproduce.accept import Row, Rule, shown
from quiclab.reproduce.paper_files import catalogue
from quiclab.reproduce.points import select, to_csv
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.spread import interval

DOCS = Path(__file__).parent.parent / "docs"
POINTS = [{"loss": 0.1, "rate_mbps": 95.0, "theory_mbps": 100.0}, {"loss": 0.2, "rate_mbps": 50.0, "theory_mbps": 50.1}]


def rule(**keys: Any) -> Rule:
    """With the theory as what the paper has, unless said otherwise."""
    table = {"case": "{loss} %", "of": "sentence", "here": "rate_mbps", "paper": "theory_mbps", **keys}
    return Rule.read(table, "a.toml")


@pytest.mark.parametrize(
    ("keys", "held"),
    [
        ({"within": "1 %"}, [False, True]),
        ({"within": "5 %"}, [True, True]),
        ({"within": 0.5}, [False, True]),
        ({"target": 94.9, "within": "1 %"}, [True, False]),
        ({"target": 60, "at_least": 60}, [True, False]),
        ({"target": 50, "at_most": "theory_mbps", "at_least": 50}, [True, True]),
        ({"target": "less", "at_most": 49.9}, [False, False]),
        ({"at_most": "theory_mbps"}, [True, True]),
        ({"target": "some", "at_most": 95, "where": {"loss": [0.1, 0.3]}}, [True]),
    ],
)
def test_a_rule_judges_each_point_that_it_is_about(keys: dict[str, Any], held: list[bool]) -> None:
    assert [row.ok for row in rule(**keys).rows(POINTS, quick=False)] == held


def test_a_row_says_case_paper_here_and_accept() -> None:
    row = rule(within="1 %", unit="Mbit/s", digits=1, of="number", detail="{rate_mbps:.0f}").rows(POINTS, quick=False)[
        0
    ]
    assert row.to_dict() == {
        "name": "0.1 %",
        "case": "0.1 %, 95",
        "of": "number",
        "paper": "100.0 Mbit/s",
        "target": "",
        "here": "95.0 Mbit/s",
        "accept": "within 1 %",
        "ok": False,
        "outcome": "differs",
        "known": "",
        "cannot_fail": "",
    }


def test_a_case_is_filled_in_plainly_or_as_it_says() -> None:
    (row, _) = rule(case="{loss} %, {rate_mbps:.2f} Mbit/s", within="9 %").rows(POINTS, quick=False)
    assert row.case == "0.1 %, 95.00 Mbit/s"


def test_a_target_of_our_own_is_not_what_the_paper_has() -> None:
    (row, _) = rule(paper='"as fast"', target="{theory_mbps} of 100", at_least=90, unit="Mbit/s").rows(
        POINTS, quick=False
    )
    assert (row.paper, row.target, row.ok) == ('"as fast"', "100 of 100", True)
    ours = Rule.read(
        {"case": "a", "of": "ours", "here": "rate_mbps", "target": "theory_mbps", "within": "10 %"}, "a.toml"
    )
    (row, _) = ours.rows(POINTS, quick=False)
    assert (row.paper, row.target, row.accept, row.ok) == ("", "100.00", "within 10 %", True)


@pytest.mark.parametrize("bound", [{"at_least": 90}, {"at_most": 100}, {"at_least": "theory_mbps", "at_most": 100}])
def test_a_bound_that_is_not_the_papers_needs_a_target(bound: dict[str, Any]) -> None:
    with pytest.raises(Error, match=r"a\.toml: accept: at_(least|most) is not the number of the paper"):
        rule(**bound)
    rule(**bound, target="more")


def test_a_distance_between_shares_is_told_in_points() -> None:
    (row, _) = rule(within=1.5, unit="%").rows(POINTS, quick=False)
    assert row.accept == "within 1.5 percentage points"


def test_a_word_that_is_also_an_empty_column_is_an_error() -> None:
    """As words it would be read as the column, and the table would show nothing."""
    points = [{"loss": 0.1, "rate_mbps": 95.0, "longer": None}]
    with pytest.raises(Error, match="'longer' is the name of a column, which has no value here"):
        rule(paper='"more"', target="longer", at_least=90).rows(points, quick=False)


def test_words_of_a_paper_stand_in_quotation_marks() -> None:
    with pytest.raises(Error, match="no column 'theory_mpbs'; words of a paper need quotation marks"):
        rule(paper="theory_mpbs", target=95, at_least=90).rows(POINTS, quick=False)


def test_a_rule_about_no_point_does_not_hold() -> None:
    (row,) = rule(within="1 %", where={"loss": 0.5}).rows(POINTS, quick=False)
    assert not row.ok


def test_what_is_no_number_does_not_hold() -> None:
    (row,) = rule(within="1 %").rows([{"loss": 0.1, "rate_mbps": None, "theory_mbps": 1.0}], quick=False)
    assert not row.ok and row.here == "nothing"


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"within": 1, "wihtin": 2},
        {"within": 1, "in": ["full"]},
        {"within": 1, "of": "words"},
        {"within": 1, "of": "ours"},
        {"within": 1, "cannot_fail": "a", "can_fail": "b"},
    ],
)
def test_a_malformed_rule_is_reported(keys: dict[str, Any]) -> None:
    with pytest.raises(Error, match=r"a\.toml: accept"):
        rule(**keys)


def test_runs_that_fail_do_not_hold() -> None:
    told = failures({"main": Runs(made=3), "other": Runs(failures=["run 2, seed 7: a reason"], made=3)})
    assert [row.ok for row in told] == [False] and "run 2, seed 7: a reason" in told[0].here
    assert failures({"main": Runs(made=3)}) == []


def test_of_many_rows_people_see_the_one_nearest_to_its_limit_and_those_that_do_not_hold() -> None:
    rows = [
        Row(str(number), "", "", "", "", ok=number != 7, room=-0.2 if number == 7 else 1 - number / 20)
        for number in range(20)
    ]
    assert shown(rows[:12]) == rows[:12]
    assert [row.case for row in shown(rows)] == ["19 of 20 cases; the farthest beyond its limit: 7"]
    held = [Row(str(number), "", "", "", "", ok=True, room=1 - number / 20) for number in range(20)]
    assert [row.case for row in shown(held)] == ["20 of 20 cases; the nearest to its limit: 19"]


@pytest.mark.parametrize(
    ("bounds", "nearest"),
    [({"at_least": 1}, 3), ({"at_most": 30}, 28), ({"at_least": -6, "at_most": 30}, 28), ({"within": 30}, 28)],
)
def test_the_nearest_row_is_that_with_the_least_room(bounds: dict[str, Any], nearest: int) -> None:
    points = [{"number": number, "value": (number * 7) % 26 + 3} for number in range(20)]
    words = {"case": "{number}", "here": "value", "of": "ours", "target": 0}
    told = shown(Rule.read({**words, **bounds}, "a.toml").rows(points, quick=False))
    (first,) = [row for row in told if row.among]
    assert first.ok and first.here.split()[0] == f"{nearest:.2f}"


def test_an_interval_is_students() -> None:
    # t(0.975, 4) = 2.776; the standard deviation of 1, 2, 3, 4, 5 is sqrt(2.5).
    mean, low, high = interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == 3 and high - mean == pytest.approx(2.776 * 2.5**0.5 / 5**0.5, rel=1e-3)
    assert mean - low == pytest.approx(high - mean) and interval([4.0]) == (4.0, 4.0, 4.0)


def test_points_are_selected_and_written() -> None:
    assert select(POINTS, {"loss": 0.1 + 1e-12}) == POINTS[:1]
    assert select(POINTS, {"rate_mbps": [50, 60]}) == POINTS[1:]
    assert to_csv(POINTS).splitlines() == ["loss,rate_mbps,theory_mbps", "0.1,95,100", "0.2,50,50.1"]


def test_results_of_other_rules_are_no_results() -> None:
    figure = figures()["inet-link-bandwidth"]
    page.results(figure, DOCS)
    with pytest.raises(Error, match="have changed since: run make papers"):
        page.results(replace(figure, rules=()), DOCS)


@pytest.mark.parametrize("name", figures())
def test_the_quick_form_of_each_figure_is_as_expected(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each claim is judged or listed, each row holds or is known not to, and what is drawn can be seen."""
    # The quick form should take less than 30 s; that is not asserted here, since machines differ in speed.
    start = time.monotonic()
    code = main(["reproduce", name, "--quick", "--json", "--out", str(tmp_path)])
    (told,) = json.loads(capsys.readouterr().out)
    print(f"{name}: {time.monotonic() - start:.1f} s")
    unexpected = [row for row in told["rows"] if row["outcome"] not in ("holds", "cannot fail", "differs, as known")]
    assert told["id"] == name and told["rows"] and not unexpected
    assert code == told["code"] == (3 if told["unjudged"] else 0)
    full = {row["name"] for row in page.results(figures()[name], DOCS)["rows"]}
    judged = {row["name"] for row in told["rows"]}
    listed = {row for claim in told["unjudged"] for row in claim["rows"]}
    assert judged <= full, "a name has a measured value, or a row is none of the full form"
    assert judged | listed == full and not judged & listed, "a row is neither judged nor listed"
    assert told["warnings"] == []
    folder = Path(told["folder"])
    assert (folder / "figure.svg").read_text().startswith("<?xml")
    assert len((folder / "points.csv").read_text().splitlines()) > 1


def test_a_figure_changes_with_its_scenario(tmp_path: Path) -> None:
    """Another rate of the bottleneck in the file, and both theory and what came out are others."""
    copy = tmp_path / "package"
    shutil.copytree(Path(page.__file__).parent.parent, copy / "quiclab")
    file = copy / "quiclab/papers/inet/link_bandwidth.scenario.toml"
    text = file.read_text()
    assert text.count("100 Mbit/s") == 3
    file.write_text(text.replace("100 Mbit/s", "40 Mbit/s"))
    program = "import sys; from quiclab.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "reproduce", "inet-link-bandwidth", "--quick", "--json", "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(copy)}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    (told,) = json.loads(done.stdout)
    assert told["rows"][0]["paper"] == "39.125 Mbit/s"


def test_a_value_of_a_scenario_that_no_run_has_is_told(tmp_path: Path) -> None:
    """The link's rate is varied: whoever changes the one in the table of links changes nothing, and hears of it."""
    copy = tmp_path / "package"
    shutil.copytree(Path(page.__file__).parent.parent, copy / "quiclab")
    file = copy / "quiclab/papers/inet/link_bandwidth.scenario.toml"
    file.write_text(file.read_text().replace('rate = "100 Mbit/s"', 'rate = "40 Mbit/s"', 1))
    program = "import sys; from quiclab.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "reproduce", "inet-link-bandwidth", "--quick", "--out", "out"]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(copy)}, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0 and "no run of the sweep has this value" in done.stderr, done.stderr


def test_what_is_drawn_outside_of_its_axes_does_not_hold() -> None:
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots()
    axes.plot([0, 1], [0, 2])
    assert hidden(drawing) == []
    axes.set_ylim(0, 1)
    (row,) = hidden(drawing)
    assert not row.ok and "from 0 to 2 along y" in row.here
    pyplot.close(drawing)


@pytest.mark.parametrize("place", ["axes", "figure"])
def test_a_legend_that_is_cut_off_does_not_hold(place: str) -> None:
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots(layout="constrained")
    for number in range(4):
        axes.plot([], [], label=f"a longer name, {number}")
    if place == "figure":
        drawing.legend(loc="outside upper center", ncols=2)
        assert hidden(drawing) == []
        drawing.legend(loc="outside lower center", ncols=5)
    else:
        axes.legend(loc="upper right")
        assert hidden(drawing) == []
        axes.legend(loc="center left", bbox_to_anchor=(1.5, 0.5))
        drawing.set_layout_engine("none")
    (row,) = hidden(drawing)
    assert not row.ok and row.case == "legends that are cut off" and "a longer name, 3" in row.here
    pyplot.close(drawing)


@pytest.mark.parametrize("kind", ["line", "dots", "bar", "error", "area", "words", "twin"])
def test_what_lies_under_a_legend_does_not_hold(kind: str) -> None:
    from matplotlib import pyplot

    drawing, axes = pyplot.subplots()
    axes.plot([], [], label="a")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    # What lies in the other corner, the background and the grid are no reason.
    axes.plot([0, 0.5], [0, 0.5])
    axes.plot([0.9, 0.9, 0.99], [0, float("nan"), 0])
    axes.axvspan(0.5, 1, alpha=0.2)
    axes.grid()
    axes.legend(loc="upper right")
    assert hidden(drawing) == []
    if kind == "line":
        axes.plot([0.9, 0.9], [0, 1])
    elif kind == "dots":
        axes.plot([0.95], [0.95], "o")
    elif kind == "bar":
        axes.bar([0.9], [1.0], width=0.2)
    elif kind == "error":
        axes.errorbar([0.9], [0.5], [0.5], linestyle="")
    elif kind == "area":
        axes.fill_between([0.5, 1], [0, 0], [1, 1])
    elif kind == "words":
        axes.text(0.9, 0.94, "words")
    else:
        other = axes.twinx()
        other.plot([0.5, 1], [0.95, 0.95])
        other.set_ylim(0, 1)
    (row,) = hidden(drawing)
    assert not row.ok and row.case == "drawn under a legend"
    pyplot.close(drawing)


def test_the_exit_code_is_1_if_a_row_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Rule, "rows", lambda self, points, quick: [self._row(points[0])])
    monkeypatch.setattr("quiclab.reproduce.accept._share", lambda text: (0.0, False))
    assert main(["reproduce", "inet-link-bandwidth", "--quick", "--out", str(tmp_path)]) == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_an_unknown_id_is_told_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "inet-nothing"]) == 2
    assert "inet-link-bandwidth" in capsys.readouterr().err


def test_the_list_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in figures())


def test_every_scenario_belongs_to_a_figure() -> None:
    used = {path for figure in figures().values() for path in figure.scenarios.values()}
    folder = Path(page.__file__).parent.parent / "papers"
    assert used == set(folder.glob("*/*.scenario.toml"))


def test_the_page_is_what_the_catalogue_and_the_results_give() -> None:
    """It fails, too, if a scenario or a rule has changed since the runs of the page were made: `make papers`."""
    assert (DOCS / page.PAGE).read_text(encoding="utf-8") == page.render(DOCS)


def test_each_figure_of_the_page_has_its_drawing_and_says_what_differs() -> None:
    for paper in catalogue():
        for figure in paper.figures:
            assert (DOCS / page.FOLDER / f"{figure.id}.svg").exists()
            differ = [row for row in page.results(figure, DOCS)["rows"] if not row["ok"]]
            assert all(row["known"] for row in differ) and (figure.found or not differ), figure.id
