"""The names of nodes in a gate: they mean the nodes, whatever the machine itself calls by them."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from programs import needs_namespaces
from quiclab.engines.emulation import _hosts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux")

WORLD = """
name = "names"
duration = "20 s"
[[node]]
name = "phone"
kind = "gate"
[[node]]
name = "{name}"
kind = "gate"
[[link]]
name = "air"
from = "phone"
to = "{name}"
delay = "1 ms"
"""
ASK = "import socket, sys; print(*sorted({one[4][0] for one in socket.getaddrinfo(sys.argv[1], 80)}))"
MACHINE = """127.0.0.1 localhost
127.0.0.1\tvm  # this machine
127.0.1.1 server.example.org SERVER other
::1 server
192.0.2.7 origin-1
"""
KNOWN = """# first
127.0.0.1 localhost
127.0.0.1 vm # this machine

127.0.1.1\tserver.example.org SERVER other # vm
::1 x
#127.0.0.1 server
broken
"""


def test_the_machines_own_names_give_way_to_those_of_nodes() -> None:
    names = [("vm", ["10.0.0.1", "fd00::1"]), ("server", ["10.0.0.2"])]
    ours = ["10.0.0.1 vm", "fd00::1 vm", "10.0.0.2 server"]
    theirs = [line for line in KNOWN.split("\n") if "127.0.1.1" not in line and "127.0.0.1 vm" not in line]
    theirs.insert(theirs.index("::1 x"), "127.0.1.1 server.example.org other")
    assert _hosts(names, KNOWN).split("\n") == ours + theirs
    assert _hosts([("phone", ["10.0.0.3"])], KNOWN) == f"10.0.0.3 phone\n{KNOWN}"


@pytest.mark.parametrize("name", ["vm", "server", "Server", "origin-1", "other"])
def test_a_gate_with_a_name_of_the_machine_is_the_gate(tmp_path: Path, name: str) -> None:
    needs_namespaces()
    (tmp_path / "names.toml").write_text(WORLD.format(name=name), encoding="utf-8")
    (tmp_path / "hosts").write_text(MACHINE, encoding="utf-8")
    # The machine's file, for this command alone.
    mount = 'mount --bind hosts /etc/hosts && exec "$@"'
    own = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else []), "sh", "-c", mount, "sh"]
    asks = [shlex.join([sys.executable, "-c", ASK, asked]) for asked in (name, "localhost")]
    command = [sys.executable, "-m", "quiclab", "emulate", "names.toml", "--out", "out", "--in", "; ".join(asks)]
    command[-1] = f"phone={command[-1]}"
    done = subprocess.run([*own, *command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    node, machine = done.stdout.splitlines()
    assert node == "10.0.0.2 fd00::2", "the node, and nothing of the machine"
    assert "127.0.0.1" in machine
