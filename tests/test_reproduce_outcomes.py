"""Which outcome is expected: known differences, claims that are not judged, rows that cannot fail, exit codes."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from quiclab import Error, papers
from quiclab.cli import main
from quiclab.reproduce import figures, page
from quiclab.reproduce.accept import Row, Rule, unproved
from quiclab.reproduce.outcomes import (
    Difference,
    claims,
    code,
    differences,
    expected,
    known,
    overall,
    unclaimed,
    undecided,
    unjudged,
)
from quiclab.reproduce.paper_files import catalogue

PAPERS = Path(papers.__file__).parent
DOCS = Path(__file__).parent.parent / "docs"
POINTS = [{"loss": 1, "value": 0.5, "same": 0.5, "low": 0.4, "high": 0.6}, {"loss": 2, "value": 0.7, "same": 0.7}]


def row(name: str, ok: bool = True, **keys: Any) -> Row:
    return Row(name, "", "", "", "", ok, **keys)


def rule(**keys: Any) -> Rule:
    return Rule.read({"case": "loss {loss}", "of": "sentence", "here": "value", "paper": '"some"', **keys}, "a.toml")


def known_as(*rows: str, forms: tuple[str, ...] = ("full", "quick")) -> tuple[Difference, ...]:
    return (Difference(rows, "a reason", forms),)


def test_a_known_difference_is_expected_in_both_directions() -> None:
    rows = expected([row("a"), row("b", ok=False), row("c", ok=False)], known_as("b", "a"), quick=False)
    assert [one.outcome for one in rows] == ["holds, but is known to differ", "differs, as known", "differs"]
    assert [one.expected for one in rows] == [False, True, False]
    assert code(rows[1:2], []) == 0 and code(rows[:1], []) == code(rows[2:], []) == 1


def test_a_known_difference_without_a_row_is_not_expected() -> None:
    gone = expected([row("a")], known_as("b"), quick=False)
    assert [one.expected for one in gone] == [True, False] and gone[1].here == "no such row"
    assert [one.expected for one in expected([row("a")], known_as("b", forms=("quick",)), quick=True)] == [True, False]


def test_a_known_difference_that_neither_form_has_is_not_expected_in_the_quick_form() -> None:
    """A misspelt name, or that of a rule that is gone: seen without the runs of the full form."""
    among = (*known_as("b"), *known_as("c", forms=("full",)))
    told = expected([row("a")], among, quick=True, full={"a", "b"})
    assert [(one.name, one.expected) for one in told] == [("a", True), ("c", False)]
    assert expected([row("a")], among, quick=True, full={"a", "b", "c"}) == [row("a")]
    # Where the rows of the full form are not known, nobody knows.
    assert expected([row("a")], among, quick=True, full=None) == [row("a")]


def test_rows_that_are_missing_or_new_in_the_full_form_are_told() -> None:
    assert unclaimed([[row("a")], [row("b")]], [["a"], ["b"]]) == []
    missing, new = unclaimed([[row("a")], [row("d")]], [["a", "b"], ["c"]])
    assert missing.startswith("rows that claims.json has and that are missing: 2, the first: 'b'")
    assert new.startswith("rows that claims.json does not have: 1, the first: 'd'")
    assert "run make papers" in unclaimed([[row("a")]], None)[0]


def test_a_known_difference_of_the_other_form_is_none_of_this_one() -> None:
    rows = expected([row("a", ok=False)], known_as("a", forms=("full",)), quick=True)
    assert rows[0].outcome == "differs"


def test_a_row_with_two_reasons_and_rows_with_one_name_are_errors() -> None:
    with pytest.raises(Error, match="'a' has two reasons in the full form"):
        known((*known_as("a"), *known_as("a")), "full")
    with pytest.raises(Error, match="two rows are called 'a'"):
        expected([row("a"), row("a")], (), quick=False)


def test_what_the_quick_form_does_not_judge_is_listed_with_its_reason() -> None:
    rules = (
        rule(at_most=1, target="a", where={"loss": 1}),
        rule(at_most=2, target="a", case="{loss}, later", not_quick="too short"),
        rule(at_most=3, target="a", where={"loss": 2}),
    )
    given = [one.rows(POINTS, quick=True) for one in rules]
    full = (("loss 1", "loss 9"), ("1, later", "2, later"), ("loss 2",))
    told = unjudged(rules, given, full, known_as("loss 1", "loss 9"))
    assert [(one.rows, one.reason, one.known) for one in told] == [
        (("loss 9",), "the quick form makes no such runs", {"loss 9": "a reason"}),
        (("1, later", "2, later"), "too short", {}),
    ]
    assert code([row("loss 1")], told) == 3
    # Where the names of the rows of the full form are not known, nobody knows whether all are judged.
    assert len(unjudged(rules, given, None, ())) == 3


def test_a_row_that_holds_in_few_runs_and_differs_in_many_is_not_judged() -> None:
    rules = (rule(at_most=1, target="a"),)
    given = [rules[0].rows(POINTS, quick=True)]
    names = [one.name for one in given[0]]
    full_only = known_as(names[0], forms=("full",))
    (told,) = unjudged(rules, given, [names], full_only)
    assert (told.rows, told.known) == ((names[0],), {names[0]: "a reason"}) and "in these few runs" in told.reason
    # One that differs in both is expected, and one that differs in neither is judged.
    assert unjudged(rules, given, [names], known_as(names[0])) == [] == unjudged(rules, given, [names], ())
    assert undecided(given[0], full_only) == {names[0]}


def test_the_full_form_judges_every_claim() -> None:
    assert len(rule(at_most=1, target="a", not_quick="too short").rows(POINTS, quick=False)) == 2
    (none,) = rule(at_most=1, target="a", where={"loss": 3}).rows(POINTS, quick=False)
    assert not none.ok


def test_several_reproductions_have_the_worst_code() -> None:
    assert [overall(codes) for codes in ([0, 0], [0, 3], [3, 1, 0])] == [0, 3, 1]


@pytest.mark.parametrize(
    ("keys", "sign"),
    [
        ({"within": "10 %", "paper": "same"}, "to the last digit"),
        ({"at_least": "same", "target": "a"}, "to the last digit"),
        ({"at_least": 0, "at_most": 1, "target": "a"}, "all that a share can be"),
    ],
)
def test_rules_that_look_as_if_they_could_not_fail_are_found(keys: dict[str, Any], sign: str) -> None:
    (found,) = unproved((rule(**keys),), POINTS, quick=False)
    assert found.endswith(sign)
    for answer in ("can_fail", "cannot_fail"):
        assert unproved((rule(**keys, **{answer: "a reason"}),), POINTS, quick=False) == []


@pytest.mark.parametrize(
    "keys",
    [{"at_least": 0, "target": "a"}, {"at_least": 0.6, "at_most": 1, "target": "a"}, {"at_most": 1, "target": "a"}],
)
def test_rules_that_can_fail_are_not_suspected(keys: dict[str, Any]) -> None:
    assert unproved((rule(**keys),), POINTS, quick=False) == []


def test_one_row_that_differs_from_what_it_is_compared_with_proves_its_rule() -> None:
    points = [POINTS[0], {**POINTS[1], "value": 0.71}]
    assert unproved((rule(within="10 %", paper="same"),), points, quick=False) == []


def test_a_row_that_cannot_fail_is_not_one_that_holds() -> None:
    (first, _) = rule(at_most=1, target="a", cannot_fail="a share").rows(POINTS, quick=False)
    assert (first.outcome, first.expected, first.to_dict()["cannot_fail"]) == ("cannot fail", True, "a share")
    (first, _) = rule(at_most=0.1, target="a", cannot_fail="a share").rows(POINTS, quick=False)
    assert (first.outcome, first.expected) == ("differs", False)


@pytest.mark.parametrize(
    "keys",
    [
        {"paper": 0.9, "target": "a", "at_least": 0},  # the number of the paper is printed, and not judged
        {"paper": 0.9, "target": 0.5, "within": 0.1},
        {"paper": "20 to 35 %", "target": "a", "at_least": 0, "at_most": 35},
        {"paper": '"words"', "target": "a", "at_least": 0},
    ],
)
def test_a_row_of_a_number_is_about_that_number(keys: dict[str, Any]) -> None:
    with pytest.raises(Error, match=r"of is 'number', but .* is not about"):
        rule(of="number", **keys).rows(POINTS, quick=False)


@pytest.mark.parametrize(
    "keys",
    [
        {"paper": 0.9, "within": "50 %"},
        {"paper": 0.5, "at_least": 0.5},
        {"paper": "same", "target": "a", "at_least": 0.3, "at_most": 0.8},
        {"paper": "0.4 to 0.8", "target": "a", "at_least": 0.4, "at_most": 0.8},
    ],
)
def test_a_number_is_a_bound_or_lies_between_two(keys: dict[str, Any]) -> None:
    assert len(rule(of="number", **keys).rows(POINTS, quick=False)) == 2


def test_the_quick_form_says_what_the_paper_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """LDAD gains 20 to 35 % in the paper and nothing here, which both forms say, with the reason."""
    assert main(["reproduce", "semi-ldad-lte", "--quick", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert (
        "differs, as known" in re.sub(r"\s+", " ", out) and "20 to 35" in out and "not wait for the pacing rate" in out
    )


def test_a_known_difference_that_holds_is_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = '[[inet-link-bandwidth]]\nrows = ["MTU 1500 B"]\nreason = "a reason"\n'
    root = copied(tmp_path, table)
    monkeypatch.setattr(
        "quiclab.reproduce.figures", lambda: {one.id: one for p in catalogue(root) for one in p.figures}
    )
    assert main(["reproduce", "inet-link-bandwidth", "--quick", "--json", "--out", str(tmp_path / "out")]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert told["outcomes"] == {"holds": 3, "holds, but is known to differ": 1} and not told["ok"]


def test_a_known_difference_that_no_form_has_is_exit_code_1_of_the_quick_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = '[[inet-link-bandwidth]]\nrows = ["MTU 1501 B"]\nreason = "a reason"\n'
    root = copied(tmp_path, table)
    monkeypatch.setattr(
        "quiclab.reproduce.figures", lambda: {one.id: one for p in catalogue(root) for one in p.figures}
    )
    assert main(["reproduce", "inet-link-bandwidth", "--quick", "--out", str(tmp_path / "out")]) == 1
    assert "MTU 1501 B" in capsys.readouterr().out


def test_a_full_form_whose_rows_are_not_those_of_its_claims_is_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = copied(tmp_path, "")
    file = root / "claims.json"
    file.write_text(file.read_text().replace('"MTU 1500 B"', '"MTU 1501 B"'))
    monkeypatch.setattr(
        "quiclab.reproduce.figures", lambda: {one.id: one for p in catalogue(root) for one in p.figures}
    )
    assert main(["reproduce", "inet-link-bandwidth", "--out", str(tmp_path / "out")]) == 1
    out = capsys.readouterr().out
    assert "are missing: 1, the first: 'MTU 1501 B'" in out and "does not have: 1, the first: 'MTU 1500 B'" in out
    assert main(["reproduce", "inet-link-bandwidth", "--json", "--out", str(tmp_path / "out")]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert len(told["unclaimed"]) == 2 and not told["ok"]


def copied(folder: Path, table: str) -> Path:
    root = Path(shutil.copytree(PAPERS, folder / "papers"))
    (root / "differences.toml").write_text(table)
    return root


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('[[nothing]]\nrows = ["a"]\nreason = "b"\n', "nothing: no figure has this id"),
        ('[[inet-i-bit]]\nrows = ["a"]\n', "inet-i-bit: needs rows and reason"),
        ('[[inet-i-bit]]\nrows = []\nreason = "b"\n', "inet-i-bit: rows and reason are not empty"),
        ('[[inet-i-bit]]\nrows = ["a"]\nreason = "b"\nin = ["slow"]\n', r"inet-i-bit\.in: any of full, quick"),
        ("[[inet-i-bit]\n", "differences.toml: "),
    ],
)
def test_a_malformed_file_of_differences_is_reported(table: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(Error, match=message):
        catalogue(copied(tmp_path, table))


def test_the_known_differences_are_those_of_the_page() -> None:
    """Both ways: each row that does not hold is in the file, and each row in the file does not hold."""
    for name, figure in figures().items():
        differ = {row["name"] for row in page.results(figure, DOCS)["rows"] if not row["ok"]}
        assert set(known(figure.differences, "full")) == differ, name
    assert differences(PAPERS).keys() <= figures().keys()


def test_the_rows_of_each_claim_are_those_of_the_page() -> None:
    assert (PAPERS / "claims.json").read_text(encoding="utf-8") == page.claims(DOCS)
    assert claims(PAPERS).keys() == figures().keys() and all(one.claims for one in figures().values())


def test_the_head_of_the_page_counts_its_rows() -> None:
    about = [figure for paper in catalogue() if not paper.theory for figure in paper.figures]
    rows = [one for figure in about for one in page.results(figure, DOCS)["rows"]]
    can = [one for one in rows if one["outcome"] != "cannot fail"]
    text = (DOCS / page.PAGE).read_text(encoding="utf-8")
    of = {kind: sum(one["of"] == kind for one in can) for kind in ("number", "sentence", "ours")}
    assert f"| all papers | {len(can)} | {of['number']} | {of['sentence']} | {of['ours']} |" in text
    counted = f"Of {len(can)} rows about the papers, {of['number']} compare with a number that the paper gives"
    assert counted in re.sub(r"\s+", " ", text) and len(can) < len(rows)
