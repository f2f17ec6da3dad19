"""Applications written in Python: over every stack they do what those of quiclab do, and nonsense ends the run."""

from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import Command, same_tables

EXAMPLE = Path(__file__).parent.parent / "examples" / "own_application.py"
HEAD = "import math\nimport quiclab\n"
ASK = '''\
class Asker(quiclab.End):
    def on_connected(self, now_s):
        self.left = self.application.count
        self.stream = self.connection.open()
        self.on_wake(now_s)
    def on_wake(self, now_s):
        self.question = self.connection.measure(stream=self.stream)
        self.missing = 10_000
        self.left -= 1
        self.stream.write(100)
        if not self.left:
            self.stream.finish()
    def on_readable(self, stream, now_s):
        while self.missing and (got := stream.skip(self.missing)):
            self.missing -= got
        if self.missing:
            return
        self.question.finish(10_000)
        if self.left:
            self.wake_s = now_s + self.application.think_s
        else:
            self.connection.close()

class Answerer(quiclab.End):
    def start(self):
        self.got = 0
    def on_readable(self, stream, now_s):
        self.got += stream.skip()
        while self.got >= 100:
            self.got -= 100
            stream.write(10_000)
    def on_ended(self, stream, now_s):
        stream.finish()

class Ask(quiclab.Application):
    """Questions."""
    options = {"count": 5, "think_s": 0.05}
    client, server = Asker, Answerer
'''
SCENARIO = """
duration = "20 s"
[[node]]
name = "client"
[[node]]
name = "server"
[[link]]
name = "wire"
from = "server"
to = "client"
both = { rate = "10 Mbit/s", delay = "10 ms" }
[[flow]]
name = "flow"
client = "client"
server = "server"
application = "own.py:Ask"
"""
ROUGH = {"link.wire.both.loss": "2 %", "link.wire.both.jitter": "5 ms", "link.wire.both.reorder": True}
STACKS: list[dict[str, Any]] = [
    {"flow.flow.protocol": "quic"},
    {"flow.flow.protocol": "tcp"},
    {"node.client.stack": "quinn", "node.server.stack": "quinn"},
]


def written(folder: Path, text: str) -> Path:
    path = folder / "own.py"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def run(folder: Path, text: str, changes: dict[str, Any] | None = None) -> quiclab.Run:
    own = {"flow.flow.application": f"{written(folder, text)}:Ask"}
    scenario = quiclab.Scenario.from_text(SCENARIO.replace("own.py:Ask", "bulk"))
    return scenario.with_({**own, **(changes or {})}).run()


def entry(found: quiclab.Run) -> dict[str, Any]:
    (connection,) = found.summary["connections"]
    return dict(connection)


@pytest.mark.parametrize("stack", STACKS[:2], ids=["quic", "tcp"])
def test_it_is_that_of_quiclab(tmp_path: Path, stack: dict[str, Any]) -> None:
    ours = {"type": "request-response", "count": 5, "think": "50 ms", "over": "stream"}
    own = entry(run(tmp_path, ASK, stack))
    assert own == entry(run(tmp_path, ASK, {**stack, "flow.flow.application": ours}))
    assert own["requests"]["completed"] == 5 and own["delivered_bytes"] == 50_000


BYTES = """\
PIECE = 1000
class Writer(quiclab.End):
    def on_connected(self, now_s):
        stream = self.connection.open()
        for number in range(200):
            stream.write(number.to_bytes(4, "big") * (PIECE // 4))
        stream.finish()

class Reader(quiclab.End):
    receives = True
    def start(self):
        self.data = b""
    def on_readable(self, stream, now_s):
        while piece := stream.read(777):
            self.data += piece
    def on_ended(self, stream, now_s):
        assert self.data == b"".join(number.to_bytes(4, "big") * (PIECE // 4) for number in range(200))
        self.connection.close()

class Ask(quiclab.Application):
    client, server = Writer, Reader
"""


@pytest.mark.parametrize("stack", STACKS, ids=["quic", "tcp", "quinn"])
def test_bytes_arrive_in_order_over_every_stack(tmp_path: Path, stack: dict[str, Any]) -> None:
    found = entry(run(tmp_path, BYTES, {**ROUGH, **stack}))
    assert found["completed"] and found["delivered_bytes"] == 200_000 and found["sender"] == "client"
    with pytest.raises(quiclab.RunError, match=r"own\.py:\d+: AssertionError"):
        run(tmp_path, BYTES.replace("self.data == b", "self.data != b"), {**ROUGH, **stack})


