"""The commands `quiclab video film` and `quiclab video play`: dash.js in a browser plays the video of a scenario."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import Command
from programs import needs, needs_a_player, needs_namespaces
from quiclab._quiclab import Error
from quiclab.engines.play import browser, dashjs, film, record, session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="gates are for Linux")

TV = """
name = "tv"
duration = "40 s"
[[link]]
name = "line"
from = "server"
to = "tv"
both = { rate = "3 Mbit/s", delay = "20 ms" }
[[flow]]
name = "film"
client = "tv"
server = "server"
[flow.application]
type = "video"
presentation = { type = "mpd", file = "film/film.mpd", sizes = "film/film.csv" }
start_up = "1 s"
resume = "1 s"
"""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a film of six seconds in three qualities, and a scenario that plays it."""
    needs("ffmpeg")
    folder = tmp_path_factory.mktemp("films")
    film.make(folder / "film", [200_000, 600_000, 1_500_000], duration_s=6, segment_s=1)
    (folder / "tv.toml").write_text(TV, encoding="utf-8")
    return folder


def test_a_film_has_the_bitrates_and_the_sizes_that_it_should(command: Command, films: Path) -> None:
    done = command("video", "film", "made", "--bitrates", "100,400", "--duration", "4", "--height", "90")
    assert done.returncode == 0, done.stderr
    made = command.folder / "made"
    lines = (made / "film.csv").read_text(encoding="utf-8").split()
    assert lines[0] == "representation,segment,bytes" and len(lines) == 1 + 2 * (1 + 2)
    sums = {"0": 0, "1": 0}
    for representation, segment, size in (line.split(",") for line in lines[1:]):
        name = f"init-stream{representation}" if segment == "init" else f"chunk-stream{representation}-{segment:0>5}"
        assert (made / f"{name}.m4s").stat().st_size == int(size)
        sums[representation] += int(size)
    for representation, bitrate in ("0", 100_000), ("1", 400_000):
        assert 0.7 < 8 * sums[representation] / 4 / bitrate < 1.3
    again = command("video", "film", "made")
    assert again.returncode == 2 and "made: exists already" in again.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--bitrates", "400,100"], "rising"),
        (["--bitrates", "400,x"], "expected numbers in kbit/s"),
        (["--bitrates", "1"], "10 kbit/s to 100 Mbit/s"),
        (["--duration", "1"], "a film lasts one segment to 3600 s"),
        (["--height", "10"], "36 to 2160 pixels"),
        (["--picture", "nothing.mp4"], "ffmpeg: "),
    ],
)
def test_a_film_that_cannot_be_made_leaves_nothing(command: Command, words: list[str], problem: str) -> None:
    needs("ffmpeg")
    done = command("video", "film", "none", *words)
    assert done.returncode == 2 and problem in done.stderr
    assert not [path for path in command.folder.iterdir() if "none" in path.name]


