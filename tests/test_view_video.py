"""The row of segments in `quiclab view`, in a headless Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import quiclab
from chromium import Browser, browser
from quiclab import view
from quiclab.drawings.view.players import players
from test_view_page import READY, Figure

SCENARIO = """
duration = "60 s"
[[link]]
name = "line"
from = "server"
to = "tv"
both = { rate = "1 Mbit/s", delay = "20 ms" }
[[flow]]
name = "film"
client = "tv"
server = "server"
[flow.application]
type = "video"
presentation = { type = "ladder", duration = "12 s", audio = ["64 kbit/s"] }
abr = { type = "fixed", representation = 5 }
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("video") / "run"
    quiclab.Scenario.from_text(SCENARIO).run(qlog=True, out=folder)
    return folder


def test_players_are_those_of_the_tables(run: Path) -> None:
    of = quiclab.load(run).summary["connections"][0]["playback"]
    (film,) = players(run).values()
    assert len(film.stalls) == of["stalls"] >= 2
    assert sum(end - start for start, end in film.stalls) / 1e9 == pytest.approx(of["stalled_s"], abs=1e-5)
    assert [one["segment"] for one in film.segments if one["kind"] == "video"] == [0, 1, 2, 3]
    assert players(run.parent) == {}


def test_a_segment_leads_to_its_stream(chromium: Browser, run: Path) -> None:
    page = chromium.page()
    page.scheme("light")
    page.load(view.write(run).view, READY)
    figure = Figure(page)
    assert page.complaints == []
    titles = figure.value("figure.panels.map((panel) => panel.title)")
    assert titles.index("segments") == titles.index("queue (kB)") + 1
    (film,) = players(run).values()
    last = [one for one in film.segments if one["kind"] == "video"][-1]
    start = figure.value("figure.direction.player.segments.at(-1).asked") - film.segments[-1]["asked"]
    top, _ = figure.top("figure.segments")
    middle = figure.x((last["asked"] + last["ended"]) / 2 + start)
    said = figure.hover(middle, top + 8).splitlines()
    assert said[0] == "video, segment 3: complete"
    assert said[1].startswith("representation 5, 1.427 Mbit/s, ")
    assert said[2].endswith(f"stream {last['stream']}")
    # A click marks it and its stream.
    page.click(middle, top + 8)
    assert figure.value("figure.kept.segment.segment") == 3
    # Bars are in the colour of their representation; a stall shades every row below the overview.
    begin, end = film.stalls[-1]
    stalled, played = figure.x((begin + end) / 2 + start), figure.x(end + start + 200_000_000)
    window, height = figure.top("figure.panels.at(-1)")
    assert figure.pixel(stalled, window + height - 30) != figure.pixel(played, window + height - 30)
    above, _ = figure.top("figure.overview")
    assert figure.pixel(stalled, above + 2) == figure.pixel(played, above + 2)


def test_without_a_player_there_is_no_row(chromium: Browser, run: Path, tmp_path: Path) -> None:
    for path in run.glob("*.sqlog"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    page = chromium.page()
    page.load(view.write(tmp_path).view, READY)
    assert page.complaints == []
    assert "segments" not in Figure(page).value("figure.panels.map((panel) => panel.title)")
