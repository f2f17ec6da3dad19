"""Mistakes in classes that a scenario names: what is missing or misspelt is said, and does not run silently."""

import textwrap
from pathlib import Path

import pytest

import quiclab
from conftest import SCENARIO

CONTROLLER = """
import quiclab

class Mine(quiclab.Controller):
    options = {"beta": 0.5}
    def start(self, datagram_bytes, initial_window_bytes, initial_rtt_s):
        self.last_s = -1.0
    def on_ack(self, ack):
        self.window_bytes += self.datagram_bytes * ack.acked_bytes / self.window_bytes
        self.pacing_bps = None
        self.state = "growing"
    def on_loss(self, loss):
        if loss.now_s > self.last_s:
            self.last_s = loss.now_s
            self.window_bytes = max(self.window_bytes * self.beta, 2 * self.datagram_bytes)
"""
SCHEDULER = """
import quiclab

class Mine(quiclab.Scheduler):
    def start(self):
        self.turns = {}
    def next(self, view):
        return min(self.ready, key=lambda stream: self.turns.get(stream, 0))
    def on_sent(self, stream, sent_bytes):
        self.turns[stream] = self.turns.get(stream, 0) + sent_bytes
    def on_closed(self, stream):
        self.turns.pop(stream, None)
"""
ABR = """
import quiclab

class Mine(quiclab.Abr):
    options = {"part": 0.8}
    def start(self):
        self.rate_bps = None
    def choose(self, view):
        return 0 if self.rate_bps is None else 1
    def on_download(self, view):
        last = view.downloads[-1]
        self.rate_bps = 8 * last.bytes / (last.last_byte_s - last.asked_s)
    def estimate(self):
        return self.rate_bps
"""
VIDEO = 'flow.download.application={{ type = "video", abr = "{path}:Mine" }}'
PLACES = {
    "controller": (CONTROLLER, 'flow.download.transport.controller="{path}:Mine"'),
    "scheduler": (SCHEDULER, 'transport.scheduler="{path}:Mine"'),
    "abr": (ABR, VIDEO),
}
MISTAKES = (
    # What a class needs.
    ("controller", "def on_ack(", "def helper_of_nobody(", r"has no method on_ack; expected def on_ack\(self, ack\)"),
    ("scheduler", "def next(", "def second(", r"has no method next; expected def next\(self, view\)"),
    ("abr", "def choose(", "def decide(", r"has no method choose; expected def choose\(self, view\)"),
    # Methods that nothing calls.
    ("controller", "def on_ack(", "def on_acks(", "nothing calls Mine.on_acks; expected on_ack"),
    ("controller", "def on_ack(", "def onAck(", "nothing calls Mine.onAck; expected on_ack|no method on_ack"),
    ("controller", "def on_loss(", "def on_los(", "nothing calls Mine.on_los; expected on_loss"),
    ("controller", "def on_loss(", "def on_lost(", "nothing calls Mine.on_lost; expected on_loss"),
    ("controller", "def on_loss(", "def on_timeout(", "Mine.on_timeout; expected one of on_ack, .*on_loss"),
    ("controller", "def on_loss(", "def onloss(", "nothing calls Mine.onloss; expected on_loss"),
    ("controller", "def on_loss(", "def _on_loss(", "nothing calls Mine._on_loss; expected on_loss"),
    ("controller", "def start(", "def strat(", "nothing calls Mine.strat; expected start"),
    ("scheduler", "def on_sent(", "def on_send(", "nothing calls Mine.on_send; expected on_sent"),
    ("scheduler", "def on_closed(", "def on_close(", "nothing calls Mine.on_close; expected on_closed"),
    ("scheduler", "def next(", "def nxt(", "nothing calls Mine.nxt; expected next"),
    ("abr", "def on_download(", "def on_downloaded(", "nothing calls Mine.on_downloaded; expected on_download"),
    ("abr", "def estimate(", "def estimated(", "nothing calls Mine.estimated; expected estimate"),
    ("abr", "def start(", "def starts(", "nothing calls Mine.starts; expected start"),
    # Attributes that nothing reads.
    ("controller", "self.window_bytes = ", "self.window_byte = ", "nothing reads the attribute window_byte of"),
    ("controller", "self.window_bytes = ", "self.window = ", "nothing reads the attribute window of .*window_bytes"),
    ("controller", "self.pacing_bps = ", "self.pacing_rate = ", "nothing reads the attribute pacing_rate .*pacing_bps"),
    ("controller", "self.state = ", "self.sate = ", "nothing reads the attribute sate of .*state"),
    ("controller", "options = ", "option = ", "nothing reads Mine.option; expected options"),
    ("abr", "options = ", "Options = ", "nothing reads Mine.Options; expected options"),
    # What is no method.
    ("controller", "def on_loss(self, loss):", "on_loss = 5\n    def x(self, y):", "on_loss is 5; expected a method"),
)  # fmt: skip


