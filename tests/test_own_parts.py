"""Losses, jitters, rates and middleboxes written in Python: each does what the same one of quiclab does."""

import os
import textwrap
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import SCENARIO, Command, same_tables

PARTS = '''\
import math
import os
import quiclab

class Every(quiclab.Loss):
    """Every n-th packet is lost."""
    options = {"every": 50}
    def start(self):
        self.seen = 0
    def loses(self, packet, end_s):
        self.seen += 1
        return self.seen % self.every == 0

class Late(quiclab.Jitter):
    """All packets are late by the same time."""
    options = {"late_s": 0.004}
    def shift(self, end_s):
        return self.late_s

class Fixed(quiclab.Rate):
    """One rate."""
    options = {"bps": 5e6}
    def start(self):
        self.mean_bps = self.bps
    def serve(self, start_s, size_bytes):
        return start_s + 8 * size_bytes / self.bps

class Pass(quiclab.Middlebox):
    """Passes on everything, at once or later."""
    options = {"after_s": 0.0}
    def start(self):
        self.held = []
    def on_packet(self, packet, now_s):
        if self.after_s == 0:
            packet.send()
            return
        self.held.append((now_s + self.after_s, packet))
        self.wake_s = self.held[0][0]
    def on_wake(self, now_s):
        while self.held and self.held[0][0] <= now_s:
            self.held.pop(0)[1].send()
        if self.held:
            self.wake_s = self.held[0][0]
'''
BOX = """
[[node]]
name = "client"
[[node]]
name = "box"
kind = "{kind}"
[[node]]
name = "server"
[[link]]
name = "near"
from = "server"
to = "box"
both = {{ rate = "5 Mbit/s", delay = "10 ms", queue = "20 packets" }}
[[link]]
name = "far"
from = "box"
to = "client"
both = {{ rate = "20 Mbit/s", delay = "{delay}" }}
[[flow]]
name = "download"
client = "client"
server = "server"
application = {{ type = "bulk", size = "300 kB" }}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(PARTS, encoding="utf-8")
    return path


def changed(**keys: Any) -> dict[str, Any]:
    """The summary of a run with other values at the link; `__` stands for a point."""
    keys = {f"link.cell.{key.replace('__', '.')}": value for key, value in keys.items()}
    return quiclab.Scenario.from_text(SCENARIO).with_({"link.cell.forward.loss": "0 %", **keys}).run().summary


def through(kind: str, delay: str = "5 ms") -> quiclab.Run:
    return quiclab.Scenario.from_text(BOX.format(kind=kind, delay=delay)).run()


def timed(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The connections without what is known from the propagation delay alone."""
    return [{key: value for key, value in one.items() if key != "path_rtt_ms"} for one in summary["connections"]]


def test_a_loss_is_that_of_quiclab(file: Path) -> None:
    own = changed(forward__loss=f"{file}:Every")
    assert own == changed(forward__loss={"type": "periodic", "every": 50})
    assert own["links"][0]["drops"]["loss"] > 0


def test_a_jitter_is_a_longer_delay(file: Path) -> None:
    queue = "20 packets"
    own, longer = changed(queue=queue, jitter=f"{file}:Late"), changed(queue=queue, delay="14 ms")
    assert timed(own) == timed(longer) != timed(changed(queue=queue))


def test_a_rate_is_that_of_quiclab(file: Path) -> None:
    own, ours = changed(forward__rate=f"{file}:Fixed"), changed(forward__rate="5 Mbit/s")
    assert own == ours
    slow = changed(forward__rate={"type": f"{file}:Fixed", "bps": 2.5e6})
    assert slow["connections"][0]["goodput_mbps"] < 0.6 * ours["connections"][0]["goodput_mbps"]


