"""Playbacks as inputs of ITU-T P.1203, and its scores, with a stand-in for the package where it is not installed.

The stand-in has no model in it. It checks the form that the package documents (its README, and table 5 of P.1203), and
answers in the documented form. Where the package itself is installed, the last test asks it.
"""

import importlib.util
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import Command
from quiclab import p1203
from quiclab.explanations import video_quality
from quiclab.values.extras import install

STAND_IN = '''
"""What the package itu-p1203 documents, without its model."""

__version__ = "1.10.0"


class P1203Standalone:
    def __init__(self, input_report, debug=False, Pa=None, Pv=None, Pq=None, quiet=False):
        assert quiet is True
        self.report = input_report

    def calculate_complete(self, print_intermediate=False):
        assert print_intermediate is True
        report = self.report
        assert set(report) == {"IGen", "I11", "I13", "I23"}, report.keys()
        assert set(report["IGen"]) == {"displaySize", "device"} and report["IGen"]["device"] in ("pc", "mobile")
        common = {"codec", "start", "duration", "bitrate", "representation"}
        lasts = {}
        for track, keys in (("I11", common), ("I13", common | {"resolution", "fps"})):
            assert set(report[track]) == {"streamId", "segments"}
            at = 0.0
            for segment in report[track]["segments"]:
                assert set(segment) == keys, segment
                assert abs(segment["start"] - at) < 0.005, (segment, at)
                assert segment["duration"] > 0 and segment["bitrate"] > 0
                at = segment["start"] + segment["duration"]
            lasts[track] = at
        for segment in report["I13"]["segments"]:
            if segment["codec"] != "h264":
                raise ValueError("Unsupported codec: " + segment["codec"])
            width, height = map(int, segment["resolution"].split("x"))
            assert width * height > 0 and segment["fps"] > 0
        assert all(one["codec"] in ("mp2", "ac3", "aaclc", "heaac") for one in report["I11"]["segments"])
        stalling = report["I23"]["stalling"]
        # Otherwise the package moves all stalls by the position of the first.
        assert stalling[0][0] == 0
        assert all(0 <= position <= lasts["I13"] and length >= 0 for position, length in stalling)
        assert [one for one, _ in stalling] == sorted(one for one, _ in stalling)
        seconds = int(lasts["I13"])
        report["I13"]["segments"].clear()
        return {
            "O21": [4.5] * seconds, "O22": [3.5] * seconds, "O34": [3.75] * seconds,
            "O23": 5 - len(stalling) / 10, "O35": 3.25, "O46": 3.0, "mode": 0, "streamId": 0, "date": "today",
        }
'''

FILM = """
name = "film"
duration = "60 s"
[[link]]
name = "line"
from = "server"
to = "tv"
both = {{ rate = {rate}, delay = "20 ms" }}
[[flow]]
name = "film"
client = "tv"
server = "server"
application = {{ type = "video", {application} }}
"""
DROP = '{ type = "changes", steps = [["0 s", "4 Mbit/s"], ["8 s", "300 kbit/s"], ["20 s", "4 Mbit/s"]] }'
LADDER = 'type = "ladder", duration = "30 s", bitrates = ["300 kbit/s", "800 kbit/s", "2 Mbit/s"]'


def film(rate: str, application: str, **changes: Any) -> quiclab.Run:
    return quiclab.Scenario.from_text(FILM.format(rate=rate, application=application), changes).run()


def of(run: quiclab.Run) -> dict[str, Any]:
    found: dict[str, Any] = run.summary["connections"][0]["playback"]
    return found


@pytest.fixture(scope="module")
def stalled() -> quiclab.Run:
    """A player that does not adapt stalls when the rate drops."""
    application = f'presentation = {{ {LADDER}, variation = 0.3 }}, abr = {{ type = "fixed", bitrate = "2 Mbit/s" }}'
    return film(DROP, f"{application}, max_buffer = '6 s'")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the stand-in, which is found before any other."""
    folder = tmp_path / "stand-in"
    folder.mkdir()
    (folder / "itu_p1203.py").write_text(STAND_IN, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "itu_p1203"]:
        monkeypatch.delitem(sys.modules, name)
    yield folder
    sys.modules.pop("itu_p1203", None)


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is not installed, even if it is."""
    monkeypatch.setitem(sys.modules, "itu_p1203", None)


