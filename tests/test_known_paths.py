"""What `quiclab real serve` learns of paths: `--remember`, and `quiclab real fetch --bdp`."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from programs import needs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="serve and fetch are for Linux")

LINK = """
[[link]]
name = "path"
from = "server"
to = "client"
rate = "100 Mbit/s"
delay = "10 ms"
queue = "1 MB"
[[flow]]
name = "all"
client = "client"
server = "server"
application = { type = "bulk", size = "1 B" }
"""
"""A path whose capacity, 250 kB, is worth being saved; that of loopback is not."""

PATHS = '"format": "quiclab known paths", "version": 1'


@contextmanager
def serving(command: Command, *options: str) -> Iterator[dict[str, Any]]:
    """A server of `site`, and what it says at both ends of its life."""
    site = command.folder / "site"
    site.mkdir(exist_ok=True)
    for name, size in ("large", 4_000_000), ("small", 200_000):
        (site / name).write_bytes(bytes(size))
    told: dict[str, Any] = {}
    with ending(command, told, "real", "serve", "site", "--listen", "127.0.0.1:0", *options) as server:
        assert server.stdout is not None
        told["process"] = server
        told["address"] = json.loads(server.stdout.readline())["addresses"][0]
        yield told


@contextmanager
def ending(command: Command, told: dict[str, Any], *words: str) -> "Iterator[subprocess.Popen[str]]":
    """A command that is ended by Ctrl-C, unless it has ended."""
    process = command.start(*words, "--json")
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    if process.returncode != -signal.SIGKILL:
        assert process.returncode == 0, errors
        told.update(stats=json.loads(out), errors=errors)


def fetched(
    command: Command,
    server: dict[str, Any],
    *names: str,
    options: tuple[str, ...] = (),
    env: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What `quiclab real fetch` tells of files that come over the path, which is captured."""
    (command.folder / "path.toml").write_text(LINK, encoding="utf-8")
    words = ("--listen", "127.0.0.1:0", "--to", server["address"], "--capture", "captured")
    with ending(command, {}, "real", "relay", "path.toml", *words) as relay:
        assert relay.stderr is not None
        base = f"https://{relay.stderr.readline().split()[1]}"
        done = command(
            "real", "fetch", *(f"{base}/{name}" for name in names), "-k", "--out", "out", "--json", *options, env=env
        )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def known(command: Command) -> list[dict[str, Any]]:
    paths: list[dict[str, Any]] = json.loads((command.folder / "known.json").read_text(encoding="utf-8"))["paths"]
    return paths


def test_a_restart_does_not_forget(command: Command) -> None:
    """RFC 9959 section 3.1: what the first server has learned is used by the second, at most once at a time."""
    with serving(command, "--remember", "known.json") as first:
        assert known(command) == []
        fetched(command, first, "large")
    assert (first["stats"]["known_paths"], first["stats"]["capacities_accepted"]) == (1, 0)
    (path,) = known(command)
    assert path["peer"] == "127.0.0.1"
    assert path["capacity_bytes"] > 58_880
    assert 15e6 <= path["rtt_ns"] < 1e9, "20 ms, by the clocks of a busy machine"
    assert 0 <= time.time() * 1000 - path["date_ms"] < 60_000, "the date of the observation"
    with serving(command, "--remember", "known.json") as second:
        assert known(command) == [path]
        fetched(command, second, "small")
    assert (second["stats"]["capacities_accepted"], second["stats"]["capacities_refused"]) == (1, 0)
    assert [entry.name for entry in command.folder.iterdir() if "known" in entry.name] == ["known.json"]


def test_a_server_that_is_killed_loses_a_few_seconds(command: Command) -> None:
    with serving(command, "--remember", "known.json") as server:
        fetched(command, server, "large")
        end = time.monotonic() + 20
        while not known(command):
            assert time.monotonic() < end
            time.sleep(0.1)
        server["process"].kill()
        server["process"].wait()
    assert len(known(command)) == 1
    with serving(command, "--remember", "known.json") as server:
        fetched(command, server, "small")
    assert server["stats"]["capacities_accepted"] == 1


