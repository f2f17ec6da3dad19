"""Shows that scripts and tests fail when the endpoint is broken on purpose: `make script-mutations`.

Each breakage of mutations.toml is made in a copy of the workspace, which is built and runs all scripts; those that the
breakage names must fail. One that names tests runs the tests of its crate instead. Without a breakage all must hold.
The copy, its build, and what each breakage did stay in target/mutations: what was interrupted goes on, and as long as
sources and scripts are the same nothing is made twice.

    python tests/mutations.py [--write] [--json] [WORD...]

With words only the breakages are made that have one of them in their name, their scripts or their tests. With --write
the table goes to docs/scripts.md.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "tests" / "scripts"
DOCUMENT = ROOT / "docs" / "scripts.md"
PLACE = ROOT / "target" / "mutations"

BEGIN = "<!-- written by make script-mutations -->\n"
END = "<!-- end -->\n"

COPIED = (
    "Cargo.toml",
    "Cargo.lock",
    "crates",
    "benches",
    "examples/own-controller",
    "interop/quiclab",
    "interop/peers/command-line",
    "python/quiclab/commands/bench.toml",
    "tests/scripts",
)
"""What the workspace of the crates needs, and the scripts, so that the table is of one moment."""

PATIENCE_S = 60.0
"""A broken endpoint may go round in a circle."""


class RefusedError(Exception):
    """A breakage that cannot be made, or a build that fails."""


@dataclass(frozen=True)
class Mutation:
    """A text of a source that is replaced, and the scripts that must fail then, or the tests of the file's crate."""

    breakage: str
    file: str
    old: str
    new: str
    scripts: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """All that must fail."""
        return self.scripts + self.tests

    @property
    def crate(self) -> Path:
        """The folder of the crate that is broken."""
        return Path(*Path(self.file).parts[:2])

    def problem(self) -> str | None:
        """What has to be changed in mutations.toml, if anything."""
        source = ROOT / self.file
        if not source.is_file():
            return f"{self.breakage!r}: there is no file {self.file}"
        count = source.read_text(encoding="utf-8").count(self.old)
        if count != 1:
            return f"{self.breakage!r}: {self.file} has its old text {count} times, not once"
        if self.old == self.new:
            return f"{self.breakage!r} changes nothing"
        if bool(self.scripts) == bool(self.tests):
            return f"{self.breakage!r} must name either scripts or tests that must fail"
        for script in self.scripts:
            if not (SCRIPTS / f"{script}.quic").is_file():
                return f"{self.breakage!r}: there is no script {script}"
        sources = [file.read_text(encoding="utf-8") for file in sorted((ROOT / self.crate).rglob("*.rs"))]
        for test in self.tests:
            if sum(f"fn {test}(" in source for source in sources) != 1:
                return f"{self.breakage!r}: there is no test {test} in {self.crate}, or more than one"
        return None


@dataclass
class Shown:
    """What a breakage did: the scripts that failed, each with its first difference, or the tests."""

    mutation: Mutation
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def survived(self) -> list[str]:
        """The scripts and tests that had to fail and did not."""
        return [name for name in self.mutation.named if name not in self.failed]


