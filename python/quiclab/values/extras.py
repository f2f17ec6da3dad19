"""How to install what quiclab does not need itself, into this Python, from where this quiclab came from."""

import json
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit


def install(*packages: str) -> str:
    """The command that installs packages into this Python."""
    python = Path(sys.executable)
    here = Path.cwd()
    shown = str(python.relative_to(here)) if python.is_relative_to(here) else str(python)
    if find_spec("pip") is not None:
        return shlex.join([shown, "-m", "pip", "install", *packages])
    # An environment that uv made has no pip.
    return shlex.join(["uv", "pip", "install", "--python", shown, *packages])


def install_extra(extra: str) -> str:
    """The command that installs an extra of quiclab.

    It names what pip installed quiclab from (PEP 610): an index, a wheel, a repository. If that was a checkout, or a
    wheel that is gone, the command names the packages of the extra, so that nothing has to be built again.
    """
    try:
        quiclab = distribution("quiclab")
    except PackageNotFoundError:
        return install(f"quiclab[{extra}]")
    named = f"quiclab[{extra}]"
    origin = quiclab.read_text("direct_url.json")
    if origin is None:
        return install(named)
    source = json.loads(origin)
    address = source["url"]
    if "vcs_info" in source:
        return install(f"{named} @ {source['vcs_info']['vcs']}+{address}@{source['vcs_info']['commit_id']}")
    if "archive_info" in source and _is_there(address):
        return install(f"{named} @ {address}")
    return install(*packages(quiclab, extra))


def packages(quiclab: Distribution, extra: str) -> list[str]:
    """The requirements of an extra, as in the metadata of the package: `distributed>=2024.2`."""
    ends = (f"extra == '{extra}'", f'extra == "{extra}"')
    wanted = (requirement.partition(";") for requirement in quiclab.requires or [])
    return [name.strip() for name, _, marker in wanted if marker.strip().endswith(ends)]


def _is_there(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme != "file" or Path(unquote(parts.path)).is_file()
