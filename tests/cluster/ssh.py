"""Hosts that are reached by SSH: a server for each of two addresses, and the student's key."""

import subprocess
from contextlib import ExitStack
from pathlib import Path

from cluster.world import HOME, NODES, STUDENT, WORK, Process, listens, own, wait_until

FOLDER = WORK / "ssh"
CONFIGURATION = """
HostKey {folder}/host_key
ListenAddress {node}
Port 22
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowUsers {user}
MaxStartups 100
"""


def serve(stack: ExitStack) -> None:
    """Starts the servers, which end with the stack."""
    FOLDER.mkdir()
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for place in (FOLDER / "host_key", HOME / ".ssh" / "id_ed25519"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place)], check=True)
    public = HOME / ".ssh" / "id_ed25519.pub"
    (HOME / ".ssh" / "authorized_keys").write_text(public.read_text(encoding="utf-8"), encoding="utf-8")
    host_key = (FOLDER / "host_key.pub").read_text(encoding="utf-8").rsplit(" ", 1)[0]
    known = "".join(f"{node} {host_key}\n" for node in NODES)
    (HOME / ".ssh" / "known_hosts").write_text(known, encoding="utf-8")
    for file in (HOME / ".ssh").iterdir():
        own(file, STUDENT)
    for node in NODES:
        configuration = FOLDER / f"{node}.conf"
        text = CONFIGURATION.format(folder=FOLDER, node=node, user=STUDENT)
        configuration.write_text(text, encoding="utf-8")
        # Each with its own name: what is started there finds it as that of the machine.
        server = Process(f"sshd-{node}", "/usr/sbin/sshd", "-D", "-e", "-f", str(configuration))
        stack.enter_context(server.until_the_end())
    wait_until("the SSH servers listen", lambda: all(listens(node, 22) for node in NODES))
