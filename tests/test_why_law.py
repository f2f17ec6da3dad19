"""The law of advice: followed, the first advice brings at least half of what it claims, in every situation."""

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import quiclab
from quiclab.commands import app
from quiclab.why.trial import outcome, saved
from why_law import entry_of, kept, written
from why_situations import SITUATIONS

SEEDS = range(1, int(os.environ.get("WHY_LAW_SEEDS", "1")) + 1)
"""`WHY_LAW_SEEDS=5 pytest tests/test_why_law.py` draws each situation five times."""
CASES = Path(__file__).parent / "why"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_first_advice_brings_half_of_what_it_claims(name: str, seed: int) -> None:
    one = kept(name, seed)
    assert one.answer.causes[0].name in one.situation.truth, one.answer
    assert one.holds, (one.claimed, one.brought, str(one.answer))
    # A count in a sentence is that of the summary.
    counts = {one.entry[key] for key in ("packets_lost", "packets_declared_lost", "packets_spuriously_lost")}
    told = " ".join(cause.what for cause in one.answer.causes)
    found = re.findall(r"\(([\d,]+) packets? (?:was|were)|of which ([\d,]+) had|network lost ([\d,]+)", told)
    assert all(int(count.replace(",", "")) in counts for counts_ in found for count in counts_ if count)
    # Remedies stand in the order of what they save, where they are at hand.
    near = [cause for cause in one.answer.causes if cause.remedy is not None and not cause.remedy.elsewhere]
    brings = [min(cause.remedy.claim, 2 * cause.share) for cause in near if cause.remedy is not None]
    assert brings == sorted(brings, reverse=True)


def test_there_are_enough_situations() -> None:
    assert len(SITUATIONS) >= 40


def test_the_page_has_the_table_of_the_law() -> None:
    rows = written()
    assert [row[0] for row in rows] == list(SITUATIONS), "run `python tests/why_law.py --write`"
    for name, cause, _, _, claimed, brought in rows:
        first, second = (int(cell.removesuffix(" %")) for cell in (claimed, brought))
        assert second >= first / 2 > 0, name
        assert cause


# What the first advice must be about, and the flow that is asked.
REPORTED = {
    "ack-path": ("d", "return path", ("l.backward", "ack_ratio")),
    "bufferbloat": ("page", "competition", ("dsl.forward",)),
    "reordering": ("d", "reordering", ("reorder", "jitter")),
    "upload-in-the-way": ("down", "return path", ("dsl.backward",)),
}


@pytest.mark.parametrize("tries", [True, False])
@pytest.mark.parametrize("name", REPORTED)
def test_what_was_reported_has_the_right_first_advice(name: str, tries: bool) -> None:
    flow, cause, words = REPORTED[name]
    scenario = quiclab.Scenario.from_file(CASES / f"{name}.toml")
    run = scenario.run()
    (answer,) = run.why(flow, tries=tries)
    first = answer.causes[0]
    assert first.name == cause, answer
    assert first.remedy is not None
    assert any(word in key for key in first.remedy.sets for word in words), first
    before = outcome(entry_of(run, flow), 60)
    assert before is not None
    after = outcome(entry_of(scenario.with_(first.remedy.sets).run(tables=False), flow), 60, before.measure)
    assert after is not None
    assert saved(before, after) >= max(0.5 * first.remedy.claim, 0.3)


def test_the_words_name_who_has_the_queue_and_the_rest() -> None:
    run = quiclab.Scenario.from_file(CASES / "bufferbloat.toml").run()
    first = run.why("page", tries=False)[0].causes[0]
    words = "others had dsl forward: bulk had 9\\d % of what arrived there, and this flow (less than 1|1|2) %"
    found = re.search(words, first.what)
    assert found, first.what
    # Nearly all packets of both are full, and the page arrives in the last two thirds of the run.
    sent = {name: entry_of(run, name)["packets_sent"] for name in ("bulk", "page")}
    share = sent["page"] / (sent["page"] + sent["bulk"] * 40 / 60)
    assert found[1] == ("less than 1" if share < 0.0095 else f"{100 * share:.0f}"), share
    assert "on a path of 21" in first.what
    run = quiclab.Scenario.from_file(CASES / "upload-in-the-way.toml").run()
    assert re.search(r"up had \d\d % of what arrived there", run.why("down", tries=False)[0].causes[0].what)
    run = quiclab.Scenario.from_file(CASES / "reordering.toml").run()
    entry = entry_of(run, "d")
    told = run.why("d", tries=False)[0].causes[0].what
    assert f"{entry['packets_declared_lost']} packets were declared lost" in told
    assert f"of which {entry['packets_spuriously_lost']} had arrived; the network lost 0" in told


