"""Breakages of the Python package, for `mutations.py`: in a copy of the package, the named tests of pytest must fail.

The tests are those of the workspace; only the package that they import is the copy, with its compiled module.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("python/quiclab")
PATIENCE_S = 900.0
"""A broken package may go round in a circle."""
FAILED, HELD = 1, 0
"""Exit codes of pytest."""


def is_in_package(file: str) -> bool:
    """Whether a breakage is one of the package."""
    return Path(file).is_relative_to(PACKAGE)


def problem(test: str) -> str | None:
    """What is wrong with the name of a test, `test_why.py::test_a_queue`, if anything."""
    file, _, name = test.partition("::")
    source = ROOT / "tests" / file
    if not source.is_file() or f"def {name.partition('[')[0]}(" not in source.read_text(encoding="utf-8"):
        return f"there is no test {test} in tests/"
    return None


def _files(folder: Path) -> Iterator[Path]:
    """The files of the package, with those that its links lead to."""
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (Path(place) / name for name in sorted(files))


def copy(workspace: Path) -> None:
    """Makes the copy of the package equal to it."""
    target = workspace / PACKAGE
    wanted = {file.relative_to(ROOT / PACKAGE) for file in _files(ROOT / PACKAGE)}
    for file in {file.relative_to(target) for file in _files(target)} - wanted:
        (target / file).unlink()
    for file in wanted:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / PACKAGE / file, target / file)


def fingerprint(workspace: Path) -> str:
    """Tells one state of the copy, and of the tests, from every other."""
    whole = hashlib.sha256()
    for file in [*_files(workspace / PACKAGE), *sorted((ROOT / "tests").glob("*.py"))]:
        for part in (file.name.encode(), file.read_bytes()):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def run_test(test: str, workspace: Path) -> dict[str, str]:
    """Runs one test with the copy. Gives it if it fails. Raises `RuntimeError` if pytest cannot run it."""
    path = os.pathsep.join([str(workspace / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{test}"]
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        result = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return {test: f"it does not end within {PATIENCE_S:.0f} s"}
    if result.returncode not in (FAILED, HELD):
        raise RuntimeError(f"pytest cannot run {test}:\n{result.stdout}{result.stderr}")
    return {test: "it fails"} if result.returncode == FAILED else {}