def test_a_lifetime_goes_on_while_no_server_runs(command: Command) -> None:
    """24 hours by default, counted from the observation; a date in the future comes from another clock."""
    now_ms = int(time.time() * 1000)
    dates = {hours: now_ms - int(hours * 3_600_000) for hours in (25.0, 23.9, 1.1, -0.1)}
    rows = [
        f'{{"peer": "192.0.2.{at}", "capacity_bytes": 3750000, "rtt_ns": 600000000, "date_ms": {date_ms}}}'
        for at, date_ms in enumerate(dates.values())
    ]
    text = f'{{{PATHS}, "paths": [{", ".join(rows)}]}}'
    for options, left in (
        ((), [23.9, 1.1]),
        (("--set", 'transport.resume={ type = "seed", lifetime = "2 h" }'), [1.1]),
        (("--set", 'transport.resume={ type = "careful", check_lifetime = false }'), [25.0, 23.9, 1.1, -0.1]),
    ):
        (command.folder / "known.json").write_text(text, encoding="utf-8")
        with serving(command, "--remember", "known.json", *options) as server:
            assert [path["date_ms"] for path in known(command)] == [dates[hours] for hours in left]
        assert server["stats"]["known_paths"] == len(left)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("duration = 1", "is not JSON"),
        ('{"paths": []}', 'expected "format": "quiclab known paths"'),
        ('{"format": "quiclab known paths", "version": 2, "more": 1}', "its version is 2; expected 1"),
        (f'{{{PATHS}, "paths": [{{"peer": "localhost"}}]}}', 'paths[0].peer is "localhost"; expected an IP address'),
        (" " * (1 << 20) + " ", "longer than 1048576 bytes"),
    ],
)
def test_a_wrong_file_is_one_line_before_the_server_starts(command: Command, text: str, says: str) -> None:
    (command.folder / "site").mkdir()
    (command.folder / "known.json").write_text(text, encoding="utf-8")
    done = command("real", "serve", "site", "--listen", "127.0.0.1:0", "--remember", "known.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr and done.stderr.startswith("quiclab: known.json: ")
    assert len(done.stderr.splitlines()) == 1
    assert (command.folder / "known.json").read_text(encoding="utf-8") == text


def test_what_cannot_be_remembered_is_told_before_the_server_starts(command: Command) -> None:
    (command.folder / "site").mkdir()
    for words, says in (
        (("--remember", "none/known.json"), "none/known.json: cannot be written"),
        (("--remember", "site"), "site: it is not a regular file"),
        (("--remember", "known.json", "--set", "transport.resume=none"), "transport.resume is none"),
        (
            ("--remember", "known.json", "--set", 'transport.resume={ type = "careful", store = "ticket" }'),
            "store of transport.resume is not by address",
        ),
    ):
        done = command("real", "serve", "site", "--listen", "127.0.0.1:0", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert says in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not (command.folder / "known.json").exists()


def test_a_disk_that_fails_later_is_told_once(command: Command) -> None:
    folder = command.folder / "state"
    folder.mkdir()
    with serving(command, "--remember", "state/known.json") as server:
        shutil.rmtree(folder)
        fetched(command, server, "large")
        time.sleep(6)
        fetched(command, server, "large")
    assert server["errors"].count("warning") == 1, server["errors"]
    assert "state/known.json: cannot be written" in server["errors"]
    assert server["stats"]["capacities_accepted"] == 1, "it goes on with what it knows"


def test_a_capacity_comes_back_in_bdp_frame(command: Command) -> None:
    """draft-kuhn-quic-0rtt-bdp-09, on real sockets: the server has no store of its own."""
    carries = 'transport.resume={ type = "careful", store = "off", bdp_frame = true }'
    with serving(command, "--early-data", "--set", carries) as server:
        told = fetched(command, server, "large", "small", options=("--resume", "--bdp"))
        plain = fetched(command, server, "large", "small", options=("--resume", "--early-data"))
    first, second = told["connections"]
    assert first["capacity_returned_bytes"] is None
    assert second["capacity_returned_bytes"] == first["capacity_kept_bytes"] > 58_880
    assert [over["capacity_kept_bytes"] for over in plain["connections"]] == [None, None]
    assert told["urls"][1]["early_data"]
    assert (server["stats"]["capacities_accepted"], server["stats"]["capacities_refused"]) == (1, 0)


def tshark(capture: Path, keys: Path, *words: str) -> list[str]:
    """The lines of tshark. Without it the test is skipped, and in CI it fails."""
    needs("tshark")
    # Whatever the ports: one of them may be that of another protocol.
    quic = ["-d", "udp.port==1-65535,quic"]
    run = subprocess.run(
        ["tshark", "-r", str(capture), "-o", f"tls.keylog_file:{keys}", *quic, *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_capture_with_bdp_frames_opens_in_tshark(command: Command, side: str) -> None:
    """It does not know the frame, says so, and reads what is around it; nothing is malformed."""
    carries = 'transport.resume={ type = "careful", bdp_frame = true }'
    with serving(command, "--early-data", "--set", carries) as server:
        env = {"SSLKEYLOGFILE": str(command.folder / "keys")}
        fetched(command, server, "large", "small", options=("--resume", "--bdp"), env=env)
    capture, keys = command.folder / "captured" / f"{side}.pcapng", command.folder / "keys"
    assert tshark(capture, keys, "-Y", "_ws.malformed") == []
    assert tshark(capture, keys, "-Y", "quic.decryption_failed") == []
    fields = [
        word for field in ("udp.dstport", "quic.long.packet_type", "_ws.expert.message") for word in ("-e", field)
    ]
    shown = tshark(capture, keys, "-Y", "quic.frame_type == 0xebd9", "-T", "fields", *fields)
    rows = [line.split("\t") for line in shown]
    port = server["address"].rpartition(":")[2] if side == "server" else None
    assert rows and all("Unknown Frame Type 0xebd9" in message for _, _, message in rows)
    # The type of 0-RTT packets is 1; the server's are 1-RTT.
    returned = [kinds for _, kinds, _ in rows if "1" in kinds.split(",")]
    assert returned and len(rows) > len(returned)
    assert port is None or [to for to, kinds, _ in rows if kinds] == [port]


def test_bdp_needs_a_second_connection(command: Command) -> None:
    urls = ("https://127.0.0.1:1/a", "https://127.0.0.1:1/b", "-k")
    done = command("real", "fetch", *urls, "--bdp")
    assert done.returncode == 2 and "--bdp needs --resume" in done.stderr
    done = command("real", "fetch", *urls, "--bdp", "--resume", "--set", "transport.resume=none")
    assert done.returncode == 2 and "transport.resume is none" in done.stderr


def test_a_file_of_another_kind_is_not_replaced(command: Command) -> None:
    """A link is replaced like a file, and what it leads to is left alone."""
    (command.folder / "site").mkdir()
    target = command.folder / "target.json"
    target.write_text(f'{{{PATHS}, "paths": []}}', encoding="utf-8")
    before = target.read_bytes()
    Path(command.folder / "known.json").symlink_to(target)
    with serving(command, "--remember", "known.json"):
        pass
    assert target.read_bytes() == before and not (command.folder / "known.json").is_symlink()