def test_where_no_remedy_helps_it_says_so() -> None:
    news = {"type": "messages", "source": {"type": "constant", "gap": "500 ms", "size": 100}, "count": 20}
    link = {"name": "l", "from": "server", "to": "client", "rate": "1 Gbit/s"}
    flow = {"name": "get", "client": "client", "server": "server", "application": news}
    (answer,) = quiclab.Scenario(name="quiet", link=[link], flow=[flow]).run().why()
    assert answer.notes == ("no remedy that was tried makes this flow faster",)
    assert all(cause.remedy is None for cause in answer.causes)
    assert "No remedy" in str(answer)


def test_components_in_python_are_not_run_for_an_answer(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import quiclab\n\n\n"
        "class Mine(quiclab.Controller):\n    def on_ack(self, ack):\n        self.window_bytes = 30_000\n",
        encoding="utf-8",
    )
    link = {"name": "l", "from": "server", "to": "client", "rate": "10 Mbit/s", "delay": "10 ms"}
    flow = {"name": "get", "client": "client", "server": "server", "application": {"type": "bulk", "size": "1 MB"}}
    document = {"name": "own", "link": [link], "flow": [flow | {"transport": {"controller": "mine.py:Mine"}}]}
    text = quiclab.Scenario({**document, "flow": [flow]}).to_toml()
    origin = tmp_path / "own.toml"
    scenario = quiclab.Scenario.from_text(text, ["flow.get.transport.controller=mine.py:Mine"], origin=origin)
    run = scenario.run(out=tmp_path / "run", figure=False)
    (tmp_path / "mine.py").write_text("raise SystemExit('executed')\n", encoding="utf-8")
    (answer,) = quiclab.load(tmp_path / "run").why()
    assert len(answer.notes) == 1 and "components in Python" in answer.notes[0], answer
    assert run.summary


def test_a_run_that_cannot_be_repeated_is_answered_from_its_records(tmp_path: Path) -> None:
    scenario = quiclab.Scenario.from_file(CASES / "ack-path.toml")
    scenario.run(out=tmp_path / "run", figure=False)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    summary["connections"][0]["completion_s"] += 1
    (tmp_path / "run" / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    told = CliRunner().invoke(app, ["why", str(tmp_path / "run")])
    assert told.exit_code == 0, told
    words = " ".join(told.stdout.split())
    assert "Nothing was tried" in words and "gives another run" in words
    alone = CliRunner().invoke(app, ["why", str(tmp_path / "run"), "--no-try"])
    assert "Nothing was tried" not in alone.stdout and "It should save" in alone.stdout


def test_a_remedy_can_be_set_on_the_command_line(tmp_path: Path) -> None:
    file = CASES / "ack-path.toml"
    (answer,) = quiclab.Scenario.from_file(file).run().why()
    assert answer.causes[0].remedy is not None
    sets = [word for change in answer.causes[0].remedy.changes for word in ("--set", change)]
    out = tmp_path / "run"
    made = CliRunner().invoke(app, ["run", str(file), *sets, "--out", str(out), "--no-tables"])
    assert made.exit_code == 0, made
    after = json.loads((out / "summary.json").read_text(encoding="utf-8"))["connections"][0]["completion_s"]
    assert after < answer.end_s / 1.5


def test_the_run_knows_the_path_without_queues() -> None:
    run = quiclab.Scenario.from_file(CASES / "bufferbloat.toml").run()
    # Twice 10 ms, and 1,500 and 62 bytes at 10 Mbit/s.
    assert entry_of(run, "page")["path_rtt_ms"] == pytest.approx(20 + 1.2 + 0.05, abs=0.01)
    document = tomllib.loads(run.scenario_toml)
    assert document["link"][0]["forward"]["queue"]["limit"] == "1.5 s"
