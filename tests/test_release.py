"""What a release says of itself is the same everywhere."""

import re
from pathlib import Path

import quiclab

ROOT = Path(__file__).resolve().parent.parent


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [quiclab.__version__]


def test_every_result_has_the_version() -> None:
    scenario = quiclab.Scenario.from_file(ROOT / "examples" / "sweep.toml")
    assert scenario.run(tables=False).summary["version"] == quiclab.__version__
    assert quiclab.sweep(ROOT / "examples" / "sweep.toml").info["version"] == quiclab.__version__