def test_dash_js_plays_a_video_through_the_network_of_a_scenario(command: Command, films: Path) -> None:
    needs_a_player()
    done = command("video", "play", str(films / "tv.toml"), "--out", "played", "--pcap", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (connection,) = told["connections"]
    of = connection["playback"]
    assert connection["completed"] and of["start_up_s"] > 0.04 and of["segments_played"] == 6
    assert told["emulation"]["gates"]["server"]["entered"] > 100
    run = quiclab.load(command.folder / "played")
    rows = run.table("segment").to_pylist()
    media = [row for row in rows if row["segment"] is not None]
    sizes = {
        (int(representation), None if segment == "init" else int(segment) - 1): int(size)
        for representation, segment, size in (
            line.split(",") for line in (films / "film" / "film.csv").read_text(encoding="utf-8").split()[1:]
        )
    }
    assert sorted({row["segment"] for row in media}) == [0, 1, 2, 3, 4, 5]
    for row in rows:
        assert row["kind"] == "video" and row["connection"] == "film"
        if row["outcome"] == "complete":
            assert row["size_bytes"] == sizes[row["representation"], row["segment"]]
            # Two ways of 20 ms: the clock of the browser is that of the world.
            assert row["ended_s"] - row["asked_s"] > 0.038
            assert row["asked_s"] <= row["first_byte_s"] <= row["ended_s"]
    events = run.table("playback").to_pylist()
    assert [events[0]["event"], events[-1]["event"]] == ["start", "end"]
    assert events[-1]["position_s"] == pytest.approx(6.0, abs=0.1)
    assert all(event["bitrate_mbps"] in (0.2, 0.6, 1.5) for event in events)
    # Nothing but QUIC: there is no packet of TCP in the capture, and the figure and the scenario are there.
    for name in ("capture.pcapng", "figure.png"):
        assert (command.folder / "played" / name).stat().st_size > 10_000
    again = command("plot", "played", "--kind", "playback", "--out", "again.png")
    assert again.returncode == 0, again.stderr
    assert "P.1203" not in command("video", "qoe", "played").stdout
    # The folder has the scenario as it is simulated.
    simulated = command("run", "played/scenario.toml", "--out", "simulated", "--json")
    assert simulated.returncode == 0, simulated.stderr


def test_a_live_presentation_is_played_as_far_behind_as_it_should(command: Command, films: Path) -> None:
    needs_a_player()
    words = ["--set", "flow.film.application.latency=2 s", "--set", "flow.film.application.since=3 s", "--json"]
    done = command("video", "play", str(films / "tv.toml"), "--out", "played", *words)
    assert done.returncode == 0, done.stderr
    (connection,) = json.loads(done.stdout)["connections"]
    # The film of 6 s has been filmed for 3 s, and is played from second 1 on.
    assert connection["completed"] and connection["playback"]["latency_mean_s"] > 1
    run = quiclab.load(command.folder / "played")
    media = [
        row for row in run.table("segment").to_pylist() if row["outcome"] == "complete" and row["segment"] is not None
    ]
    # A busy machine begins later, with a later segment.
    segments = {row["segment"] for row in media}
    assert segments <= {1, 2, 3, 4, 5} and segments == set(range(min(segments), 6))
    begins = media[0]["asked_s"]
    for row in media:
        # A segment of a second exists when it was filmed; the player began when 3 s were, or later.
        assert row["asked_s"] - begins > row["segment"] + 1 - 3 - 1.5
    start = run.table("playback").to_pylist()[0]
    assert start["event"] == "start" and 0.9 < start["position_s"] < 6 and start["latency_s"] > 1


def test_a_video_that_is_longer_than_the_scenario_ends_with_it(command: Command, films: Path) -> None:
    needs_a_player()
    words = ["--set", "duration=12 s", "--set", "link.line.both.rate=60 kbit/s", "--json"]
    done = command("video", "play", str(films / "tv.toml"), "--out", "played", *words)
    assert done.returncode == 0, done.stderr
    (connection,) = json.loads(done.stdout)["connections"]
    assert not connection["completed"] and connection["completion_s"] is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"flow.film.application": {"type": "bulk", "size": "1 MB"}}, "expected one flow with application"),
        ({"flow.film.application.presentation": "ladder"}, "has no pictures; expected presentation = { type = "),
        ({"flow.film.application.abr": "mpc"}, "dash.js has no rate adaptation 'mpc': expected dynamic, throughput"),
        ({"flow.film.application.seeks": [["1 s", "3 s"]]}, "the option seeks is for a simulated player only"),
        ({"flow.film.application.pace": 1.5}, "the option pace is for a simulated player only"),
        ({"flow.film.protocol": "tcp", "flow.film.application.over": "http2"}, "served over HTTP/3"),
    ],
)
def test_what_cannot_be_played_is_said_before_anything_runs(films: Path, change: dict[str, Any], problem: str) -> None:
    scenario = quiclab.Scenario.from_file(films / "tv.toml", change)
    with pytest.raises(Error, match="flow") as caught:
        session.plan(scenario)
    assert problem in str(caught.value) and "\n" not in str(caught.value)


def test_a_plan_takes_what_the_flow_says(films: Path) -> None:
    changes = {
        "transport.controller": "bbr3",
        "transport.initial_window": 32,
        "flow.film.application.max_buffer": "13 s",
        "flow.film.application.abr": {"type": "fixed", "bitrate": "1 Mbit/s"},
    }
    planned = session.plan(
        quiclab.Scenario.from_file(films / "tv.toml", changes), settings={"streaming": {"abr": {"x": 1}}}
    )
    assert (planned.client, planned.server, planned.left_out) == ("tv", "server", [])
    assert [option.partition("=")[0] for option in planned.transport] == [
        "transport.controller",
        "transport.initial_window",
    ]
    streaming = planned.dashjs["streaming"]
    assert streaming["buffer"]["bufferTimeDefault"] == 12
    assert streaming["abr"]["x"] == 1 and streaming["abr"]["autoSwitchBitrate"] == {"audio": False, "video": False}
    assert streaming["abr"]["initialBitrate"]["video"] == 600
    assert 'kind = "gate"' in planned.gated.to_toml() and "[[flow]]" not in planned.gated.to_toml()
    with pytest.raises(Error, match="--flow other: it plays no video: expected one of film"):
        session.plan(quiclab.Scenario.from_file(films / "tv.toml"), "other")


def told(what: str, at: float, position: float, buffer: float, rate: float = 1.0, **more: Any) -> str:
    one = {"what": what, "at_s": 1000 + at, "position_s": position, "buffer_s": buffer, "rate": rate}
    return json.dumps({**one, "latency_s": None, **more}) + "\n"


def download(what: str, at: float, segment: int, level: int, position: float, buffer: float, **more: Any) -> str:
    of = {"kind": "video", "is_media": True, "segment": segment, "starts_s": 2.0 * segment, "duration_s": 2.0}
    rate = {"representation": level, "bitrate_bps": (500_000, 1_000_000)[level], "url": f"{segment}/{level}"}
    more = {"estimate_mbps": None, "track_s": buffer, **more}
    return told(what, at, position, buffer, 1.0, **of, **rate, **more)


