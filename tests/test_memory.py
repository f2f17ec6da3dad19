"""What hosts know of paths: read, changed and handed on."""

import quiclab
from quiclab import Scenario

SATELLITE = """
duration = "60 s"
[transport]
resume = "careful"
initial_max_data = "16 MB"
initial_max_stream_data_bidi_local = "16 MB"
[[link]]
name = "geo"
from = "server"
to = "client"
forward = { rate = "50 Mbit/s", delay = "300 ms", queue = "3.75 MB" }
backward = { rate = "10 Mbit/s", delay = "300 ms" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "20 MB" }
"""
SHORT = {"flow.get.application.size": "500 kB"}


def completion(run: quiclab.Run) -> float:
    return float(run.summary["connections"][0]["completion_s"])


def test_a_second_run_begins_with_what_the_first_one_knows() -> None:
    scenario = Scenario.from_text(SATELLITE)
    first = scenario.run()
    (entry,) = first.memory
    assert (entry["node"], entry["peer"], entry["protocol"]) == ("server", "client", "quic")
    assert "address" not in entry
    short = scenario.with_(SHORT)
    plain, resumed = completion(short.run()), completion(short.with_(memory=first.memory).run())
    assert 0.45 <= 1 - resumed / plain <= 0.65
    known = Scenario.from_text(short.with_(memory=first.memory).to_toml())
    assert completion(known.run()) == resumed
    assert completion(short.with_(memory=[{**entry, "age": "48 h"}]).run()) == plain
    farther = short.with_(memory=first.memory).with_({"memory.path-0.rtt": "2 s"})
    assert completion(farther.run()) == plain


def test_poison_is_retreated_from() -> None:
    scenario = Scenario.from_text(SATELLITE)
    (entry,) = scenario.run().memory
    run = scenario.with_(memory=[{**entry, "capacity": "100 MB"}]).run()
    events = run.table("event").to_pylist()
    phases = [row for row in events if row["event"] == "resume_phase"]
    assert any("safe_retreat" in str(row) for row in phases)
    assert Scenario.from_text(SATELLITE).with_({"transport.resume": "none"}).run().memory == []
