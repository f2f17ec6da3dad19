"""What web pages are drawn from, as Python sees it."""

from array import array
from pathlib import Path

import pytest

import quiclab

MODEL = Path(quiclab.__file__).parent / "papers/ns3/web_model.scenario.toml"


def test_draws_are_doubles_by_quantity_and_the_same_every_time() -> None:
    scenario = quiclab.Scenario.from_file(MODEL)
    drawn = scenario.page_draws("page", 1000)
    assert list(drawn) == ["main-size", "main-count", "embedded-size", "embedded-count", "reading"]
    sizes = array("d", drawn["main-size"])
    assert len(sizes) == 1000
    assert 0 < min(sizes) < 1000 < max(sizes) <= 8e6
    assert drawn == quiclab.Scenario.from_file(MODEL).page_draws("page", 1000)
    assert drawn["reading"] != quiclab.Scenario.from_file(MODEL, {"seed": 2}).page_draws("page", 1000)["reading"]


def test_draws_follow_the_options_of_the_model() -> None:
    small = quiclab.Scenario.from_file(
        MODEL, {"flow.page.application.page": {"type": "ns3", "embedded_size_max": "1 kB"}}
    )
    assert max(array("d", small.page_draws("page", 1000)["embedded-size"])) <= 1000


def test_what_has_no_pages_is_refused() -> None:
    scenario = quiclab.Scenario.from_file(MODEL)
    with pytest.raises(quiclab.RunError, match="no flow has this name"):
        scenario.page_draws("paper", 1)
    bulk = scenario.with_({"flow.page.application": {"type": "bulk", "size": "1 kB"}})
    with pytest.raises(quiclab.RunError, match="has no web pages"):
        bulk.page_draws("page", 1)


def test_a_wrong_archive_is_told_with_file_and_entry(tmp_path: Path) -> None:
    archive = tmp_path / "mine.har"
    archive.write_text('{"log": {"version": "1.2", "entries": [{"request": {"url": 3}, "response": {"status": 200}}]}}')
    with pytest.raises(quiclab.ScenarioError, match=r"mine\.har, entry 1: request\.url is 3; expected text"):
        quiclab.Scenario.from_file(MODEL, {"flow.page.application.page": {"type": "har", "file": str(archive)}})
