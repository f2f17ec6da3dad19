"""The browser in a gate: Chromium without a window, with a page that plays the video and tells what happens.

Run as a program in the gate: `python -m quiclab.engines.play.browser ORDER`, with the path of an `Order` as JSON. The
page comes from this program, over the loopback interface of the gate: only media pass the network.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
"""The names under which a browser is looked for."""
PATIENCE_S = 60.0
"""How long the browser may take until its player begins."""
MOST_TOLD = 64 << 20
"""Bytes that a page may tell."""
AVAILABLE_FROM = "AVAILABLE-FROM"
"""In the manifest of a live presentation: the time at which its filming began."""
SITE = Path(__file__).parent / "site"


@dataclass(frozen=True)
class Order:
    """What is to be played."""

    browser: str
    dashjs: str
    """The file of the player."""
    manifest: str
    """The manifest's file, with the origin as its base URL."""
    since_s: float | None
    """Live: how long it had been filmed when the page asks for the manifest; None otherwise."""
    origin: str
    """https://ADDRESS:PORT/ of the server."""
    public_key: str
    """The SHA-256 of the public key of its certificate, in base64: the only certificate that is taken."""
    settings: dict[str, Any]
    """For dash.js."""
    told: str
    """The file into which what happens is written, a line of JSON for each event."""

    def save(self, path: Path) -> None:
        """Writes it to a file."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def find() -> str | None:
    """The path of a browser; None if there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def main(order: Order) -> int:
    """Plays until the end; 0 if it was reached."""
    has_begun, is_over = threading.Event(), threading.Event()
    failure: list[str] = []
    with Path(order.told).open("wb") as file:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(order, file, has_begun, is_over, failure))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory(prefix="quiclab-browser-", ignore_cleanup_errors=True) as profile:
            page = f"http://127.0.0.1:{server.server_address[1]}/"
            log = Path(profile) / "log"
            with (
                log.open("wb") as errors,
                subprocess.Popen(_command(order, profile, page), stdout=subprocess.DEVNULL, stderr=errors) as browser,
            ):
                try:
                    _attend(browser, has_begun, is_over, failure)
                finally:
                    browser.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        browser.wait(5)
                    browser.kill()
            if failure:
                print(f"player: {failure[0]}", file=sys.stderr)
                last = log.read_text(errors="replace").strip().splitlines()[-1:]
                print(*(f"browser: {line}" for line in last), sep="\n", file=sys.stderr)
    server.server_close()
    return 1 if failure else 0


def _attend(
    browser: "subprocess.Popen[bytes]", has_begun: threading.Event, is_over: threading.Event, failure: list[str]
) -> None:
    since = time.monotonic()
    while not is_over.wait(0.1):
        if browser.poll() is not None:
            failure.append(f"the browser exited with {browser.returncode}")
            return
        if not has_begun.is_set() and time.monotonic() - since > PATIENCE_S:
            failure.append(f"nothing is played after {PATIENCE_S:.0f} s: the server does not answer, or the page fails")
            return


def _command(order: Order, profile: str, page: str) -> list[str]:
    host = urlsplit(order.origin)
    return [
        order.browser,
        "--headless",
        # The namespaces of the emulation are around it, in which its own sandbox cannot be made.
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--mute-audio",
        "--autoplay-policy=no-user-gesture-required",
        # Nothing but the server: no updates, no names.
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE {host.hostname}",
        # The page is not from where the media are.
        "--disable-web-security",
        f"--user-data-dir={profile}",
        f"--origin-to-force-quic-on={host.netloc}",
        f"--ignore-certificate-errors-spki-list={order.public_key}",
        page,
    ]


def _handler(
    order: Order, file: Any, has_begun: threading.Event, is_over: threading.Event, failure: list[str]
) -> type[BaseHTTPRequestHandler]:
    settings = json.dumps({"origin": order.origin, "dashjs": order.settings}).encode()
    pages: dict[str, tuple[str, bytes]] = {
        "/": ("text/html", (SITE / "player.html").read_bytes()),
        "/player.js": ("text/javascript", (SITE / "player.js").read_bytes()),
        "/dash.js": ("text/javascript", Path(order.dashjs).read_bytes()),
        "/settings.json": ("application/json", settings),
        "/manifest.mpd": ("application/dash+xml", Path(order.manifest).read_bytes()),
    }
    lock = threading.Lock()
    written = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answers with a part of the page."""
            kind, body = pages.get(self.path, ("", b""))
            if self.path == "/manifest.mpd" and order.since_s is not None:
                began = datetime.now(UTC) - timedelta(seconds=order.since_s)
                body = body.replace(AVAILABLE_FROM.encode(), began.isoformat(timespec="milliseconds").encode())
            self._answer(200 if kind else 404, kind or "text/plain", body)

        def do_POST(self) -> None:
            """Takes what the page tells."""
            nonlocal written
            body = self.rfile.read(min(int(self.headers.get("content-length", 0)), MOST_TOLD))
            with lock:
                written += len(body)
                if written <= MOST_TOLD:
                    file.write(body)
                    file.flush()
            for line in body.splitlines():
                self._note(json.loads(line))
            self._answer(204, "text/plain", b"")

        def _note(self, one: dict[str, Any]) -> None:
            if one["what"] == "asked":
                has_begun.set()
            elif one["what"] == "error":
                failure.append(str(one.get("message")))
                is_over.set()
            elif one["what"] == "ended":
                is_over.set()

        def _answer(self, code: int, kind: str, body: bytes) -> None:
            self.send_response(code)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing."""

    return Handler


if __name__ == "__main__":
    sys.exit(main(Order(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
