"""The commands `quiclab real serve` and `quiclab real fetch`: files over UDP on loopback."""

import hashlib
import json
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="serve and fetch are for Linux")


@contextmanager
def serving(command: Command, *options: str, listen: str = "127.0.0.1:0") -> Iterator[dict[str, Any]]:
    """A server of the folder `site`, and what it says when it is ready; ended with Ctrl-C."""
    (command.folder / "site").mkdir(exist_ok=True)
    server = command.start("real", "serve", "site", "--listen", listen, "--json", *options)
    assert server.stdout is not None
    try:
        told = json.loads(server.stdout.readline())
        told["base"] = f"https://{told['addresses'][0]}"
        told["process"] = server
        yield told
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=30)
    assert server.returncode == 0, errors
    told["stats"] = json.loads(rest)
    told["errors"] = errors


def put(command: Command, name: str, size: int) -> bytes:
    (command.folder / "site").mkdir(exist_ok=True)
    data = random.Random(name).randbytes(size)
    (command.folder / "site" / name).write_bytes(data)
    return data


def wait_for_some(command: Command, client: "subprocess.Popen[str]") -> None:
    """Until some of a file has come."""
    while not any(part.stat().st_size > 0 for part in (command.folder / "out").glob(".fetch-*.part")):
        assert client.poll() is None


def test_a_pinned_server_gives_its_files(command: Command) -> None:
    files = {name: put(command, name, size) for name, size in [("a.bin", 1_000_000), ("b c.txt", 10), ("empty", 0)]}
    with serving(command) as server:
        urls = [f"{server['base']}/{name.replace(' ', '%20')}" for name in files]
        done = command("real", "fetch", *urls, "--out", "out", "--pin", server["fingerprint"], "--json")
        told = json.loads(done.stdout)
        assert done.returncode == 0 and told["complete"], done.stderr
        for name, data in files.items():
            assert (command.folder / "out" / name).read_bytes() == data
        assert len(told["connections"]) == 1
        for url in told["urls"]:
            assert 0 <= url["asked_s"] <= url["first_byte_s"] <= url["complete_s"]
    assert server["stats"]["connections"] == 1


def test_the_names_of_controllers_and_options_are_those_of_scenarios(command: Command) -> None:
    put(command, "a", 100_000)
    with serving(command, "--controller", "newreno", "--set", "transport.initial_window=20") as server:
        options = ("--controller", "newreno", "--scheduler", "rr", "--set", "tls.cipher=chacha20poly1305")
        assert command("real", "fetch", f"{server['base']}/a", "-k", "--out", "out", *options).returncode == 0
    for wrong, right in [
        (("--controller", "newrno"), "newreno"),
        (("--set", "transport.initial_windw=2"), "initial_window"),
    ]:
        done = command("real", "fetch", "https://127.0.0.1:1/a", "-k", *wrong)
        assert done.returncode == 2 and right in done.stderr and len(done.stderr.splitlines()) == 1


def test_certificates_of_files_are_shown_and_verified(command: Command) -> None:
    put(command, "a", 10)
    with serving(command) as server:
        (command.folder / "made.pem").write_text(server["certificate"], encoding="utf-8")
        # What the server made is an authority of its own.
        ok = command("real", "fetch", f"{server['base']}/a", "--ca", "made.pem", "--out", "out")
        assert ok.returncode == 0, ok.stderr
        unknown = command("real", "fetch", f"{server['base']}/a", "--out", "other")
        assert unknown.returncode == 2 and "UnknownIssuer" in unknown.stderr and "--pin" in unknown.stderr
        assert list((command.folder / "other").iterdir()) == []
    assert command("real", "serve", "site", "--cert", "made.pem").returncode == 2
    lacking = command("real", "serve", "site", "--cert", "made.pem", "--key", "none.pem")
    assert lacking.returncode == 2 and "none.pem" in lacking.stderr


def test_resumption_and_early_data(command: Command) -> None:
    for name in ("a", "b"):
        put(command, name, 1000)
    with serving(command, "--early-data") as server:
        urls = [f"{server['base']}/{name}" for name in ("a", "b")]
        done = command("real", "fetch", *urls, "-k", "--out", "out", "--resume", "--early-data", "--json")
        told = json.loads(done.stdout)
        assert [over["resumed"] for over in told["connections"]] == [False, True]
        assert told["urls"][1]["early_data"]


