"""ICMP through `quiclab emulate`: echoes and errors through a NAT, hops as traceroute sees them, a path's MTU."""

import json
import os
import sys

import pytest

import quiclab
from conftest import Command
from programs import needs_namespaces

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux"),
    pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="RAW SOCKETS NEED ROOT"),
]

PATH = """
name = "path"
duration = "60 s"
[[node]]
name = "phone"
kind = "gate"
[[node]]
name = "ap"
kind = "nat"
[[node]]
name = "core"
kind = "router"
[[node]]
name = "edge"
kind = "router"
[[node]]
name = "server"
kind = "gate"
[[node]]
name = "site"
kind = "host"
[[link]]
name = "home"
from = "phone"
to = "ap"
both = { delay = "2 ms" }
[[link]]
name = "access"
from = "ap"
to = "core"
both = { delay = "5 ms" }
[[link]]
name = "backbone"
from = "core"
to = "edge"
both = { delay = "1 ms", mtu = 1300 }
[[link]]
name = "last"
from = "edge"
to = "server"
both = { delay = "1 ms" }
[[link]]
name = "other"
from = "edge"
to = "site"
both = { delay = "1 ms" }
"""
# Who answers an echo request or a datagram with each hop limit, as traceroute asks.
TRACE = """
import json, socket, struct, sys, time
def sum_of(data):
    whole = sum(struct.unpack(f"!{len(data) // 2}H", data))
    whole = (whole >> 16) + (whole & 0xffff)
    return ~((whole >> 16) + whole) & 0xffff
def name_of(address):
    return socket.gethostbyaddr(address)[0]
def echo(name, hops, ipv6):
    family = socket.AF_INET6 if ipv6 else socket.AF_INET
    protocol = socket.getprotobyname("ipv6-icmp") if ipv6 else socket.IPPROTO_ICMP
    with socket.socket(family, socket.SOCK_RAW, protocol) as raw:
        raw.settimeout(3)
        if ipv6:
            raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, hops)
        else:
            raw.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
        kind, body = (128 if ipv6 else 8), b"quiclab!"
        head = struct.pack("!BBHHH", kind, 0, 0, 77, hops)
        head = struct.pack("!BBHHH", kind, 0, sum_of(head + body), 77, hops)
        address = socket.getaddrinfo(name, None, family)[0][4][0]
        start = time.monotonic()
        raw.sendto(head + body, (address, 0))
        while True:
            try:
                data, who = raw.recvfrom(2000)
            except TimeoutError:
                return None
            if not ipv6:
                data = data[4 * (data[0] & 15):]
            took = round(1000 * (time.monotonic() - start), 1)
            if data[0] in (0, 129) and struct.unpack("!HH", data[4:8]) == (77, hops):
                return ["reply", name_of(who[0]), took]
            inner = data[8 + (40 if ipv6 else 20):]
            if data[0] in ((1, 3) if ipv6 else (3, 11)) and inner[:1] and inner[0] in (8, 128):
                # The request as this end sent it: its own identifier.
                if struct.unpack("!HH", inner[4:8]) == (77, hops):
                    return [f"error {data[0]}", name_of(who[0]), took]
def datagram(name, hops, ipv6):
    family = socket.AF_INET6 if ipv6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sent:
        sent.settimeout(3)
        if ipv6:
            sent.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, hops)
            sent.setsockopt(socket.IPPROTO_IPV6, 25, 1)
        else:
            sent.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
            sent.setsockopt(socket.IPPROTO_IP, 11, 1)
        sent.connect((name, 33434))
        sent.send(b"x")
        try:
            sent.recv(10)
        except TimeoutError:
            return None
        except OSError:
            pass
        _, control, _, _ = sent.recvmsg(2000, 512, socket.MSG_ERRQUEUE)
        _, _, report = control[0]
        address = report[16:]
        return name_of(socket.inet_ntop(family, address[8:24] if ipv6 else address[4:8]))
print(json.dumps({
    "echo": [[echo("server", hops, ipv6) for hops in range(1, 6)] for ipv6 in (False, True)],
    "datagram": [[datagram("server", hops, ipv6) for hops in range(1, 6)] for ipv6 in (False, True)],
    "own": [echo(name, 64, ipv6) for name in ("ap", "core", "edge", "site") for ipv6 in (False, True)],
    "closed": [datagram(name, 64, ipv6) for name in ("core", "site") for ipv6 in (False, True)],
}))
"""
SINK = """
import socket
with socket.create_server(("", 7001)) as server:
    taken, _ = server.accept()
    whole = 0
    while data := taken.recv(1 << 20):
        whole += len(data)
    taken.sendall(str(whole).encode())
"""
SOURCE = """
import socket, time
time.sleep(0.5)
with socket.create_connection(("server", 7001), timeout=20) as to:
    to.sendall(b"x" * 300_000)
    to.shutdown(socket.SHUT_WR)
    print(to.recv(10).decode())
"""

