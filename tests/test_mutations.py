"""The breakages of mutations.toml can still be made: `make script-mutations` makes them."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

import mutations
import python_mutations


@pytest.mark.parametrize("mutation", mutations.mutations(), ids=lambda mutation: mutation.breakage)
def test_a_breakage_can_be_made(mutation: mutations.Mutation) -> None:
    assert mutation.problem() is None


def test_breakages_are_told_apart() -> None:
    names = [mutation.breakage for mutation in mutations.mutations()]
    assert len(names) == len(set(names)) >= 10


def test_a_breakage_that_has_moved_on_is_refused() -> None:
    good = mutations.mutations()[0]
    for change in (
        {"old": "this text is nowhere"},
        {"old": "\n"},
        {"file": "crates/quic/src/nowhere.rs"},
        {"new": good.old},
        {"scripts": ()},
        {"scripts": ("acks/nowhere",)},
        {"scripts": (), "tests": ("no_such_test",)},
        {"tests": ("first",)},
    ):
        bad = mutations.Mutation(**{**vars(good), **change})
        assert bad.problem() is not None, change


def test_a_script_that_must_fail_and_holds_is_told() -> None:
    one = mutations.mutations()[0]
    shown = mutations.Shown(one, {one.scripts[0]: "7: nothing was sent"})
    assert shown.survived == list(one.scripts[1:])
    assert " | line 7: nothing was sent |" in mutations.table([shown])
    assert "1 breakages; 1 of" in mutations.coverage([shown])


def test_every_member_of_the_workspace_is_copied() -> None:
    members = tomllib.loads((mutations.ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    for member in members:
        assert any(Path(member.removesuffix("/*")).is_relative_to(copied) for copied in mutations.COPIED), member


def test_the_copy_follows_its_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, workspace = tmp_path / "root", tmp_path / "workspace"
    for file in ("Cargo.toml", "crates/a/src/lib.rs", "crates/a/target/junk"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(file)
    monkeypatch.setattr(mutations, "ROOT", root)
    mutations.copy(workspace)
    copied = workspace / "crates/a/src/lib.rs"
    assert copied.read_text() == "crates/a/src/lib.rs"
    assert not (workspace / "crates/a/target").exists()
    before = copied.stat().st_mtime_ns
    (root / "Cargo.toml").write_text("new")
    (workspace / "crates/a/src/old.rs").write_text("gone")
    mutations.copy(workspace)
    assert (workspace / "Cargo.toml").read_text() == "new"
    assert copied.stat().st_mtime_ns == before
    assert not (workspace / "crates/a/src/old.rs").exists()


def test_what_a_breakage_did_is_kept_for_one_state_of_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutations, "PLACE", tmp_path / "place")
    made = []

    def make(mutation: mutations.Mutation, workspace: Path) -> dict[str, str]:
        made.append(mutation)
        return {"a/b": "1: no"}

    monkeypatch.setattr(mutations, "_show", make)
    first, second = mutations.mutations()[:2]
    source = tmp_path / "workspace" / "Cargo.toml"
    source.parent.mkdir()
    states = []
    for text in ("one", "one", "two"):
        source.write_text(text)
        states.append(mutations.fingerprint(source.parent))
    assert states[0] == states[1] != states[2]
    for mutation, state in ((first, states[0]), (first, states[1]), (second, states[0]), (first, states[2])):
        assert mutations.show(mutation, source.parent, state).failed == {"a/b": "1: no"}
    assert made == [first, second, first]


def test_what_holds_without_a_breakage_is_kept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutations, "PLACE", tmp_path)
    ran = []
    failing = {"scripts": {"a/b": "1: no"}}

    def run_scripts(program: Path, scripts: Path) -> dict[str, str]:
        ran.append("scripts")
        return failing.get("scripts", {})

    def run_test(test: mutations.Test, workspace: Path) -> dict[str, str]:
        ran.append(test.name)
        return {}

    monkeypatch.setattr(mutations, "build", lambda workspace: tmp_path / "program")
    monkeypatch.setattr(mutations, "run", run_scripts)
    monkeypatch.setattr(mutations, "run_test", run_test)
    rows = mutations.mutations()
    script = next(row for row in rows if row.scripts)
    test = next(row for row in rows if row.tests)
    with pytest.raises(mutations.RefusedError, match="these fail: a/b"):
        mutations.check_sound([script, test], tmp_path, "one")
    failing.clear()
    for state in ("one", "one", "two"):
        mutations.check_sound([script, test, test], tmp_path, state)
    mutations.check_sound([test], tmp_path, "three")
    name = test.tests[0]
    assert ran == ["scripts", "scripts", name, "scripts", name, name], (
        "a failure is looked at again, what holds is kept"
    )


LISTED = """\
ids::tests::a_copy_is_not_taken: test
ids::tests::a_copy_is_not_taken_twice: test
other::tests::not_a_copy_is_not_taken: test
ids::a_copy_is_not_taken: benchmark

3 tests, 1 benchmark
"""


def test_a_test_is_found_by_its_whole_name() -> None:
    assert mutations.path_of(LISTED, "a_copy_is_not_taken") == "ids::tests::a_copy_is_not_taken"
    assert mutations.path_of("a_copy: test\n", "a_copy") == "a_copy"
    for listed, name in (
        (LISTED, "a_copy"),
        (f"more::a_copy_is_not_taken: test\n{LISTED}", "a_copy_is_not_taken"),
        ("", "a"),
    ):
        with pytest.raises(mutations.RefusedError, match="tests have the name"):
            mutations.path_of(listed, name)


OUTPUT = """
running 4 tests
test ids::tests::a_copy_is_not_taken_twice ... FAILED
test ids::tests::a_copy_is_not_taken ... {verdict}
test ids::tests::it_panics - should panic ... ok
test ids::tests::slow ... ignored