def test_a_middlebox_that_passes_all_on_is_a_router(file: Path) -> None:
    own, router = through(f"{file}:Pass").summary, through("router").summary
    assert own["connections"] == router["connections"] and own["links"] == router["links"]
    (box,) = own["nodes"]
    assert box["arrived_packets"] == box["sent_packets"] > 200
    assert box["kind"] == "own.py:Pass" and box["dropped_packets"] == box["held_packets"] == 0


def test_a_middlebox_that_waits_is_a_delay(file: Path) -> None:
    text = BOX.format(kind="router", delay="5 ms").replace(
        'kind = "router"', f'kind = {{ type = "{file}:Pass", after_s = 0.003 }}'
    )
    own = quiclab.Scenario.from_text(text).run()
    assert timed(own.summary) == timed(through("router", "8 ms").summary)


@pytest.mark.parametrize(
    ("key", "name", "method", "body", "problem"),
    [
        ("loss", "Every", "loses", "return None", "loses gave None; expected True or False"),
        ("loss", "Every", "loses", "packet.drop()", "sent> cannot be dropped; expected a packet that is still here"),
        ("jitter", "Late", "shift", "return math.nan", "shift gave nan; expected a finite number of seconds"),
        ("jitter", "Late", "shift", "return 'x'", "shift gave 'x'; expected a finite number of seconds"),
        ("rate", "Fixed", "serve", "return start_s - 0.001", "serve gave .*; expected a time in seconds from .* on"),
        ("rate", "Fixed", "serve", "return -1.0", "serve gave -1.0; expected a time in seconds from"),
        ("rate", "Fixed", "start", "self.mean_bps = 0", "mean_bps is 0; expected a finite rate of 1 bit/s at least"),
        ("kind", "Pass", "on_packet", "packet.send(); packet.send()", "sent> cannot be sent; expected a packet that"),
        ("kind", "Pass", "on_packet", "self.wake_s = now_s - 1", "wake_s is .* after on_packet; expected None, or a"),
        ("kind", "Pass", "start", "self.wake_s = 'soon'", "wake_s is 'soon' after start; expected None, or a time"),
        ("kind", "Pass", "start", "self.wake_s = -0.5", "wake_s is -0.5 after start; expected None, or a time from"),
        ("kind", "Pass", "on_wake", "self.wake_s = now_s", "after on_wake; expected None, or a time from"),
    ],
)
def test_nonsense_is_an_error_with_its_place(
    file: Path, key: str, name: str, method: str, body: str, problem: str
) -> None:
    head, found, tail = PARTS.partition(f"class {name}(")
    before, definition, after = tail.partition(f"    def {method}(self")
    arguments, end, rest = after.partition("):\n")
    wrong = before + definition + arguments + end + textwrap.indent(f"{body}\n", 8 * " ")
    if method == "start" and key == "kind":
        wrong = before + definition + arguments + end + f"        self.held = []; {body}\n"
        rest = rest.replace("self.held = []", "pass", 1)
    wrong += rest.replace("self.mean_bps = self.bps", "pass")
    if method == "on_wake":
        wrong = wrong.replace('"after_s": 0.0', '"after_s": 0.001')
    file.write_text(head + found + wrong, encoding="utf-8")
    with pytest.raises(quiclab.Error, match=rf"own\.py:\d+: .*{problem}"):
        if key == "kind":
            through(f"{file}:{name}")
        else:
            changed(**{"forward__loss" if key == "loss" else f"forward__{key}": f"{file}:{name}"})


def test_they_are_checked_stored_and_run_again(file: Path, tmp_path: Path) -> None:
    command = Command(tmp_path)
    (tmp_path / "own.toml").write_text(BOX.format(kind="own.py:Pass", delay="5 ms"), encoding="utf-8")
    parts = {"rate": "Fixed", "loss": "Every", "jitter": "Late"}
    sets = [word for key, name in parts.items() for word in ("--set", f"link.near.both.{key}=own.py:{name}")]
    checked = command("check", "own.toml", *sets)
    assert checked.returncode == 0, checked.stderr
    assert command("run", "own.toml", *sets, "--out", "first").returncode == 0
    assert command("run", "first/scenario.toml", "--out", "second").returncode == 0
    first, second = (quiclab.load(tmp_path / name) for name in ("first", "second"))
    assert first.summary == second.summary and first.summary["nodes"][0]["arrived_packets"] > 0


