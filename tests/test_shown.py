"""How scenarios, runs and sweeps show themselves, as text and in notebooks: complete, escaped, of bounded size."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import quiclab
from conftest import SCENARIO, many_short_runs

MARKUP = '<img src=x onerror="alert(1)">'


class Cells(HTMLParser):
    """The tables of a page, as rows of texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def test_a_scenario_shows_what_it_describes() -> None:
    scenario = quiclab.Scenario.from_text(SCENARIO)
    rows = {row[0]: row[1] for row in Cells(scenario._repr_html_()).rows}
    assert all(rows[subject].startswith(text) for subject, text in scenario.describe() if subject.startswith("link"))


def test_a_run_shows_its_numbers(run: quiclab.Run, saved: Path) -> None:
    (connection,) = run.summary["connections"]
    text = repr(run)
    assert text.startswith("<quiclab.Run of 'bulk', seed 1")
    assert f"{connection['goodput_mbps']:.3f} Mbit/s, completed in {connection['completion_s']:.3f} s" in text
    rows = {row[0]: row[1] for row in Cells(run._repr_html_()).rows}
    assert rows["goodput"] == f"{connection['goodput_mbps']:.3f} Mbit/s"
    assert rows["packets lost"] == str(connection["packets_lost"])
    again = quiclab.load(saved)
    assert str(saved) in repr(again) and str(saved) in again._repr_html_()


def test_a_run_that_was_not_completed_says_so() -> None:
    run = quiclab.Scenario.from_text(SCENARIO).with_(duration="100 ms").run(tables=False)
    assert "not completed" in repr(run) and "not completed" in run._repr_html_()
    assert "without tables" in run._repr_html_()


def test_a_sweep_shows_what_varies_and_the_means() -> None:
    sweep = quiclab.sweep(quiclab.Scenario.from_text(many_short_runs(3)))
    assert repr(sweep).split("\n")[1:] == ["  transport.ack_ratio: 1, 4, 10", "  link.cell.delay: 10 ms, 20 ms"]
    rows = Cells(sweep._repr_html_()).rows
    assert ["transport.ack_ratio", "1, 4, 10"] in rows
    (head,) = (row for row in rows if row[0] == "ack_ratio")
    at = next(at for at, name in enumerate(head) if name.endswith("goodput_mbps"))
    means = sweep.means("goodput_mbps").to_pylist()
    assert sweep.means("goodput_mbps", by="ack_ratio") == sweep.means("goodput_mbps", by=["ack_ratio"])
    shown = rows[rows.index(head) + 1 :]
    assert [row[at].split(" ")[0] for row in shown] == [f"{row['mean']:.4g}" for row in means]


def test_a_sweep_shows_failures() -> None:
    sweep = quiclab.Sweep(Path("nowhere"), {**INFO, "runs": 0, "combinations": 0, "failures": FAILURES, "failed": 9})
    html = sweep._repr_html_()
    assert "run 1 failed: it &lt;broke&gt;" in html and "and 6 more failures" in html and "9 failed" in repr(sweep)


INFO = {"scenario": "s", "runs": 1, "repetitions": 1, "parameters": [], "series": [], "failures": []}
FAILURES = [{"run": run, "repetition": 1, "seed": 1, "values": {}, "error": "it <broke>"} for run in range(1, 10)]


@pytest.mark.parametrize("count", [1, 10_000])
def test_what_is_shown_does_not_grow(count: int, run: quiclab.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (connection,) = run.summary["connections"]
    many = quiclab.Run({**run.summary, "connections": [connection] * count}, SCENARIO, {})
    assert len(many._repr_html_()) < 60_000 and len(repr(many)) < 1_000
    values = [str(value) for value in range(count)]
    parameters = [{"path": "transport.ack_ratio", "column": "transport.ack_ratio", "values": values}] * count
    sweep = quiclab.Sweep(Path("nowhere"), {**INFO, "runs": 0, "parameters": parameters})
    assert len(repr(sweep)) < 4_000 and len(sweep._repr_html_()) < 20_000


def test_a_sweep_of_many_runs_reads_the_first_ones(tmp_path: Path) -> None:
    scenario = quiclab.Scenario.from_text(SCENARIO).with_({"duration": "20 ms", "sweep.repetitions": 30})
    varied = scenario.with_({"sweep.seed": list(range(1, 31)), "sweep.repetitions": 1})
    sweep = quiclab.sweep(varied, out=tmp_path / "sweep")
    assert "and 20 more combinations" in sweep._repr_html_()
    assert not sweep._tables, "the table of all runs is not read"
    assert len(sweep._first(10)) == 10


def test_names_of_files_of_others_are_text(run: quiclab.Run) -> None:
    (connection,) = run.summary["connections"]
    summary = {**run.summary, "scenario": MARKUP, "connections": [{**connection, "name": MARKUP}]}
    info = {**INFO, "scenario": MARKUP, "runs": 0, "parameters": [{"path": MARKUP, "column": "x", "values": [MARKUP]}]}
    other = quiclab.Run(summary, SCENARIO, {MARKUP: Path("a file that was removed")})
    for html in (other._repr_html_(), quiclab.Sweep(Path("nowhere"), info)._repr_html_()):
        assert "&lt;img" in html
        assert Cells(html).tags <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}


def test_no_colour_is_fixed(run: quiclab.Run) -> None:
    """On dark pages and light ones the text has the colour of the page."""
    html = quiclab.Scenario.from_text(SCENARIO)._repr_html_() + run._repr_html_()
    assert not re.search(r"background|(?<!-)color: (?!inherit)|#[0-9a-f]{3}", html)
