"""The commands `quiclab emulate` and `quiclab real shell`: real packets through a scenario, and nothing left behind."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import Command
from programs import needs, needs_namespaces
from quiclab import load
from quiclab._quiclab import Error
from quiclab.engines import emulation

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux")

TWO = """
name = "two"
duration = "20 s"
[[node]]
name = "phone"
kind = "gate"
[[node]]
name = "server"
kind = "gate"
[[link]]
name = "air"
from = "server"
to = "phone"
both = { rate = "20 Mbit/s", delay = "30 ms", queue = "100 ms" }
"""
ECHO = """
import socket, sys
family = socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET
with socket.socket(family, socket.SOCK_DGRAM) as bound:
    bound.bind(("", 7000))
    bound.settimeout(20)
    for _ in range(int(sys.argv[2])):
        data, peer = bound.recvfrom(2000)
        bound.sendto(data, peer)
"""
ASK = """
import os, socket, sys, time
version, count = sys.argv[1], int(sys.argv[2])
family = socket.AF_INET6 if version == "6" else socket.AF_INET
time.sleep(0.5)
with socket.socket(family, socket.SOCK_DGRAM) as sent:
    sent.settimeout(5)
    for number in range(count):
        start = time.monotonic()
        sent.sendto(bytes([number]), ("server", 7000))
        assert sent.recv(10) == bytes([number])
        print(f"{1000 * (time.monotonic() - start):.1f}")
assert os.environ["QUICLAB_SERVER"] == "10.0.0.2" and os.environ["QUICLAB_GATE"] == "phone"
"""
SINK = """
import socket
with socket.create_server(("", 7001)) as server:
    taken, _ = server.accept()
    whole = 0
    while data := taken.recv(1 << 20):
        assert not data.strip(b"x")
        whole += len(data)
    print(whole)
"""
SOURCE = """
import socket, sys, time
time.sleep(0.5)
start = time.monotonic()
with socket.create_connection(("server", 7001)) as to:
    to.sendall(b"x" * int(sys.argv[1]))
    to.shutdown(socket.SHUT_WR)
    to.recv(1)
print(f"{time.monotonic() - start:.3f}")
"""
GET = """
import urllib.request
print(urllib.request.urlopen("http://server:8000/page").read().decode(), end="", flush=True)
"""
BURST = """
import socket, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sent:
    for _ in range(50):
        sent.sendto(b"x", ("server", 9))
        time.sleep(0.01)
"""
PING = """
import os, socket, struct, time
def sum_of(data):
    whole = sum(struct.unpack(f"!{len(data) // 2}H", data))
    whole = (whole >> 16) + (whole & 0xffff)
    return ~((whole >> 16) + whole) & 0xffff
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
    raw.settimeout(5)
    head = struct.pack("!BBHHH", 8, 0, 0, 7, 1)
    start = time.monotonic()
    raw.sendto(struct.pack("!BBHHH", 8, 0, sum_of(head + b"quic"), 7, 1) + b"quic", ("server", 0))
    answer = raw.recv(100)
    assert (answer[20], answer[28:32]) == (0, b"quic"), answer
    print(f"{1000 * (time.monotonic() - start):.1f}")