def mutations() -> list[Mutation]:
    """All breakages of mutations.toml."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    lists = ("scripts", "tests")
    return [Mutation(**{**row, **{key: tuple(row.get(key, ())) for key in lists}}) for row in data["mutation"]]


def _files(below: Path) -> Iterator[Path]:
    for name in COPIED:
        start = below / name
        yield from [start] if start.is_file() else (file for file in start.rglob("*") if file.is_file())


def copy(workspace: Path) -> None:
    """Makes the copy equal to the workspace. A file that is equal already is not touched, so it is not built again."""
    wanted = {file.relative_to(ROOT) for file in _files(ROOT) if "target" not in file.relative_to(ROOT).parts}
    for file in {file.relative_to(workspace) for file in _files(workspace)} - wanted:
        (workspace / file).unlink()
    for file in wanted:
        source, target = ROOT / file, workspace / file
        if not target.is_file() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def environment() -> dict[str, str]:
    """What builds of the copy go by: without debugging information they take half of the time."""
    quiet = {"CARGO_PROFILE_DEV_DEBUG": "0", "RUSTFLAGS": "-A warnings"}
    return {**os.environ, "CARGO_TARGET_DIR": str(PLACE / "target"), **quiet}


def build(workspace: Path) -> Path:
    """Builds the program that runs scripts. Gives where it is."""
    command = ["cargo", "build", "--quiet", "--locked", "--package", "script", "--example", "script"]
    result = subprocess.run(command, cwd=workspace, env=environment(), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RefusedError(f"it does not build:\n{result.stderr}")
    return PLACE / "target" / "debug" / "examples" / "script"


def run_tests(mutation: Mutation, workspace: Path) -> dict[str, str]:
    """Runs the tests that a breakage names. Gives those that fail."""
    failed = {}
    for test in mutation.tests:
        manifest = str(workspace / mutation.crate / "Cargo.toml")
        command = ["cargo", "test", "--quiet", "--locked", "--manifest-path", manifest, "--", test]
        build_first = [*command[:-2], "--no-run"]
        built = subprocess.run(
            build_first, cwd=workspace, env=environment(), capture_output=True, text=True, check=False
        )
        if built.returncode != 0:
            raise RefusedError(f"it does not build:\n{built.stderr}")
        try:
            result = subprocess.run(
                command,
                cwd=workspace,
                env=environment(),
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            failed[test] = f"it does not end within {PATIENCE_S:.0f} s"
            continue
        if result.returncode != 0:
            failed[test] = "it fails"
        elif re.search(r"^running [1-9]", result.stdout, re.MULTILINE) is None:
            raise RefusedError(f"no test has the name {test}")
    return failed


def run(program: Path, scripts: Path) -> dict[str, str]:
    """Runs all scripts. Gives the first difference of each that does not hold."""
    failed = {}
    for file in sorted(scripts.rglob("*.quic")):
        name = str(file.relative_to(scripts))
        try:
            result = subprocess.run(
                [program, name], cwd=scripts, capture_output=True, text=True, timeout=PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            failed[name.removesuffix(".quic")] = f"it does not end within {PATIENCE_S:.0f} s"
            continue
        if result.returncode == 1:
            failed[name.removesuffix(".quic")] = result.stdout.partition("\n")[0].removeprefix(f"{name}:")
        elif result.returncode != 0:
            failed[name.removesuffix(".quic")] = "the endpoint panics"
    return failed


def fingerprint(workspace: Path) -> str:
    """Tells one state of the copy from every other."""
    whole = hashlib.sha256()
    for file in sorted(_files(workspace)):
        for part in (str(file.relative_to(workspace)).encode(), file.read_bytes()):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def kept(mutation: Mutation, state: str) -> Path:
    """Where it is kept what a breakage of this state did."""
    what = json.dumps([state, mutation.file, mutation.old, mutation.new])
    return PLACE / "shown" / f"{hashlib.sha256(what.encode()).hexdigest()}.json"


def show(mutation: Mutation, workspace: Path, state: str) -> Shown:
    """Makes one breakage, runs the scripts, and takes it back; or tells what it did before."""
    known = kept(mutation, state)
    if known.is_file():
        return Shown(mutation, json.loads(known.read_text(encoding="utf-8")))
    shown = _show(mutation, workspace)
    known.parent.mkdir(parents=True, exist_ok=True)
    partial = known.with_suffix(".partial")
    partial.write_text(json.dumps(shown.failed), encoding="utf-8")
    partial.replace(known)
    return shown


def _show(mutation: Mutation, workspace: Path) -> Shown:
    source = workspace / mutation.file
    whole = source.read_text(encoding="utf-8")
    source.write_text(whole.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        if mutation.tests:
            return Shown(mutation, run_tests(mutation, workspace))
        return Shown(mutation, run(build(workspace), workspace / "tests" / "scripts"))
    except RefusedError as error:
        raise RefusedError(f"{mutation.breakage!r}: {error}") from None
    finally:
        source.write_text(whole, encoding="utf-8")


def table(shown: Sequence[Shown]) -> str:
    """What was shown, as Markdown."""
    lines = ["| broken on purpose | scripts or tests that fail | first difference in the first |", "|---|---|---|"]
    for one in shown:
        named = ", ".join(f"`{name}`" for name in one.mutation.named)
        others = len(one.failed) - len(one.mutation.named)
        first = one.mutation.named[0]
        line, _, reason = one.failed.get(first, "").partition(": ")
        where = f"line {line}: {reason}" if reason else one.failed.get(first, "none")
        more = f" and {others} more" if others > 0 else ""
        lines.append(f"| {one.mutation.breakage} | {named}{more} | {where.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def coverage(shown: Sequence[Shown]) -> str:
    """How many scripts were seen to fail."""
    every = {str(file.relative_to(SCRIPTS)).removesuffix(".quic") for file in SCRIPTS.rglob("*.quic")}
    seen = {script for one in shown for script in one.failed if not one.mutation.tests}
    text = f"{len(shown)} breakages; {len(seen)} of {len(every)} scripts fail under at least one of them"
    never = sorted(every - seen)
    return f"{text}; under none: {', '.join(never)}." if never else f"{text}."


def write(shown: Sequence[Shown]) -> None:
    """Puts the table into the document."""
    document = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = document.partition(BEGIN)
    _, _, behind = rest.partition(END)
    if not rest:
        raise RefusedError(f"{DOCUMENT.relative_to(ROOT)} has no place for the table")
    text = f"{before}{BEGIN}\n{coverage(shown)}\n\n{table(shown)}\n{END}{behind}"
    DOCUMENT.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Gives 0 if every breakage was noticed by what it names, 1 if one was not, 2 if one cannot be made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="only breakages with this word")
    parser.add_argument("--write", action="store_true", help="write the table into docs/scripts.md")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    chosen = [
        mutation
        for mutation in mutations()
        if not options.words or any(word in " ".join([mutation.breakage, *mutation.named]) for word in options.words)
    ]
    if not chosen:
        parser.error(f"no breakage has any of: {' '.join(options.words)}")
    if options.write and options.words:
        parser.error("only all breakages together are written")
    try:
        shown = _all(chosen)
        if options.write:
            write(shown)
    except RefusedError as error:
        print(f"script-mutations: {error}", file=sys.stderr)
        return 2
    if options.json:
        rows = [
            {
                "breakage": one.mutation.breakage,
                "expected": one.mutation.named,
                "failed": one.failed,
                "ok": not one.survived,
            }
            for one in shown
        ]
        print(json.dumps(rows, indent=2))
    else:
        print(table(shown))
        print(coverage(shown))
    return 1 if any(one.survived for one in shown) else 0


def _all(chosen: Sequence[Mutation]) -> list[Shown]:
    problems = [problem for mutation in chosen if (problem := mutation.problem())]
    if problems:
        raise RefusedError("; ".join(problems))
    workspace = PLACE / "workspace"
    copy(workspace)
    sound = run(build(workspace), workspace / "tests" / "scripts")
    for mutation in chosen:
        sound |= run_tests(mutation, workspace)
    if sound:
        raise RefusedError(f"without any breakage these fail: {', '.join(sound)}")
    state = fingerprint(workspace)
    shown = []
    for number, mutation in enumerate(chosen, 1):
        one = show(mutation, workspace, state)
        shown.append(one)
        told = f"NOT NOTICED by {', '.join(one.survived)}" if one.survived else f"{len(one.failed)} fail"
        print(f"{number:>3} of {len(chosen)}  {mutation.breakage}: {told}", file=sys.stderr, flush=True)
    return shown


if __name__ == "__main__":
    sys.exit(main())
