"""The panels of a playback: what they draw is what the tables `segment` and `playback` have."""

from typing import Any

import numpy as np
import pytest

import quiclab
from quiclab.drawings.plots.inside import outside
from quiclab.drawings.plots.video import Playback, playback_of
from quiclab.drawings.plots.view import views

LADDER = 'type = "ladder", duration = "60 s", variation = 0.3'


def scenario(rate: str, application: str, rest: str = "") -> str:
    return f"""
duration = "100 s"
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
{rest}
"""


DROP = '{ type = "changes", steps = [["0 s", "6 Mbit/s"], ["20 s", "400 kbit/s"], ["50 s", "4 Mbit/s"]] }'
BESIDE = '[[flow]]\nname = "get"\nclient = "tv"\nserver = "server"\napplication = { type = "bulk", size = "1 MB" }'
SEEKS = '[["2 s", "8 s"], ["12 s", "19 s"], ["40 s", "45 s"]]'


@pytest.fixture(scope="module")
def film() -> quiclab.Run:
    """Video and audio over a rate that drops, with jumps: out of the buffer, within it, and out of it."""
    presentation = f'presentation = {{ {LADDER}, audio = ["128 kbit/s"] }}'
    return quiclab.Scenario.from_text(scenario(DROP, f"{presentation}, seeks = {SEEKS}", BESIDE)).run()


@pytest.fixture(scope="module")
def live() -> quiclab.Run:
    options = 'latency = "3 s", chunk = "500 ms", start_up = "1 s", resume = "1 s"'
    return quiclab.Scenario.from_text(
        scenario('"3 Mbit/s"', f"presentation = {{ {LADDER} }}, {options}", BESIDE), {"duration": "20 s"}
    ).run()


def playback(run: quiclab.Run) -> Playback:
    found = playback_of(views(run, "film")[0])
    assert found is not None
    return found


def line(axes: Any, label: str) -> tuple[Any, Any]:
    (found,) = (line for line in axes.lines if line.get_label() == label)
    return np.asarray(found.get_xdata(), dtype=float), np.asarray(found.get_ydata(), dtype=float)