def read(tmp_path: Path, kind: str, text: str) -> quiclab.Scenario:
    path = tmp_path / "mine.py"
    path.write_text(text)
    return quiclab.Scenario.from_text(SCENARIO, [PLACES[kind][1].format(path=path)])


@pytest.mark.parametrize(("kind", "right", "wrong", "problem"), MISTAKES)
def test_a_mistake_is_said_where_it_is(tmp_path: Path, kind: str, right: str, wrong: str, problem: str) -> None:
    text = PLACES[kind][0]
    assert right in text
    with pytest.raises(quiclab.ScenarioError, match=rf"mine\.py:\d+: .*({problem})") as error:
        read(tmp_path, kind, text.replace(right, wrong))
    assert "\n" not in str(error.value)


def test_a_controller_that_decides_nothing_is_refused(tmp_path: Path) -> None:
    text = CONTROLLER.replace("        self.pacing_bps = None\n", "").replace("window_bytes", "cwnd")
    with pytest.raises(
        quiclab.ScenarioError, match=r"Mine decides nothing; expected that it sets window_bytes or pacing"
    ):
        read(tmp_path, "controller", text)


@pytest.mark.parametrize("kind", PLACES)
def test_what_is_right_is_read(tmp_path: Path, kind: str) -> None:
    read(tmp_path, kind, PLACES[kind][0])


@pytest.mark.parametrize(
    "more",
    [
        # Helpers that are called, attributes that are read, names that only look alike.
        "def sent(self): return 1\n    def on_mark(self, mark): self.sent()",
        "def reset(self): self.stats = {}\n    def on_mark(self, mark): self.reset(); self.stats['x'] = 1",
        "def on_mark(self, mark): self.window = 1; self.window_bytes = self.window * 30000",
        "def on_mark(self, mark): self._window = 1",
        "def on_mark(self, mark): self.history = [1]",
        "@property\n    def windows(self): return 1\n    def on_mark(self, mark): self.windows",
        "@staticmethod\n    def rate(x): return x\n    def on_mark(self, mark): self.rate(1)",
        "ssthresh = None\n    def on_mark(self, mark): self.ssthresh = 1",
    ],
)
def test_own_names_are_free(tmp_path: Path, more: str) -> None:
    read(tmp_path, "controller", CONTROLLER + textwrap.indent(more, "    ").replace("\n        ", "\n    ") + "\n")


def test_a_class_may_inherit_what_it_needs(tmp_path: Path) -> None:
    more = "\nclass Base(Mine):\n    pass\n\nclass Other(Base):\n    def on_mark(self, mark): self.on_loss(mark)\n"
    path = tmp_path / "mine.py"
    path.write_text(CONTROLLER + more)
    quiclab.Scenario.from_text(SCENARIO, [f'flow.download.transport.controller="{path}:Other"']).run(tables=False)


@pytest.mark.parametrize("count", [-1, 1.5, "3", None, True, 10**30])
def test_page_draws_takes_a_number(count: object) -> None:
    application = 'flow.download.application={ type = "page" }'
    scenario = quiclab.Scenario.from_text(SCENARIO, [application])
    with pytest.raises(quiclab.Error, match=r"page_draws: count is .*; expected a whole number from 0 to"):
        scenario.page_draws("download", count)  # type: ignore[arg-type]
