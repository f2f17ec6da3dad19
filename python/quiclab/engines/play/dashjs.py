"""The player: dash.js, from its registry by name and version."""

import base64
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from quiclab._quiclab import Error

NAME = "dashjs"
VERSION = "5.2.1"
SHA512 = "axcJmLeJCTJMLUfQRErUJB1KOiU5iHF+DMLBc3FKeox1HPYtGUQlC6Xm5Mm6vhBUR3CHHLIPOqw0JDIqMtP+Dw=="
"""Of the package of this version, as the registry has it."""
BUNDLE = "package/dist/modern/umd/dash.all.min.js"
"""The file in the package that a page needs."""
LARGEST = 32 << 20
"""Bytes of the bundle at most."""


def bundle() -> Path:
    """The file of the player. It is fetched by npm when it is needed for the first time, and kept.

    Raises `Error` if it is not there and cannot be fetched.
    """
    kept = _cache() / f"{NAME}-{VERSION}.js"
    if kept.exists():
        return kept
    how = f"give it with --dashjs FILE (npm pack {NAME}@{VERSION}, then {BUNDLE})"
    npm = shutil.which("npm")
    if npm is None:
        raise Error(f"{NAME} {VERSION} is not here, and npm is missing to fetch it: install npm, or {how}")
    with tempfile.TemporaryDirectory() as made:
        done = subprocess.run(
            [npm, "pack", f"{NAME}@{VERSION}", "--silent"], cwd=made, capture_output=True, text=True, check=False
        )
        package = Path(made) / f"{NAME}-{VERSION}.tgz"
        if done.returncode != 0 or not package.exists():
            raise Error(f"npm cannot fetch {NAME} {VERSION} (is there no network?): {how}")
        if base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode() != SHA512:
            raise Error(f"what npm fetched is not {NAME} {VERSION}: its checksum differs")
        with tarfile.open(package) as files:
            file = files.extractfile(BUNDLE)
            assert file is not None, "the checksum is right"
            code = file.read(LARGEST)
    kept.parent.mkdir(parents=True, exist_ok=True)
    partial = kept.with_name(f".{kept.name}.{os.getpid()}")
    partial.write_bytes(code)
    partial.replace(kept)
    return kept


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "quiclab"