def test_two_jobs_are_two_processes_and_give_the_same_tables(file: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    noted = (
        f"    def start(self):\n        open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\n        self.seen = 0\n"
    )
    file.write_text(PARTS.replace("    def start(self):\n        self.seen = 0\n", noted), encoding="utf-8")
    scenario = quiclab.Scenario.from_text(SCENARIO).with_({"link.cell.forward.loss": f"{file}:Every"})
    changes = {"sweep.link.cell.delay": [f"{delay} ms" for delay in range(10, 26)], "sweep.series": ["queue"]}
    quiclab.sweep(scenario, changes, jobs=1, out=tmp_path / "one")
    pids.unlink()
    sweep = quiclab.sweep(scenario, changes, jobs=2, out=tmp_path / "two")
    same_tables(tmp_path / "one", tmp_path / "two")
    assert not sweep.failures
    made = {int(pid) for pid in pids.read_text().split()} - {os.getpid()}
    assert len(made) == 2, "each process made runs"


def test_a_process_that_dies_is_a_failed_run_and_the_others_are_made(file: Path, tmp_path: Path) -> None:
    file.write_text(PARTS.replace("return self.late_s", "return os._exit(3) if self.late_s > 1 else self.late_s"))
    scenario = quiclab.Scenario.from_text(SCENARIO).with_({"link.cell.jitter": f"{file}:Late"})
    late = [0.001 * at for at in range(12)] + [2.0]
    sweep = quiclab.sweep(scenario, {"sweep.link.cell.jitter.late_s": late}, jobs=2)
    (failure,) = sweep.failures
    assert "its process died" in str(failure) and sweep.runs.num_rows == 13


CELL = """
import quiclab

class Best(quiclab.CellScheduler):
    def start(self):
        assert self.terminals == 2 and 0 < self.slot_s < 0.01
        self.got = [0] * self.terminals
    def rank(self, candidates, slot):
        return [bits for _, bits in candidates]
    def on_served(self, terminal, bits, slot):
        self.got[terminal] += bits
"""
EXAMPLE = Path(__file__).parent.parent / "examples" / "cell.toml"


def in_a_cell(scheduler: str) -> dict[str, Any]:
    return quiclab.Scenario.from_file(EXAMPLE, {"medium.cell.scheduler": scheduler}).run(tables=False).summary


def test_a_scheduler_of_a_cell_is_that_of_quiclab(file: Path) -> None:
    file.write_text(CELL, encoding="utf-8")
    assert in_a_cell(f"{file}:Best") == in_a_cell("max-rate") != in_a_cell("round-robin")


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("[bits for _, bits in candidates]", "[]", r"rank gave \[\]; expected a list of \d finite numbers"),
        ("[bits for _, bits in candidates]", "None", r"rank gave None; expected a list of \d finite numbers"),
        ("[bits for _", "[float('nan') for _", r"rank gave \[nan.*\]; expected a list of \d finite numbers"),
        ("self.got[terminal]", "self.had[terminal]", "AttributeError"),
        ("assert self.terminals == 2", "assert self.terminals == 3", "AssertionError"),
    ],
)
def test_a_scheduler_of_a_cell_that_ranks_nonsense_ends_the_run(
    file: Path, right: str, wrong: str, problem: str
) -> None:
    assert right in CELL
    file.write_text(CELL.replace(right, wrong), encoding="utf-8")
    with pytest.raises(quiclab.RunError, match=rf"own\.py:\d+: .*{problem}"):
        in_a_cell(f"{file}:Best")
