"""Stream schedulers in Python: by file and as objects; what they are told, what they decide, and how they fail."""

from pathlib import Path
from typing import Any

import pytest

import quiclab

LINK = {"name": "wire", "from": "server", "to": "client", "rate": "10 Mbit/s", "delay": "10 ms", "queue": "50 kB"}


def scenario(scheduler: Any, streams: int = 4, **application: Any) -> quiclab.Scenario:
    work = {"type": "bulk", "size": "2 MB", "streams": streams, **application}
    flow = {"name": "flow", "client": "client", "server": "server", "application": work}
    transport = {"scheduler": scheduler, "initial_max_data": "16 MB"}
    return quiclab.Scenario(name="own", duration="20 s", link=[LINK], flow=[flow], transport=transport)


def ends(run: quiclab.Run) -> list[float]:
    """When each stream was read to its end, in the order of the streams."""
    rows = run.table("stream").to_pylist()
    read = {row["stream"]: row["closed_s"] for row in rows if row["side"] == "client"}
    return [read[stream] for stream in sorted(read)]


class RoundRobin(quiclab.Scheduler):
    """As `rr`."""

    def start(self) -> None:
        self.ring: list[int] = []

    def on_ready(self, stream: int, now_s: float) -> None:
        self.ring.append(stream)

    def on_idle(self, stream: int) -> None:
        self.ring.remove(stream)

    def on_sent(self, stream: int, sent_bytes: int) -> None:
        if self.ring[0] == stream:
            self.ring.append(self.ring.pop(0))

    def next(self, view: quiclab.SchedulerView) -> int:
        assert list(self.ready) and set(self.ready) == set(self.ring)
        return self.ring[0]


class Urgent(quiclab.Scheduler):
    """The most urgent stream."""

    def next(self, view: quiclab.SchedulerView) -> int:
        assert view.window_bytes > 1000 and 0.01 < view.smoothed_rtt_s < 1 and view.now_s > 0
        return min(self.ready, key=lambda stream: (self.ready[stream].urgency, stream))


def test_a_ring_in_python_is_that_in_rust_packet_by_packet() -> None:
    own, theirs = scenario(RoundRobin).run(), scenario("rr").run()
    assert own.summary["connections"] == theirs.summary["connections"]
    assert ends(own) == ends(theirs)


def test_what_the_application_says_decides() -> None:
    reversed_order = ends(scenario(Urgent, urgencies=[4, 3, 2, 1]).run())
    assert reversed_order == sorted(reversed_order, reverse=True)
    assert reversed_order[-1] < 0.4 * reversed_order[0]


def test_the_example_of_the_documentation() -> None:
    path = Path(__file__).parent.parent / "examples" / "quota.py"
    half = ends(scenario({"type": f"{path}:Quota", "share": 0.5}, urgencies=[0, 3, 3, 3]).run())
    most = ends(scenario({"type": f"{path}:Quota", "share": 0.9}, urgencies=[0, 3, 3, 3]).run())
    assert most[0] < half[0] < min(half[1:])
    assert 1.6 < half[0] / most[0] < 2.0, "a quarter of the bytes at half of the rate, or at nine tenths"


def test_options_are_checked_and_resolved_and_losses_go_first(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import quiclab\n\nclass Own(quiclab.Scheduler):\n    options = {'skip': 1}\n\n"
        "    def next(self, view):\n        return list(self.ready)[self.skip % len(self.ready)]\n",
        encoding="utf-8",
    )
    first = scenario({"type": f"{path}:Own", "retransmissions": "first", "skip": 2})
    assert f'{{ type = "{path}:Own", source = "{path}", retransmissions = "first", skip = 2 }}' in first.to_toml()
    run = first.run()
    assert run.summary["connections"][0]["packets_declared_lost"] > 0
    assert quiclab.Scenario.from_text(first.to_toml()).run().summary == run.summary
    with pytest.raises(quiclab.ScenarioError, match=r'unknown key, found "skp".*did you mean "skip"'):
        scenario({"type": f"{path}:Own", "skp": 1})
    with pytest.raises(quiclab.ScenarioError, match=r"Own is not a controller"):
        quiclab.Scenario(link=[LINK], transport={"controller": f"{path}:Own"}, flow=[])


TOLD: list[tuple[Any, ...]] = []


