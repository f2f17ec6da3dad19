"""The law of advice: followed, the first advice brings at least half of what it claims, in every situation."""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import quiclab
from quiclab.commands import app
from quiclab.explanations.why.records import Records
from quiclab.explanations.why.shares import Shares
from quiclab.explanations.why.trial import outcome, saved
from why_law import PAGE, entry_of, kept, written
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


ESTIMATED = [
    ("a full way back", 5),
    ("a pie with a tiny target", 2),
    ("a pie with a tiny target", 5),
    ("a terminal far from its cell", 2),
]


@pytest.mark.parametrize(("name", "seed"), ESTIMATED)
def test_the_first_advice_brings_half_of_what_is_estimated(name: str, seed: int) -> None:
    found = kept(name, seed, tries=False)
    assert found.holds, found.row(name)
    assert found.answer.causes[0].name in found.situation.truth, found.row(name)


@pytest.mark.parametrize("at", [{}, {"client": {"mcs": 2}}])
def test_advice_changes_the_fixed_scheme_of_a_terminal(at: dict[str, Any]) -> None:
    cell = {"name": "cell", "type": "lte", "station": "enb", "terminals": ["client"], "mcs": 4, "at": at}
    wire = {"name": "wire", "from": "server", "to": "enb", "rate": "1 Gbit/s", "delay": "10 ms"}
    get = _flow("get", "client") | {"application": {"type": "bulk", "size": "4 MB"}}
    scenario = quiclab.Scenario(name="fixed", duration="60 s", link=[wire], medium=[cell], flow=[get])
    run = scenario.run()
    remedy = run.why("get", tries=False)[0].causes[0].remedy
    assert remedy is not None
    after = entry_of(scenario.with_(remedy.sets).run(tables=False), "get")["completion_s"]
    assert after < 0.5 * entry_of(run, "get")["completion_s"], remedy


def test_there_are_enough_situations() -> None:
    assert len(SITUATIONS) >= 40


def test_the_page_has_the_table_of_the_law() -> None:
    rows = written()
    assert [row[0] for row in rows] == list(SITUATIONS), "run `python tests/why_law.py --write`"
    assert f"for {len(SITUATIONS)} kinds of situations" in PAGE.read_text(encoding="utf-8")
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


# Other values of the reported ones: the same cause, and the same sort of advice.
VARIANTS: list[tuple[str, dict[str, str]]] = [
    ("ack-path", {"link.l.forward.rate": "20 Mbit/s", "link.l.backward.rate": "250 kbit/s"}),
    ("bufferbloat", {"link.dsl.forward.rate": "25 Mbit/s", "link.dsl.forward.queue": "700 ms"}),
    ("bufferbloat", {"link.dsl.forward.rate": "4 Mbit/s", "flow.bulk.transport.controller": "newreno"}),
    ("reordering", {"link.l.rate": "12 Mbit/s", "flow.d.transport.controller": "cubic"}),
    ("reordering", {"link.l.forward.jitter.lateness": "20 ms", "flow.d.transport.controller": "westwood"}),
    ("upload-in-the-way", {"link.dsl.backward.rate": "0.5 Mbit/s", "link.dsl.forward.rate": "20 Mbit/s"}),
]


@pytest.mark.parametrize(("name", "sets"), VARIANTS)
def test_variants_of_what_was_reported_have_the_right_first_advice(name: str, sets: dict[str, str]) -> None:
    flow, cause, words = REPORTED[name]
    scenario = quiclab.Scenario.from_file(CASES / f"{name}.toml").with_(sets)
    run = scenario.run()
    first = run.why(flow)[0].causes[0]
    assert first.name == cause, first
    assert first.remedy is not None and any(word in key for key in first.remedy.sets for word in words), first
    before = outcome(entry_of(run, flow), 60)
    assert before is not None
    after = outcome(entry_of(scenario.with_(first.remedy.sets).run(tables=False), flow), 60, before.measure)
    assert after is not None and saved(before, after) >= 0.5 * first.remedy.claim


def _cell(kind: str, at: dict[str, Any], *flows: dict[str, Any], **options: Any) -> quiclab.Scenario:
    """A medium with the terminals `client` and `phone`, and a wire behind its station."""
    air = {"name": "air", "type": kind, "station": "ap", "terminals": ["client", "phone"], "at": at, **options}
    wire = {"name": "wire", "from": "server", "to": "ap", "rate": "1 Gbit/s", "delay": "5 ms"}
    nodes = [{"name": name} for name in ("server", "client", "phone")] + [{"name": "ap", "kind": "router"}]
    return quiclab.Scenario(name="cell", duration="8 s", medium=[air], link=[wire], node=nodes, flow=list(flows))


