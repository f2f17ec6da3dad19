"""Congestion controllers in Python: by file, by module, as objects; what they decide, and how they fail."""

import textwrap
from pathlib import Path
from typing import Any

import pytest

import quiclab

AIMD = '''
import quiclab

class Aimd(quiclab.Controller):
    """A packet for each window, a share of it at a loss."""

    options = {"beta": 0.5, "slow_start": True}

    def start(self, datagram_bytes, initial_window_bytes, initial_rtt_s):
        self.recovery_s = -1.0
        self.slow = self.slow_start

    def on_ack(self, ack):
        if ack.newest_sent_s > self.recovery_s and ack.limit != "application":
            share = 1 if self.slow else self.datagram_bytes / self.window_bytes
            self.window_bytes += ack.acked_bytes * share

    def on_loss(self, loss):
        if loss.newest_sent_s > self.recovery_s:
            self.recovery_s, self.slow, self.state = loss.now_s, False, "sawtooth"
            self.window_bytes = max(self.window_bytes * self.beta, 2 * self.datagram_bytes)
'''

LINK = {"name": "wire", "from": "server", "to": "client", "rate": "10 Mbit/s", "delay": "10 ms", "queue": "50 kB"}
FLOW = {"name": "flow", "client": "client", "server": "server", "application": {"type": "bulk", "size": "4 MB"}}


def scenario(controller: Any, **keys: Any) -> quiclab.Scenario:
    transport = {"controller": controller, "initial_max_data": "16 MB"}
    return quiclab.Scenario(name="own", duration="20 s", link=[LINK], flow=[FLOW], transport=transport, **keys)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "aimd.py"
    path.write_text(AIMD, encoding="utf-8")
    return path


def sent(run: quiclab.Run) -> int:
    return int(run.summary["connections"][0]["packets_sent"])


def goodput(run: quiclab.Run) -> float:
    return float(run.summary["connections"][0]["goodput_mbps"])


def test_a_file_is_named_and_its_options_are_checked_resolved_and_run(file: Path) -> None:
    first = scenario(f"{file}:Aimd")
    toml = first.to_toml()
    assert f'{{ type = "{file}:Aimd", source = "{file}", beta = 0.5, slow_start = true }}' in toml
    run = first.run()
    assert goodput(run) > 8
    states = (
        set(run.table("event").column("state").to_pylist()) if "state" in run.table("event").schema.names else set()
    )
    assert not states or "sawtooth" in states
    again = quiclab.Scenario.from_text(toml).run()
    assert again.summary == run.summary
    other = scenario({"type": f"{file}:Aimd", "beta": 0.9}).run()
    assert sent(other) != sent(run)
    with pytest.raises(quiclab.ScenarioError, match=r'unknown key, found "bta".*did you mean "beta"'):
        scenario({"type": f"{file}:Aimd", "bta": 0.9})


def test_the_example_of_the_documentation() -> None:
    path = Path(__file__).parent.parent / "examples" / "aimd.py"
    body = path.read_text(encoding="utf-8").partition("class ")[2]
    assert len(body.splitlines()) <= 30
    run = scenario(f"{path}:Aimd").run()
    assert goodput(run) > 8.5


class Fixed(quiclab.Controller):
    """Twenty packets, paced."""

    options = {"packets": 20, "rate": 5e6}

    def on_ack(self, ack: quiclab.Ack) -> None:
        self.window_bytes = self.packets * self.datagram_bytes  # type: ignore[attr-defined]
        self.pacing_bps = self.rate  # type: ignore[attr-defined]


def test_a_class_and_an_object_are_passed_as_they_are() -> None:
    assert 4.0 < goodput(scenario(Fixed).run()) < 5.1
    assert 1.8 < goodput(scenario(Fixed(rate=2e6)).run()) < 2.1
    one_each_round_trip = goodput(scenario(Fixed(packets=1, rate=1e9)).run())
    assert one_each_round_trip < 0.6
    assert f'type = "{Fixed.__module__}:Fixed"' in scenario(Fixed).to_toml()
    with pytest.raises(TypeError, match="Fixed has no option 'packet'; its options: packets, rate"):
        Fixed(packet=1)


