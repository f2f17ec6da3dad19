"""The check of instructions (`make instructions`) fails when it should; callgrind itself is not asked here."""

from pathlib import Path

import pytest

import callgrind
import instruction_check as check
from instruction_check import Figure, Figures

COMMITTED = Figures("rustc 1, here", {"bulk": Figure(1_000_000, "first"), "page": Figure(2_000_000, "faster pages")})
SAME = {"bulk": 1_000_000, "page": 2_000_000}


def test_the_committed_figures_are_those_of_all_scenarios() -> None:
    figures = Figures.read(check.FIGURES)
    assert set(figures.scenarios) == set(check.SCENARIOS)
    assert figures.compiler.startswith("rustc ")
    assert all(figure.instructions > 10_000_000 and figure.reason for figure in figures.scenarios.values())


@pytest.mark.parametrize("counted", [980_000, 1_000_000, 1_020_000])
def test_two_per_cent_are_nothing(counted: int) -> None:
    assert check.problems(COMMITTED, {**SAME, "bulk": counted}) == []


@pytest.mark.parametrize(
    ("counted", "change"),
    [(1_020_001, "1,020,001 instructions, committed are 1,000,000: +2.0%, a loss"), (979_999, ": -2.0%, a gain")],
)
def test_more_is_a_problem_in_either_direction(counted: int, change: str) -> None:
    [line] = check.problems(COMMITTED, {**SAME, "bulk": counted})
    assert line.startswith("bulk takes ")
    assert change in line


def test_a_scenario_on_one_side_only_is_a_problem() -> None:
    counts = {"bulk": 1_000_000, "other": 5}
    assert check.problems(COMMITTED, counts) == [
        "page has a committed figure but is not counted",
        "other has no committed figure: 5 instructions were counted",
    ]


def test_only_what_moved_too_far_gets_a_new_figure(tmp_path: Path) -> None:
    counts = {"bulk": 1_019_999, "page": 2_100_000}
    new = COMMITTED.renewed(COMMITTED.compiler, counts, "pages have more objects")
    assert new.scenarios == {
        "bulk": COMMITTED.scenarios["bulk"],
        "page": Figure(2_100_000, "pages have more objects"),
    }
    new.write(tmp_path / "figures.json")
    assert Figures.read(tmp_path / "figures.json") == new


def test_with_another_compiler_all_figures_are_new() -> None:
    new = COMMITTED.renewed("rustc 2, here", SAME, "rustc 2")
    assert {figure.reason for figure in new.scenarios.values()} == {"rustc 2"}


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_another_compiler_is_said_and_in_ci_a_failure(
    ci: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(check, "counted", lambda runner: pytest.fail("there is nothing to compare with"))
    assert check.check(COMMITTED, "rustc 2, here", Path("runner")) == code
    assert "committed figures are of rustc 1, here, this one is rustc 2, here" in capsys.readouterr().out


@pytest.mark.parametrize(("counts", "code"), [(SAME, 0), ({**SAME, "page": 2_050_000}, 1)])
def test_the_exit_code_is_that_of_the_counts(
    counts: dict[str, int], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "counted", lambda runner: counts)
    assert check.check(COMMITTED, COMMITTED.compiler, Path("runner")) == code
    assert ("make instructions RENEW=" in capsys.readouterr().out) == (code == 1)


def test_a_callgrind_file_is_added_up_without_callees_and_cipher() -> None:
    lines = """\
events: Ir
fl=(1) a.rs
fn=(1) main
16 100
+2 20
cfn=(2) ring_core_0_17__seal
calls=3 40
* 5000
fn=(2)
40 4900
fi=(3) b.rs
41 100
fn=(3) _aesni_encrypt
7 1000
fn=(1)
-1 3
20
totals: 6123
"""
    assert list(callgrind.costs(lines.splitlines())) == [
        ("main", 100),
        ("main", 20),
        ("ring_core_0_17__seal", 4900),
        ("ring_core_0_17__seal", 100),
        ("_aesni_encrypt", 1000),
        ("main", 3),
    ]
    assert callgrind.instructions(lines.splitlines()) == 123
