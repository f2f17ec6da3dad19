"""The breakages of mutations.toml can still be made: `make script-mutations` makes them."""

import tomllib
from pathlib import Path

import pytest

import mutations


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
        assert member.removesuffix("/*") in mutations.COPIED


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

    def make(mutation: mutations.Mutation, workspace: Path) -> mutations.Shown:
        made.append(mutation)
        return mutations.Shown(mutation, {"a/b": "1: no"})

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