def test_what_has_no_room_waits_in_order_and_room_is_told(tmp_path: Path) -> None:
    text = BYTES.replace(
        "        stream.finish()\n",
        "        self.waiting = stream.write(b'')\n        assert 100_000 < self.waiting < 200_000\n"
        "    def on_writable(self, stream, now_s):\n"
        "        if self.waiting:\n"
        "            self.waiting = 0\n"
        "            self.connection.measure('room').finish()\n"
        "            stream.finish()\n",
    )
    little = {"flow.flow.transport.send_queue": "20 kB"}
    found = entry(run(tmp_path, text, little))
    assert found["completed"] and found["delivered_bytes"] == 200_000
    assert found["parts"]["room"]["requests"]["completed"] == 1


def test_a_finished_stream_is_not_told_that_it_has_room(tmp_path: Path) -> None:
    text = BYTES.replace(
        "        stream.finish()\n",
        "        assert stream.write(b'') > 100_000\n        stream.finish()\n"
        "    def on_writable(self, stream, now_s):\n        stream.write(b'more')\n",
    )
    found = entry(run(tmp_path, text, {"flow.flow.transport.send_queue": "20 kB"}))
    assert found["completed"] and found["delivered_bytes"] == 200_000


EVENTS = """\
class Client(quiclab.End):
    def on_connected(self, now_s):
        one, two = self.connection.open(), self.connection.open()
        assert one != two and len({one, two}) == 2
        for stream in one, two:
            stream.write(50_000)
        one.reset(7)
    def on_stopped(self, stream, code, now_s):
        self.connection.measure(f"stopped {code}", stream=stream).finish(stream.write(5))
        self.wake_s = now_s + 0.1
    def on_wake(self, now_s):
        self.connection.close(0, "enough")

class Server(quiclab.End):
    def on_opened(self, stream, now_s):
        self.connection.measure("opened", stream=stream)
    def on_readable(self, stream, now_s):
        if stream.read(10):
            stream.stop(9)
    def on_reset(self, stream, code, now_s):
        self.connection.measure(f"reset {code}", stream=stream).finish()

class Ask(quiclab.Application):
    client, server = Client, Server
"""


def test_what_one_end_does_the_other_is_told(tmp_path: Path) -> None:
    found = run(tmp_path, EVENTS)
    parts = entry(found)["parts"]
    told = {name: (part["requests"]["number"], part["requests"]["completed"]) for name, part in parts.items()}
    assert told == {"stopped 9": (1, 1), "opened": (2, 0), "reset 7": (1, 1)}
    assert entry(found)["completed"] and entry(found)["close"].endswith("(0: enough)")
    rows = found.table("object").to_pylist()
    assert [(row["stream"], row["size_bytes"]) for row in rows if row["stream"] == 4][:1] == [(4, 0)]


CLOSED = ASK.replace("            stream.write(10_000)", "            self.connection.close(5)").replace(
    "    def on_wake",
    "    def on_closed(self, now_s):\n        self.connection.measure('closed').finish()\n    def on_wake",
    1,
)


def test_an_end_is_told_that_the_connection_is_closed(tmp_path: Path) -> None:
    found = entry(run(tmp_path, CLOSED))
    assert not found["completed"] and not found["clean"]
    assert found["requests"]["missing"] == 1 and found["parts"]["closed"]["completed"]


DATAGRAMS = """\
class Client(quiclab.End):
    def on_connected(self, now_s):
        self.sent = 0
        self.on_wake(now_s)
    def on_wake(self, now_s):
        assert 1000 < self.connection.max_datagram_bytes < 1500
        assert self.connection.send_datagram(bytes([self.sent]) * 500)
        self.sent += 1
        if self.sent < 20:
            self.wake_s = now_s + 0.01
        else:
            self.connection.open().finish()

class Server(quiclab.End):
    receives = True
    def on_datagram(self, data, now_s):
        assert len(set(data)) == 1 and len(data) == 500
        self.connection.measure("datagram").finish(len(data))
    def on_opened(self, stream, now_s):
        self.connection.complete()

class Ask(quiclab.Application):
    datagrams = True
    client, server = Client, Server
"""
WITH_DATAGRAMS = {"flow.flow.transport.max_datagram_frame_size": 65535}