class Watching(RoundRobin):
    """Writes down what it is told."""

    def on_head(self, stream: int, written_s: float, order: int) -> None:
        TOLD.append(("head", stream, written_s, order))

    def on_priority(self, stream: int, priority: quiclab.Priority) -> None:
        TOLD.append(("priority", stream, priority.urgency, priority.weight, priority.latency_s, priority.deadline_s))

    def on_lost(self, stream: int) -> None:
        assert stream in self.ready
        TOLD.append(("lost", stream))

    def on_repaired(self, stream: int) -> None:
        TOLD.append(("repaired", stream))

    def on_closed(self, stream: int) -> None:
        assert stream not in self.ready
        TOLD.append(("closed", stream))


def test_what_is_told() -> None:
    TOLD.clear()
    scenario(Watching, urgencies=[1, 2], weights=[5], latencies=["20 ms"]).run()
    assert [told[1:] for told in TOLD if told[0] == "priority"] == [
        (stream, urgency, 5, 0.02, None) for stream, urgency in [(0, 1), (4, 2), (8, 1), (12, 2)]
    ]
    kinds = [told[0] for told in TOLD]
    # The client ends the connection when it has all: what is not acknowledged then stays open at the server.
    closed = [told[1] for told in TOLD if told[0] == "closed"]
    assert set(closed) == {0, 4, 8, 12} and len(closed) <= 8
    assert 0 < kinds.count("repaired") <= kinds.count("lost")
    heads = [told[2:] for told in TOLD if told[0] == "head"]
    assert all(written_s >= 0 and order > 0 for written_s, order in heads)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("def next(self, view):\n        return 1 / 0", "own.py:5: ZeroDivisionError: division by zero"),
        (
            "def next(self, view):\n        return 77",
            "own.py:4: next gave 77; expected one of the streams in self.ready",
        ),
        ("def next(self, view):\n        return None", "next gave None; expected one of the streams"),
        (
            "def start(self):\n        raise RuntimeError('no')\n    def next(self, view): pass",
            "own.py:5: RuntimeError: no",
        ),
    ],
)
def test_a_scheduler_that_fails_ends_the_run_and_says_where(tmp_path: Path, body: str, problem: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(f"import quiclab\n\nclass Own(quiclab.Scheduler):\n    {body}\n", encoding="utf-8")
    with pytest.raises(quiclab.RunError) as caught:
        scenario(f"{path}:Own").run()
    assert problem in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.__cause__ is not None
    # The next run on this thread is not of it.
    scenario("rr").run()


SAID: list[tuple[int, int, int, float | None, float | None]] = []


class Listening(Urgent):
    """As `Urgent`, and keeps what it is told."""

    def on_priority(self, stream: int, priority: quiclab.Priority) -> None:
        SAID.append((stream, priority.urgency, priority.weight, priority.deadline_s, priority.latency_s))


def test_what_a_stream_is_can_change_in_the_middle_from_python() -> None:
    SAID.clear()
    changes: list[dict[str, Any]] = [
        {"at": "500 ms", "stream": 4, "urgency": 0},
        {"at": 0.75, "weight": 7, "deadline": "1 s", "latency": "20 ms"},
    ]
    with pytest.raises(quiclab.Error, match=r"changes\.1\.at.*found 0\.75"):
        scenario("rr", changes=changes).run()
    changes[1]["at"] = "750 ms"
    run = scenario(Listening, streams=5, urgencies=[1, 2, 3, 4, 5], changes=changes).run()
    # Streams of the client have the numbers 0, 4, 8, ...; the first word is of each when its request came.
    assert SAID[:5] == [(4 * number, number + 1, 1, None, None) for number in range(5)]
    number, urgency, weight, deadline, latency = SAID[5]
    assert (number, urgency, weight, deadline, latency) == (16, 0, 1, None, None)
    later = SAID[6:]
    assert {stream for stream, *_ in later} <= {0, 4, 8, 12, 16}
    assert len(later) >= 3
    for _, _, weight, deadline, latency in later:
        # A handshake of 20 ms, the change at 750 ms, 1 s.
        assert weight == 7
        assert latency == 0.02
        assert deadline == pytest.approx(1.77, abs=0.02)
    order = ends(run)
    assert order.index(min(order)) in (0, 4)
    assert order[4] < order[1] < order[2] < order[3]