def test_inputs_are_what_was_played(stalled: quiclab.Run) -> None:
    """The numbers of the summary come from the simulator, and follow from the inputs."""
    inputs, summary = p1203.inputs(stalled), of(stalled)
    video = inputs["I13"]["segments"]
    assert [one["start"] for one in video] == [3.0 * at for at in range(10)]
    assert sum(one["duration"] for one in video) == summary["played_s"] == 30
    assert {one["bitrate"] for one in video} == {2000.0} and {one["representation"] for one in video} == {2}
    assert inputs["I11"]["segments"] == []
    loading, *stalls = inputs["I23"]["stalling"]
    assert loading == [0.0, summary["start_up_s"]]
    assert len(stalls) == summary["stalls"] > 0
    assert sum(length for _, length in stalls) == pytest.approx(summary["stalled_s"], abs=1e-5)
    # With nothing in the buffer, a stall is at the boundary of a segment.
    assert all(position % 3 == pytest.approx(0, abs=1e-5) for position, _ in stalls)
    json.dumps(inputs)


def test_bitrates_can_be_those_of_the_segments(stalled: quiclab.Run) -> None:
    sizes = [row["size_bytes"] for row in stalled.table("segment").to_pylist() if row["outcome"] == "complete"]
    video = p1203.inputs(stalled, bitrate="segment")["I13"]["segments"]
    assert [one["bitrate"] for one in video] == [round(size * 8 / 3000, 3) for size in sizes]
    assert len(set(sizes)) == 10


def test_switches_and_audio(package: Path) -> None:
    run = film(DROP, f'presentation = {{ {LADDER}, audio = ["128 kbit/s"], audio_segment = "2 s" }}, abr = "bba"')
    inputs, summary = p1203.inputs(run, "film", audio_codec="heaac"), of(run)
    video, audio = inputs["I13"]["segments"], inputs["I11"]["segments"]
    rates = [one["bitrate"] / 1000 for one in video]
    assert sum(rates) / len(rates) == pytest.approx(summary["bitrate_mean_mbps"], abs=1e-6)
    assert sum(one != after for one, after in itertools.pairwise(rates)) == summary["switches"] > 0
    assert [one["start"] for one in audio] == [2.0 * at for at in range(15)]
    assert {(one["codec"], one["bitrate"], one["duration"]) for one in audio} == {("heaac", 128.0, 2.0)}
    assert p1203.score(inputs).mos == 3.0


@pytest.mark.parametrize(("end", "shown_s"), [("until = '19500 ms'", 15.5), ("max_buffer = '6 s'", None)])
def test_segments_are_cut_where_playback_begins_and_ends(end: str, shown_s: float | None, package: Path) -> None:
    """From the middle of a segment to the middle of another one, or until the run ends in the midst of playback."""
    duration = "60 s" if shown_s else "15300 ms"
    run = film('"4 Mbit/s"', f"presentation = {{ {LADDER} }}, from = '4 s', {end}", duration=duration)
    video = p1203.inputs(run)["I13"]["segments"]
    assert (video[0]["start"], video[0]["duration"]) == (0, 2.0)
    assert {one["duration"] for one in video[1:-1]} == {3.0}
    assert sum(one["duration"] for one in video) == pytest.approx(of(run)["played_s"], abs=2e-4)
    assert shown_s is None or of(run)["played_s"] == shown_s
    assert video[-1]["duration"] < 3
    p1203.score(p1203.inputs(run))


