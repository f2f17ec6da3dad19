"""Shows that scripts and tests fail when the endpoint is broken on purpose: `make script-mutations`.

Each breakage of mutations.toml is made in a copy of the workspace, which is built and runs all scripts; those that the
breakage names must fail. One that names tests runs those tests of its crate instead, or, if it is one of the Python
package, those tests of pytest (`python_mutations.py`). Without a breakage all must hold.
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import python_mutations

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
    "examples/own-parts",
    "examples/pages",
    "examples/traces",
    "docs/results.md",
    "interop/peers/command-line",
    "python/quiclab/commands/bench.toml",
    "tests/scripts",
)
"""What the workspace of the crates and their tests need, and the scripts, so that the table is of one moment."""

PATIENCE_S = 60.0
"""A broken endpoint may go round in a circle."""


class RefusedError(Exception):
    """A breakage that cannot be made, or a build that fails."""


@dataclass(frozen=True)
class Test:
    """A test by its name alone, without the modules that it is in, and the folder of its crate."""

    crate: Path
    name: str

    def sources(self, root: Path) -> list[Path]:
        """The files that have a function of this name, relative to the crate: one, if all is well."""
        files = sorted((root / self.crate).rglob("*.rs"))
        found = [file for file in files if f"fn {self.name}(" in file.read_text(encoding="utf-8")]
        return [file.relative_to(root / self.crate) for file in found]

    def command(self, root: Path) -> list[str]:
        """The command that builds the one test program that has it, and says where that is."""
        source = self.sources(root)[0]
        program = ["--test", Path(source.parts[1]).stem] if source.parts[0] == "tests" else ["--lib"]
        manifest = str(root / self.crate / "Cargo.toml")
        told = "--message-format=json-render-diagnostics"
        return ["cargo", "test", "--locked", "--no-run", told, "--manifest-path", manifest, *program]


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

    @property
    def is_python(self) -> bool:
        """Whether it breaks the Python package."""
        return python_mutations.is_in_package(self.file)

    @property
    def located(self) -> list[Test]:
        """The tests of a crate, with where they are."""
        return [] if self.is_python else [Test(self.crate, name) for name in self.tests]

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
        for test in self.located:
            if len(test.sources(ROOT)) != 1:
                return f"{self.breakage!r}: there is no test {test.name} in {self.crate}, or more than one"
        if self.is_python:
            wrong = [told for test in self.tests if (told := python_mutations.problem(test)) is not None]
            if self.scripts or wrong:
                return f"{self.breakage!r}: {wrong[0] if wrong else 'no script runs the Python package'}"
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


def path_of(listed: str, name: str) -> str:
    """The one test of this name in what a test program lists, with the modules that it is in."""
    paths = [path for path in re.findall(r"^(\S+): test$", listed, re.MULTILINE) if path.split("::")[-1] == name]
    if len(paths) != 1:
        raise RefusedError(f"{len(paths)} tests have the name {name}, not one")
    return str(paths[0])


def fails(output: str, path: str) -> bool:
    """Whether a test program says of this very test that it has failed. It must say one or the other."""
    told = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED)$", output, re.MULTILINE)
    verdicts = [verdict for test, verdict in told if test == path]
    if len(verdicts) != 1:
        raise RefusedError(f"it is not said whether {path} holds:\n{output}")
    return verdicts == ["FAILED"]


def program_of(built: str) -> str:
    """The one test program among what cargo says that it has built."""
    artifacts = [json.loads(line) for line in built.splitlines()]
    programs = [one["executable"] for one in artifacts if one.get("executable") and one["profile"]["test"]]
    if len(programs) != 1:
        raise RefusedError(f"{len(programs)} test programs were built, not one")
    return str(programs[0])


def run_test(test: Test, workspace: Path) -> dict[str, str]:
    """Runs one test, and no other. Gives it if it fails."""

    def call(folder: Path, *command: str, patience: float | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )

    built = call(workspace, *test.command(workspace))
    if built.returncode != 0:
        raise RefusedError(f"it does not build:\n{built.stderr}")
    # Not by way of cargo: one that goes round in a circle is to be ended itself.
    program = program_of(built.stdout)
    folder = workspace / test.crate
    path = path_of(call(folder, program, "--list", test.name).stdout, test.name)
    try:
        result = call(folder, program, "--exact", path, patience=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return {test.name: f"it does not end within {PATIENCE_S:.0f} s"}
    return {test.name: "it fails"} if fails(result.stdout, path) else {}


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


def once(what: Sequence[object], make: Callable[[], dict[str, str]]) -> dict[str, str]:
    """What is made, or what was made before of the same: that is kept."""
    known = PLACE / "shown" / f"{hashlib.sha256(json.dumps(what).encode()).hexdigest()}.json"
    if known.is_file():
        return {str(name): str(reason) for name, reason in json.loads(known.read_text(encoding="utf-8")).items()}
    made = make()
    known.parent.mkdir(parents=True, exist_ok=True)
    partial = known.with_suffix(".partial")
    partial.write_text(json.dumps(made), encoding="utf-8")
    partial.replace(known)
    return made


def show(mutation: Mutation, workspace: Path, state: str) -> Shown:
    """Makes one breakage, runs what it names, and takes it back; or tells what it did before."""
    what = [state, mutation.file, mutation.old, mutation.new, mutation.tests]
    return Shown(mutation, once(what, lambda: _show(mutation, workspace)))


def check_sound(chosen: Sequence[Mutation], workspace: Path, state: str) -> None:
    """Without any breakage all that the breakages name holds; or did before, of the same state."""

    def holds(what: Sequence[str], find_failed: Callable[[], dict[str, str]]) -> None:
        # What is refused is not kept: the next run looks again.
        once([state, *what], lambda: _none(find_failed()))

    if any(mutation.scripts for mutation in chosen):
        holds(["scripts"], lambda: run(build(workspace), workspace / "tests" / "scripts"))
    for test in dict.fromkeys(test for mutation in chosen for test in mutation.located):
        holds([str(test.crate), test.name], partial(run_test, test, workspace))
    for name in dict.fromkeys(name for mutation in chosen if mutation.is_python for name in mutation.tests):
        holds([name], partial(_run_python, name, workspace))


def _run_python(name: str, workspace: Path) -> dict[str, str]:
    try:
        return python_mutations.run_test(name, workspace)
    except RuntimeError as error:
        raise RefusedError(str(error)) from None


def _none(failed: dict[str, str]) -> dict[str, str]:
    if failed:
        raise RefusedError(f"without any breakage these fail: {', '.join(failed)}")
    return failed


def _show(mutation: Mutation, workspace: Path) -> dict[str, str]:
    source = workspace / mutation.file
    whole = source.read_text(encoding="utf-8")
    source.write_text(whole.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        if mutation.is_python:
            return {name: why for test in mutation.tests for name, why in _run_python(test, workspace).items()}
        if not mutation.tests:
            return run(build(workspace), workspace / "tests" / "scripts")
        return {name: why for test in mutation.located for name, why in run_test(test, workspace).items()}
    except RefusedError as error:
        raise RefusedError(f"{mutation.breakage!r}: {error}") from None
    finally:
        source.write_text(whole, encoding="utf-8")


def table(shown: Sequence[Shown]) -> str:
    """What was shown, as Markdown."""
    lines = ["| breakage | scripts or tests that fail | first difference in the first of them |", "|---|---|---|"]
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
        if not options.words:
            print(coverage(shown))
    return 1 if any(one.survived for one in shown) else 0


def _all(chosen: Sequence[Mutation]) -> list[Shown]:
    problems = [problem for mutation in chosen if (problem := mutation.problem())]
    if problems:
        raise RefusedError("; ".join(problems))
    states = {}
    for is_python in {mutation.is_python for mutation in chosen}:
        workspace = PLACE / ("package" if is_python else "workspace")
        maker = python_mutations if is_python else sys.modules[__name__]
        maker.copy(workspace)
        states[is_python] = (workspace, maker.fingerprint(workspace))
        check_sound([mutation for mutation in chosen if mutation.is_python == is_python], *states[is_python])
    shown = []
    for number, mutation in enumerate(chosen, 1):
        one = show(mutation, *states[mutation.is_python])
        shown.append(one)
        told = f"NOT NOTICED by {', '.join(one.survived)}" if one.survived else f"{len(one.failed)} fail"
        print(f"{number:>3} of {len(chosen)}  {mutation.breakage}: {told}", file=sys.stderr, flush=True)
    return shown


if __name__ == "__main__":
    sys.exit(main())
