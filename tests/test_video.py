"""The application `video` as a scenario has it: versions of HTTP, cancelled downloads, live chunks."""

from pathlib import Path

import pytest

import quiclab

SCENARIO = """
duration = "100 s"
[tcp]
tls = "tls1.3"
[[link]]
name = "line"
from = "server"
to = "tv"
both = { rate = "4 Mbit/s", delay = "20 ms" }
[[flow]]
name = "film"
client = "tv"
server = "server"
application = { type = "video", presentation = { type = "ladder", duration = "60 s" } }
"""
VERSIONS = [("http1.1", "tcp"), ("http2", "tcp"), ("http3", "quic")]


def play(**changes: object) -> quiclab.Run:
    application = {f"flow.film.application.{name}": value for name, value in changes.items() if name != "protocol"}
    protocol = {"flow.film.protocol": changes["protocol"]} if "protocol" in changes else {}
    return quiclab.Scenario.from_text(SCENARIO, {**protocol, **application}).run()


@pytest.mark.parametrize(("over", "protocol"), VERSIONS)
def test_many_downloads_can_be_cancelled(over: str, protocol: str) -> None:
    """Over HTTP/1.1 each of them costs a connection."""
    seeks = [[f"{at} s", f"{20 if at % 2 else 40} s"] for at in range(1, 11)]
    # Segments that take longer than the time between two seeks.
    abr = {"type": "fixed", "representation": 7}
    run = play(over=over, protocol=protocol, seeks=seeks, abr=abr)
    (film,) = run.summary["connections"]
    rows = run.table("segment").to_pylist()
    assert sum(row["outcome"] == "cancelled" for row in rows) == 10
    assert film["completion_s"] is not None
    assert film["playback"]["played_s"] == pytest.approx(20.0, abs=1e-6)
    assert film["playback"]["wasted_bytes"] == sum(row["received_bytes"] for row in rows[:10])


@pytest.mark.parametrize(("over", "protocol"), VERSIONS)
def test_chunks_that_were_filmed_before_the_run_are_there(over: str, protocol: str) -> None:
    live = {"latency": "3 s", "chunk": "500 ms", "start_up": "1 s", "resume": "1 s", "until": "70 s", "abr": "fixed"}
    presentation = {"type": "ladder", "duration": "2 min", "segment": "2 s"}
    # At 0 s, three of the four chunks of the segment from 60 to 62 s exist.
    run = play(over=over, protocol=protocol, presentation=presentation, since="61.5 s", **live)
    first, second, *others = run.table("segment").to_pylist()
    assert (first["segment"], second["segment"]) == (29, 30)
    assert first["ended_s"] < 0.5
    # The last one exists at 0.5 s. It has half a second of media, and a quarter of the bytes.
    assert second["first_byte_s"] < 0.5 < second["ended_s"] < 0.8
    for row in others[:-1]:
        start = 2 * row["segment"] - 61.5
        assert row["asked_s"] >= start + 0.5
        assert row["ended_s"] >= start + 2.0
    assert run.summary["connections"][0]["playback"]["stalls"] == 0


def test_a_sweep_has_columns_of_playbacks(tmp_path: Path) -> None:
    file = tmp_path / "film.toml"
    file.write_text(SCENARIO + '[sweep]\nflow.film.application.abr = ["bola", "bba"]\n', encoding="utf-8")
    sweep = quiclab.sweep(file)
    (abr,) = sweep.parameters
    for row in sweep.runs.to_pylist():
        (film,) = quiclab.Scenario.from_text(SCENARIO, {abr: row[abr]}).run(row["seed"]).summary["connections"]
        of = {key: row[f"connection.film.playback.{key}"] for key in film["playback"]}
        assert of == film["playback"]
    # By the end of its name, as charts take it.
    assert [row[abr] for row in sweep.means("qoe_lin").to_pylist()] == ["bola", "bba"]
    assert sweep.plot(x="application.abr", y="bitrate_mean_mbps", kind="bar").axes