"""


@pytest.fixture(autouse=True)
def scenario(command: Command) -> None:
    """Skips loudly where there are no namespaces or no TUN devices."""
    needs_namespaces()
    (command.folder / "two.toml").write_text(TWO, encoding="utf-8")
    for name, text in {"echo": ECHO, "ask": ASK, "sink": SINK, "source": SOURCE, "ping": PING}.items():
        (command.folder / f"{name}.py").write_text(text, encoding="utf-8")


def python(words: str) -> str:
    return f"{sys.executable} {words}"


@dataclass(frozen=True)
class Traces:
    """What a run could leave behind."""

    mark: str
    """A text in the environment of every process of this test; others on the machine have it not."""
    network: str
    """Devices, addresses and routes of this network namespace, before."""

    def processes(self) -> list[str]:
        """The command lines of processes with the mark. A namespace without a process is gone."""
        found = []
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if process.name.isdigit() and self.mark.encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        return found

    def are_gone(self) -> bool:
        """Whether nothing is left within some seconds: processes, mounts, devices, addresses, routes."""
        for _ in range(100):
            mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
            if not self.processes() and "quiclab-hosts-" not in mounts and network() == self.network:
                return True
            time.sleep(0.1)
        return False


def network() -> str:
    """Devices, addresses and routes."""
    words = (["-o", "address"], ["route"], ["-6", "route"])
    told = [subprocess.run(["ip", *one], capture_output=True, text=True, check=False).stdout for one in words]
    # Lifetimes count down.
    return re.sub(r"(valid_lft|preferred_lft|expires) \S+", "", "".join(told))


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Traces:
    """What this test may leave behind: nothing."""
    mark = f"MARK-{tmp_path}-{os.getpid()}"
    monkeypatch.setenv("QUICLAB_TEST_MARK", mark)
    return Traces(mark, network())


@pytest.mark.parametrize("version", ["4", "6"])
def test_datagrams_take_the_delays_of_the_link(command: Command, traces: Traces, version: str) -> None:
    result = command(
        *("emulate", "two.toml", "--json", "--pcap", "--out", "out"),
        *(
            "--in",
            f"server={python(f'echo.py {version} 20')}",
            "--in",
            f"phone={python(f'ask.py {version} 20')} > times",
        ),
    )
    assert result.returncode == 0, result.stderr
    times = [float(line) for line in (command.folder / "times").read_text().split()]
    # Two delays of 30 ms, and what a busy machine adds: never less.
    assert len(times) == 20 and min(times) >= 60.0
    told = json.loads(result.stdout)["emulation"]
    assert told["gates"]["phone"]["entered"] >= 20 and told["gates"]["server"]["left"] >= 20
    assert [one["exit_code"] for one in told["commands"]] == [0, 0]
    assert told["lateness"]["max_us"] > 0
    assert told["tolerance_us"] == 3000
    assert (command.folder / "out" / "capture.pcapng").stat().st_size > 40 * 60
    assert traces.are_gone()


def test_a_transfer_takes_the_rate_of_the_link(command: Command) -> None:
    result = command(
        *("emulate", "two.toml", "--json"),
        *("--in", f"server={python('sink.py')} > whole", "--in", f"phone={python('source.py 5000000')} > took"),
    )
    assert result.returncode == 0, result.stderr
    assert (command.folder / "whole").read_text().split() == ["5000000"]
    # 5 MB and headers at 20 Mbit/s take 2.06 s at least.
    assert float((command.folder / "took").read_text()) > 2.05
    (link,) = [entry for entry in json.loads(result.stdout)["links"] if entry["direction"] == "backward"]
    assert link["delivered_bytes"] > 5_000_000


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="RAW SOCKETS NEED ROOT")
def test_any_protocol_passes(command: Command) -> None:
    result = command("emulate", "two.toml", "--in", f"phone={python('ping.py')}")
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) >= 60.0


def test_gates_share_the_link_with_simulated_hosts(command: Command) -> None:
    shared = TWO.replace('from = "server"\nto = "phone"', 'from = "a"\nto = "b"') + "".join(
        f'[[link]]\nname = "{name}"\nfrom = "{name}"\nto = "{to}"\n'
        for name, to in {"server": "a", "host": "a", "phone": "b", "guest": "b"}.items()
    )
    nodes = "".join(f'[[node]]\nname = "{name}"\n' for name in ("a", "b", "host", "guest"))
    flow = '[[flow]]\nname = "get"\nclient = "guest"\nserver = "host"\napplication = "bulk"\n'
    (command.folder / "shared.toml").write_text(shared.replace("[[link]]", nodes + "[[link]]", 1) + flow)
    result = command(
        "emulate",
        "shared.toml",
        "--json",
        "--qlog",
        "--out",
        "shared",
        "--in",
        f"server={python('sink.py')}",
        "--in",
        f"phone={python('source.py 2000000')}",
    )
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout[result.stdout.index("{") :])
    (get,) = told["connections"]
    # In real time the simulated download has the direction that the upload does not need.
    assert get["delivered_bytes"] > 1_000_000
    assert told["emulation"]["gates"]["server"]["left_bytes"] > 2_000_000
    run = load(command.folder / "shared")
    assert len(run.qlogs) == 2, "both ends of the simulated connection"
    rows = {row["element"]: row for row in run.table("lateness").to_pylist()}
    whole = told["emulation"]["lateness"]["max_us"]
    for element in "phone", "server", "host", "guest", "air forward", "air backward":
        assert 0 <= rows[element]["median_us"] <= rows[element]["p99_us"] <= rows[element]["max_us"] <= whole
        assert rows[element]["events"] > 100
    assert "a" not in rows, "nothing happens at a router"


def test_an_application_in_python_runs_in_real_time(command: Command) -> None:
    own = Path(__file__).parent.parent / "examples" / "own_application.py"
    hosts = '[[node]]\nname = "host"\n[[node]]\nname = "guest"\n[[link]]\nname = "aside"\nfrom = "host"\nto = "guest"\n'
    application = f'{{ type = "{own}:Ask", count = 4, think_s = 0.05 }}'
    flow = f'[[flow]]\nname = "get"\nclient = "guest"\nserver = "host"\napplication = {application}\n'
    (command.folder / "own.toml").write_text(TWO + hosts + flow, encoding="utf-8")
    result = command("emulate", "own.toml", "--json", "--in", f"phone={sys.executable} -c 'import time; time.sleep(2)'")
    assert result.returncode == 0, result.stderr
    (get,) = json.loads(result.stdout[result.stdout.index("{") :])["connections"]
    assert get["requests"]["completed"] == 4


def test_a_sweep_has_no_gates(command: Command) -> None:
    (command.folder / "swept.toml").write_text(TWO + '[sweep]\nlink.air.both.delay = ["1 ms", "2 ms"]\n')
    result = command("sweep", "swept.toml")
    assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr
    assert "node phone" in result.stderr and "a sweep runs in virtual time" in result.stderr
    assert not (command.folder / "sweeps").exists()


def test_packets_are_captured_at_any_node(command: Command) -> None:
    needs("tshark")
    middle = TWO.replace('to = "phone"', 'to = "ap"')
    middle += '[[link]]\nname = "last"\nfrom = "ap"\nto = "phone"\n[[node]]\nname = "ap"\nkind = "router"\n'
    (command.folder / "middle.toml").write_text(middle, encoding="utf-8")
    echo = ("--in", f"server={python('echo.py 4 5')}", "--in", f"phone={python('ask.py 4 5')}")
    result = command("emulate", "middle.toml", "--out", "out", "--pcap-at", "ap", *echo)
    assert result.returncode == 0, result.stderr
    words = ["tshark", "-r", "out/capture.pcapng", "-Y", "udp.port == 7000", "-T", "fields"]
    shown = subprocess.run(
        [*words, "-e", "frame.interface_name", "-e", "ip.src"],
        cwd=command.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [tuple(line.split("\t")) for line in shown.stdout.splitlines()]
    # Each datagram and its answer: entering, in the middle, leaving.
    for place in ("phone", "ap", "server"):
        assert sorted(source for where, source in found if where == place) == ["10.0.0.1"] * 5 + ["10.0.0.2"] * 5
    wrong = command("emulate", "middle.toml", "--pcap-at", "phone", *echo)
    assert wrong.returncode == 2
    assert 'capture at "phone": it is a gate, and gates are always captured; expected ap' in wrong.stderr


def test_exit_codes_are_those_of_the_commands(command: Command) -> None:
    for words, code in {"exit 7": 7, "kill -9 $$": 137, "true": 0}.items():
        result = command("emulate", "two.toml", "--in", f"phone={words}", "--in", "server=true")
        assert result.returncode == code, result.stderr
    one = TWO.replace('[[node]]\nname = "server"\nkind = "gate"', '[[node]]\nname = "server"\nkind = "router"')
    (command.folder / "one.toml").write_text(one)
    result = command("emulate", "one.toml", "--", "sh", "-c", "echo $QUICLAB_PHONE; exit 5")
    assert (result.returncode, result.stdout) == (5, "10.0.0.1\n"), result.stderr
    (command.folder / "burst.py").write_text(BURST)
    late = command("emulate", "two.toml", "--max-lateness", "0", "--in", f"phone={python('burst.py')}")
    assert late.returncode == 3 and "too late" in late.stderr


def test_a_server_ends_with_its_client(command: Command) -> None:
    """The example of the guide: what a client's shell does to its own processes does not reach the others."""
    example = Path(__file__).parents[1] / "examples" / "gates.toml"
    (command.folder / "page").write_text("here\n")
    (command.folder / "get.py").write_text(GET)
    result = command(
        *("emulate", str(example), "--until", "phone"),
        *("--in", f"server={python('-m http.server 8000 >/dev/null 2>&1')}"),
        *("--in", f"phone=sleep 2; {python('get.py')}; trap 'exit 0' TERM; kill 0; exit 0"),
    )
    assert (result.returncode, result.stdout) == (0, "here\n"), result.stderr
    nobody = command("emulate", "two.toml", "--until", "server", "--in", "phone=true")
    assert nobody.returncode == 2 and "--until server: no command runs" in nobody.stderr


