"""A headless Chromium that a test drives over the pipe of its DevTools protocol: no port, no driver, no library."""

import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from programs import needs

_PATIENCE = 60.0
"""Seconds without an answer after which the browser counts as dead."""

_LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execvp(sys.argv[3], sys.argv[3:])"
)
"""The browser reads from descriptor 3 and writes to 4."""


_CODES = {"Escape": 27, "Tab": 9}


class Page:
    """A page, its requests and console messages, and the input of a user."""

    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser, self._session = browser, session
        self.complaints: list[str] = []
        """Errors and warnings on the console, and uncaught exceptions."""
        self.requests: list[str] = []
        """The URLs that the page requested."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.resize(1400, 900)

    def resize(self, width: int, height: int, ratio: float = 1) -> None:
        """Set the size of the window in CSS pixels, and the device pixels per CSS pixel."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False
        )

    def scheme(self, name: str) -> None:
        """Set the preferred color scheme: "light" or "dark"."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def load(self, path: Path, ready: str) -> None:
        """Load a file and wait until the expression `ready` is true."""
        self.send("Page.navigate", url=path.as_uri())
        end = time.monotonic() + _PATIENCE
        while not self.value(f"document.readyState === 'complete' && Boolean({ready})"):
            assert time.monotonic() < end, f"{path} is not ready: {self.complaints}"
            time.sleep(0.02)
        self.settle()

    def value(self, expression: str) -> Any:
        """Return the value of an expression; a promise is awaited."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def settle(self) -> None:
        """Wait until all changes have been drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Send a mouse event: mouseMoved, mousePressed, mouseReleased or mouseWheel."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def click(self, x: float, y: float, count: int = 1) -> None:
        """Click `count` times."""
        for at in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", buttons=1 if kind == "mousePressed" else 0, clickCount=at)

    def key(self, key: str) -> None:
        """Press and release a key."""
        more: dict[str, Any] = {"text": key} if len(key) == 1 else {}
        if key in _CODES:
            # The browser itself acts on these, and by their codes.
            more = {"code": key, "windowsVirtualKeyCode": _CODES[key]}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        self.settle()

    def picture(self) -> bytes:
        """Return a screenshot of the window as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def on_event(self, message: dict[str, Any]) -> None:
        """Record an event of this page."""
        what, given = message["method"], message["params"]
        if what == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif what == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(given["exceptionDetails"]))
        elif what == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.complaints.append(given["entry"]["text"])
        elif what == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(given["args"]))

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol."""
        return self._browser.send(method, parameters, self._session)


class Browser:
    """A browser process and the messages exchanged with it."""

    def __init__(self, chromium: str, profile: Path) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # Descriptors of 10 and above do not collide with 3 and 4, which the browser uses.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
        options = [
            "--headless",
            # The tests may run as root, where the browser's sandbox does not work.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            # No host name resolves, so that no request leaves the machine.
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        launch = [sys.executable, "-c", _LAUNCH, *map(str, ends), chromium, *options]
        self._process = subprocess.Popen(launch, pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (*ends, to_browser, from_browser):
            os.close(end)
        self._buffer = b""
        self._last = 0
        self._pages: dict[str, Page] = {}

    def page(self) -> Page:
        """Open a page without network access."""
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session)
        return page

    def send(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        """Call a method and wait for its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            page = self._pages.get(answer.get("sessionId", ""))
            if page is not None and "method" in answer:
                page.on_event(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], _PATIENCE)
            assert ready, "the browser does not answer"
            more = os.read(self._in, 1 << 20)
            assert more, "the browser has ended"
            self._buffer += more
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def close(self) -> None:
        """End the browser process."""
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Run a browser with its own profile. Without Chromium the test is skipped, and in CI it fails."""
    needs("chromium")
    running = Browser("chromium", profile)
    try:
        yield running
    finally:
        running.close()
