"""A headless Chromium that a test drives over the pipe of its DevTools protocol: no port, no driver, no library."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_PATIENCE = 60.0
"""Seconds after which the browser is taken for dead."""

_LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
"""The browser reads from descriptor 3 and writes to 4."""


class Page:
    """One page: what it loads, what it complains of, and what a person would do with it."""

    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser, self._session = browser, session
        self.complaints: list[str] = []
        """Errors and warnings on its console, and exceptions that nobody caught."""
        self.requests: list[str] = []
        """The addresses that it asked for."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.resize(1400, 900)

    def resize(self, width: int, height: int, ratio: float = 1) -> None:
        """The size of the window in CSS pixels, and device pixels for each."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False
        )

    def scheme(self, name: str) -> None:
        """What the system prefers: "light" or "dark"."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def load(self, path: Path, ready: str) -> None:
        """Loads a file, and waits until an expression is true."""
        self.send("Page.navigate", url=path.as_uri())
        end = time.monotonic() + _PATIENCE
        while not self.value(f"document.readyState === 'complete' && Boolean({ready})"):
            assert time.monotonic() < end, f"{path} is not ready: {self.complaints}"
            time.sleep(0.02)
        self.settle()

    def value(self, expression: str) -> Any:
        """The value of an expression, or of what it promises."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def settle(self) -> None:
        """Waits until what was changed has been drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A mouse event: mouseMoved, mousePressed, mouseReleased, mouseWheel."""
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def click(self, x: float, y: float, count: int = 1) -> None:
        """Clicks, `count` times."""
        for at in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", buttons=1 if kind == "mousePressed" else 0, clickCount=at)

    def key(self, key: str) -> None:
        """Presses and releases a key."""
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def picture(self) -> bytes:
        """The window as a PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def heard(self, message: dict[str, Any]) -> None:
        """The browser tells of an event of this page."""
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
        """Calls a method of the DevTools protocol."""
        return self._browser.send(method, parameters, self._session)


class Browser:
    """The process, and the messages to and from it."""

    def __init__(self, chromium: str, profile: Path) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # Numbers that are not those the browser wants.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
        options = [
            "--headless",
            # The tests may run as root, where the browser's own sandbox refuses to.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            # No name is an address: what would leave the machine fails, whoever asks for it.
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
        """A new page, which has no network."""
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session)
        return page

    def send(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        """Calls a method and waits for its result."""
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
                page.heard(answer)

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
        """Ends it."""
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
    """A browser with a profile of its own; where there is none, the test says so and is skipped, but not in CI."""
    chromium = shutil.which("chromium")
    if chromium is None and not os.environ.get("CI"):
        pytest.skip("THERE IS NO CHROMIUM: `make deps` installs it")
    assert chromium is not None, "chromium is missing: `make deps` installs it"
    running = Browser(chromium, profile)
    try:
        yield running
    finally:
        running.close()