def test_the_exit_code_is_that_of_the_command_that_failed_first(command: Command) -> None:
    first = command("emulate", "two.toml", "--in", "phone=sleep 1; exit 42", "--in", "server=exit 3")
    assert first.returncode == 3, first.stderr
    # The gate that is waited for did not end by itself.
    commands = ("--in", "phone=sleep 20", "--in", "server=sleep 20")
    own = command("emulate", "two.toml", "--set", "duration=500 ms", "--until", "phone", *commands)
    assert own.returncode == 143, own.stderr
    other = command("emulate", "two.toml", "--until", "phone", "--in", "phone=sleep 1", "--in", "server=sleep 20")
    assert other.returncode == 0, other.stderr


def test_mistakes_are_told_in_one_line(command: Command) -> None:
    cases = {
        ("two.toml", "--in", "tablet=true"): "no gate 'tablet': expected one of phone, server",
        ("two.toml", "--in", "phone"): "is not a command in a gate",
        ("two.toml", "--", "true"): "several gates (phone, server): which one?",
        ("bulk.toml", "--in", "phone=true"): "has no gate",
        ("nothing.toml",): "nothing.toml",
    }
    for arguments, words in cases.items():
        result = command("emulate", *arguments)
        assert result.returncode == 2 and words in result.stderr, (arguments, result.stderr)
        assert not (command.folder / "runs").exists()
    result = command("run", "two.toml")
    assert result.returncode == 2 and "quiclab emulate" in result.stderr


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(emulation.TOOLS, "a-program-that-is-not-there", "nowhere")
    with pytest.raises(Error, match="a-program-that-is-not-there is missing: install nowhere"):
        emulation.check_tools()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind(command: Command, traces: Traces, how: signal.Signals) -> None:
    """A hundred starts and ends in all, by three signals, at different times."""
    for number in range(34):
        running = command.start(
            "emulate", "two.toml", "--in", f"phone=touch ready{number}; sleep 1000", "--in", "server=sleep 1000"
        )
        for _ in range(200):
            if number % 2 == 0 or (command.folder / f"ready{number}").exists():
                break
            time.sleep(0.05)
        # At once, or when all of it runs, in which case it can be seen.
        time.sleep(0.05 * (number % 7))
        assert running.poll() is not None or traces.processes()
        running.send_signal(how)
        running.communicate(timeout=30)
    assert traces.are_gone(), traces.processes()
    # A run folder is whole, or it is not there.
    for folder in (command.folder / "runs").glob("[!.]*"):
        assert (folder / "summary.json").exists()


def test_an_application_that_does_not_end_is_ended(command: Command, traces: Traces) -> None:
    short = TWO.replace('duration = "20 s"', 'duration = "1 s"')
    (command.folder / "short.toml").write_text(short)
    start = time.monotonic()
    result = command(
        "emulate", "short.toml", "--in", "phone=trap '' TERM; while true; do sleep 1; done", "--in", "server=sleep 1000"
    )
    assert time.monotonic() - start < 30
    assert result.returncode == 137, result.stderr
    assert traces.are_gone()


def test_a_shell_in_a_gate(command: Command) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "quiclab", "real", "shell", "two.toml", "phone"],
        cwd=command.folder,
        env={**os.environ, "SHELL": "/bin/sh"},
        input="echo $QUICLAB_SERVER\nexit 4\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout) == (4, "10.0.0.2\n"), result.stderr
