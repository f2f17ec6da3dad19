"""The command `quiclab matrix`: stacks as commands, over networks in real time."""

import json
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import quiclab
from conftest import Command
from programs import needs, needs_namespaces
from quiclab._quiclab import OutputError
from quiclab.engines.matrix import packets

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux")

# Files over UDP: the client asks for a block again until it comes. Real names and folders, no QUIC.
STACK = """
import os, socket, sys, time
from pathlib import Path
role, case = os.environ["ROLE"], os.environ["TESTCASE"]
params = os.environ["SERVER_PARAMS" if role == "server" else "CLIENT_PARAMS"]
if case == "strange":
    sys.exit(127)
if case == "failing" and role == "client":
    print("no luck today")
    sys.exit(1)
if case == "broken" and role == "server":
    print("no server today")
    sys.exit(3)
if case == "slow" and role == "client":
    time.sleep(1000)
Path(os.environ["QLOGDIR"], f"{role}.sqlog").write_text(params)
Path(os.environ["SSLKEYLOGFILE"]).write_text("CLIENT_RANDOM 00 00")
assert all(Path(os.environ["CERTS"], name).exists() for name in ("cert.pem", "priv.key", "ca.pem"))
BLOCK = 1000
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
    if role == "server":
        bound.bind(("", int(os.environ["PORT"])))
        while True:
            data, peer = bound.recvfrom(2000)
            name, number = data.decode().split()
            whole = Path(os.environ["WWW"], name).read_bytes()
            head = f"{number} {len(whole)} ".encode()
            bound.sendto(head + whole[int(number) * BLOCK:][:BLOCK], peer)
    bound.settimeout(0.3)
    for url in os.environ["REQUESTS"].split():
        host, _, name = url.removeprefix("https://").partition("/")
        to = (host.partition(":")[0], int(os.environ["PORT"]))
        whole, length = b"", None
        while length is None or len(whole) < length:
            number = len(whole) // BLOCK
            bound.sendto(f"{name} {number}".encode(), to)
            try:
                told, size, data = bound.recv(2000).split(b" ", 2)
            except TimeoutError:
                continue
            length = int(size)
            if int(told) == number:
                whole += data
        if case == "wrong":
            whole = whole[::-1]
        Path(os.environ["DOWNLOADS"], name).write_bytes(whole)
"""
SCENARIO = """
name = "two"
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
both = { rate = "20 Mbit/s", delay = "10 ms", queue = "100 ms" }
"""
OURS = f"tiny={sys.executable} stack.py"
QUICK = ("--stack", OURS, "--size", "5kB", "--rtt", "10", "--out", "out")


@pytest.fixture
def folder(command: Command) -> Path:
    """Skips loudly where there are no namespaces or no TUN devices."""
    needs_namespaces()
    needs("openssl")
    (command.folder / "stack.py").write_text(STACK, encoding="utf-8")
    (command.folder / "two.toml").write_text(SCENARIO, encoding="utf-8")
    return command.folder


def runs(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "out" / "runs.parquet").to_pylist()
    return rows