def test_what_a_player_tells_becomes_tables_and_numbers(tmp_path: Path) -> None:
    """Two segments of 2 s, the second given up and asked for again; a stall of one second before it, a switch at it."""
    path = tmp_path / "told"
    text = [
        told("begins", 1.0, 0, 0, 0),
        download("asked", 1.0, 0, 0, 0, 0),
        download("complete", 1.5, 0, 0, 0, 0, first_byte_s=1001.2, ended_s=1001.5, bytes=125_000),
        told("playing", 1.6, 0, 2.0),
        download("asked", 1.7, 1, 0, 0.1, 1.9),
        download("abandoned", 2.6, 1, 0, 1.0, 1.0, bytes=1000),
        download("asked", 2.6, 1, 1, 1.0, 1.0, estimate_mbps=0.8),
        told("waiting", 3.6, 2.0, 0.0, 0),
        download("complete", 4.5, 1, 1, 2.0, 0, first_byte_s=1003.0, ended_s=1004.5, bytes=250_000),
        told("playing", 4.6, 2.0, 2.0),
        told("position", 5.6, 3.0, 1.0),
        told("ended", 6.6, 4.0, 0.0, 0),
        '{"what": "cut o',
    ]
    path.write_text("".join(text), encoding="utf-8")
    found = record.read(path, 1000.0, 30.0)
    assert found is not None and found.latencies == [] and found.has_started and found.has_ended
    assert [(row["outcome"], row["received_bytes"], row["size_bytes"]) for row in found.segments] == [
        ("complete", 125_000, 125_000),
        ("abandoned", 1000, None),
        ("complete", 250_000, 250_000),
    ]
    assert [row["buffer_after_s"] for row in found.segments] == [2.0, 1.0, 2.0]
    events = [(event["event"], round(event["time_s"], 6), event["bitrate_mbps"]) for event in found.events]
    assert events == [
        ("start", 1.6, 0.5),
        ("stall", 3.6, 0.5),
        ("resume", 4.6, 1.0),
        ("switch", 4.6, 1.0),
        ("end", 6.6, 1.0),
    ]
    numbers = found.numbers()
    expected = {"start_up_s": 0.6, "stalls": 1, "stalled_s": 1.0, "played_s": 4.0, "bitrate_mean_mbps": 0.75}
    expected |= {"stall_ratio": 0.2, "switches": 1, "segments_played": 2, "abandoned": 1, "wasted_bytes": 1000}
    # Two segments: 0.5 + 1.0 less 4.3 for the second of stall, less 0.5 for the switch.
    expected |= {"qoe_lin": (1.5 - 4.3 - 0.5) / 2, "standing_ratio": 1 - 4.0 / 5.6}
    assert {key: numbers[key] for key in expected} == pytest.approx(expected)


def test_latencies_of_a_live_player_are_weighted_by_time(tmp_path: Path) -> None:
    path = tmp_path / "told"
    text = [
        download("asked", 0.5, 2, 0, 4.0, 0),
        download("complete", 0.9, 2, 0, 4.0, 0, first_byte_s=1000.6, ended_s=1000.9, bytes=125_000),
        told("playing", 1.0, 4.5, 1.5, latency_s=4.0),
        told("position", 2.0, 5.5, 0.5, latency_s=3.0),
        told("ended", 2.5, 6.0, 0.0, 0, latency_s=3.0),
    ]
    path.write_text("".join(text), encoding="utf-8")
    found = record.read(path, 1000.0, 30.0)
    assert found is not None and [number for pair in found.latencies for number in pair] == pytest.approx(
        [4.0, 1.0, 3.0, 0.5]
    )
    numbers = found.numbers()
    assert numbers["latency_mean_s"] == pytest.approx(5.5 / 1.5) and numbers["latency_p50_s"] == pytest.approx(4.0)
    # Only what was shown of the segment counts.
    assert [round(seconds, 6) for _, _, seconds in found.shown()] == [1.5]


def test_a_player_that_told_nothing_has_no_record(tmp_path: Path) -> None:
    assert record.read(tmp_path / "nothing", 0.0, 1.0) is None
    (tmp_path / "told").write_text("", encoding="utf-8")
    assert record.read(tmp_path / "told", 0.0, 1.0) is None


def test_programs_that_are_missing_are_named(
    command: Command, films: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Error, match="npm is missing to fetch it: install npm, or give it with --dashjs"):
        dashjs.bundle()
    with pytest.raises(Error, match="the program ffmpeg is missing"):
        film.make(tmp_path / "film")
    assert browser.find() is None


def test_a_browser_that_ends_is_reported_and_leaves_nothing(command: Command, films: Path) -> None:
    needs_namespaces()
    (command.folder / "dash.js").write_text("", encoding="utf-8")
    words = ["--browser", shutil.which("false") or "false", "--dashjs", "dash.js", "--out", "played"]
    done = command("video", "play", str(films / "tv.toml"), *words)
    assert done.returncode == 1
    assert "player: the browser exited with 1" in done.stderr