def test_a_run_that_ends_in_a_stall(package: Path) -> None:
    """It began at 3 s of the media. A segment comes during the stall, too little to go on: it is never shown."""
    options = 'abr = { type = "fixed", bitrate = "2 Mbit/s" }, max_buffer = "6 s", resume = "6 s", from = "3 s"'
    rate = '{ type = "changes", steps = [["0 s", "4 Mbit/s"], ["8 s", "300 kbit/s"]] }'
    run = film(rate, f"presentation = {{ {LADDER} }}, {options}", duration="45 s")
    inputs, summary = p1203.inputs(run), of(run)
    assert summary["stalls"] == 1 and summary["stalled_s"] > 10
    (stall,) = (row for row in run.table("playback").to_pylist() if row["event"] == "stall")
    rows = [row for row in run.table("segment").to_pylist() if row["outcome"] == "complete"]
    assert rows[-1]["ended_s"] > stall["time_s"] and stall["position_s"] == summary["played_s"] + 3
    (position, length) = inputs["I23"]["stalling"][-1]
    assert position == pytest.approx(summary["played_s"], abs=1e-5)
    assert length == pytest.approx(summary["stalled_s"], abs=1e-5)
    assert sum(one["duration"] for one in inputs["I13"]["segments"]) == pytest.approx(summary["played_s"], abs=1e-5)
    p1203.score(inputs)


def test_a_live_playback_with_chunks(package: Path) -> None:
    """Playback begins before the first segment is complete, and is faster for a while."""
    options = 'latency = "3 s", chunk = "500 ms", start_up = "1 s", resume = "1 s"'
    run = film('"3 Mbit/s"', f"presentation = {{ {LADDER} }}, since = '10 s', {options}", duration="15 s")
    events = run.table("playback").to_pylist()
    assert "rate" in {row["event"] for row in events}
    inputs = p1203.inputs(run)
    shown = sum(one["duration"] for one in inputs["I13"]["segments"])
    ends = [*(event["time_s"] for event in events[1:]), run.summary["duration_s"]]
    steps = zip(events, ends, strict=True)
    assert shown == pytest.approx(sum(row["playback_rate"] * (end - row["time_s"]) for row, end in steps), abs=1e-3)
    p1203.score(inputs)


def test_resolutions(stalled: quiclab.Run) -> None:
    """Given ones, those of the scenario, or those of the ladder by bitrate."""
    assert p1203.inputs(stalled)["I13"]["segments"][0]["resolution"] == "960x540"
    given = p1203.inputs(stalled, resolutions=["320x180", "640x360", "1280x720"], fps=50)["I13"]["segments"][0]
    assert (given["resolution"], given["fps"]) == ("1280x720", 50)
    heights = f'presentation = {{ {LADDER}, heights = [234, 480, 1080] }}, until = "3 s", abr = "bba"'
    for at, size in enumerate(("416x234", "854x480", "1920x1080")):
        fixed = heights.replace('"bba"', f'{{ type = "fixed", bitrate = "{(300, 800, 2000)[at]} kbit/s" }}')
        (one,) = p1203.inputs(film('"4 Mbit/s"', fixed))["I13"]["segments"]
        assert one["resolution"] == size
    for mbps, size in ((0.23, "416x234"), (0.365, "640x360"), (1.999, "768x432"), (5.9, "1280x720"), (20, "1920x1080")):
        assert video_quality._resolution("film", {"bitrate_mbps": mbps}, None) == size


def test_a_run_folder_has_the_same_inputs(stalled: quiclab.Run, tmp_path: Path) -> None:
    stalled.save(tmp_path / "run", figure=False)
    assert p1203.inputs(quiclab.load(tmp_path / "run")) == p1203.inputs(stalled)


def test_scores_of_the_package(stalled: quiclab.Run, package: Path) -> None:
    inputs = p1203.inputs(stalled)
    before = json.dumps(inputs)
    score = p1203.score(inputs)
    assert json.dumps(inputs) == before
    assert (score.mos, score.audiovisual) == (3.0, 3.25)
    assert score.stalling == 5 - (1 + of(stalled)["stalls"]) / 10
    assert score.video_by_second == (3.5,) * 30 and score.audio_by_second == (4.5,) * 30
    assert score.audiovisual_by_second == (3.75,) * 30