GIVES = """
import socket
with socket.create_server(("::", 7001), family=socket.AF_INET6, dualstack_ipv6=True) as server:
    given, _ = server.accept()
    given.sendall(b"x" * 300_000)
    given.shutdown(socket.SHUT_WR)
    given.recv(1)
"""
TAKES = """
import socket, sys, time
time.sleep(0.5)
with socket.create_connection((sys.argv[1], 7001), timeout=20) as taken:
    whole = 0
    while data := taken.recv(1 << 20):
        whole += len(data)
print(whole)
"""


@pytest.fixture(autouse=True)
def scenario(command: Command) -> None:
    """Skips loudly where there are no namespaces or no TUN devices."""
    needs_namespaces()
    (command.folder / "path.toml").write_text(PATH, encoding="utf-8")
    for name, text in {"trace": TRACE, "sink": SINK, "source": SOURCE}.items():
        (command.folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_hops_are_seen_from_behind_a_nat(command: Command) -> None:
    result = command(
        "emulate", "path.toml", "--out", "out", "--in", f"phone={sys.executable} trace.py > told", "--in", "server=true"
    )
    assert result.returncode == 0, result.stderr
    told = json.loads((command.folder / "told").read_text())
    hops = ["ap", "core", "edge", "server", "server"]
    for echoes, datagrams, error in zip(told["echo"], told["datagram"], ("error 11", "error 3"), strict=True):
        assert [echo[:2] for echo in echoes] == [[error, hop] for hop in hops[:3]] + [["reply", "server"]] * 2
        # Two delays to each hop, and what a busy machine adds: never less.
        for (_, _, took), delay in zip(echoes, (4, 14, 16, 18, 18), strict=True):
            assert took >= delay
        # The kernel of the server says that nobody listens; the others that the datagram has gone far enough.
        assert datagrams == hops
    assert [echo[:2] for echo in told["own"]] == [
        ["reply", name] for name in ("ap", "core", "edge", "site") for _ in "46"
    ]
    assert told["closed"] == ["core", "core", "site", "site"]
    network = json.loads((command.folder / "out" / "summary.json").read_text())["emulation"]["network"]
    assert (network["expired_packets"], network["echoes_answered"], network["unreachable_packets"]) == (12, 8, 4)


def test_a_transfer_finds_the_mtu_of_its_path(command: Command) -> None:
    """The backbone takes 1,300 bytes, which only the routers know."""
    commands = ("--in", f"server={sys.executable} sink.py", "--in", f"phone={sys.executable} source.py")
    result = command("emulate", "path.toml", "--out", "out", *commands)
    assert (result.returncode, result.stdout) == (0, "300000\n"), result.stderr
    network = json.loads((command.folder / "out" / "summary.json").read_text())["emulation"]["network"]
    assert network["too_big_packets"] >= 1


@pytest.mark.parametrize("variable", ["QUICLAB_SERVER", "QUICLAB_SERVER_IPV6"])
def test_a_sender_outside_finds_the_mtu_behind_a_nat(command: Command, variable: str) -> None:
    """The NAT has put the inside address into the packet that is too big, and reports it as it came."""
    nodes = {"phone": "gate", "core": "router", "ap": {"type": "nat", "inside": ["narrow"]}, "server": "gate"}
    links = [("home", "phone", "core", 1500), ("narrow", "core", "ap", 1300), ("access", "ap", "server", 1500)]
    path = {
        "name": "behind",
        "duration": "60 s",
        "node": [{"name": name, "kind": kind} for name, kind in nodes.items()],
        "link": [
            {"name": name, "from": start, "to": end, "both": {"delay": "1 ms", "mtu": mtu}}
            for name, start, end, mtu in links
        ],
    }
    (command.folder / "behind.toml").write_text(quiclab.Scenario(path).to_toml(), encoding="utf-8")
    (command.folder / "gives.py").write_text(GIVES, encoding="utf-8")
    (command.folder / "takes.py").write_text(TAKES, encoding="utf-8")
    asks = f"phone={sys.executable} takes.py ${variable}"
    commands = ("--in", f"server={sys.executable} gives.py", "--in", asks)
    result = command("emulate", "behind.toml", "--out", "out", *commands)
    assert (result.returncode, result.stdout) == (0, "300000\n"), result.stderr
    network = json.loads((command.folder / "out" / "summary.json").read_text())["emulation"]["network"]
    assert network["too_big_packets"] >= 1


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("localhost", "the machine itself"),
        ("LocalHost", "the machine itself"),
        ("ip6-localhost", "the machine itself"),
        ("broadcasthost", "the machine itself"),
        ("127.0.0.1", "an address"),
        ("7", "an address"),
        ("PHONE", "QUICLAB_PHONE is that of the gate"),
        ("gate", "QUICLAB_GATE is that of quiclab itself"),
        ("a..b", "not a host name"),
    ],
)
def test_a_gate_has_the_name_of_a_host(command: Command, name: str, problem: str) -> None:
    text = PATH.replace('"server"', f'"{name}"')
    (command.folder / "named.toml").write_text(text, encoding="utf-8")
    for words in (("emulate", "named.toml", "--in", "phone=true"), ("check", "named.toml")):
        result = command(*words)
        assert result.returncode != 0 and problem in result.stderr and name in result.stderr, result.stderr
        assert result.stderr.count("\n") == 1 and "named.toml:" in result.stderr