def labels(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def bands(axes: Any, label: str) -> list[tuple[float, float]]:
    some = [patch for patch in axes.patches if patch.get_label().strip("_").startswith(label)]
    return [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in some]


def test_the_figure_has_its_panels(film: quiclab.Run, live: quiclab.Run, run: quiclab.Run) -> None:
    figure = film.plot(kind="playback")
    # The download beside it plays nothing, and has no column.
    assert [axes.get_ylabel() for axes in figure.axes] == ["bitrate (Mbit/s)", "buffer (s)", "throughput (Mbit/s)"]
    assert not outside(figure)
    figure = live.plot(kind="playback")
    assert [axes.get_ylabel() for axes in figure.axes][3:] == ["latency (s)"]
    assert not outside(figure)
    with pytest.raises(quiclab.Error, match="no connection plays a video"):
        run.plot(kind="playback")
    # The default figure has quality and buffer above the others, and says what plays nothing.
    figure = film.plot()
    assert [axes.get_ylabel() for axes in figure.axes][:4:2] == ["bitrate (Mbit/s)", "buffer (s)"]
    assert [[text.get_text() for text in axes.texts] for axes in figure.axes[1:4:2]] == [["plays no video"]] * 2
    assert len(figure.axes) == 2 * 6
    assert not outside(figure)
    assert len(film.plot(connection="get").axes) == 4


def test_quality_is_that_of_the_tables(film: quiclab.Run) -> None:
    axes = film.plot(kind="playback").axes[0]
    times, shown = line(axes, "shown")
    rows = film.table("playback").to_pylist()
    assert list(times) == [row["time_s"] for row in rows]
    assert [value for value in shown if value == value] == [
        row["bitrate_mbps"] for row in rows if row["bitrate_mbps"] is not None and row["event"] != "end"
    ]
    segments = [row for row in film.table("segment").to_pylist() if row["kind"] == "video"]
    bars = line(axes, "download")
    complete = [row for row in segments if row["outcome"] == "complete"]
    assert [*bars[0][::3]] == [row["asked_s"] for row in complete]
    assert [*bars[0][1::3]] == [row["ended_s"] for row in complete]
    assert [*bars[1][::3]] == [row["bitrate_mbps"] for row in complete]
    for outcome in ("abandoned", "cancelled"):
        some = [row for row in segments if row["outcome"] == outcome]
        assert some
        assert list(line(axes, f"{outcome} ({len(some)})")[0]) == [row["ended_s"] for row in some]


def test_the_buffer_is_that_of_both_tables(film: quiclab.Run) -> None:
    axes = film.plot(kind="playback").axes[1]
    assert labels(axes) == ["start-up, after seek", *labels(axes)[1:2], "video", "audio", "seek"]
    rows = film.table("playback").to_pylist()
    for kind in ("video", "audio"):
        times, levels = line(axes, kind)
        assert (np.diff(times) >= 0).all()
        # It falls as fast as playback goes on, and rises only at once.
        steps, changes = np.diff(times), np.diff(levels)
        assert (changes[steps > 0] <= 1e-9).all()
        assert (changes[steps > 0] >= -steps[steps > 0] - 1e-6).all()
        points = list(zip(times, levels, strict=True))
        for row in film.table("segment").to_pylist():
            if row["kind"] == kind and row["segment"] is not None:
                assert (row["asked_s"], row["buffer_before_s"]) in points
                if row["outcome"] == "complete":
                    # Just before its end the media of the segment were missing.
                    (at, *_) = (
                        at for at, point in enumerate(points) if point == (row["ended_s"], row["buffer_after_s"])
                    )
                    jump = row["buffer_after_s"] - points[at - 1][1]
                    assert 0 < jump <= row["duration_s"] + 1e-6
        # What is predicted between the measurements is what was measured.
        at_events = [max(level for time, level in points if time == row["time_s"]) for row in rows]
        assert all(level >= row["buffer_s"] - 1e-6 for level, row in zip(at_events, rows, strict=True))
    seeks: Any = axes.collections[-1]
    assert list(seeks.get_segments()[0][:, 0]) == [rows_of(rows, "seek")[0]] * 2


def rows_of(rows: list[dict[str, Any]], event: str) -> list[float]:
    return [row["time_s"] for row in rows if row["event"] == event]


def test_spans_are_those_of_the_summary(film: quiclab.Run) -> None:
    of = film.summary["connections"][0]["playback"]
    assert of["stalls"] >= 1
    for axes in film.plot(kind="playback").axes[:2]:
        spans = bands(axes, "stall")
        assert len(spans) == of["stalls"]
        assert sum(end - start for start, end in spans) == pytest.approx(of["stalled_s"], abs=1e-5)
    waits = bands(film.plot(kind="playback").axes[1], "start-up")
    found = playback(film)
    assert waits[0][0] == found.asked_s
    assert sum(end - start for start, end in waits[1:]) == pytest.approx(of["seeking_s"], abs=1e-5)
    # The jump within the buffer costs no wait.
    assert (len(found.seeks()), len(waits)) == (3, 3)


def test_throughput_is_that_of_the_downloads(film: quiclab.Run) -> None:
    axes = film.plot(kind="playback").axes[2]
    assert labels(axes) == ["capacity of line forward", "downloads of video", "downloads of audio", "estimate"]
    complete = [
        row
        for row in film.table("segment").to_pylist()
        if row["kind"] == "video" and row["outcome"] == "complete" and row["segment"] is not None
    ]
    (bars,) = (found for found in axes.collections if found.get_label() == "downloads of video")
    corners = [np.asarray(path.vertices, dtype=float) for path in bars.get_paths()]
    drawn = sorted((bar[:, 0].min(), bar[:, 0].max(), bar[:, 1].max()) for bar in corners)
    told = [
        (row["first_byte_s"], row["ended_s"], row["size_bytes"] * 8e-6 / (row["ended_s"] - row["first_byte_s"]))
        for row in complete
    ]
    assert drawn == [pytest.approx(one) for one in told]
    # No download is faster than the line.
    assert max(height for _, _, height in drawn) < 6.0
    times, values = line(axes, "estimate")
    rows = [row for row in film.table("segment").to_pylist() if row["kind"] == "video" and row["estimate_mbps"]]
    assert list(times) == [row["asked_s"] for row in rows]
    assert list(values) == [row["estimate_mbps"] for row in rows]


def test_latency_is_straight_between_events(live: quiclab.Run) -> None:
    axes = live.plot(kind="playback").axes[3]
    assert labels(axes) == ["latency", "target"]
    times, values = line(axes, "latency")
    rows = [row for row in live.table("playback").to_pylist() if row["latency_s"] is not None]
    assert list(times[::2]) == [row["time_s"] for row in rows[:-1]]
    assert list(values[::2]) == [row["latency_s"] for row in rows[:-1]]
    # Each piece ends where the next event says.
    assert list(values[1::2]) == pytest.approx([row["latency_s"] for row in rows[1:]], abs=1e-5)
    assert line(axes, "target")[1][0] == 3.0


def test_without_the_tables_there_is_no_panel() -> None:
    text = scenario('"4 Mbit/s"', f"presentation = {{ {LADDER} }}")
    run = quiclab.Scenario.from_text(
        text, {"duration": "3 s", "record.tables": ["connection", "rate", "segment"]}
    ).run()
    assert len(run.plot().axes) == 4
    with pytest.raises(quiclab.Error, match="no tables segment and playback"):
        run.plot(kind="playback")