def line(function: Any, *arguments: Any, **options: Any) -> str:
    """The one line of the error."""
    with pytest.raises(quiclab.Error) as error:
        function(*arguments, **options)
    text = str(error.value)
    assert len(text.splitlines()) == 1, text
    return text


def test_without_the_package_the_error_says_what_to_install(stalled: quiclab.Run, absent: None) -> None:
    told = line(p1203.score, p1203.inputs(stalled))
    assert told == f"quiclab.p1203: the package itu-p1203 is not installed: {install(p1203.PACKAGE)}"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('__version__ = "1.10.0"', '__version__ = "1.5.2"'), "itu-p1203 1.5.2 is too old, 1.6 or later"),
        (('__version__ = "1.10.0"', "import no_such_module"), "cannot be imported: No module named 'no_such_module'"),
        (('"O46": 3.0', '"O46": None'), "itu-p1203 refuses the inputs: TypeError"),
        (("assert quiet is True", "raise SystemExit('no duration')"), "refuses the inputs: SystemExit: no duration"),
        (("assert quiet is True", "raise ValueError('one\\ntwo')"), "refuses the inputs: ValueError: one"),
    ],
)
def test_a_package_that_cannot_be_used(
    change: tuple[str, str], words: str, stalled: quiclab.Run, package: Path
) -> None:
    (package / "itu_p1203.py").write_text(STAND_IN.replace(*change), encoding="utf-8")
    assert words in line(p1203.score, p1203.inputs(stalled))


def test_other_codecs_are_refused_by_the_package(stalled: quiclab.Run, package: Path) -> None:
    assert "Unsupported codec: vp9" in line(p1203.score, p1203.inputs(stalled, codec="vp9"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"flow": "tv"}, "no flow 'tv' that plays a video: film"),
        ({"resolutions": ["1280x720"]}, "1 resolutions: flow 'film' shows representation 2"),
        ({"resolutions": ["1280x720", "720p"]}, "resolutions: expected WIDTHxHEIGHT as in '1280x720', not '720p'"),
        ({"resolutions": "1280x720"}, "resolutions: expected a list"),
        ({"display": "0x1080"}, "display: expected WIDTHxHEIGHT"),
        ({"fps": 0}, "fps: expected frames per second above 0"),
        ({"fps": float("nan")}, "fps: expected"),
        ({"fps": "24"}, "fps: expected"),
        ({"audio_codec": "opus"}, "audio_codec: expected one of aaclc, heaac, ac3, mp2, not 'opus'"),
        ({"bitrate": "mean"}, "bitrate: expected one of declared, segment"),
        ({"device": "tv"}, "device: expected one of pc, mobile"),
    ],
)
def test_bad_arguments_cost_a_line(options: dict[str, Any], words: str, stalled: quiclab.Run) -> None:
    assert words in line(p1203.inputs, stalled, **options)


def test_playbacks_that_the_recommendation_does_not_cover(run: quiclab.Run) -> None:
    assert line(p1203.inputs, run) == "quiclab.p1203: the run plays no video"
    ladder = f"presentation = {{ {LADDER} }}"
    seeks = film('"4 Mbit/s"', f'{ladder}, seeks = [["5 s", "20 s"]]')
    assert "jumps in the media" in line(p1203.inputs, seeks)
    never = film('"4 Mbit/s"', ladder, duration="50 ms")
    assert "never showed a picture" in line(p1203.inputs, never)
    short = film('"4 Mbit/s"', ladder, duration="900 ms")
    assert "the model scores whole seconds" in line(p1203.inputs, short)
    few = film('"4 Mbit/s"', ladder, **{"record.rows": 2})
    assert "is not complete: record.rows is too low" in line(p1203.inputs, few)
    bare = quiclab.Scenario.from_text(FILM.format(rate='"4 Mbit/s"', application=ladder)).run(tables=False)
    assert "no table" in line(p1203.inputs, bare)


