"""Where the time of a flow went: scenarios that are built to have one known cause, and what takes it away."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import quiclab
from quiclab.commands import app
from quiclab.explanations.why.facts import Facts
from quiclab.explanations.why.records import Records
from quiclab.why import Answer, Cause

ROOT = Path(__file__).parent.parent
LINK = {"name": "wire", "from": "server", "to": "client", "rate": "20 Mbit/s", "delay": "20 ms", "queue": "1 BDP"}
BULK = {"type": "bulk", "size": "5 MB"}
Parts = dict[str, Any]


def scenario(
    application: Parts = BULK,
    *,
    link: Parts | None = None,
    links: list[Parts] | None = None,
    flow: Parts | None = None,
    duration: str = "60 s",
    **keys: Any,
) -> quiclab.Scenario:
    """One flow from a server to a client."""
    ends = {"name": "get", "client": "client", "server": "server"}
    document = {
        "name": "why",
        "duration": duration,
        "link": links or [{**LINK, **(link or {})}],
        "flow": [{**ends, "application": application, **(flow or {})}],
        **keys,
    }
    return quiclab.Scenario(document)


def asked(application: Parts = BULK, **keys: Any) -> Answer:
    """Run it, and ask why."""
    (answer,) = scenario(application, **keys).run().why("get")
    assert all(0 < cause.share <= 1 + 1e-9 for cause in (*answer.causes, *answer.beside))
    # Each cause of less than 0.5 % is left out: there are 14.
    total = sum(cause.seconds for cause in answer.causes)
    took = answer.end_s - answer.start_s
    assert 0.93 * took <= total <= took * (1 + 1e-6)
    return answer


def fixed(window: str, rate: str | None = None) -> Parts:
    """Options with a controller that never changes its window."""
    controller = {"type": "fixed", "window": window, **({"rate": rate} if rate else {})}
    return {"transport": {"controller": controller}}


def outage(rate: str) -> Parts:
    """A link whose rate changes for ten seconds."""
    steps = [["0 s", "20 Mbit/s"], ["1 s", rate], ["11 s", "20 Mbit/s"]]
    return {"rate": {"type": "changes", "steps": steps}}


def lost(probability: float) -> Parts:
    """A link that loses packets for three seconds, and none before and after."""
    steps = [["0 s", 0.0], ["1 s", probability], ["4 s", 0.0]]
    return {"loss": {"type": "changes", "steps": steps}}


FAR = {"delay": "100 ms"}
LARGE = {"type": "bulk", "size": "20 MB"}
MANY = {"type": "hq", "sizes": ["10 kB"] * 100, "concurrency": 100}
THINKS: Parts = {"type": "request-response", "request": 200, "response": 10_000, "count": 20, "over": "streams"}

# By what was built in: the cause, the scenario, and the same with that taken away.
CAUSES: dict[str, tuple[str, Parts, Parts]] = {
    "a kilobyte from far away": (
        "handshake",
        {"application": {"type": "bulk", "size": "1 kB"}, "link": FAR},
        {"application": {"type": "bulk", "size": "1 kB"}, "link": {"delay": "10 ms"}},
    ),
    "half a megabyte over a fast link": (
        "slow start",
        {"application": {"type": "bulk", "size": "500 kB"}, "link": {"rate": "1 Gbit/s", **FAR}},
        {
            "application": {"type": "bulk", "size": "500 kB"},
            "link": {"rate": "1 Gbit/s", **FAR},
            "transport": {"initial_window": 500},
        },
    ),
    "a window of a fifth of what the path holds": ("window", fixed("20 kB"), fixed("150 kB")),
    "a full link": ("capacity", {"application": LARGE}, {"application": LARGE, "link": {"rate": "100 Mbit/s"}}),
    "a full link, and a controller that paces": (
        "capacity",
        {"application": LARGE, "transport": {"controller": "bbr3"}},
        {"application": LARGE, "transport": {"controller": "bbr3"}, "link": {"rate": "100 Mbit/s"}},
    ),
    "a full link, over TCP": (
        "capacity",
        {"application": LARGE, "flow": {"protocol": "tcp"}},
        {"application": LARGE, "flow": {"protocol": "tcp"}, "link": {"rate": "100 Mbit/s"}},
    ),
    "little credit of the stream": (
        "stream credit",
        {"transport": {"initial_max_stream_data_bidi_local": "30 kB"}},
        {"transport": {"initial_max_stream_data_bidi_local": "1 MB"}},
    ),
    "a small receive window of TCP": (
        "stream credit",
        {"flow": {"protocol": "tcp"}, "tcp": {"receive_buffer": "20 kB", "max_receive_buffer": "20 kB"}},
        {"flow": {"protocol": "tcp"}},
    ),
    "little credit of the connection": (
        "connection credit",
        {"transport": {"initial_max_data": "30 kB"}},
        {"transport": {"initial_max_data": "1 MB"}},
    ),
    "one stream at a time": (
        "stream count",
        {"application": MANY, "transport": {"initial_max_streams_bidi": 1}},
        {"application": MANY, "transport": {"initial_max_streams_bidi": 100}},
    ),
    "a send queue of a fifth of what the path holds": (
        "send queue",
        {"transport": {"send_queue": "20 kB"}},
        {"transport": {"send_queue": "1 MB"}},
    ),
    "a slow rate of the sender": ("pacer", fixed("10 MB", "2 Mbit/s"), fixed("150 kB", "18 Mbit/s")),
    "a client that thinks": (
        "application",
        {"application": {**THINKS, "think": "500 ms"}},
        {"application": {**THINKS, "think": "1 ms"}},
    ),
    "a link that is down for ten seconds": (
        "outage",
        {"link": outage("0 Mbit/s"), "transport": {"controller": "bbr3"}},
        {"link": outage("20 Mbit/s"), "transport": {"controller": "bbr3"}},
    ),
    "a window that is halved by losses again and again": (
        "recovery",
        {"link": {"loss": 0.01}, "transport": {"controller": "newreno"}},
        {"transport": {"controller": "newreno"}},
    ),
    "nothing arrives for three seconds": ("timeout", {"link": lost(1.0)}, {"link": lost(0.0)}),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_known_cause_is_found_and_goes_away_with_what_caused_it(case: str) -> None:
    cause, with_it, without = CAUSES[case]
    answer = asked(**with_it)
    assert answer.completed, answer
    assert answer.causes[0].name == cause, answer
    start, end = answer.causes[0].longest
    assert answer.start_s <= start < end <= answer.end_s + 1e-6
    left = sum(found.seconds for found in asked(**without).causes if found.name == cause)
    assert left < 0.5 * answer.causes[0].seconds


def beside(answer: Answer, name: str) -> Cause | None:
    """What happened at the same time as the causes."""
    return next((cause for cause in answer.beside if cause.name == name), None)


def test_a_long_queue_is_told_with_when_it_was_long() -> None:
    deep = asked(LARGE, link={"queue": "10 BDP"})
    queueing = beside(deep, "queueing")
    assert queueing is not None
    assert queueing.share > 0.9
    assert "wire forward" in queueing.what
    short = beside(asked(LARGE, link={"queue": {"type": "codel", "target": "2 ms"}}), "queueing")
    assert short is None or short.share < 0.5 * queueing.share


@pytest.mark.parametrize("protocol", ["tcp", "quic"])
def test_data_that_waits_for_what_was_lost_before_it_is_told(protocol: str) -> None:
    flow = {"protocol": protocol}
    gaps = beside(asked(LARGE, link={"loss": 0.02}, flow=flow), "head of line")
    assert gaps is not None
    assert gaps.share > 0.1
    assert ("QUIC" in gaps.change) == (protocol == "tcp")
    assert beside(asked(LARGE, link={"queue": "100 MB"}, flow=flow), "head of line") is None


UPLOAD: Parts = {"type": "bulk", "size": "2 MB", "direction": "upload"}
SMALL: Parts = {"type": "bulk", "size": "10 kB"}
SLOW_BACK: Parts = {"rate": "20 Mbit/s", "backward": {"rate": "20 kbit/s"}}
DOWN_AT_FIRST: Parts = {"loss": {"type": "changes", "steps": [["0 s", 1.0], ["3 s", 0.0]]}}

# By what was built in: the cause, the scenario, the advice, and the scenario with the advice taken.
ADVICE: dict[str, tuple[str, Parts, str, Parts]] = {
    "an upload on a unidirectional stream with little credit": (
        "stream credit",
        {"application": UPLOAD, "transport": {"initial_max_stream_data_uni": "20 kB"}},
        "`transport.initial_max_stream_data_uni` at the server",
        {"application": UPLOAD, "transport": {"initial_max_stream_data_uni": "1 MB"}},
    ),
    "long requests on streams with little credit": (
        "stream credit",
        {
            "application": {**THINKS, "request": 300_000, "response": 100, "count": 3},
            "transport": {"initial_max_stream_data_bidi_remote": "20 kB"},
        },
        "`transport.initial_max_stream_data_bidi_remote` at the server",
        {
            "application": {**THINKS, "request": 300_000, "response": 100, "count": 3},
            "transport": {"initial_max_stream_data_bidi_remote": "1 MB"},
        },
    ),
    "a policer whose bucket is small": (
        "recovery",
        {"link": {"queue": {"type": "policer", "rate": "2 Mbit/s", "burst": "5 kB"}}},
        "a larger `burst` or a higher `rate` of the policer of wire forward",
        {"link": {"queue": {"type": "policer", "rate": "2 Mbit/s", "burst": "100 kB"}}},
    ),
    "a policer of a low rate": (
        "capacity",
        {"link": {"queue": {"type": "policer", "rate": "2 Mbit/s", "burst": "50 kB"}}},
        "a higher `rate` of the policer (2 Mbit/s on average)",
        {"link": {"queue": {"type": "policer", "rate": "4 Mbit/s", "burst": "50 kB"}}},
    ),
    "a receive window that cannot be scaled": (
        "stream credit",
        {"flow": {"protocol": "tcp"}, "tcp": {"window_scaling": False}, "link": FAR},
        "`tcp.window_scaling`",
        {"flow": {"protocol": "tcp"}, "link": FAR},
    ),
    "streams that the server admits one by one": (
        "stream count",
        {"application": MANY, "transport": {"initial_max_streams_bidi": 1}},
        "`transport.initial_max_streams_bidi` (or `_uni`) at the server",
        {"application": MANY, "transport": {"initial_max_streams_bidi": 100}},
    ),
    "a client that asks for one thing after the other": (
        "delivery",
        {"application": {**MANY, "concurrency": 1}},
        "asks earlier, or more at a time",
        {"application": {**MANY, "concurrency": 100}},
    ),
    "the first packets are lost": (
        "handshake",
        {"application": SMALL, "link": DOWN_AT_FIRST},
        "a path that loses less",
        {"application": SMALL},
    ),
    "the first segments are lost": (
        "handshake",
        {"application": SMALL, "link": DOWN_AT_FIRST, "flow": {"protocol": "tcp"}},
        "a path that loses less",
        {"application": SMALL, "flow": {"protocol": "tcp"}},
    ),
    "a certificate of more than three first packets": (
        "handshake",
        {"application": SMALL, "link": FAR, "tls": {"certificate_chain": "6 kB"}},
        "a shorter `tls.certificate_chain`",
        {"application": SMALL, "link": FAR, "tls": {"certificate_chain": "3 kB"}},
    ),
    "a certificate of more than three first packets, before an upload": (
        "handshake",
        {"application": {**UPLOAD, "size": "10 kB"}, "link": FAR, "tls": {"certificate_chain": "6 kB"}},
        "a shorter `tls.certificate_chain`",
        {"application": {**UPLOAD, "size": "10 kB"}, "link": FAR, "tls": {"certificate_chain": "3 kB"}},
    ),
}


@pytest.mark.parametrize("case", ADVICE)
def test_the_advice_makes_the_flow_faster(case: str) -> None:
    cause, with_it, advice, taken = ADVICE[case]
    answer = asked(**with_it)
    first = answer.causes[0]
    assert (first.name, advice in first.change) == (cause, True), answer
    after = asked(**taken)
    assert after.end_s < 0.8 * answer.end_s
    assert not any(advice in other.change for other in after.causes if other.name == cause == "handshake"), after


def test_a_policer_beside_the_longest_queue_is_the_bottleneck() -> None:
    queue = {"type": "policer", "rate": "2 Mbit/s", "burst": "50 kB"}
    far = {**LINK, "name": "far", "from": "middle", "rate": "100 Mbit/s", "queue": queue}
    nodes = [{"name": "middle", "kind": "router"}, {"name": "server"}, {"name": "client"}]
    both = {
        "name": "two-links",
        "duration": "60 s",
        "node": nodes,
        "link": [{**LINK, "to": "middle"}, far],
        "flow": [{"name": "get", "client": "client", "server": "server", "application": BULK}],
    }
    run = quiclab.Scenario(both).run()
    assert run.summary["connections"][0]["bottleneck"] == "wire forward"
    (answer,) = run.why()
    assert answer.causes[0].name == "capacity" and answer.causes[0].share > 0.9
    assert answer.causes[0].what == "the policer of far forward let no more through"
    # One that is not the lowest rate, or that marks, is none.
    for other in ({**queue, "rate": "90 Mbit/s"}, {**queue, "exceed": "mark"}):
        links = [{**LINK, "to": "middle"}, {**far, "queue": other}]
        (answer,) = quiclab.Scenario({**both, "link": links}).run().why()
        assert not any("policer" in told for cause in answer.causes for told in (cause.what, cause.change))


def test_without_its_table_the_stream_of_little_credit_is_that_of_a_request() -> None:
    tables = ["wait", "rate"]
    answer = asked(transport={"initial_max_stream_data_bidi_local": "30 kB"}, record={"tables": tables})
    assert "`transport.initial_max_stream_data_bidi_local` at the client" in answer.causes[0].change


def test_round_trips_that_are_long_without_a_queue_are_no_queueing() -> None:
    # Each message is alone: its acknowledgement is delayed by 25 ms, and the round trip takes 65 ms instead of 40.
    source = {"type": "constant", "size": 1000, "gap": "200 ms"}
    late = asked({"type": "messages", "source": source, "count": 50, "direction": "download"})
    assert beside(late, "queueing") is None
    spread = asked(**fixed("20 kB"), link={"jitter": {"type": "uniform", "maximum": "60 ms"}})
    assert beside(spread, "queueing") is None
    # Without the table of queues only the round-trip times are known.
    assert beside(asked(LARGE, link={"queue": "10 BDP"}, record={"tables": ["wait", "rate", "connection"]}), "queueing")


def test_a_queue_of_the_past_is_over_when_the_sender_is_silent() -> None:
    # Two transfers of half a second that fill the queue, and five seconds in between.
    requests = {**THINKS, "response": 1_000_000, "count": 2, "think": "5 s"}
    answer = asked(requests)
    queueing = beside(answer, "queueing")
    assert queueing is not None
    assert queueing.seconds < 2


def test_a_queue_of_acknowledgements_is_named() -> None:
    queueing = beside(asked(link=SLOW_BACK), "queueing")
    assert queueing is not None
    assert queueing.share > 0.5
    assert "wire backward" in queueing.what


def test_the_queues_of_a_flow_are_those_on_its_route() -> None:
    run = quiclab.Scenario.from_file(ROOT / "examples" / "migration.toml").run()
    records = Records(run, run.summary["connections"])
    (name,) = (entry["name"] for entry in run.summary["connections"])
    # The second path, to which the client moves, too.
    links = ("cellular", "wlan")
    assert {f"{link} {way}" for link in links for way in ("forward", "backward")} <= {*records.passed(name)}
    assert {f"{link} forward" for link in links} <= {*records.towards(name, "client")}
    assert not {f"{link} backward" for link in links} & {*records.towards(name, "client")}


def test_a_run_without_routes_is_asked_for_again(tmp_path: Path) -> None:
    quiclab.Scenario.from_file(ROOT / "examples" / "lossy.toml").run().save(tmp_path / "old")
    path = tmp_path / "old" / "summary.json"
    summary = json.loads(path.read_text())
    del summary["connections"][0]["route"]
    path.write_text(json.dumps(summary))
    with pytest.raises(quiclab.Error, match=r"the summary has no route of .*; expected a run of this version"):
        quiclab.load(tmp_path / "old").why()


def test_after_a_migration_the_new_path_is_the_bottleneck() -> None:
    (answer,) = quiclab.Scenario.from_file(ROOT / "examples" / "migration.toml").run().why()
    capacity = answer.causes[0]
    assert capacity.name == "capacity" and capacity.share > 0.9
    assert capacity.what == "cellular forward was full, and at other times wlan forward"


def test_each_of_two_links_is_the_bottleneck_when_it_is_full() -> None:
    document = {
        "name": "two-links",
        "duration": "60 s",
        "node": [{"name": "middle", "kind": "router"}, {"name": "server"}, {"name": "client"}],
        "link": [
            {**LINK, "to": "middle", **outage("4 Mbit/s")},
            {**LINK, "name": "far", "from": "middle", "rate": "10 Mbit/s"},
        ],
        "flow": [{"name": "get", "client": "client", "server": "server", "application": {**BULK, "size": "10 MB"}}],
    }
    (answer,) = quiclab.Scenario(document).run().why()
    # In between NewReno's window grows for four seconds.
    assert answer.causes[0].name == "capacity" and answer.causes[0].share > 0.6
    assert answer.causes[0].what == "wire forward was full, and at other times far forward"


def test_a_full_path_of_acknowledgements_is_no_bottleneck_of_the_data() -> None:
    # The other flow fills the way back, where acknowledgements wait; the way of the data is half empty.
    other = {"name": "up", "client": "client", "server": "server", "application": {**UPLOAD, "size": "20 MB"}}
    document = {
        "name": "two-ways",
        "duration": "60 s",
        "link": [{**LINK, "backward": {"rate": "2 Mbit/s", "queue": "100 packets"}}],
        "flow": [
            {"name": "get", "client": "client", "server": "server", "application": BULK, **fixed("20 kB")},
            other,
        ],
    }
    (answer,) = quiclab.Scenario(document).run().why("get")
    assert answer.causes[0].name == "return path", answer
    assert "up had" in answer.causes[0].what and "wire backward" in answer.causes[0].change
    assert not any(cause.name == "capacity" for cause in answer.causes)


def test_large_numbers_have_no_exponent() -> None:
    facts = Facts({"rtt_mean_ms": 1000.0}, False, "cubic", "server", "client", "wire forward", 1000.0)
    assert facts.holds == " (1,000 Mbit/s of wire forward times 1,000 ms are 125 MB)"


def test_a_wireless_link_is_full() -> None:
    run = quiclab.Scenario.from_file(ROOT / "examples" / "cell.toml").run()
    for answer in run.why():
        # Both terminals have all of the cell between them: what one does not have, the other has.
        full = {cause.name: cause for cause in answer.causes if cause.name in ("capacity", "competition")}
        assert answer.causes[0].name in full
        assert sum(cause.share for cause in full.values()) > 0.8
        other = {"film": "page", "page": "film"}[answer.connection]
        for cause in full.values():
            assert f"{other} had " in cause.what and "of the air time of cell" in cause.what
            assert "cell enb" in cause.what


UNFINISHED: dict[str, tuple[str, Parts]] = {
    "a transfer without a size": ("no `size`, and goes on until the run ends", {"application": {"type": "bulk"}}),
    "a run that is too short": ("a longer `duration`", {"duration": "1 s"}),
    "no credit for the connection": (
        "no more flow-control credit for the connection",
        {"transport": {"initial_max_data": "0 B", "max_idle_timeout": "0 s"}},
    ),
    "no credit for the stream": (
        "no more flow-control credit for the stream",
        {"transport": {"initial_max_stream_data_bidi_local": "0 B", "max_idle_timeout": "0 s"}},
    ),
    "no streams": (
        "the receiver admitted no more streams",
        {"transport": {"initial_max_streams_bidi": 0, "max_idle_timeout": "0 s"}},
    ),
    "nothing arrives": ("no handshake", {"link": {"loss": 1.0}, "transport": {"max_idle_timeout": "0 s"}}),
    "a flow that is stopped": ("the connection was closed by ", {"flow": {"stop": "1 s"}}),
    "silence": (
        "the connection ended: idle timeout",
        {"link": {"loss": {"type": "changes", "steps": lost(1.0)["loss"]["steps"][:2]}}},
    ),
    "an outage at the end": (
        "wire forward carried nothing",
        {"link": outage("0 Mbit/s"), "duration": "5 s"},
    ),
    "an application without an end": (
        "its application had not finished",
        {"application": {"type": "messages", "source": {"type": "constant", "gap": "10 ms"}}},
    ),
}


@pytest.mark.parametrize("case", UNFINISHED)
def test_what_was_not_completed_has_a_reason(case: str) -> None:
    reason, parts = UNFINISHED[case]
    answer = asked(**parts)
    assert not answer.completed
    assert answer.unfinished is not None
    assert reason in answer.unfinished


def test_a_flow_that_never_began_waited_for_nothing(tmp_path: Path) -> None:
    second = {"name": "then", "client": "client", "server": "server", "after": "get", "application": BULK}
    document = tomllib.loads(scenario(duration="2 s").to_toml())
    document["flow"].append(second)
    run = quiclab.Scenario(document).run(out=tmp_path / "run", figure=False)
    (answer,) = run.why("then")
    assert (answer.start_s, answer.end_s, answer.completed, answer.causes, answer.beside) == (2, 2, False, (), ())
    assert (
        answer.unfinished == "it had not begun when the run ended at 2.000 s: it begins after get, which was not over"
    )
    told = CliRunner().invoke(app, ["report", str(run.path)])
    assert told.exit_code == 0, told
    assert "it begins after get" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_zero_round_trips_need_all_that_is_named() -> None:
    visits = {"visits": [{"at": "2 s"}], "early_data": True}
    run = scenario(SMALL, flow=visits).run()
    advice = run.why("get@2")[0].causes[0].change
    options: Parts = {"tls": {"tickets": 1, "early_data": True}, "transport": {"new_tokens": 1}}
    assert all(f"`{section}.{key}`" in advice for section, keys in options.items() for key in keys)
    (first, again) = scenario(SMALL, flow=visits, **options).run().why()
    assert again.end_s - again.start_s < 0.6 * first.end_s


def test_the_answer_is_the_same_from_a_folder_and_in_each_form(tmp_path: Path) -> None:
    run = scenario().run(out=tmp_path / "run", figure=False)
    (answer,) = run.why()
    assert quiclab.load(tmp_path / "run").why("get") == [answer]
    told = CliRunner().invoke(app, ["why", str(tmp_path / "run"), "--json"])
    assert json.loads(told.stdout)[0]["causes"][0]["name"] == answer.causes[0].name
    text = CliRunner().invoke(app, ["why", str(tmp_path / "run")]).stdout
    assert text.splitlines()[0] == str(answer).splitlines()[0]
    assert "capacity" in text
    assert "wire forward was full" in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_a_narrow_terminal_cuts_nothing(tmp_path: Path) -> None:
    scenario().run(out=tmp_path / "run", figure=False)
    for columns in ("40", "10"):
        told = CliRunner().invoke(app, ["why", str(tmp_path / "run")], env={"COLUMNS": columns}).stdout
        assert max(len(line) for line in told.splitlines()) <= 40
        assert min(len(line.split()) for line in told.splitlines() if line.startswith("         ")) >= 1
        assert "longest 0" in told


def test_a_run_without_connections_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    scenario().run(out=folder, figure=False)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    (folder / "summary.json").write_text(json.dumps({**summary, "connections": []}), encoding="utf-8")
    # As a scenario of gates, which has no flow.
    text = (folder / "scenario.toml").read_text(encoding="utf-8")
    (folder / "scenario.toml").write_text(text.partition("[[flow]]")[0], encoding="utf-8")
    told = CliRunner().invoke(app, ["why", str(folder)])
    assert (told.exit_code, told.stdout) == (0, "the run has no connections\n")
    exported = CliRunner().invoke(app, ["export", str(folder)])
    assert exported.exit_code == 0, exported


def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    run = quiclab.Scenario.from_file(ROOT / "examples" / "cellular.toml").run(out=tmp_path / "run", figure=False)
    printed = CliRunner().invoke(app, ["why", str(run.path)]).stdout
    shown = (ROOT / "docs" / "why.md").read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    for part in shown.split("...\n"):
        assert part in printed


def test_what_cannot_be_answered_is_an_error() -> None:
    run = scenario().run()
    with pytest.raises(quiclab.Error, match="no connection 'put'; it has get"):
        run.why("put")
    with pytest.raises(quiclab.Error, match="the run was made without tables"):
        scenario().run(tables=False).why()
    lacks = scenario(record={"tables": ["rate"]}).run()
    with pytest.raises(quiclab.Error, match=r"no table .wait.: add it to record\.tables"):
        lacks.why()


def test_an_interface_that_is_down_is_named_until_the_client_leaves_it() -> None:
    two = [{**LINK, "name": "wlan"}, {**LINK, "name": "cell"}]
    down = {"at": "500 ms", "type": "interface-down", "node": "client", "interface": "wlan"}
    leaves = {"at": "1500 ms", "type": "migrate", "flow": "get", "interface": "cell", "how": "rebound"}
    size = {"type": "bulk", "size": "4 MB"}
    for events, words in (
        ([down], "interface wlan of node client was down from 0.5 s on"),
        ([down, {**down, "at": "3 s", "type": "interface-up"}], "was down from 0.5 s to 3 s"),
        ([down, leaves], "was down from 0.5 s to 1.5 s"),
    ):
        (answer,) = scenario(size, links=two, event=events).run().why("get", tries=False)
        assert words in next(cause.what for cause in answer.causes if cause.name == "outage"), answer
    # It does not use the one that goes down.
    for unused in ([{**leaves, "at": "400 ms"}, down], [{**down, "interface": "cell"}]):
        (answer,) = scenario(size, links=two, event=unused).run().why("get", tries=False)
        assert "outage" not in {cause.name for cause in answer.causes}, answer
