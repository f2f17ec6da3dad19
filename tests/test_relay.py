"""The command `quiclab real relay`: datagrams through the network of a scenario."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Command
from quiclab import load

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
            *("real", "relay", "path.toml", "--listen", "127.0.0.1:0", "--to", f"127.0.0.1:{server.getsockname()[1]}"),
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


WORLD = """
duration = "1 s"
[[node]]
name = "phone"
kind = "gate"
[[node]]
name = "tablet"
[[node]]
name = "home"
kind = { type = "nat", inside = ["air"] }
[[node]]
name = "exchange"
kind = "router"
[[node]]
name = "server"
kind = "gate"
[[node]]
name = "far"
[[medium]]
name = "air"
type = "wlan"
station = "home"
terminals = ["phone", "tablet"]
[[link]]
name = "access"
from = "exchange"
to = "home"
both = { rate = "5 Mbit/s", delay = "5 ms", queue = "200 packets" }
[[link]]
name = "core"
from = "exchange"
to = "server"
[[link]]
name = "beside"
from = "exchange"
to = "far"
[[flow]]
name = "download"
client = "tablet"
server = "far"
application = { type = "bulk", size = "100 kB" }
[[event]]
at = "1 ms"
type = "interface-down"
node = "exchange"
interface = "core"
[[event]]
at = "2 ms"
type = "interface-up"
node = "exchange"
interface = "core"
"""
"""A wireless LAN, a NAT, a simulated download in the same queues, and events, between two gates."""


def test_the_whole_world_is_in_the_run_folder(command: Command) -> None:
    (command.folder / "world.toml").write_text(WORLD, encoding="utf-8")
    client, server = bound(), bound()
    with client, server:
        relay = command.start(
            *("real", "relay", "world.toml", "--listen", "127.0.0.1:0", "--to", f"127.0.0.1:{server.getsockname()[1]}"),
            *("--duration", "2 s", "--out", "world", "--json"),
        )
        assert relay.stderr is not None
        host, _, port = relay.stderr.readline().split()[1].partition(":")
        client.sendto(b"ask", (host, int(port)))
        data, back = server.recvfrom(10)
        server.sendto(data, back)
        assert client.recv(10) == b"ask"
        out, err = relay.communicate(timeout=60)
    assert relay.returncode == 0, err
    run = load(command.folder / "world")
    assert run.summary["relay"]["to_servers"] == run.summary["relay"]["to_clients"] == 1
    assert json.loads(out)["lateness"] == run.summary["relay"]["lateness"]
    assert run.summary["duration_s"] == 2.0, "the scenario's own duration did not end it"
    assert run.summary["connections"][0]["completed"]
    rows = {row["element"]: row for row in run.table("lateness").to_pylist()}
    kinds = {name: row["kind"] for name, row in rows.items()}
    hosts = {"tablet": "host", "far": "host", "phone": "gate", "server": "gate", "home": "nat", "air": "wlan"}
    links = {f"{link} {way}": "link" for link in ("access", "core", "beside") for way in ("forward", "backward")}
    assert kinds == {**hosts, **links}
    for row in rows.values():
        assert row["events"] > 0
        assert 0 <= row["median_us"] <= row["p99_us"] <= row["max_us"] <= run.summary["relay"]["world"]["max_us"]
    assert (command.folder / "world" / "figure.png").stat().st_size > 1000


def test_of_several_gates_two_are_named(command: Command) -> None:
    third = '[[node]]\nname = "third"\nkind = "gate"\n[[link]]\nname = "more"\nfrom = "exchange"\nto = "third"\n'
    (command.folder / "world.toml").write_text(WORLD + third, encoding="utf-8")
    words = ("real", "relay", "world.toml", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1")
    result = command(*words)
    assert result.returncode == 2
    assert "several gates (phone, server, third)" in result.stderr
    assert "--client-gate" in result.stderr
    named = command(*words, "--client-gate", "third", "--server-gate", "server", "--duration", "10 ms")
    assert named.returncode == 0, named.stderr


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
        (
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--blackout", "7 s-5 s"],
            "expected an end after the beginning",
        ),
        (
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--blackout", "5 s-5 s"],
            "expected an end after the beginning",
        ),
        (["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--rebind-port", "5 x"], "5 x"),
    ],
)
def test_a_mistake_is_one_line(command: Command, arguments: list[str], says: str) -> None:
    Path(command.folder / "path.toml").write_text(LINK, encoding="utf-8")
    result = command("real", "relay", "path.toml", *arguments)
    assert result.returncode == 2
    assert says in result.stderr.replace('"', "'")
    assert len(result.stderr.splitlines()) == 1