def test_two_players_need_a_name() -> None:
    flow = FILM[FILM.index("[[flow]]") :].replace('name = "film"', 'name = "other"')
    application = f"presentation = {{ {LADDER} }}"
    text = FILM.format(rate='"4 Mbit/s"', application=application) + flow.format(application=application)
    run = quiclab.Scenario.from_text(text).run()
    assert line(p1203.inputs, run) == "quiclab.p1203: which of the flows: film, other?"
    assert p1203.inputs(run, "other")["I13"]["segments"]


def test_the_command(command: Command, stalled: quiclab.Run, package: Path) -> None:
    stalled.save(command.folder / "run", figure=False)
    printed = command("video", "qoe", "run")
    assert printed.returncode == 0 and "QoE (lin) per segment" in printed.stdout and "P.1203" not in printed.stdout
    with_package = {"PYTHONPATH": f"{package}:{Path(quiclab.__file__).parents[1]}"}
    printed = command("video", "qoe", "run", "--p1203", env=with_package)
    assert printed.returncode == 0, printed.stderr
    (row,) = (row for row in printed.stdout.splitlines() if "P.1203 session (O.46)" in row)
    assert "3.00" in row
    (entry,) = json.loads(command("video", "qoe", "run", "--p1203", "--json", env=with_package).stdout)
    assert entry["p1203"]["mos"] == 3.0 and entry["qoe_lin"] == of(stalled)["qoe_lin"]
    sizes = "640x360, 960x540, 1920x1080"
    told = json.loads(command("video", "qoe", "run", "--inputs", "--resolutions", sizes, "--device", "mobile").stdout)
    assert told["film"] == p1203.inputs(stalled, resolutions=sizes.split(", "), device="mobile")
    for arguments, words in (
        (["run", "--connection", "tv"], "--connection tv: it plays no video: film"),
        (["run", "--inputs", "--fps", "-1"], "fps: expected"),
        (["nothing"], "there is no such run folder"),
    ):
        failed = command("video", "qoe", *arguments)
        assert failed.returncode == 2 and words in failed.stderr and len(failed.stderr.splitlines()) == 1


def test_the_command_without_the_package(command: Command, stalled: quiclab.Run, package: Path) -> None:
    stalled.save(command.folder / "run", figure=False)
    # A file of that name without a package in it is as good as none.
    (package / "itu_p1203.py").write_text("raise ModuleNotFoundError('', name='itu_p1203')", encoding="utf-8")
    failed = command(
        "video", "qoe", "run", "--p1203", env={"PYTHONPATH": f"{package}:{Path(quiclab.__file__).parents[1]}"}
    )
    assert failed.returncode == 2 and failed.stdout == ""
    # For the Python that runs, whose path depends on the folder of the command.
    assert failed.stderr.startswith("quiclab: quiclab.p1203: the package itu-p1203 is not installed: ")
    assert failed.stderr.endswith(f" -m pip install {p1203.PACKAGE}\n")


# Whoever has the package has one test more: it is on no registry, and its licence keeps it out of this project.
if importlib.util.find_spec("itu_p1203") is not None:

    def test_the_package_itself(stalled: quiclab.Run) -> None:
        """Scores are on the scale, one for each second; stalls and low resolutions cost quality."""
        inputs = p1203.inputs(stalled)
        score = p1203.score(inputs)
        assert len(score.video_by_second) == 30
        assert all(1 <= one <= 5 for one in (score.mos, score.audiovisual, score.stalling, *score.video_by_second))
        smooth = p1203.score({**inputs, "I23": {"streamId": 0, "stalling": [[0.0, 0.0]]}})
        assert smooth.mos > score.mos and smooth.stalling > score.stalling and smooth.audiovisual == score.audiovisual
        small = p1203.score(p1203.inputs(stalled, resolutions=["320x180"] * 3))
        assert small.audiovisual < score.audiovisual
