"""What CI runs of `quiclab matrix` with peers: quinn, and aioquic from quinn, over a cell of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runner.stacks import PEERS, ROOT

from quiclab.engines import emulation

PERMITTED = pytest.mark.skipif(
    not emulation.permitted(), reason="NO NETWORK NAMESPACES OR NO TUN DEVICES HERE: no cell of a matrix is run"
)


@PERMITTED
def test_peers_are_stacks_of_a_matrix(tmp_path: Path) -> None:
    """Also one that was asked for what it does not know."""
    endpoint = PEERS / "endpoint"
    words = [sys.executable, "-m", "quiclab", "matrix", "--size", "300kB", "--json", "--out", str(tmp_path / "out")]
    words += ["--stack", f"quinn={endpoint} quinn", "--client", f"aioquic={endpoint} aioquic"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHON": sys.executable}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(one["client"], one["server"], one["passed"]) for one in told["cells"]] == [
        ("quinn", "quinn", 1),
        ("aioquic", "quinn", 1),
    ]
    for run in told["runs"]:
        assert run["rtt_min_ms"] >= 40 and 1.03 < run["server_overhead"] < 2
        folder = tmp_path / "out" / run["folder"]
        assert (folder / "client" / "keys.log").stat().st_size > 100
        assert (folder / "run" / "capture.pcapng").stat().st_size > 300_000
    words += ["--testcase", "amplificationlimit"]
    unknown = subprocess.run(words, capture_output=True, check=False, env=environment)
    assert unknown.returncode == 0
    assert {one["result"] for one in json.loads(unknown.stdout)["runs"]} == {"unsupported"}
