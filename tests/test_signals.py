"""Signals end every command alike: it leaves nothing half-written, and what has results writes them."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import pytest

from conftest import Command
from quiclab import load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")

INT, TERM, HUP, QUIT = SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
ROWS = [*([one] for one in SIGNALS), [INT] * 5, [HUP, TERM, INT, QUIT, HUP]]
"""What is sent, one after the other."""
LONG = ("run", "bulk.toml", "--set", "duration=10000 h", "--set", "flow.download.application.size=90 GB", "--no-tables")
PATH = """
name = "path"
[[node]]
name = "client"
kind = "gate"
[[node]]
name = "server"
kind = "gate"
[[link]]
name = "link"
from = "client"
to = "server"
delay = "1 ms"
"""


def send(process: "subprocess.Popen[str]", row: Sequence[signal.Signals], gap_s: float) -> None:
    """Sends signals to a process, as long as it lives."""
    for number in row:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        time.sleep(gap_s)


def wait_for(process: "subprocess.Popen[str]", is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def in_folder(command: Command) -> list[str]:
    return sorted(str(path.relative_to(command.folder)) for path in command.folder.rglob("*"))


@pytest.mark.parametrize("gap_s", [0.003, 0.1])
@pytest.mark.parametrize("row", ROWS)
def test_a_run_leaves_nothing(command: Command, row: list[signal.Signals], gap_s: float) -> None:
    process = command.start(*LONG, "--out", "new/x")
    wait_for(process, lambda: list(command.folder.glob("new/.x.partial-*")))
    time.sleep(0.2)
    send(process, row, gap_s)
    _, told = process.communicate(timeout=30)
    assert in_folder(command) == ["bulk.toml"], told
    # Of several, one that came while it ended may be the last that was seen.
    assert process.returncode in {128 + number for number in row} and "Traceback" not in told, told
    if len(row) == 1:
        said = {INT: "interrupted", TERM: "terminated"}.get(row[0], f"ended by {row[0].name}")
        assert told == f"quiclab: {said}\n"


@pytest.mark.parametrize("row", ROWS)
def test_a_fetch_leaves_nothing(command: Command, row: list[signal.Signals]) -> None:
    (command.folder / "site").mkdir()
    with (command.folder / "site" / "zeros").open("wb") as file:
        file.truncate(1 << 34)
    server = command.start("real", "serve", "site", "--listen", "127.0.0.1:0", "--json")
    assert server.stdout is not None
    try:
        address = json.loads(server.stdout.readline())["addresses"][0]
        client = command.start("real", "fetch", f"https://{address}/zeros", "-k", "--out", "out")
        wait_for(client, lambda: list(command.folder.glob("out/.fetch-*.part")))
        send(client, row, 0.02)
        _, told = client.communicate(timeout=30)
        assert list((command.folder / "out").iterdir()) == [], told
        assert client.returncode in {128 + number for number in row} and "Traceback" not in told, told
    finally:
        send(server, row, 0.02)
        rest, errors = server.communicate(timeout=30)
    # The server says what it did, also when it is asked several times.
    assert server.returncode == 0 and json.loads(rest), errors


@pytest.mark.skipif(sys.platform != "linux", reason="the relay is for Linux")
@pytest.mark.parametrize("gap_s", [0.003, 0.03, 0.3])
@pytest.mark.parametrize("row", ROWS)
def test_a_relay_writes_its_results(command: Command, row: list[signal.Signals], gap_s: float) -> None:
    (command.folder / "path.toml").write_text(PATH, encoding="utf-8")
    words = (
        "real",
        "relay",
        "path.toml",
        "--listen",
        "127.0.0.1:0",
        "--to",
        "127.0.0.1:9",
        "--out",
        "out",
        "--capture",
        "got",
    )
    process = command.start(*words, "--json")
    assert process.stderr is not None
    assert process.stderr.readline().startswith("relaying")
    send(process, row, gap_s)
    out, told = process.communicate(timeout=30)
    assert process.returncode == 0, told
    assert json.loads(out)["from_clients"] == 0
    assert load(command.folder / "out").summary["relay"]
    files = in_folder(command)
    assert "got/client.pcapng" in files and not [name for name in files if "partial" in name], files


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_was_ignored_stays_so(command: Command, number: signal.Signals) -> None:
    """As that of a terminal after `nohup`, and Ctrl-C in the background of a script."""

    def ignore() -> None:
        signal.signal(number, signal.SIG_IGN)

    process = command.start(*LONG, "--out", "x", before=ignore)
    wait_for(process, lambda: list(command.folder.glob(".x.partial-*")))
    send(process, [number] * 3, 0.2)
    assert process.poll() is None
    other = INT if number != INT else TERM
    send(process, [other], 0)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 128 + other, told
    assert in_folder(command) == ["bulk.toml"]
