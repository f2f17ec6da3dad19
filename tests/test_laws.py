"""The laws of `quiclab.testing`: every part of quiclab keeps them, and so do the examples; what breaks one is named."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quiclab
import quiclab.testing

EXAMPLES = Path(__file__).parent.parent / "examples"
CHECKS: dict[str, Callable[..., None]] = {
    "queues": quiclab.testing.check_queue,
    "losses": quiclab.testing.check_loss,
    "jitters": quiclab.testing.check_jitter,
    "rates": quiclab.testing.check_rate,
    "middleboxes": quiclab.testing.check_middlebox,
    "cell_schedulers": quiclab.testing.check_cell_scheduler,
    "applications": quiclab.testing.check_application,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "priority": {"classes": [["first"], ["noise"]]},
    "policer": {"rate": "3 Mbit/s", "burst": "20 kB"},
    "token-bucket": {"rate": "4 Mbit/s", "burst": "20 kB"},
    "fixed": {"rate": "4 Mbit/s"},
    "generated": {"model": "lte-driving", "duration": "60 s"},
    "random": {"probability": 0.02},
    "gilbert-elliott": {"to_bad": 0.01, "to_good": 0.3},
    "periodic": {"every": 40},
    "uniform": {"maximum": "4 ms"},
    "normal": {"deviation": "2 ms"},
    "spikes": {"probability": 0.02, "lateness": "20 ms"},
    "list": {"packets": [3, 30, 31]},
    "bulk": {"size": "300 kB", "streams": 3},
    "messages": {"source": {"type": "poisson", "gap": "20 ms", "size": 400}, "count": 50},
    "mix": {"parts": [{"type": "bulk", "size": "100 kB"}, {"type": "request-response", "count": 5}]},
    "request-response": {"count": 10, "think": "50 ms", "over": "stream"},
    "video": {"presentation": {"type": "ladder", "duration": "20 s"}},
}
"""Options of those that need some."""
QUIC = {"mix", "hq", "http3", "page", "page-streams", "video"}
"""Applications that only run over QUIC."""
TCP = {"http1", "http2"}
"""Applications that only run over TCP."""
STEPS = {
    "rates": [["0 s", "4 Mbit/s"], ["2 s", "1 Mbit/s"], ["3 s", "6 Mbit/s"]],
    "losses": [["0 s", 0.01], ["2 s", 0.1], ["3 s", 0]],
    "jitters": [["0 s", "1 ms"], ["2 s", "9 ms"]],
}
APART = {"trace", "series", "pep", "nat", "origin"}
"""Rows that need a file or another row, or of which more is to be known: a proxy makes packets of its own."""


def ours() -> list[tuple[str, Any]]:
    """Each component of quiclab with what its room's laws are run over."""
    rooms = {room["name"]: room["rows"] for room in quiclab.topics()}
    found: list[tuple[str, Any]] = []
    for room in CHECKS:
        for row in rooms[room]:
            name = row["name"]
            if name in APART or ":" in name:
                continue
            options = dict(OPTIONS.get(name, {}))
            if name == "changes":
                options = {"steps": STEPS[room]}
            found.append((room, {"type": name, **options} if options else name))
    return found


@pytest.mark.parametrize(("room", "part"), ours(), ids=str)
def test_every_part_of_quiclab_keeps_the_laws(room: str, part: Any) -> None:
    name = part if isinstance(part, str) else part["type"]
    more: dict[str, Any] = {"seeds": (1,)}
    if room == "applications" and name in QUIC | TCP:
        more["protocols"] = ("quic",) if name in QUIC else ("tcp",)
    CHECKS[room](part, **more)


@pytest.mark.parametrize(
    ("room", "place"),
    [
        ("queues", "own_queue.py:Blue"),
        ("losses", "own_link.py:Pairs"),
        ("jitters", "own_link.py:Sine"),
        ("rates", "own_link.py:Halves"),
        ("middleboxes", "own_middlebox.py:Thin"),
        ("cell_schedulers", "own_cell_scheduler.py:Fewest"),
        ("applications", "own_application.py:Ask"),
    ],
)
def test_the_examples_keep_the_laws(room: str, place: str) -> None:
    CHECKS[room](f"{EXAMPLES}/{place}")


HEAD = "import random\nimport quiclab\n"
FIFO = """
class Mine(quiclab.Queue):
    def start(self):
        self.waiting = []
    def enqueue(self, packet, now_s):
        self.waiting.append(packet)
    def dequeue(self, now_s):
        return self.waiting.pop(0)
"""
LOSS = """
class Mine(quiclab.Loss):
    def loses(self, packet, end_s):
        return self.random.random() < 0.02
"""
CELL = """
class Mine(quiclab.CellScheduler):
    def rank(self, candidates, slot):
        return [1.0 for _ in candidates]
"""
BOX = """
class Mine(quiclab.Middlebox):
    def on_packet(self, packet, now_s):
        packet.send()
"""
LATER = """
class Mine(quiclab.Middlebox):
    def start(self):
        self.held = []
    def on_packet(self, packet, now_s):
        self.held.append(packet)
        self.wake_s = self.wake_s or now_s + 0.02
    def on_wake(self, now_s):
        for packet in reversed(self.held):
            packet.send()
        self.held = []
"""


@pytest.mark.parametrize(
    ("room", "text", "options", "law"),
    [
        ("queues", FIFO.replace("pop(0)", "pop()"), {}, r"packet \d+ arrives behind packet \d+; expected the order"),
        ("queues", FIFO, {"limit_packets": 10}, r"link slow forward: \d+ packets waited; expected at most 10"),
        ("queues", FIFO.replace("self.waiting = []", "self.waiting = []\n        1 / 0"), {}, "ZeroDivisionError"),
        ("losses", LOSS.replace("self.random.", "random."), {}, "the same run has another summary"),
        ("losses", LOSS.replace("def loses", "seen = []\n    def loses").replace("return self.random.random() < 0.02",
            "self.seen.append(1)\n        return len(self.seen) % 977 == 0"), {}, "the same run has another summary"),
        ("cell_schedulers", CELL.replace("for", "+ random.random() for"), {}, "the same run has another"),
        ("middleboxes", LATER, {}, r"packet \d+ arrives behind packet \d+; expected the order"),
    ],
)  # fmt: skip
def test_what_breaks_a_law_is_named(tmp_path: Path, room: str, text: str, options: dict[str, Any], law: str) -> None:
    random.seed(5)
    path = tmp_path / "mine.py"
    path.write_text(HEAD + text, encoding="utf-8")
    with pytest.raises((AssertionError, quiclab.Error), match=law):
        CHECKS[room](f"{path}:Mine", seeds=(1,), **options)


@pytest.mark.parametrize(
    ("room", "text"), [("queues", FIFO), ("losses", LOSS), ("middleboxes", BOX), ("cell_schedulers", CELL)]
)
def test_what_breaks_none_passes(tmp_path: Path, room: str, text: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + text, encoding="utf-8")
    CHECKS[room](f"{path}:Mine", seeds=(1,))


def test_what_need_not_keep_its_order_does_not_have_to(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + LATER, encoding="utf-8")
    quiclab.testing.check_middlebox(f"{path}:Mine", ordered=False, seeds=(1,))