def test_over_ipv6(command: Command) -> None:
    data = put(command, "a", 5000)
    with serving(command, listen="[::1]:0") as server:
        assert command("real", "fetch", f"{server['base']}/a", "-k", "-6", "--out", "out").returncode == 0
        assert (command.folder / "out" / "a").read_bytes() == data
        no = command("real", "fetch", f"{server['base']}/a", "-k", "-4", "--out", "out")
        assert no.returncode == 2 and "IPv4" in no.stderr


def test_secrets_and_qlog(command: Command) -> None:
    put(command, "a", 10)
    with serving(command) as server:
        words = ("real", "fetch", f"{server['base']}/a", "-k", "--out", "out", "--qlog", "qlog")
        done = command(*words, env={"SSLKEYLOGFILE": "keys"})
        assert done.returncode == 0
    assert "CLIENT_HANDSHAKE_TRAFFIC_SECRET" in (command.folder / "keys").read_text(encoding="utf-8")
    # One connection, one file: nothing is opened again when it is over.
    assert [path.name for path in (command.folder / "qlog").iterdir()] == ["client-1.sqlog"]
    assert (command.folder / "qlog" / "client-1.sqlog").stat().st_size > 1000


@pytest.mark.parametrize(
    ("signum", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_an_interrupted_fetch_leaves_nothing(command: Command, signum: signal.Signals, code: int, word: str) -> None:
    with (command.folder / "zeros").open("wb") as file:
        file.truncate(1 << 34)
    (command.folder / "site").mkdir()
    (command.folder / "zeros").rename(command.folder / "site" / "zeros")
    with serving(command) as server:
        client = command.start("real", "fetch", f"{server['base']}/zeros", "-k", "--out", "out")
        wait_for_some(command, client)
        client.send_signal(signum)
        _, errors = client.communicate(timeout=30)
        assert (client.returncode, errors) == (code, f"quiclab: {word}\n")
        assert list((command.folder / "out").iterdir()) == []


def test_mistakes_are_one_line(command: Command) -> None:
    put(command, "a", 10)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        cases = [
            (("real", "serve", "nowhere"), "nowhere"),
            (("real", "serve", "site", "--listen", "localhost"), "127.0.0.1:4433"),
            (("real", "serve", "site", "--listen", f"127.0.0.1:{port}"), f"127.0.0.1:{port}"),
            (("real", "serve", "site", "--alpn", "spdy"), "hq-interop"),
            (("real", "fetch", "http://127.0.0.1/a", "-k"), "https://"),
            (("real", "fetch", "https://127.0.0.1:1/a", "--pin", "abc"), "64 hexadecimal digits"),
            (("real", "serve", "site", "--listen", "127.0.0.1:0", "--max-memory", "much"), "--max-memory"),
            (("real", "serve", "site", "--listen", "127.0.0.1:0", "--max-memory", "0 B"), "at least 40.96 MB"),
            (
                ("real", "serve", "site", "--listen", "127.0.0.1:0", "--max-memory", "0"),
                '--max-memory: "0": the unit is missing',
            ),
            (("real", "serve", "site", "--listen", "127.0.0.1:0", "--name", ""), "--name: expected a host name"),
            (("real", "fetch", "https://127.0.0.1:1/a", "-k", "--early-data"), "--resume"),
            (("real", "fetch", "https://127.0.0.1:1/a", "https://127.0.0.1:2/a", "-k"), "same"),
            (("real", "fetch", "https://nothing.invalid/a", "-k"), "nothing.invalid"),
        ]
        for words, hint in cases:
            done = command(*words)
            text = done.stderr.strip()
            assert done.returncode == 2, (words, text)
            assert hint in text or (hint == "same" and "both" in text), (words, text)


def test_what_is_not_there_fails_and_the_rest_is_fetched(command: Command) -> None:
    data = put(command, "a", 10)
    with serving(command) as server:
        done = command("real", "fetch", f"{server['base']}/none", f"{server['base']}/a", "-k", "--out", "out")
        assert done.returncode == 1 and "none" in done.stderr
        assert [path.name for path in (command.folder / "out").iterdir()] == ["a"]
        assert hashlib.sha256((command.folder / "out" / "a").read_bytes()).digest() == hashlib.sha256(data).digest()


def test_the_hash_of_the_key_is_a_pin_as_it_is_printed(command: Command) -> None:
    put(command, "a", 10)
    with serving(command) as server:
        words = ("real", "fetch", f"{server['base']}/a", "--out", "out", "--pin")
        for pin in (
            server["public_key"],
            server["public_key"].rstrip("="),
            server["fingerprint"].upper(),
            f"public key SHA-256   {server['public_key']}",
            f"certificate SHA-256  {server['fingerprint']}",
            f"sha256//{server['public_key']}",
        ):
            assert command(*words, pin).returncode == 0, pin
        wrong = command(*words, "A" * 43 + "=")
        assert wrong.returncode == 2 and "no connection" in wrong.stderr
        for told in ("pin mismatch", server["public_key"], server["fingerprint"]):
            assert told in wrong.stderr


def test_a_link_that_leads_out_is_not_found(command: Command) -> None:
    put(command, "a", 10)
    (command.folder / "secret").write_text("x", encoding="utf-8")
    (command.folder / "site" / "link").symlink_to(command.folder / "secret")
    with serving(command) as server:
        assert command("real", "fetch", f"{server['base']}/link", "-k", "--out", "out").returncode == 1
        assert list((command.folder / "out").iterdir()) == []


def test_a_busy_server_asks_for_addresses(command: Command) -> None:
    """A handshake that does not end takes the only place of its network."""
    put(command, "a", 10)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent, serving(command, "--max-of-source", "1") as server:
        silent.bind(("127.0.0.1", 0))
        silent.settimeout(30)
        client = command.start(
            "real", "fetch", f"https://127.0.0.1:{silent.getsockname()[1]}/a", "-k", "--out", "nothing"
        )
        first = silent.recv(1 << 16)
        client.kill()
        client.communicate()
        silent.sendto(first, ("127.0.0.1", int(server["base"].rpartition(":")[2])))
        silent.recv(1 << 16)
        assert command("real", "fetch", f"{server['base']}/a", "-k", "--out", "out").returncode == 0
    assert server["stats"]["retries_sent"] == 1


def test_a_server_that_ends_waits_for_nobody_for_long(command: Command) -> None:
    put(command, "a", 10)
    with (command.folder / "site" / "zeros").open("wb") as file:
        file.truncate(1 << 36)
    with serving(command) as server:
        client = command.start("real", "fetch", f"{server['base']}/zeros", "-k", "--out", "out")
        wait_for_some(command, client)
    # It was ended, with code 0; the client hears of it and leaves nothing.
    _, errors = client.communicate(timeout=30)
    assert client.returncode == 1 and "zeros" in errors
    assert list((command.folder / "out").iterdir()) == []


def test_both_protocols_are_spoken_and_http_3_is_preferred(command: Command) -> None:
    data = put(command, "a", 300_000)
    with serving(command) as server:
        for offered, protocol, missing in [((), "h3", 404), (("--alpn", "hq-interop"), "hq-interop", None)]:
            words = (
                "real",
                "fetch",
                f"{server['base']}/a",
                f"{server['base']}/none",
                "-k",
                "--out",
                protocol,
                "--json",
            )
            told = json.loads(command(*words, *offered).stdout)
            assert [over["protocol"] for over in told["connections"]] == [protocol]
            assert (command.folder / protocol / "a").read_bytes() == data
            assert (told["urls"][1]["file"], told["urls"][1]["status"]) == (None, missing)


def test_files_with_the_names_of_halves_and_links_are_left_alone(command: Command) -> None:
    names = ("a", "a.part")
    files = {name: put(command, name, 300_000) for name in names}
    out = command.folder / "out"
    out.mkdir()
    (command.folder / "mine").write_text("mine", encoding="utf-8")
    for name in ("a", "a.part.part", "b.part"):
        (out / name).symlink_to(command.folder / "mine")
    with serving(command) as server:
        urls = [f"{server['base']}/{name}" for name in names]
        assert command("real", "fetch", *urls, "-k", "--out", "out").returncode == 0
        assert {name: (out / name).read_bytes() for name in names} == files
        # Two at a time.
        clients = [command.start("real", "fetch", *urls, "-k", "--out", "out") for _ in range(2)]
        assert [client.communicate(timeout=60) and client.returncode for client in clients] == [0, 0]
        assert {name: (out / name).read_bytes() for name in names} == files
    assert (command.folder / "mine").read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in out.iterdir()) == ["a", "a.part", "a.part.part", "b.part"]


def test_hidden_files_are_served_only_if_told(command: Command) -> None:
    data = put(command, ".env", 10)
    for options, code in [((), 1), (("--dotfiles",), 0)]:
        with serving(command, *options) as server:
            assert command("real", "fetch", f"{server['base']}/.env", "-k", "--out", "out").returncode == code
    assert (command.folder / "out" / ".env").read_bytes() == data


def test_a_server_listens_on_loopback_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from quiclab import _quiclab
    from quiclab.commands.serve import serve

    listened: list[str] = []

    def fake(root: Path, listen: list[str], **options: object) -> dict[str, int]:
        listened.extend(listen)
        return {}

    monkeypatch.setattr(_quiclab, "serve", fake)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    serve(Path())
    assert listened == ["127.0.0.1:4433", "[::1]:4433"]


@pytest.mark.parametrize("alpn", ["h3", "hq-interop"])
def test_a_response_writes_no_more_than_the_limit(command: Command, alpn: str) -> None:
    for name, size in [("small", 10_000), ("large", 10_001), ("huge", 3_000_000)]:
        put(command, name, size)
    with serving(command) as server:
        urls = [f"{server['base']}/{name}" for name in ("large", "small", "huge")]
        words = ("real", "fetch", *urls, "-k", "--alpn", alpn, "--out", "out", "--max-size", "10 kB")
        done = command(*words)
        assert done.returncode == 1
        problems = [line for line in done.stderr.splitlines() if "larger than 10 kB, the limit of --max-size" in line]
        assert [line.split(": ")[0] for line in problems] == [urls[0], urls[2]], done.stderr
        assert [file.name for file in (command.folder / "out").iterdir()] == ["small"]
        wrong = command("real", "fetch", urls[0], "-k", "--max-size", "much")
        assert wrong.returncode == 2 and "--max-size" in wrong.stderr and "Traceback" not in wrong.stderr


def test_one_network_has_its_share_of_a_server(command: Command) -> None:
    with (command.folder / "zeros").open("wb") as file:
        file.truncate(1 << 34)
    (command.folder / "site").mkdir()
    (command.folder / "zeros").rename(command.folder / "site" / "zeros")
    with serving(command, "--max-of-source", "1") as server:
        client = command.start("real", "fetch", f"{server['base']}/zeros", "-k", "--out", "out")
        wait_for_some(command, client)
        refused = command("real", "fetch", f"{server['base']}/zeros", "-k", "--out", "other")
        assert refused.returncode == 2 and "CONNECTION_REFUSED" in refused.stderr
        client.send_signal(signal.SIGINT)
        client.communicate(timeout=30)
    assert server["stats"]["refused"] >= 1


def test_a_server_without_handles_says_so_and_goes_on(command: Command) -> None:
    """RFC 9110 section 15.6.4: a file that cannot be opened now is not reported as missing."""
    import resource

    data = put(command, "a", 1000)
    with serving(command, "--qlog", "qlog") as server:
        process = server["process"]
        before = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        used = {int(link.name) for link in Path(f"/proc/{process.pid}/fd").iterdir()}
        free = min(set(range(len(used) + 1)) - used)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (free, before[1]))
        for number in range(2):
            words = ("real", "fetch", f"{server['base']}/a", "-k", "--out", f"out-{number}", "--json")
            told = json.loads(command(*words).stdout)
            assert [url["status"] for url in told["urls"]] == [503]
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
        assert command("real", "fetch", f"{server['base']}/a", "-k", "--out", "out").returncode == 0
    errors = server["errors"]
    assert (command.folder / "out" / "a").read_bytes() == data
    assert errors.count("warning") == 1 and "Too many open files" in errors, errors
    assert server["stats"]["unrecorded"] == 2