def test_a_matrix_has_a_table_captures_qlogs_and_a_heat_map(command: Command, folder: Path) -> None:
    words = (
        "matrix",
        *QUICK[:-4],
        "--out",
        "out",
        "--rtt",
        "10,30",
        "--rate",
        "10,20",
        "--client-params",
        "some words",
    )
    result = command(*words)
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if not line.startswith("folder ")]
    assert max(map(len, lines)) <= 80 and "4 runs" in result.stdout
    rows = runs(folder)
    assert [(row["rate_mbps"], row["rtt_ms"], row["result"]) for row in rows] == [
        (10.0, 10.0, "passed"),
        (10.0, 30.0, "passed"),
        (20.0, 10.0, "passed"),
        (20.0, 30.0, "passed"),
    ]
    for row in rows:
        # Five blocks, each in a round trip at least, and headers of 28 bytes.
        assert row["server_packets"] == row["client_packets"] == 5 and row["server_packets_lost"] == 0
        assert row["rtt_min_ms"] >= row["rtt_ms"] and row["duration_s"] >= 5 * row["rtt_ms"] / 1e3
        assert row["goodput_mbps"] == pytest.approx(8e-6 * 5000 / row["duration_s"])
        assert row["server_sent_bytes"] == 5 * (1000 + len("0 5000 ") + 28)
        assert row["server_overhead"] == row["server_sent_bytes"] / 5000
        cell = folder / "out" / str(row["folder"])
        assert (cell / "run" / "capture.pcapng").stat().st_size > 5000
        assert (cell / "client" / "qlog" / "client.sqlog").read_text() == "some words"
        assert (cell / "server" / "keys.log").exists() and not (cell / "downloads").exists()
    assert (folder / "out" / "heatmap-tiny-tiny.png").stat().st_size > 1000
    # The folder is that of a sweep for whoever draws it.
    assert quiclab.load_sweep(folder / "out").parameters[:2] == ["client", "server"]
    drawn = command("plot", "out", "--x", "rtt_ms", "--y", "duration_s", "--group", "rate_mbps", "--out", "f.png")
    assert drawn.returncode == 0, drawn.stderr
    before = {path: path.stat().st_mtime_ns for path in (folder / "out" / "cells").glob("*/result.json")}
    again = command(*words)
    assert again.returncode == 0 and "4 reused" in again.stdout
    assert before == {path: path.stat().st_mtime_ns for path in (folder / "out" / "cells").glob("*/result.json")}
    # Another definition is another cell.
    more = command(*words, "--runs", "2", "--no-pcap", "--json")
    told = json.loads(more.stdout)
    assert told["reused"] == 4 and len(told["runs"]) == 8 and [cell["passed"] for cell in told["cells"]] == [2] * 4
    assert not (folder / "out" / told["runs"][1]["folder"] / "run" / "capture.pcapng").exists()


@pytest.mark.parametrize(
    ("case", "code", "result", "reason"),
    [
        ("strange", 0, "unsupported", "does not support strange"),
        ("failing", 1, "failed", "the client ended with 1: no luck today"),
        ("broken", 1, "failed", "the server ended with 3 before it listened: no server today"),
        ("wrong", 1, "failed", "file-5000 is not what was served"),
        ("slow", 1, "failed", "the client took longer than 1 s"),
    ],
)
def test_what_fails_says_why(command: Command, folder: Path, case: str, code: int, result: str, reason: str) -> None:
    done = command("matrix", *QUICK, "--testcase", case, "--timeout", "1")
    assert done.returncode == code, done.stderr
    (row,) = runs(folder)
    assert row["result"] == result and reason in str(row["reason"])
    assert row["goodput_mbps"] is None
    if result == "failed":
        assert reason in done.stderr
        again = command("matrix", *QUICK, "--testcase", case, "--timeout", "1", "--again", "failed")
        assert "0 reused, 1 failed" in again.stdout


def test_scenarios_pairs_and_paths_are_combined(command: Command, folder: Path) -> None:
    result = command(
        *("matrix", "two.toml", *QUICK[:4], "--out", "out", "--client", f"one={sys.executable} stack.py"),
        *("--vary", "link.air.both.delay=5 ms,10 ms", "--jobs", "2", "--json"),
    )
    assert result.returncode == 0, result.stderr
    rows = runs(folder)
    assert [(row["client"], row["server"], row["link.air.both.delay"]) for row in rows] == [
        (client, "tiny", delay) for client in ("tiny", "one") for delay in ("5 ms", "10 ms")
    ]
    assert all(row["result"] == "passed" and row["utilisation"] is None for row in rows)


def test_losses_are_those_of_the_network(command: Command, folder: Path) -> None:
    result = command("matrix", *QUICK[:2], *QUICK[4:], "--size", "100kB", "--loss", "20%")
    assert result.returncode == 0, result.stderr
    (row,) = runs(folder)
    (cell,) = (folder / "out" / "cells").iterdir()
    links = json.loads((cell / "run" / "summary.json").read_text())["links"]
    drops = {link["direction"]: link["drops"]["loss"] for link in links}
    assert row["server_packets_lost"] == drops["forward"] > 0 and row["client_packets_lost"] == 0


