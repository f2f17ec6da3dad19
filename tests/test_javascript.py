"""The modules of the pages: their own tests, in tests/javascript, which Node.js runs."""

import functools
import re
import subprocess
from pathlib import Path

import pytest

from programs import needs

ROOT = Path(__file__).parents[1]
FILES = {path.name.removesuffix(".test.js"): path for path in sorted((ROOT / "tests" / "javascript").glob("*.test.js"))}
CASES = [
    (name, case)
    for name, path in FILES.items()
    for case in re.findall(r'^test\("(.*?)", ', path.read_text(encoding="utf-8"), re.MULTILINE)
]


@functools.cache
def results(name: str) -> tuple[dict[str, bool], str]:
    """Of each test of a file whether it passed, and all that Node.js said."""
    words = ["node", "--test", "--test-reporter=tap", str(FILES[name])]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    # In TAP, "#" and "\" stand behind a "\".
    found = re.findall(r"^(not )?ok \d+ - (.*)$", done.stdout, re.MULTILINE)
    return {re.sub(r"\\(.)", r"\1", case): not failed for failed, case in found}, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_modules_of_the_pages(name: str, case: str) -> None:
    needs("node")
    found, told = results(name)
    assert found.get(case), told


@pytest.mark.parametrize("name", FILES)
def test_all_cases_are_counted(name: str) -> None:
    needs("node")
    found, told = results(name)
    assert set(found) == {case for of, case in CASES if of == name}, told