def test_datagrams_arrive_whole(tmp_path: Path) -> None:
    found = entry(run(tmp_path, DATAGRAMS, WITH_DATAGRAMS))
    assert found["completed"] and found["delivered_bytes"] == 10_000
    assert found["parts"]["datagram"]["delivered_bytes"] == 10_000


@pytest.mark.parametrize(
    ("text", "changes", "problem"),
    [
        (DATAGRAMS, {}, "sends datagrams, but transport.max_datagram_frame_size is 0"),
        (DATAGRAMS, {"flow.flow.protocol": "tcp"}, 'datagrams, which TCP does not have; expected protocol = "quic"'),
        (ASK.replace("client, server", "tcp_connections = 0\n    client, server"), {"flow.flow.protocol": "tcp"}, "0;"),
        (ASK.replace("client, server", "tcp_connections = 999\n    client, server"), {}, "tcp_connections is 999; exp"),
        (ASK.replace("client, server", "datagrams = 3\n    client, server"), {}, "datagrams is 3; expected True or"),
        (
            ASK.replace("client, server =", "cleint, server ="),
            {},
            r"own\.py:\d+: Ask has no client, which is called cl",
        ),
        (ASK.replace("client, server =", "clients, other ="), {}, r"own\.py:\d+: Ask has no client, which is called"),
        (
            ASK.replace("= Asker, Answerer", "= Asker, 3"),
            {},
            r"Ask.server is 3; expected a class derived from quiclab.E",
        ),
        (
            ASK.replace("on_connected", "on_conected"),
            {},
            r"own\.py:\d+: nothing calls Asker.on_conected; expected on_co",
        ),
        (ASK.replace("def on_ended(self, stream, now_s)", "def on_ended(self)"), {}, r"own\.py:\d+: .*on_ended"),
        (
            ASK.replace("    def start(self)", "    receives = 3\n    def start(self)"),
            {},
            "receives gave 3; expected Tr",
        ),
        (ASK.replace("self.got = 0", "self.got = 1 / 0"), {}, r"own\.py:\d+: ZeroDivisionError"),
        (ASK.replace("self.got = 0", "self.connection.open()"), {}, r"own\.py:\d+: .*cannot be used now; expected"),
    ],
)
def test_a_class_that_cannot_be_is_an_error_of_the_scenario(
    tmp_path: Path, text: str, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(quiclab.Error, match=problem):
        run(tmp_path, text, changes)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("self.stream.write(-1)", "a number of bytes is -1; expected 0 to"),
        ("self.stream.write(True)", "a number of bytes is True; expected 0 to"),
        ("self.stream.write('text')", "what is written is 'text'; expected bytes, or a whole number of them"),
        ("self.stream.skip(-1)", "the most to read is -1; expected 0 to"),
        ("self.stream.reset(-1)", "the code is -1; expected 0 to"),
        ("self.stream.finish(); self.stream.write(1)", "stream 0 cannot be written to: it was finished or reset; exp"),
        ("self.stream.finish(); self.stream.finish()", "stream 0 cannot be finished: it was finished or reset; exp"),
        ("self.connection.open(one_way=True).read()", "stream 2 cannot be read: it only goes to the peer; expected"),
        ("self.connection.open(one_way=True).stop()", "stream 2 cannot be stopped: it only goes to the peer; exp"),
        ("self.stream.prioritize(weight=-2)", "weight is -2; expected 0 to 65535"),
        ("self.stream.prioritize(deadline_s=math.nan)", "deadline_s is NaN; expected 0.0 to"),
        ("self.connection.send_datagram(1)", "carries no datagrams; expected `datagrams = True` in the class"),
        ("self.connection.measure('')", "the name is ''; expected 1 to 100 characters"),
        ("m = self.connection.measure(); m.finish(); m.finish()", "is finished already; expected a new one"),
        ("self.connection.measure().finish(-5)", "size_bytes is -5; expected 0 to"),
        ("self.wake_s = now_s - 1", "wake_s is .* after on_connected; expected None, or a time from"),
        ("self.wake_s = 'soon'", "wake_s is 'soon' after on_connected; expected None, or a time from"),
        ("self.application.other = self.stream; self.strem.write(1)", "AttributeError: .*strem"),
    ],
)
def test_nonsense_ends_the_run_with_its_place(tmp_path: Path, line: str, problem: str) -> None:
    wrong = ASK.replace("        self.on_wake(now_s)\n", f"        {line}\n", 1)
    with pytest.raises(quiclab.RunError, match=rf"own\.py:\d+: .*{problem}"):
        run(tmp_path, wrong)


