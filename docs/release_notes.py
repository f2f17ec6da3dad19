"""The notes of a release, from the changelog: `make release-notes`.

    python docs/release_notes.py [VERSION] [--packages FOLDER]

Without VERSION that of Cargo.toml; while CHANGELOG.md has no section of it, what is unreleased is taken, and the title
says so. The packages in the folder are named with their SHA-256. The exit code is 1 if the version has no notes.
"""

import argparse
import hashlib
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "target/packages/dist"
SECTION = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d\d-\d\d))?$", re.MULTILINE)
UNRELEASED = "Unreleased"


def sections(changelog: str) -> dict[str, tuple[str | None, str]]:
    """The date and the text of each version, the newest first."""
    headings = list(SECTION.finditer(changelog))
    ends = [*(heading.start() for heading in headings[1:]), len(changelog)][: len(headings)]
    return {
        heading["version"]: (heading["date"], changelog[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=True)
    }


def notes(version: str, changelog: str, packages: list[Path]) -> str:
    """The notes in Markdown. Raises `ValueError` if the changelog says nothing of the version."""
    known = sections(changelog)
    date, text = known.get(version) or known.get(UNRELEASED) or (None, "")
    if not text:
        raise ValueError(f"CHANGELOG.md has no notes under [{version}] or [{UNRELEASED}]")
    title = f"# quiclab {version}" + (f" ({date})" if date else "" if version in known else ", unreleased")
    parts = [title, re.sub(r"^### ", "## ", text, flags=re.MULTILINE)]
    if packages:
        rows = [f"| `{file.name}` | `{hashlib.sha256(file.read_bytes()).hexdigest()}` |" for file in packages]
        parts.append("\n".join(["## Packages", "", "| file | SHA-256 |", "| --- | --- |", *rows]))
        parts.append(f"`pip install {packages[-1].name}`; docs/install.md says where that was tried.")
    parts.append(f"## Citing\n\nCITATION.cff, with version {version}, which every `summary.json` and `sweep.json` has.")
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Prints the notes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", nargs="?", help="by default that of Cargo.toml")
    parser.add_argument("--packages", type=Path, default=DIST, help="where `make wheel` puts them")
    options = parser.parse_args()
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    version = options.version or cargo["workspace"]["package"]["version"]
    packages = [file for file in options.packages.glob(f"quiclab-{version}*") if file.suffix in (".whl", ".gz")]
    packages.sort(key=lambda file: file.suffix)
    try:
        text = notes(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), packages)
    except ValueError as error:
        print(f"release notes: {error}", file=sys.stderr)
        return 1
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