def test_what_is_told_adds_up() -> None:
    told: list[quiclab.Ack] = []
    lost: list[Any] = []

    class Watching(Fixed):
        def on_ack(self, ack: quiclab.Ack) -> None:
            told.append(ack)
            self.window_bytes += ack.acked_bytes

        def on_loss(self, loss: Any) -> None:
            lost.append(loss)

    globals()["Watching"] = Watching
    Watching.__qualname__ = "Watching"
    run = scenario(Watching).run()
    server = [ack for ack in told if ack.delivered_bytes > 10_000]
    assert [ack.delivered_bytes for ack in server] == sorted(ack.delivered_bytes for ack in server)
    assert all(
        0.02 <= ack.min_rtt_s <= ack.rtt_s < 1 and ack.limit in {"application", "window", "pacer"} for ack in server
    )
    assert all(ack.bytes_in_flight == ack.prior_in_flight - ack.acked_bytes - ack.lost_bytes for ack in server)
    rates = [ack.delivery_rate_bps for ack in server if ack.delivery_rate_bps]
    assert 9e6 < sorted(rates)[len(rates) // 2] < 10.1e6
    assert sum(loss.packets for loss in lost) == run.summary["connections"][0]["packets_declared_lost"] > 0


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("def on_ack(self, ack):\n        self.window_bytes = 1 / 0", "own.py:5: ZeroDivisionError: division by zero"),
        ("def on_ack(self, ack):\n        self.window_bytes = 10", "Own.window_bytes is 10; expected a finite number"),
        ("def on_ack(self, ack):\n        self.window_bytes = float('nan')", "Own.window_bytes is nan; expected"),
        (
            "def on_ack(self, ack):\n        self.pacing_bps = 0",
            "Own.pacing_bps is 0; expected None, or a finite rate of 1 bit/s",
        ),
        (
            "def start(self, *_):\n        raise RuntimeError('no')\n    def on_ack(self, ack): self.window_bytes = 1",
            "own.py:5: RuntimeError: no",
        ),
    ],
)
def test_a_controller_that_fails_ends_the_run_and_says_where(tmp_path: Path, body: str, problem: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(f"import quiclab\n\nclass Own(quiclab.Controller):\n    {body}\n", encoding="utf-8")
    with pytest.raises(quiclab.RunError) as caught:
        scenario(f"{path}:Own").run()
    assert problem in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.__cause__ is not None
    # The next run on this thread is not of it.
    scenario("newreno").run()


OWN = "import quiclab\nclass Own(quiclab.Controller):\n  def on_ack(self, ack): self.window_bytes = 9000\n"


@pytest.mark.parametrize(
    ("text", "name", "problem"),
    [
        ("import quiclab\n", "Own", "no controller Own; .* has: none"),
        ("import quiclab\nclass Other(quiclab.Controller): pass\n", "Own", "has: Other"),
        ("class Own: pass\n", "Own", "Own is not a controller: expected a class derived"),
        ("def (", "Own", "own.py:1: SyntaxError"),
        ("import nothing_of_this_name\n", "Own", "own.py:1: ModuleNotFoundError"),
        (
            f"{OWN}  options = {{'type': 1}}\n",
            "Own",
            'cannot be called "type"',
        ),
        (
            f"{OWN}  options = {{'a': -1}}\n",
            "Own",
            "own.py:2: option a of Own has the default -1; expected true or false",
        ),
        (
            f"{OWN}  options = {{'a': [1]}}\n",
            "Own",
            "own.py:2: option a of Own has the default \\[1\\]; expected true",
        ),
    ],
)
def test_code_that_is_no_controller_is_refused(tmp_path: Path, text: str, name: str, problem: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(quiclab.ScenarioError, match=problem) as caught:
        scenario(f"{path}:{name}")
    assert "transport.controller" in str(caught.value)


def test_places_that_are_none_are_refused() -> None:
    with pytest.raises(quiclab.ScenarioError, match="no such file"):
        scenario("nowhere.py:Own")
    with pytest.raises(quiclab.ScenarioError, match=r"module no\.where cannot be imported"):
        scenario("no.where:Own")

    class Inner(quiclab.Controller):
        pass

    with pytest.raises(quiclab.Error, match="cannot be found again by its name"):
        scenario(Inner)


def test_a_file_that_changes_leaves_scenarios_that_were_read_alone(file: Path) -> None:
    first = scenario(f"{file}:Aimd")
    before = first.run()
    file.write_text(AIMD.replace("* self.beta", "* 0.95"), encoding="utf-8")
    second = scenario(f"{file}:Aimd")
    assert first.run().summary == before.summary
    assert sent(second.run()) != sent(before)


def test_equal_seeds_are_equal_bytes_on_one_thread_and_on_two(file: Path, tmp_path: Path) -> None:
    document = textwrap.dedent(f"""
        duration = "3 s"
        [[link]]
        name = "wire"
        from = "server"
        to = "client"
        rate = "10 Mbit/s"
        delay = "10 ms"
        loss = "0.1 %"
        [[flow]]
        name = "flow"
        client = "client"
        server = "server"
        application = "bulk"
        transport.controller = "{file.name}:Aimd"
        [sweep]
        repetitions = 2
        flow.flow.transport.controller.beta = [0.3, 0.5, 0.7]
    """)
    path = file.parent / "own.toml"
    path.write_text(document, encoding="utf-8")
    one = quiclab.sweep(path, out=tmp_path / "one", jobs=1)
    two = quiclab.sweep(path, out=tmp_path / "two", jobs=2)
    assert one.runs.equals(two.runs)
    assert len(set(one.runs.column("connection.flow.packets_sent").to_pylist())) == 6


def test_the_workers_of_a_cluster_need_no_file(file: Path, tmp_path: Path) -> None:
    path = file.parent / "own.toml"
    base = scenario(f"{file}:Aimd")
    path.write_text(base.to_toml() + "\n[sweep]\nseed = [1, 2, 3]\n", encoding="utf-8")
    here = quiclab.sweep(path, out=tmp_path / "here", jobs=1)
    there = quiclab.sweep(path, out=tmp_path / "there", engine="dask", jobs=1)
    assert here.runs.equals(there.runs)


RESUMED = """
duration = "10 s"
[transport]
resume = "careful"
initial_max_data = "16 MB"
initial_max_stream_data_bidi_local = "16 MB"
[[link]]
name = "geo"
from = "server"
to = "client"
both = { rate = "10 Mbit/s", delay = "100 ms", queue = "50 kB" }
[[memory]]
name = "geo"
node = "server"
peer = "client"
capacity = "250 kB"
rtt = "200 ms"
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "2 MB" }
"""

asked: list[quiclab.ResumeAdjustment] = []
"""What Careful Resume has asked of the controllers below."""


class Resuming(quiclab.Controller):
    """Slow start, and what Careful Resume asks for."""

    def start(self, datagram_bytes: int, initial_window_bytes: int, initial_rtt_s: float) -> None:
        self.limit_bytes: float = float("inf")

    def on_ack(self, ack: quiclab.Ack) -> None:
        if self.window_bytes < self.limit_bytes:
            self.window_bytes += ack.acked_bytes

    def on_loss(self, loss: Any) -> None:
        self.limit_bytes = self.window_bytes = max(self.window_bytes / 2, 2 * self.datagram_bytes)

    def on_resume(self, adjustment: quiclab.ResumeAdjustment) -> None:
        asked.append(adjustment)
        if adjustment.window_bytes is not None:
            self.window_bytes = adjustment.window_bytes
        if adjustment.ssthresh_bytes is not None:
            self.limit_bytes = adjustment.ssthresh_bytes


def phases_of(run: quiclab.Run) -> list[str]:
    rows = run.table("event").to_pylist()
    return [str(row["detail"]).split()[0] for row in rows if row["event"] == "resume_phase"]


def resumed(controller: Any, capacity: str) -> tuple[quiclab.Run, list[quiclab.ResumeAdjustment]]:
    asked.clear()
    document = quiclab.Scenario.from_text(RESUMED).with_({"memory.geo.capacity": capacity})
    return document.with_({"transport.controller": controller}).run(), list(asked)


def test_careful_resume_asks_a_controller_in_python_as_one_in_rust() -> None:
    run, heard = resumed(Resuming, "250 kB")
    assert phases_of(run) == ["reconnaissance", "unvalidated", "validating", "normal"]
    jump, limit = heard
    assert (jump.kind, jump.window_bytes, jump.ssthresh_bytes) == ("jump", 125_000, None)
    assert jump.rtt_s == pytest.approx(0.2, rel=0.05)
    # The handshake, and the initial window with its acknowledgement, from half a round trip on.
    assert jump.now_s == pytest.approx(0.5, rel=0.05)
    assert (limit.kind, limit.ssthresh_bytes, limit.rtt_s) == ("limit", None, None)
    assert limit.window_bytes is not None
    assert 100_000 < limit.window_bytes <= 125_000
    windows = run.table("connection").to_pylist()
    assert any(row["cwnd_bytes"] == 125_000 for row in windows if row["side"] == "server")


def test_a_safe_retreat_reaches_a_controller_in_python() -> None:
    run, heard = resumed(Resuming, "4 MB")
    assert phases_of(run) == ["reconnaissance", "unvalidated", "validating", "safe_retreat", "normal"]
    assert [adjustment.kind for adjustment in heard] == ["jump", "limit", "retreat", "settle"]
    retreat, settle = heard[2:]
    assert retreat.window_bytes == retreat.ssthresh_bytes
    assert (settle.window_bytes, settle.rtt_s) == (None, None)
    # Half of what was acknowledged until then, and half of what it was in the end.
    assert retreat.window_bytes is not None
    assert settle.ssthresh_bytes is not None
    assert settle.ssthresh_bytes >= retreat.window_bytes > 0
    assert retreat.now_s < settle.now_s


def test_a_controller_that_does_not_listen_does_not_jump() -> None:
    run, heard = resumed(Fixed, "250 kB")
    assert (heard, phases_of(run)[:2]) == ([], ["reconnaissance", "unvalidated"])
    windows = [row["cwnd_bytes"] for row in run.table("connection").to_pylist() if row["side"] == "server"]
    assert max(windows) < 30_000
