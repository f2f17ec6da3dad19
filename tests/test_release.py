"""What a release says of itself is the same everywhere."""

import hashlib
import re
from pathlib import Path

import pytest
import release_notes

import quiclab

ROOT = Path(__file__).resolve().parent.parent


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [quiclab.__version__]


def test_every_result_has_the_version() -> None:
    scenario = quiclab.Scenario.from_file(ROOT / "examples" / "sweep.toml")
    assert scenario.run(tables=False).summary["version"] == quiclab.__version__
    assert quiclab.sweep(ROOT / "examples" / "sweep.toml").info["version"] == quiclab.__version__


CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- B.\n\n## [0.2.0] - 2026-01-02\n\n### Fixed\n\n- A.\n"


def test_release_notes_are_the_section_of_the_version() -> None:
    told = release_notes.notes("0.2.0", CHANGELOG, [])
    assert told.startswith("# quiclab 0.2.0 (2026-01-02)\n\n## Fixed\n\n- A.\n") and "B." not in told
    assert "## Citing" in told and "## Packages" not in told


def test_what_is_not_released_says_so() -> None:
    told = release_notes.notes("0.3.0", CHANGELOG, [])
    assert told.startswith("# quiclab 0.3.0, unreleased\n\n## Added\n\n- B.\n") and "A." not in told


def test_a_version_without_notes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no notes under \[0\.3\.0\]"):
        release_notes.notes("0.3.0", "# Changelog\n", [])


def test_packages_are_named_with_their_hashes(tmp_path: Path) -> None:
    (tmp_path / "quiclab-0.2.0.tar.gz").write_bytes(b"x")
    told = release_notes.notes("0.2.0", CHANGELOG, [tmp_path / "quiclab-0.2.0.tar.gz"])
    assert f"| `quiclab-0.2.0.tar.gz` | `{hashlib.sha256(b'x').hexdigest()}` |" in told


def test_the_changelog_has_notes_for_this_version() -> None:
    assert release_notes.notes(quiclab.__version__, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), [])