def test_an_interrupted_matrix_goes_on(command: Command, folder: Path) -> None:
    words = ("matrix", *QUICK, "--runs", "4")
    running = command.start(*words)
    for _ in range(600):
        if len(list((folder / "out").glob("cells/[!.]*"))) >= 1:
            break
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130 and "the same command continues" in str(told)
    kept = len(list((folder / "out").glob("cells/[!.]*")))
    assert 1 <= kept < 4 and not list((folder / "out").glob("cells/.*"))
    assert not (folder / "out" / "sweep.json").exists()
    result = command(*words)
    assert result.returncode == 0 and f"{kept} reused" in result.stdout, result.stderr
    assert len(runs(folder)) == 4


def test_late_runs_are_marked(command: Command, folder: Path) -> None:
    result = command("matrix", *QUICK, "--max-lateness", "0")
    assert result.returncode == 0 and "--again late reruns them" in result.stderr
    assert [row["late"] for row in runs(folder)] == [True] and "1 late" in result.stdout
    result = command("matrix", *QUICK, "--max-lateness", "0", "--again", "late")
    assert "0 reused" in result.stdout


def test_a_real_transfer_of_our_own(command: Command, folder: Path) -> None:
    python = f"exec {sys.executable} -m quiclab"
    (folder / "ours").write_text(
        "set -e; case $ROLE in server) "
        f'{python} serve "$WWW" --listen "$IP:$PORT" --alpn h3 --cert "$CERTS/cert.pem" --key "$CERTS/priv.key" '
        '--qlog "$QLOGDIR";; '
        f'client) {python} fetch --out "$DOWNLOADS" --ca "$CERTS/ca.pem" --alpn h3 --qlog "$QLOGDIR" $REQUESTS;; esac'
    )
    result = command("matrix", "--stack", "ours=sh ours", "--size", "200kB", "--out", "out")
    assert result.returncode == 0, result.stderr
    (row,) = runs(folder)
    assert row["result"] == "passed" and 0 < float(str(row["goodput_mbps"])) < 20
    assert 1.03 < float(str(row["server_overhead"])) < 2
    assert list((folder / "out" / str(row["folder"]) / "server" / "qlog").glob("*.sqlog"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "no client: expected --stack NAME=COMMAND"),
        (("--stack", "tiny"), "expected NAME=COMMAND"),
        (("--stack", "a b=true"), "expected NAME=COMMAND"),
        (("--stack", "a=true", "--stack", "a=false"), "two clients have the name 'a'"),
        (("--stack", "a=./nothing client"), "a=./nothing client: no program './nothing'"),
        (("--client", "a=true", "--server", "b=nothing"), "b=nothing: no program 'nothing'"),
        (("--client", "a=true"), "no server: expected --stack NAME=COMMAND or --server"),
        (("--stack", "a=true", "--pairs", "some"), "expected one of same, all"),
        (("--stack", "a=true", "--rate", "fast"), "--rate 'fast': expected a rate"),
        (("--stack", "a=true", "--rate", "0"), "--rate '0': expected a rate"),
        (("--stack", "a=true", "--rtt", "-1"), "--rtt '-1': expected a round-trip time"),
        (("--stack", "a=true", "--rtt", "10,10"), "'10' is given twice"),
        (("--stack", "a=true", "--rtt", "10,"), "a value is empty"),
        (("--stack", "a=true", "--loss", "200%"), "--loss '200%': expected a share"),
        (("--stack", "a=true", "--loss", "banana"), "--loss 'banana': expected a share"),
        (("--stack", "a=true", "--queue", "5"), "--queue '5': expected a number with its unit"),
        (("--stack", "a=true", "--queue", "5 apples"), "5 apples"),
        (("--stack", "a=true", "--vary", "link"), "expected PATH=V1,V2"),
        (("--stack", "a=true", "--vary", "link.nothing.delay=5 ms"), "nothing"),
        (("--stack", "a=true", "--vary", "seed=1,2"), "--runs gives the number of seeds"),
        (("--stack", "a=true", "--size", "0"), "expected a size from 1 B to 1 GB"),
        (("--stack", "a=true", "--size", "much"), "expected a size from 1 B to 1 GB"),
        (("--stack", "a=true", "--testcase", ""), "expected a text"),
        (("--stack", "a=true", "--runs", "0"), "--runs"),
        (("--stack", "a=true", "--jobs", "0"), "--jobs"),
        (("--stack", "a=true", "--timeout", "0"), "--timeout"),
        (("--stack", "a=true", "--max-lateness", "-1"), "--max-lateness"),
        (("--stack", "a=true", "--seed", "-1"), "--seed"),
        (("--stack", "a=true", "--again", "all"), "--again all: expected one of failed, late"),
        (("--stack", "a=true", "--client-gate", "x"), "the built-in network has its own gates"),
        (("--stack", "a=true", "bulk.toml"), "has no gate"),
        (("--stack", "a=true", "nothing.toml"), "nothing.toml"),
        (("--stack", "a=true", "three.toml"), "expected gates named client and server"),
        (("--stack", "a=true", "three.toml", "--client-gate", "x"), "--client-gate x: the scenario has the gates"),
        (("--stack", "a=true", "three.toml", "--client-gate", "a", "--server-gate", "a"), "both at the gate a"),
        (("--stack", "a=true", "--out", "full"), "is not the folder of a matrix"),
    ],
)
def test_mistakes_are_told_in_one_line(command: Command, words: tuple[str, ...], told: str) -> None:
    nodes = "".join(f'[[node]]\nname = "{name}"\nkind = "gate"\n' for name in "abc")
    links = "".join(f'[[link]]\nname = "{to}"\nfrom = "a"\nto = "{to}"\n' for to in "bc")
    (command.folder / "three.toml").write_text(nodes + links)
    (command.folder / "full").mkdir()
    (command.folder / "full" / "file").touch()
    result = command("matrix", *words)
    assert result.returncode == 2 and told in result.stderr, result.stderr
    assert not (command.folder / "matrix").exists()


