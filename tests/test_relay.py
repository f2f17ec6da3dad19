"""The command `quiclab relay`: datagrams through the network of a scenario."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the relay is for Linux")

LINK = """
[[link]]
name = "path"
from = "client"
to = "server"
delay = "1 ms"
loss = "50 %"
[[flow]]
name = "all"
client = "client"
server = "server"
application = { type = "bulk", size = "1 B" }
"""


def bound() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    made.settimeout(20)
    return made


def relayed(command: Command, seed: int) -> tuple[list[int], dict[str, object]]:
    """Which of 40 datagrams came through, and what the relay says of itself."""
    (command.folder / "path.toml").write_text(LINK, encoding="utf-8")
    client, server = bound(), bound()
    with client, server:
        relay = command.start(
            *("relay", "path.toml", "--listen", "127.0.0.1:0", "--to", f"127.0.0.1:{server.getsockname()[1]}"),
            *("--seed", str(seed), "--capture", f"seed{seed}", "--json"),
        )
        assert relay.stderr is not None
        listen = relay.stderr.readline().split()[1]
        host, _, port = listen.partition(":")
        for number in range(40):
            client.sendto(bytes([number]), (host, int(port)))
        came: list[int] = []
        # The last one that comes is followed by nothing: what tells is the relay's own count at its end.
        server.settimeout(0.5)
        while True:
            try:
                came.append(server.recv(10)[0])
            except TimeoutError:
                break
    told = ended(relay)
    return came, json.loads(told)


def ended(relay: "subprocess.Popen[str]") -> str:
    relay.send_signal(signal.SIGTERM)
    out, err = relay.communicate(timeout=20)
    assert relay.returncode == 0, err
    return out


def test_the_network_befalls_datagrams_as_its_seed_says(command: Command) -> None:
    came, told = relayed(command, 5)
    assert 5 < len(came) < 35
    assert (told["seed"], told["from_clients"], told["to_servers"]) == (5, 40, len(came))
    assert relayed(command, 5)[0] == came
    assert relayed(command, 6)[0] != came
    for side in "client", "server":
        assert (command.folder / "seed5" / f"{side}.pcapng").stat().st_size > 100


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--listen", "127.0.0.1:0"], "--to"),
        (["--listen", "127.0.0.1:0", "--to", "127.0.0.1"], "'127.0.0.1' is not an address"),
        (["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--blackout", "5 s"], "'5 s' is not a period"),
        (["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--rebind-port", "5 x"], "5 x"),
    ],
)
def test_a_mistake_is_one_line(command: Command, arguments: list[str], says: str) -> None:
    Path(command.folder / "path.toml").write_text(LINK, encoding="utf-8")
    result = command("relay", "path.toml", *arguments)
    assert result.returncode == 2
    assert says in result.stderr.replace('"', "'")
    assert len(result.stderr.splitlines()) == 1
