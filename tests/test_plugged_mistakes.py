"""Mistakes in classes that a scenario names: what is missing or misspelt is said, and does not run silently."""

import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    ("controller", "self.window_bytes = ", "self.window_byte = ", "nothing reads Mine.window_byte; expected"),
    ("controller", "self.pacing_bps = ", "self.pacing_rate = ", "nothing reads Mine.pacing_rate; expected pacing_bps"),
    ("controller", "self.state = ", "self.sate = ", "nothing reads Mine.sate; expected state"),
    ("controller", "options = ", "option = ", "nothing reads Mine.option; expected options"),
    ("abr", "options = ", "Options = ", "nothing reads Mine.Options; expected options"),
    # The same where the class reads what it sets.
    ("controller", "self.window_bytes", "self.window_byte", "does not read Mine.window_byte; expected window_bytes"),
    ("controller", "self.window_bytes", "self.window_size", "does not read Mine.window_size; expected window_bytes"),
    ("controller", "self.state = ", "setattr(self, 'window_bytse', 1); self.x = ", "nothing reads Mine.window_bytse"),
    ("controller", "options =", "windows_bytes = 1\n    options =", "nothing reads Mine.windows_bytes; exp"),
    # Methods that cannot be called as the lab calls them.
    ("controller", "def on_ack(", "async def on_ack(", "Mine.on_ack is async, .*expected a method without async"),
    ("controller", "def on_loss(", "async def on_loss(", "Mine.on_loss is async"),
    ("scheduler", "def next(", "async def next(", "Mine.next is async"),
    ("abr", "def on_download(", "async def on_download(", "Mine.on_download is async"),
    ("controller", "self.state = ", "yield ", "Mine.on_ack has a yield, .*expected a method without yield"),
    ("scheduler", "return min", "yield min", "Mine.next has a yield"),
    ("controller", "def on_ack(self, ack)", "def on_ack(self)", r"on_ack\(self\) is called otherwise; .*\(self, ack\)"),
    ("controller", "def on_ack(self, ack)", "def on_ack(self, ack, more)", "is called otherwise; expected def on_ack"),
    ("controller", "def on_loss(self, loss)", "def on_loss(self)", "expected def on_loss"),
    ("controller", "(self, datagram_bytes, initial_window_bytes, initial_rtt_s)", "(self)", "expected def start"),
    ("scheduler", "def on_sent(self, stream, sent_bytes)", "def on_sent(self, stream)", "expected def on_sent"),
    ("scheduler", "def next(self, view)", "def next(self, view, *, more)", "expected def next"),
    ("abr", "def estimate(self)", "def estimate(self, view)", r"expected def estimate\(self\)"),
    # Options.
    ("controller", '{"beta": 0.5}', '["beta"]', r"options is \['beta'\]; expected names with defaults"),
    ("abr", '{"part": 0.8}', "{1: 0.8}", r"options is \{1: 0.8\}; expected names with defaults"),
    ("controller", '{"beta": 0.5}', '{"beta": 0.5, "window_bytes": 1}', "cannot be called window_bytes"),
    ("controller", '{"beta": 0.5}', '{"beta": 0.5, "on_loss": 1}', "cannot be called on_loss"),
    ("controller", "def start(", "def __init__(self): pass\n    def start(", r"__init__ does not .*\(self, beta\)"),
    ("controller", "def start(", "window_bytes = property(lambda _: 3)\n    def start(", "window_bytes cannot be set"),
    # Beside the method that it may be meant for, and of no method's name.
    ("controller", "def on_ack(", "def on_akc(self, ack): pass\n    def on_ack(", "Mine.on_akc; expected on_ack"),
    ("controller", "def on_loss(", "def on_lost(self, loss): pass\n    def on_loss(", "Mine.on_lost; expected on_loss"),
    ("controller", "def on_loss(", "def on_timeout(", "Mine.on_timeout; expected one of on_ack, .*on_sent"),
    ("scheduler", "def next(", "def on_sents(self): pass\n    def next(", "Mine.on_sents; expected on_sent"),
    ("abr", "def estimate(", "def on_stall(self): pass\n    def estimate(", "Mine.on_stall; expected one of on_d"),
    # What is no method.
    ("controller", "def on_loss(self, loss):", "on_loss = 5\n    def x(self, y):", "on_loss is 5; expected a method"),
)  # fmt: skip
SUSPICIONS = (
    ("def on_loss(", "def _on_lost(self, loss): pass\n    def on_loss(", "Mine._on_lost; expected on_loss"),
    ("self.window_bytes = ", "self.window = ", "nothing reads Mine.window; expected window_bytes"),
    ("self.window_bytes = ", "self.window_packets = ", "nothing reads Mine.window_packets; expected window_bytes"),
    ("self.pacing_bps = ", "self.pacing_rate = self.pacing_rate or ", "not read Mine.pacing_rate; expected pacing_bps"),
    ("self.last_s = -1.0", "getattr(self, f'on_{1}', 1); self.window_byte = 1", "nothing reads Mine.window_byte; exp"),
    ("self.last_s = -1.0", "setattr(self, f'last_{1}', 1)", None),
)
"""What may be a mistake in a controller, and what is said of it."""


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