def capture(*seen: tuple[int, float, str, bytes]) -> bytes:
    """A capture with the interfaces `server` and `client`: number, time, source, payload."""
    blocks = [struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)]
    for name in (b"server\0\0", b"client\0\0"):
        options = struct.pack("<HH", 2, 6) + name + struct.pack("<HH", 0, 0)
        length = 20 + len(options)
        blocks.append(struct.pack("<IIHHI", 1, length, 101, 0, 0) + options + struct.pack("<I", length))
    for number, when, source, payload in seen:
        head = bytes([0x45]) + bytes(8) + bytes([17]) + bytes(2) + bytes(map(int, source.split("."))) + bytes(4)
        packet = head + bytes(8) + payload
        padded = packet + bytes(-len(packet) % 4)
        high, low = divmod(round(when * 1e9), 1 << 32)
        length = 32 + len(padded)
        fields = struct.pack("<IIIIIII", 6, length, number, high, low, len(packet), len(packet))
        blocks.append(fields + padded + struct.pack("<I", length))
    return b"".join(blocks)


def test_what_packets_met_is_read_from_the_capture(tmp_path: Path) -> None:
    """By hand: delays of 10 and 30 ms down and of 5 ms up; one lost, and one under way at the end."""
    client, server, big = "10.0.0.2", "10.0.0.1", bytes(200)
    file = tmp_path / "c.pcapng"
    file.write_bytes(
        capture(
            (1, 0.100, client, b"hello"),
            (0, 0.105, client, b"hello"),
            (0, 0.110, server, b"a" + big),
            (0, 0.111, server, b"b" + big),
            (0, 0.112, server, b"c" + big),
            (1, 0.120, server, b"a" + big),
            (1, 0.142, server, b"c" + big),
            (1, 0.190, client, b"bye"),
            (0, 0.195, client, b"bye"),
            (0, 0.195, server, b"ok"),
        )
    )
    ends = (("client", [client]), ("server", [server]))
    found = packets.read(file, *ends)
    assert (found.down.packets, found.down.lost, found.up.packets, found.up.lost) == (3, 1, 2, 0)
    assert found.down.delays_s == pytest.approx((0.010, 0.030)) and found.down.sent_bytes == 3 * 229 + 30
    assert found.duration_s == pytest.approx(0.042)
    assert found.rtt_mean_ms == pytest.approx(25) and found.rtt_min_ms == pytest.approx(15)
    whole = file.read_bytes()
    for broken in (whole[:-3], b"no capture at all", whole[:50] + b"\xff" * 8):
        file.write_bytes(broken)
        with pytest.raises(OutputError, match="cannot be read"):
            packets.read(file, *ends)