failures:

---- ids::tests::a_copy_is_not_taken_twice stdout ----
thread 'x' panicked at crates/quic/src/ids.rs:1:
test ids::tests::a_copy_is_not_taken was not FAILED

failures:
    ids::tests::a_copy_is_not_taken_twice

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.00s
"""


def test_only_the_very_test_tells_that_it_fails() -> None:
    path = "ids::tests::a_copy_is_not_taken"
    assert mutations.fails(OUTPUT.format(verdict="FAILED"), path)
    assert not mutations.fails(OUTPUT.format(verdict="ok"), path), "another one has failed"
    assert not mutations.fails(OUTPUT.format(verdict="ok"), "ids::tests::it_panics")
    for output in (
        "",
        "error: could not compile `quic` (lib test) due to 1 previous error",
        "running 1 test\nthread 'x' has overflowed its stack\n",
        OUTPUT.format(verdict="ignored"),
    ):
        with pytest.raises(mutations.RefusedError, match="it is not said"):
            mutations.fails(output, path)


def test_a_build_that_fails_is_no_test_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "crates/a/tests/behaviour/loss.rs"
    source.parent.mkdir(parents=True)
    source.write_text("fn it_holds() {}")
    built = [
        {"reason": "compiler-artifact", "executable": None, "profile": {"test": False}},
        {"reason": "compiler-artifact", "executable": "/deps/tool", "profile": {"test": False}},
        {"reason": "compiler-artifact", "executable": "/deps/behaviour-1", "profile": {"test": True}},
        {"reason": "build-finished", "success": True},
    ]
    answers = {
        "--no-run": (0, "\n".join(map(json.dumps, built))),
        "--list": (0, "loss::it_holds: test\n"),
        "--exact": (101, "test loss::it_holds ... FAILED\n"),
    }
    commands = []

    def call(command: tuple[str, ...], **options: object) -> subprocess.CompletedProcess[str]:
        commands.append(list(command))
        code, output = next(answer for word, answer in answers.items() if word in command)
        return subprocess.CompletedProcess(command, code, output, "error[E0425]")

    monkeypatch.setattr(subprocess, "run", call)
    test = mutations.Test(Path("crates/a"), "it_holds")
    assert mutations.run_test(test, tmp_path) == {"it_holds": "it fails"}
    assert commands[0][-2:] == ["--test", "behaviour"]
    program = "/deps/behaviour-1"
    assert commands[1:] == [[program, "--list", "it_holds"], [program, "--exact", "loss::it_holds"]]
    answers["--no-run"] = (101, "")
    with pytest.raises(mutations.RefusedError, match="does not build"):
        mutations.run_test(test, tmp_path)
    answers["--no-run"] = (0, "")
    with pytest.raises(mutations.RefusedError, match="0 test programs"):
        mutations.run_test(test, tmp_path)
    source.rename(tmp_path / "crates/a/tests/behaviour.rs")
    assert test.command(tmp_path)[-2:] == ["--test", "behaviour"]
    (tmp_path / "crates/a/src").mkdir()
    (tmp_path / "crates/a/tests/behaviour.rs").rename(tmp_path / "crates/a/src/loss.rs")
    assert test.command(tmp_path)[-1] == "--lib"


def test_the_page_has_all_breakages() -> None:
    """`make script-mutations` writes the table as a whole: after a new breakage, and before a release."""
    written = mutations.DOCUMENT.read_text(encoding="utf-8").partition(mutations.BEGIN)[2].partition(mutations.END)[0]
    named = [line.split(" | ")[0].removeprefix("| ") for line in written.splitlines() if line.startswith("| ")][1:]
    assert written.strip().startswith(f"{len(named)} breakages; ")
    assert named == [mutation.breakage for mutation in mutations.mutations()]


def test_a_breakage_of_python_names_tests_of_pytest() -> None:
    good = next(one for one in mutations.mutations() if one.is_python)
    assert good.problem() is None and good.located == []
    for tests in ((), ("test_numbers.py::test_nothing",), ("test_nowhere.py::test_a",), ("no_such_test",)):
        assert mutations.Mutation(**{**vars(good), "tests": tests}).problem() is not None, tests
    both = {**vars(good), "scripts": ("acks/delayed",), "tests": ()}
    assert "no script runs the Python package" in str(mutations.Mutation(**both).problem())


def test_tests_of_pytest_run_with_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, tests = tmp_path / "python" / "quiclab", tmp_path / "tests"
    package.mkdir(parents=True)
    tests.mkdir()
    (package / "__init__.py").write_text('"""A."""\nONE = 1\n')
    (tests / "test_one.py").write_text("import quiclab\n\n\ndef test_one():\n    assert quiclab.ONE == 1\n")
    monkeypatch.setattr(python_mutations, "ROOT", tmp_path)
    workspace = tmp_path / "copy"
    python_mutations.copy(workspace)
    state = python_mutations.fingerprint(workspace)
    assert python_mutations.run_test("test_one.py::test_one", workspace) == {}
    (workspace / "python" / "quiclab" / "__init__.py").write_text('"""A."""\nONE = 2\n')
    assert python_mutations.fingerprint(workspace) != state
    assert python_mutations.run_test("test_one.py::test_one", workspace) == {"test_one.py::test_one": "it fails"}
    (workspace / "python" / "quiclab" / "more.py").touch()
    python_mutations.copy(workspace)
    assert python_mutations.fingerprint(workspace) == state, "the copy is equal again"
    with pytest.raises(RuntimeError, match="pytest cannot run"):
        python_mutations.run_test("test_one.py::test_two", workspace)
