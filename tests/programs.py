"""What tests need of the machine: programs, and the right to make network namespaces. Whoever skips says so loudly."""

import os
import shutil

import pytest

from quiclab.engines import emulation
from quiclab.engines.play import browser


def needs(*programs: str) -> None:
    """Without these programs the test is skipped, and in CI it fails."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"THERE IS NO {' AND NO '.join(missing).upper()}: `make deps` installs it")
    assert not missing, f"{missing} missing: `make deps` installs them"


def needs_namespaces() -> None:
    """The test is skipped where there are no network namespaces or no TUN devices. Gates also need `ip`."""
    needs("ip")
    if not emulation.permitted():
        pytest.skip("NO NETWORK NAMESPACES OR NO TUN DEVICES HERE: nothing with real packets is tested")


def needs_a_player() -> None:
    """What `quiclab video play` needs."""
    needs_namespaces()
    needs("npm")
    if browser.find() is None:
        needs("chromium")