def test_a_stream_belongs_to_its_end(tmp_path: Path) -> None:
    wrong = ASK.replace("self.on_wake(now_s)\n", "self.application.theirs = self.stream; self.on_wake(now_s)\n", 1)
    wrong = wrong.replace("        self.got += stream.skip()", "        self.application.theirs.write(1)")
    with pytest.raises(quiclab.RunError, match=r"own\.py:\d+: .*connection cannot be used now; expected a use in a m"):
        run(tmp_path, wrong)


@pytest.mark.parametrize("after", ["now_s", "now_s + 1e-9", "now_s + 4e-9"])
def test_a_timer_that_stops_the_time_is_an_error(tmp_path: Path, after: str) -> None:
    wrong = ASK.replace(
        "        self.missing = 10_000\n", f"        self.missing = 10_000; self.wake_s = {after}; return\n"
    )
    with pytest.raises(quiclab.RunError, match=r"own\.py:\d+: .*(after on_wake; expected None|expected fewer calls)"):
        run(tmp_path, wrong)


def test_it_shares_a_connection_with_others(tmp_path: Path) -> None:
    own = f"{written(tmp_path, ASK)}:Ask"
    parts = [{"type": own, "count": 3}, {"type": "bulk", "size": "100 kB"}]
    found = entry(run(tmp_path, ASK, {"flow.flow.application": {"type": "mix", "parts": parts}}))
    assert found["completed"]
    own_part = found["parts"]["own.py:Ask"]
    assert own_part["requests"]["completed"] == 3 and own_part["completed"]
    assert found["parts"]["bulk"]["delivered_bytes"] == 100_000


def test_each_visit_has_objects_of_its_own(tmp_path: Path) -> None:
    found = run(tmp_path, ASK, {"flow.flow.visits": [{"at": "2 s"}]})
    counts = [one["requests"]["completed"] for one in found.summary["connections"]]
    assert counts == [5, 5]


def test_it_is_checked_stored_and_run_again(tmp_path: Path) -> None:
    command = Command(tmp_path)
    written(tmp_path, ASK)
    (tmp_path / "own.toml").write_text(SCENARIO, encoding="utf-8")
    checked = command("check", "own.toml")
    assert checked.returncode == 0, checked.stderr
    assert "own.py:Ask" in checked.stdout and "think_s 0.05" in checked.stdout
    assert command("run", "own.toml", "--out", "first").returncode == 0
    assert command("run", "first/scenario.toml", "--out", "second").returncode == 0
    first, second = (quiclab.load(tmp_path / name) for name in ("first", "second"))
    assert first.summary == second.summary
    assert first.table("object").num_rows == 5


def test_two_jobs_are_processes_and_give_the_same_tables(tmp_path: Path) -> None:
    scenario = quiclab.Scenario.from_text(SCENARIO.replace("own.py:Ask", f"{written(tmp_path, ASK)}:Ask"))
    changes = {"sweep.flow.flow.application.think_s": [0.01 * at for at in range(12)], "sweep.series": ["connection"]}
    for jobs, name in ((1, "one"), (2, "two")):
        sweep = quiclab.sweep(scenario, changes, jobs=jobs, out=tmp_path / name)
        assert not sweep.failures and sweep.runs.num_rows == 12
    same_tables(tmp_path / "one", tmp_path / "two")


def test_the_example_thinks(tmp_path: Path) -> None:
    scenario = quiclab.Scenario.from_text(SCENARIO.replace("own.py:Ask", "bulk"))

    def duration(think_s: float) -> float:
        own = {"type": f"{EXAMPLE}:Ask", "think_s": think_s}
        return float(entry(scenario.with_({"flow.flow.application": own}).run())["completion_s"])

    # The sum of 19 exponential times has a deviation of a fourth of its mean.
    assert 0.2 * 19 * 0.4 < duration(0.2) - duration(1e-6) < 0.2 * 19 * 1.8
