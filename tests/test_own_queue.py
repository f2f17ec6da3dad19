"""A queue written in Python: named by a scenario, checked, run, swept, stored and run again."""

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import SCENARIO, Command

FIFO = """\
import quiclab

class Fifo(quiclab.Queue):
    "First in, first out."

    options = {"limit": 20}

    def start(self):
        self.waiting = []

    def enqueue(self, packet, now_s):
        if len(self.waiting) >= self.limit:
            packet.drop()
        else:
            self.waiting.append(packet)

    def dequeue(self, now_s):
        return self.waiting.pop(0)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(FIFO, encoding="utf-8")
    return path


def scenario(queue: Any, **keys: Any) -> quiclab.Scenario:
    return quiclab.Scenario.from_text(SCENARIO).with_({"link.cell.queue": queue, **keys})


def test_it_does_what_the_same_queue_of_quiclab_does(file: Path) -> None:
    own = scenario(f"{file}:Fifo").run()
    assert own.summary == scenario("20 packets").run().summary
    less = scenario({"type": f"{file}:Fifo", "limit": 5}).run()
    assert less.summary == scenario("5 packets").run().summary
    assert less.summary["links"][0]["drops"]["queue"] > 0, "the limit is reached"


def test_it_is_told_of_its_link_and_of_its_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Curious(quiclab.Queue):
        def start(self) -> None:
            seen.append((self.rate_bps, self.round_trip_s, self.mtu_bytes, self.flows, self.random.random()))
            self.waiting: list[quiclab.Packet] = []

        def enqueue(self, packet: quiclab.Packet, now_s: float) -> None:
            assert packet.arrived_s == now_s
            self.waiting.append(packet)
            seen.append(packet)

        def dequeue(self, now_s: float) -> quiclab.Packet:
            return self.waiting.pop(0)

    monkeypatch.setattr(sys.modules[__name__], "Curious", Curious, raising=False)
    Curious.__qualname__ = "Curious"
    run = scenario(Curious(), **{"link.cell.delay": "25 ms"}).run()
    links = [one for one in seen if isinstance(one, tuple)][-2:]
    assert [link[:3] for link in links] == [(5e6, 0.05, 1500), (1e6, 0.05, 1500)]
    assert links[0][3] == {0: "download", 1: "download"} and links[0][4] != links[1][4]
    packets = [one for one in seen if isinstance(one, quiclab.Packet)]
    assert len(packets) == sum(link["offered_packets"] for link in run.summary["links"])
    assert {packet.flow for packet in packets} == {0, 1} and {packet.protocol for packet in packets} == {"udp"}
    assert sum(packet.size_bytes for packet in packets if packet.has_data) > 300_000
    assert all(packet.size_bytes < 200 for packet in packets[20:] if not packet.has_data), "acknowledgements"


def test_the_random_numbers_follow_the_seed(file: Path) -> None:
    file.write_text(FIFO.replace("len(self.waiting) >= self.limit", "self.random.random() < 0.01"), encoding="utf-8")
    first, again, other = (scenario(f"{file}:Fifo", seed=seed).run().summary for seed in (1, 1, 2))
    assert first == again != {**other, "seed": 1}


MISTAKES = [
    ("enqueue", "packet.drop()\npacket.drop()", "dropped> cannot be dropped; expected a packet that is still here"),
    ("enqueue", "packet.drop()\npacket.mark()", "dropped> cannot be marked; expected a packet that is still here"),
    ("enqueue", "packet.send()", "a queue does not send packets; expected that dequeue returns it"),
    ("enqueue", "raise KeyError('no')", "KeyError: 'no'"),
    ("dequeue", "return None", "dequeue gave None while 1 packets wait; expected one of them"),
    ("dequeue", "return 7", "dequeue gave 7; expected a packet that waits, or None if all were dropped"),
    ("dequeue", "return self.waiting[0]", "bytes, sent>; expected a packet that waits"),
    ("dequeue", "one = self.waiting.pop(0)\none.drop()\nreturn one", "bytes, dropped>; expected a packet that waits"),
    ("start", "raise RuntimeError('no')", "RuntimeError: no"),
]


@pytest.mark.parametrize(("method", "body", "problem"), MISTAKES)
def test_nonsense_ends_the_run_with_the_place(file: Path, method: str, body: str, problem: str) -> None:
    text = FIFO.replace(f"def {method}(self", f"def {method}_(self")
    arguments = {"enqueue": "self, packet, now_s", "dequeue": "self, now_s", "start": "self"}[method]
    own = f"    def {method}({arguments}):\n" + textwrap.indent(body, 8 * " ") + "\n"
    if method == "enqueue":
        own += "        self.waiting.append(packet)\n"
    file.write_text(text.replace(f"{method}_(self", "other(self") + own, encoding="utf-8")
    # All of it is in the last lines of the file.
    last = len(file.read_text(encoding="utf-8").splitlines())
    with pytest.raises(quiclab.Error) as error:
        scenario(f"{file}:Fifo").run()
    text = str(error.value)
    assert problem in text and any(f"own.py:{line}: " in text for line in range(last - 4, last + 1)), text


def test_a_packet_of_another_queue_is_refused(file: Path) -> None:
    other = FIFO.replace("class Fifo", "ALL = []\n\nclass Fifo").replace(
        "self.waiting = []", "self.waiting = []\n        ALL.append(self)"
    )
    stolen = "        return next((q.waiting[0] for q in ALL if q is not self and q.waiting), self.waiting[0])\n"
    file.write_text(other.replace("        return self.waiting.pop(0)\n", stolen), encoding="utf-8")
    with pytest.raises(quiclab.RunError, match=r"own.py:\d+: dequeue gave <packet \d+ of flow"):
        scenario(f"{file}:Fifo").run()


def test_a_method_that_is_missing_or_misspelt_is_said(file: Path) -> None:
    for text, problem in [
        (FIFO.replace("def dequeue(", "def deque("), "Fifo has no method dequeue; expected def dequeue.self, now_s."),
        (FIFO.replace("def enqueue(self, packet, now_s)", "def enqueue(self, packet)"), "is called otherwise"),
        (FIFO.replace("options =", "option =").replace("self.limit", "20"), "expected options"),
    ]:
        file.write_text(text, encoding="utf-8")
        with pytest.raises(quiclab.ScenarioError, match=problem):
            scenario(f"{file}:Fifo")


def test_it_is_checked_stored_swept_and_run_again(file: Path, tmp_path: Path) -> None:
    command = Command(tmp_path)
    path = tmp_path / "own.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    named = "link.cell.queue=own.py:Fifo"
    checked = command("check", str(path), "--set", named)
    assert checked.returncode == 0 and "own.py:Fifo" in checked.stdout, checked.stderr
    ran = command("run", str(path), "--set", named, "--out", "first")
    assert ran.returncode == 0, ran.stderr
    again = command("run", "first/scenario.toml", "--out", "second")
    assert again.returncode == 0, again.stderr
    first, second = (quiclab.load(tmp_path / name) for name in ("first", "second"))
    assert first.summary == second.summary
    sweep = quiclab.sweep(
        quiclab.Scenario.from_file(path),
        {"sweep.link.cell.queue": ["drop-tail", {"type": f"{file}:Fifo", "limit": 5}, f"{file}:Fifo"]},
        jobs=1,
    )
    assert (
        not sweep.failures and len({row["link.cell.forward.queue_max_packets"] for row in sweep.runs.to_pylist()}) > 1
    )