def _flow(name: str, client: str, direction: str = "download") -> dict[str, Any]:
    return {"name": name, "client": client, "server": "server", "application": {"type": "bulk", "direction": direction}}


@pytest.mark.parametrize("kind", ["lte", "nr", "wlan", "shared"])
@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize("others", ["download", "upload"])
def test_the_shares_of_a_medium_are_those_of_its_time(kind: str, direction: str, others: str) -> None:
    options: dict[str, dict[str, Any]] = {
        "lte": {"bandwidth": "5 MHz"},
        "nr": {"bandwidth": 10},
        "shared": {"rate": "10 Mbit/s"},
    }
    at = {"phone": {"rate": "6 Mbit/s"}} if kind == "wlan" else {}
    flows = [_flow("get", "client", direction), _flow("other", "phone", others)]
    run = _cell(kind, at, *flows, **options.get(kind, {})).run()
    entries = run.summary["connections"]
    records = Records(run, entries)
    lane = entry_of(run, "get")["bottleneck"]
    shares = dict(Shares(records, lane).between(0, 8))
    # In a cell only those of the same direction share it; the terminals' own lanes are of one flow each.
    used: dict[str, float] = {"get": 0.0, "other": 0.0}
    for one in run.summary["media"]:
        label = " ".join(str(one[key]) for key in ("name", "attachment", "to") if one.get(key))
        node = one.get("to") or one["attachment"]
        if label in Shares(records, lane)._lanes and node in ("client", "phone"):
            used["get" if node == "client" else "other"] += one["utilisation"]
    if kind in ("lte", "nr"):
        assert shares["get"] == pytest.approx(used["get"] / sum(used.values()), abs=0.03)
    elif direction == others == "upload":
        # The station sends nothing but acknowledgements.
        assert shares["get"] == pytest.approx(used["get"] / sum(used.values()), abs=0.1)
    assert sum(shares.values()) == pytest.approx(1)
    told = run.why("get", tries=False)[0].causes
    assert any(re.search(r"other had \d+ %", cause.what) for cause in told) or shares["other"] < 0.02, told
    # Each moment has one cause: also where a station sends both ways.
    (answer,) = run.why("get", tries=False)
    assert sum(cause.seconds for cause in answer.causes) <= answer.end_s - answer.start_s + 1e-6


def test_a_slow_station_takes_time_and_not_bytes() -> None:
    at = {"phone": {"rate": "1 Mbit/s"}}
    run = _cell("wlan", at, _flow("get", "client"), _flow("slow", "phone"), standard="b").run()
    records = Records(run, run.summary["connections"])
    shares = dict(Shares(records, "air ap").between(0, 8))
    sent = {name: entry_of(run, name)["delivered_bytes"] for name in ("get", "slow")}
    assert sent["slow"] < 2.5 * sent["get"]
    assert shares["slow"] > 0.7


def test_what_a_node_takes_is_named_with_the_node_and_the_shares() -> None:
    nodes = [{"name": "client"}, {"name": "server", "processing": {"packet": "400 us", "ack": "300 us"}}]
    link = {"name": "l", "from": "server", "to": "client", "rate": "100 Mbit/s", "delay": "10 ms"}
    flows = [_flow("get", "client"), _flow("up", "client", "upload")]
    run = quiclab.Scenario(name="busy", duration="8 s", node=nodes, link=[link], flow=flows).run()
    first = run.why("get", tries=False)[0].causes[0]
    assert first.name == "processing"
    told = re.search(
        r"node server was busy with acknowledgements \(400 us for each packet, 300 us for each without data\), "
        r"and packets waited for .* ms on average; up had (\d+) % of its time, and this flow (\d+) %",
        first.what,
    )
    assert told, first.what
    get = entry_of(run, "get")["return_packets_sent"] * 300
    up = entry_of(run, "up")["packets_sent"] * 400
    assert int(told[2]) == pytest.approx(100 * get / (get + up), abs=2)


def test_marks_are_no_losses() -> None:
    queue = {"type": "drop-tail", "limit": "500 packets", "mark_above": "1 packets"}
    link = {"name": "l", "from": "server", "to": "client", "rate": "20 Mbit/s", "delay": "20 ms", "queue": queue}
    flow = _flow("get", "client") | {"transport": {"controller": "newreno", "ecn": True}}
    run = quiclab.Scenario(name="marks", duration="10 s", link=[link], flow=[flow]).run()
    causes = {cause.name: cause.what for cause in run.why("get", tries=False)[0].causes}
    marked = next(one["marked_packets"] for one in run.summary["links"] if one["direction"] == "forward")
    assert f"l forward marked {marked:,} of all flows with CE" in causes["recovery"]


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
    # So little that it goes together with the rest of the summary.
    summary["connections"][0]["completion_s"] -= 0.001
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
