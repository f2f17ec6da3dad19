"""A browser that others wrote loads a page over HTTP/3 from `quiclab real serve`."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Command
from programs import needs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="serve is for Linux")

PAGE = """<!doctype html><title>page</title><p id="told">waiting</p><script type="module">
const over = (kind, name) => performance.getEntriesByType(kind).find((e) => e.name.endsWith(name)).nextHopProtocol;
const [small, large] = await Promise.all(["style.css", "large.bin"].map((name) => fetch(name)));
const bytes = new Uint8Array(await large.arrayBuffer());
await small.text();
const sum = bytes.reduce((sum, byte) => (sum * 31 + byte) % 65521, 0);
const missing = await fetch("missing");
document.getElementById("told").textContent = [
    over("navigation", "/"), over("resource", "style.css"), over("resource", "large.bin"),
    small.headers.get("content-type"), bytes.length, sum, missing.status,
].join(" ");
</script>"""


def test_chromium_loads_a_page_over_http3(command: Command, tmp_path: Path) -> None:
    needs("chromium")
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(PAGE, encoding="utf-8")
    (site / "style.css").write_text("p { color: green }", encoding="utf-8")
    large = bytes(index * index % 251 for index in range(400_000))
    (site / "large.bin").write_bytes(large)
    expected = 0
    for byte in large:
        expected = (expected * 31 + byte) % 65521

    server = command.start("real", "serve", "site", "--listen", "127.0.0.1:0", "--json")
    assert server.stdout is not None
    try:
        told = json.loads(server.stdout.readline())
        address, key = told["addresses"][0], told["public_key"]
        page = _load("chromium", tmp_path / "profile", address, key)
        unknown = _load("chromium", tmp_path / "other", address, "A" * 43 + "=")
    finally:
        server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=30)
    assert server.returncode == 0, errors
    shown = re.search(r'id="told">([^<]*)<', page)
    assert shown is not None, page
    assert shown.group(1) == f"h3 h3 h3 text/css;charset=utf-8 {len(large)} {expected} 404"
    assert "told" not in unknown, "with another key pinned nothing may be shown"
    assert json.loads(rest)["connections"] >= 1


def _load(chromium: str, profile: Path, address: str, key: str) -> str:
    """The page as the browser has it when its script is done: QUIC forced, the certificate's key pinned."""
    done = subprocess.run(
        [
            chromium,
            "--headless",
            # The tests may run as root, where the browser's own sandbox refuses to.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={profile}",
            f"--origin-to-force-quic-on={address}",
            f"--ignore-certificate-errors-spki-list={key}",
            "--virtual-time-budget=20000",
            "--dump-dom",
            f"https://{address}/",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout
