"""What figures read of finished runs: kept tables and time series, and no more of them than they need."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import quiclab
from quiclab.cli import main
from quiclab.papers.bdp import taken
from quiclab.papers.sched import message_length
from quiclab.reproduce import figures
from quiclab.reproduce.runs import Runs
from quiclab.reproduce.series import by_run, trace

SCENARIO = """
duration = "3 s"
[record]
tables = ["loss", "rate", "event"]
bin = "100 ms"
[[link]]
name = "home"
from = "server"
to = "client"
rate = "5 Mbit/s"
delay = "10 ms"
queue = "10 packets"
both = { loss = { type = "random", probability = 0.02 } }
[[flow]]
name = "tcp"
client = "client"
server = "server"
protocol = "tcp"
application = "bulk"
[sweep]
repetitions = 3
keep = ["loss", "event"]
series = ["rate"]
"link.home.rate" = ["5 Mbit/s", "2 Mbit/s"]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    file = tmp_path_factory.mktemp("runs") / "a.toml"
    file.write_text(SCENARIO)
    return Runs.of(quiclab.sweep(file), quiclab.Scenario.from_file(file))


def test_a_series_of_every_run_is_that_of_each(runs: Runs) -> None:
    found = by_run(runs, "home forward", "rate", "delivered_mbps")
    assert found.keys() == {row["run"] for row in runs.rows} and len(found) == 6
    for run, series in found.items():
        assert series == trace(runs, run, "home forward")["rate", "delivered_mbps"]


def test_the_losses_of_every_run_are_those_of_the_table(runs: Runs) -> None:
    late = [row for row in runs.tables["loss"] if row["connection"] == "tcp" and row["time_s"] >= 1]
    assert len(late) > 10
    assert taken.lost_by_tcp(runs, 1) == Counter(row["run"] for row in late)
    assert taken.lost_by_tcp(runs, 99) == Counter() and taken.refusing(runs) == set()


def test_a_table_is_read_when_it_is_asked_for(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure of hundreds of runs that needs a few columns does not hold the tables of all."""

    def read(self: quiclab.Sweep, name: str) -> Any:
        raise AssertionError(f"{name} is read as a whole")

    monkeypatch.setattr(quiclab.Sweep, "table", read)
    monkeypatch.setattr(quiclab.Sweep, "series", property(lambda self: read(self, "series")))
    assert runs.done is not None
    fresh = Runs.of(runs.done)
    assert set(fresh.tables) == {"loss", "event"} and "rate" not in fresh.tables
    assert taken.received(fresh, "home") and taken.lost_by_tcp(fresh, 0)
    with pytest.raises(AssertionError, match="loss is read as a whole"):
        fresh.tables["loss"]


@pytest.mark.parametrize("packets", message_length._LENGTHS)
def test_a_message_of_n_packets_takes_n_packets(packets: int, tmp_path: Path) -> None:
    """In sched-message-length, by the qlog of the sender, under round robin: packets of the transfer go in between."""
    size = packets * message_length._PACKET_BYTES
    scenario = figures()["sched-message-length"].scenarios["main"]
    (varied,) = [zipped for zipped in sweep(scenario)["zip"] if message_length._LENGTH in zipped]
    assert size in varied[message_length._LENGTH]
    source = "flow.data.application.parts.0.source"
    sets = [f"{source}.smallest={size}", f"{source}.largest={size}", "duration=20s", "transport.scheduler=rr"]
    changes = [word for change in sets for word in ("--set", change)]
    assert main(["run", str(scenario), *changes, "--qlog", "--out", str(tmp_path / "run")]) == 0
    taken = of_messages(tmp_path / "run" / "data-client.sqlog", size)
    assert len(taken) > 10 and set(taken.values()) == {packets}


def sweep(scenario: Path) -> dict[str, Any]:
    import tomllib

    return dict(tomllib.loads(scenario.read_text(encoding="utf-8"))["sweep"])


def of_messages(log: Path, size: int) -> dict[int, int]:
    """How many packets carried each message when it first left; the stream begins with a type of two bytes."""
    packets: Counter[int] = Counter()
    sent = 0
    for line in log.read_text(encoding="utf-8").rstrip("\n").split("\n"):
        event = json.loads(line.lstrip("\x1e"))
        for frame in event.get("data", {}).get("frames", []) if event.get("name") == "quic:packet_sent" else []:
            if frame["frame_type"] == "stream" and frame["stream_id"] == 6:
                start, end = (frame.get("offset", 0) - 2 + more for more in (0, frame["raw"]["length"]))
                # What is behind the end of what was sent is no retransmission.
                if end > sent:
                    packets.update(range(max(start, sent) // size, -(-end // size)))
                    sent = end
    return {message: number for message, number in packets.items() if (message + 1) * size <= sent}