@pytest.mark.parametrize(("right", "wrong", "told"), SUSPICIONS)
def test_what_may_be_a_mistake_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str, told: str | None
) -> None:
    assert right in CONTROLLER
    read(tmp_path, "controller", CONTROLLER.replace(right, wrong))
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("quiclab: the scenario runs")]
    if told is None:
        assert not lines
    else:
        (line,) = lines
        assert re.match(rf"warning: .*mine\.py:\d+: .*({told})", line)


def test_a_controller_that_decides_nothing_is_refused(tmp_path: Path) -> None:
    text = CONTROLLER.replace("        self.pacing_bps = None\n", "").replace("window_bytes", "cwnd")
    with pytest.raises(
        quiclab.ScenarioError, match=r"Mine decides nothing; expected that it sets window_bytes or pacing"
    ):
        read(tmp_path, "controller", text)
    nothing = "import quiclab\n\nclass Mine(quiclab.Controller):\n    def on_ack(self, ack): pass\n"
    # What another class of the file sets is not of this one.
    for more in ("", CONTROLLER.replace("Mine", "Other"), "    window_bytes = 9000\n"):
        with pytest.raises(quiclab.ScenarioError, match=r"mine\.py:\d+: Mine decides nothing"):
            read(tmp_path, "controller", nothing + more)


def test_what_a_helper_decides_is_decided(tmp_path: Path) -> None:
    head = "import quiclab\n\nclass Mine(quiclab.Controller):\n    def on_ack(self, ack): "
    (tmp_path / "elsewhere.py").write_text("def adapt(one): one.window_bytes = 30000\n")
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import elsewhere\n"
    for text in (
        head + "adapt(self)\n\ndef adapt(one): one.window_bytes = 30000\n",
        head + "Window().adapt(self)\n\nclass Window:\n    def adapt(self, one): one.window_bytes = 30000\n",
        head + "self.__dict__['window_bytes'] = 30000\n",
        head + "setattr(self, 'pacing_bps', 1e6)\n",
        path + head + "elsewhere.adapt(self)\n",
    ):
        read(tmp_path, "controller", text).run(tables=False)


def test_a_wrong_value_ends_the_run_at_its_place(tmp_path: Path) -> None:
    for right, wrong, problem in (
        ('self.state = "growing"', "self.state = 5", "Mine.state is 5; expected a text"),
        (
            "self.pacing_bps = None",
            "self.pacing_bps = -5",
            "Mine.pacing_bps is -5; expected None, or a finite rate of 1 bit/s",
        ),
        ("self.pacing_bps = None", "del self.window_bytes", "Mine.window_bytes is gone; expected that the class keeps"),
        (
            "self.pacing_bps = None",
            "self.window_bytes = 'x'",
            "Mine.window_bytes is 'x'; expected a finite number of bytes",
        ),
    ):
        assert right in CONTROLLER
        scenario = read(tmp_path, "controller", CONTROLLER.replace(right, wrong))
        with pytest.raises(quiclab.RunError, match=rf"mine\.py:\d+: {problem}"):
            scenario.run(tables=False)


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
        "def on_mark(self, mark): self.pacing = 1; self.x = self.pacing",
        "def on_mark(self, mark): self.pacing_gain = 1; self.x = self.pacing_gain",
        "def on_mark(self, mark): self.windows = {}; self.windows[1] = 2",
        "def on_mark(self, mark): self.stats = []; self.stats.append(1)",
        "def on_mark(self, mark, more=1): self.x = more",
        "def on_mark(self, *mark): self.x = mark",
        "@classmethod\n    def on_mark(cls, mark): pass",
        "@staticmethod\n    def on_mark(mark): pass",
        "def __init__(self, **options): super().__init__(**options)",
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


@pytest.mark.parametrize("value", [None, 5, [], 1.5, b"x", {"a": 1}])
def test_names_are_texts(value: object) -> None:
    scenario = quiclab.Scenario.from_text(SCENARIO)
    run = scenario.run()
    calls: list[tuple[str, Callable[[Any], object]]] = [
        ("page_draws: flow", lambda value: scenario.page_draws(value, 1)),
        ("from_text: text", quiclab.Scenario.from_text),
        ("table: name", run.table),
        ("parts: name", lambda value: run.parts(value, ["time_s"])),
    ]
    for what, call in calls:
        with pytest.raises(quiclab.Error, match=rf"{what} is {re.escape(repr(value))}; expected .*"):
            call(value)


@pytest.mark.parametrize("seed", [-1, 1.5, "3", None, True, 10**30])
def test_a_trace_is_generated_from_a_number(seed: object) -> None:
    for kind in ("lte-driving", "leo"):
        with pytest.raises(quiclab.Error, match=r"seed is .*; expected a whole number from 0 to"):
            quiclab.traces.generate(kind, seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("changes", [{5: 1}, [1], 5, {("a", "b"): 1}, [None], 1.5])
def test_changes_are_paths_with_values(changes: object) -> None:
    scenario = quiclab.Scenario.from_text(SCENARIO)
    with pytest.raises(quiclab.ScenarioError, match=r"changes: .*; expected \{\"link.cell.rate\": \"5 Mbit/s\"\}"):
        scenario.with_(changes)  # type: ignore[arg-type]
