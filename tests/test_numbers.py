"""The numbers that people read: each from a summary, a change or an answer whose values are all different."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from quiclab._quiclab import Error
from quiclab.explanations import video_quality
from quiclab.explanations.differences import Change, Values, changes, value_text
from quiclab.explanations.why.delays import Delays
from quiclab.explanations.why.shares import Shares, _percent, _smooth
from quiclab.explanations.why.steps import Steps
from quiclab.results import agreement
from quiclab.results.answer import Answer, Cause, Remedy
from quiclab.results.numbers import is_endless, rows, tables
from quiclab.values import quantities
from quiclab.values.grid import Grid, cell, lines, more
from quiclab.values.plain_text import short
from quiclab.values.shapes import WrongError
from quiclab.values.suggestions import hint, listed

PLAYBACK = {
    "start_up_s": 0.51,
    "stalls": 2,
    "stalled_s": 1.25,
    "bitrate_mean_mbps": 3.75,
    "switches": 7,
    "qoe_lin": 1.875,
    "latency_mean_s": 4.5,
}
MESSAGES = {"completed": 41, "number": 43, "delay_mean_ms": 8.25, "delay_p95_ms": 19.5, "deadline_misses": 3}
PAGE = {"pages_complete": 5, "pages": 6, "load_mean_s": 2.125, "objects_complete": 70, "objects": 80}
CONNECTION = {
    "name": "get",
    "goodput_mbps": 12.3456,
    "completion_s": 9.875,
    "rtt_mean_ms": 31.254,
    "rtt_p95_ms": 47.5,
    "packets_sent": 12_345,
    "packets_lost": 67,
    "packets_declared_lost": 71,
    "retransmitted_bytes": 89_012,
    "bottleneck": "cell forward",
    "playback": PLAYBACK,
    "messages": MESSAGES,
    "page": PAGE,
}
LINK = {"name": "cell", "direction": "forward", "queue_mean_packets": 17.25, "queue_max_packets": 99}
SUMMARY: dict[str, Any] = {
    "scenario": "s",
    "seed": 5,
    "duration_s": 10.5,
    "connections": [CONNECTION],
    "links": [LINK],
    "processing": [{"name": "router", "queue_mean_packets": 2.5, "queue_max_packets": 11}],
}


def test_each_number_of_a_run_is_printed_in_its_unit() -> None:
    assert rows(SUMMARY) == [
        ("goodput", ["12.346 Mbit/s"]),
        ("completion time", ["9.875 s"]),
        ("mean RTT", ["31.25 ms"]),
        ("95th percentile RTT", ["47.50 ms"]),
        ("packets sent", ["12,345"]),
        ("packets lost", ["67"]),
        ("packets declared lost", ["71"]),
        ("retransmitted", ["89,012 bytes"]),
        ("pages complete", ["5 of 6"]),
        ("mean page load time", ["2.125 s"]),
        ("objects complete", ["70 of 80"]),
        ("start-up", ["0.510 s"]),
        ("stalls", ["2"]),
        ("stalled", ["1.250 s"]),
        ("mean bitrate", ["3.750 Mbit/s"]),
        ("switches", ["7"]),
        ("QoE (lin) per segment", ["1.875"]),
        ("mean latency", ["4.500 s"]),
        ("messages complete", ["41 of 43"]),
        ("message delay, mean", ["8.25 ms"]),
        ("message delay, 95th percentile", ["19.50 ms"]),
        ("deadline misses", ["3"]),
        ("bottleneck", ["cell forward"]),
        ("bottleneck queue mean", ["17.2 packets"]),
        ("bottleneck queue maximum", ["99 packets"]),
    ]


def test_what_is_not_there_is_said() -> None:
    of_node = {"name": "put", "bottleneck": "router processing", "playback": {**PLAYBACK, "start_up_s": None}}
    told = dict(rows({**SUMMARY, "connections": [of_node]}))
    assert (told["goodput"], told["completion time"], told["start-up"]) == (["-"], ["not completed"], ["not started"])
    assert (told["bottleneck queue mean"], told["bottleneck queue maximum"]) == (["2.5 packets"], ["11 packets"])
    assert dict(rows(SUMMARY, {"get"}))["completion time"] == ["endless"]
    without = {**PLAYBACK}
    del without["latency_mean_s"]
    assert "mean latency" not in dict(rows({**SUMMARY, "connections": [{**CONNECTION, "playback": without}]}))


def test_packets_declared_lost_have_a_row_where_they_were_not_all_lost() -> None:
    def heads(declared: int) -> list[Any]:
        summary = {**SUMMARY, "connections": [{**CONNECTION, "packets_declared_lost": declared}]}
        return list(tables(summary, 80)[0].columns[0].cells)

    assert "packets declared lost" in map(str, heads(71))
    assert "packets declared lost" not in map(str, heads(67))


def test_four_connections_stand_side_by_side_and_five_below_each_other() -> None:
    def first(count: int) -> str:
        connections = [{"name": f"f{number}", "packets_sent": number} for number in range(count)]
        return str(next(iter(tables({"connections": connections}, 400)[0].columns[0].cells)))

    assert first(4) == "goodput"
    assert first(5) == "f0"


def test_a_transfer_is_endless_without_a_size() -> None:
    assert is_endless({"application": "bulk"})
    assert is_endless({"application": {"type": "bulk"}})
    assert not is_endless({"application": {"type": "bulk", "size": "1 MB"}})
    assert not is_endless({"application": {"type": "page"}})
    assert is_endless({"application": {"type": "mix", "parts": [{"type": "page"}, {"type": "bulk"}]}})


def test_a_change_is_from_the_first_to_the_second() -> None:
    change = Change("connection.get.goodput_mbps", 8.0, 10.0)
    assert (change.difference, change.percent) == (2.0, 25.0)
    assert change.texts() == ("8.00", "10.00", "+2.00", "+25.0 %")
    assert Change("", -4.0, -2.0).percent == 50.0
    assert (Change("", 0, 3).difference, Change("", 0, 3).percent) == (3, None)
    assert Change("", None, 3).difference is None
    assert value_text(1234.56789) == "1234.56789"


def test_true_is_not_one() -> None:
    assert [change.key for change in changes(Values({"a": True, "b": 1}, {}), Values({"a": 1, "b": 1}, {}))] == ["a"]


def test_an_answer_says_how_much_a_remedy_saves() -> None:
    remedy = Remedy("a faster link", {"link.cell.rate": "9 Mbit/s"}, 0.62)
    cause = Cause("capacity", 13.5, 0.5, (1.0, 4.5), "cell was full", "a faster link", remedy)
    assert str(cause) == (
        " 50.0%  capacity, 13.500 s (1.000 to 4.500 s): cell was full. "
        "Try: a faster link. It should save 62 % of the time."
    )
    answer = Answer("get", 3.0, 30.0, True, (cause,))
    assert str(answer).splitlines()[0] == "get: 27.000 s, completed"


def test_shares_are_said_in_percent() -> None:
    assert [_percent(share) for share in (0.0, 0.0094, 0.0095, 0.126, 1.0)] == [
        "0 %",
        "less than 1 %",
        "1 %",
        "13 %",
        "100 %",
    ]


def test_small_shares_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = object.__new__(Shares)
    shares._of = "what arrived there"
    parts = [("big", 0.965), ("own", 0.02), ("tiny", 0.015)]
    monkeypatch.setattr(Shares, "between", lambda self, start, end: parts)
    assert shares.words("own", 0.0, 1.0) == "big had 96 % of what arrived there, and this flow 2 %"
    assert shares.words("big", 0.0, 1.0) == "own had 2 % of what arrived there, and this flow 96 %"


def test_queues_that_explain_a_third_of_a_round_trip_explain_all_of_it() -> None:
    def parts(waited_s: float) -> tuple[float, float, float]:
        delays = object.__new__(Delays)
        delays._situation = SimpleNamespace(nodes=[])  # type: ignore[assignment]
        delays.queues, delays.nodes = {"cell": Steps(np.zeros(1), np.array([waited_s]))}, {}
        delays.base_s, delays._rtts, delays._first = 0.05, Steps(np.zeros(1), np.array([0.15])), 0.0
        found = delays.parts(np.zeros(1), np.ones(1))
        return float(found.base[0]), float(found.queues["cell"][0]), float(found.rest[0])

    # A round trip takes 150 ms, of which the path takes 50: what is beyond it is 100 ms.
    assert parts(0.04) == pytest.approx((50 / 150, 100 / 150, 0.0))
    assert parts(0.02) == pytest.approx((50 / 150, 20 / 150, 80 / 150))


BEGUN = {
    "name": "get",
    "sender": "server",
    "completed": True,
    "completion_s": 8.0,
    "goodput_mbps": 1.0,
    "delivered_bytes": 1_000_000,
    "packets_sent": 800,
    "packets_lost": 800,
}


@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [
        ("packets_lost", 800, 801),
        ("goodput_mbps", 1.0009, 1.002),
        ("goodput_mbps", 0.9991, 0.998),
        ("completion_s", 8.0, 10.1),
        ("first_byte_s", 8.0, 8.1),
    ],
)
def test_numbers_of_a_summary_that_contradict_each_other_are_refused(key: str, right: float, wrong: float) -> None:
    agreement.summary({"duration_s": 10.0, "connections": [{**BEGUN, key: right}]})
    with pytest.raises(WrongError, match=key):
        agreement.summary({"duration_s": 10.0, "connections": [{**BEGUN, key: wrong}]})


def test_faster_playback_shows_more() -> None:
    """Four seconds at the normal rate and two at 1.5 times it are seven seconds of media."""
    columns = ("time_s", "event", "position_s", "playback_rate")
    events = [(1.0, "start", 0.0, 1.0), (5.0, "rate", 4.0, 1.5)]
    segment = {
        "segment": 0,
        "kind": "video",
        "outcome": "complete",
        "ended_s": 0.9,
        "buffer_after_s": 8.0,
        "duration_s": 8.0,
        "bitrate_mbps": 1.5,
        "size_bytes": 1_000_000,
        "representation": 2,
    }
    rows = {"playback": [dict(zip(columns, one, strict=True)) for one in events], "segment": [segment]}
    tables = {
        name: pa.Table.from_pylist([{**row, "connection": "get"} for row in found]) for name, found in rows.items()
    }
    summary = {"duration_s": 7.0, "connections": [{"name": "get", "playback": PLAYBACK}]}
    run: Any = SimpleNamespace(summary=summary, table=tables.__getitem__, _document={})
    (shown,) = video_quality.inputs(run)["I13"]["segments"]
    assert (shown["duration"], shown["bitrate"], shown["resolution"]) == (7.0, 1500.0, "768x432")


def test_shares_are_means_over_five_bins() -> None:
    # The middle of seven bins has two neighbours at either side: (1 + 2 + 10 + 4 + 5) / 5.
    assert _smooth(np.array([0.0, 1.0, 2.0, 10.0, 4.0, 5.0, 0.0]))[3] == pytest.approx(4.4)
    assert list(_smooth(np.array([1.0, 3.0]))) == [2.0, 2.0]


def test_cells_of_notebooks() -> None:
    assert [cell(value) for value in (None, 3.14159265, 7, "x" * 61)] == ["-", "3.14159", "7", "x" * 59 + "…"]
    assert cell("x" * 60) == "x" * 60
    assert (more(1, "row"), more(2, "row"), more(0, "row")) == (["and 1 more row"], ["and 2 more rows"], [])
    assert more(1234, "run") == ["and 1,234 more runs"]
    assert lines(["<b>"]) == '<div style="opacity: 0.8;">&lt;b&gt;</div>'


def test_a_grid_is_as_wide_as_a_line_and_a_page() -> None:
    # Two columns of 54 letters, two blanks between them: 110. One letter more, and the second is named below.
    wide = Grid(["a", "b"], [["x" * 54, "y" * 54]], [True, True])
    assert wide.text().splitlines() == ["a" + " " * 55 + "b", "x" * 54 + "  " + "y" * 54]
    wider = Grid(["a", "b"], [["x" * 54, "y" * 55]], [True, True])
    assert wider.text().splitlines() == ["a", "x" * 54, "and 1 more column: b"]
    many = Grid([f"c{at}" for at in range(21)], [["v"] * 21], [False] * 21)
    html = many.html()
    assert (html.count("<th"), html.count("<td")) == (12 + 1, 12), "a head is <thead> and twelve <th>"
    assert "and 9 more columns: c12, c13, c14, c15, c16, c17, c18, c19, ...<" in html


def test_numbers_with_units() -> None:
    read = {
        "2 Mbit/s": 2.0,
        "1.5 Gbit/s": 1500.0,
        "45 ms": 0.045,
        "2 min": 120.0,
        "360 kB": 360_000.0,
        "7 packets": 7.0,
    }
    assert {text: quantities.number(text) for text in read} == read
    assert quantities.number(3) == 3.0
    for text in ("3", "3 %", "1 BDP", "unlimited", "3 lightyears"):
        with pytest.raises(Error, match=r"expected a number with its unit, like '2 Mbit/s', '45 ms'"):
            quantities.number(text)
    assert (quantities.read("2 Mbit/s", "bit/s"), quantities.read("2 Mbit/s", "s"), quantities.read("x", "s")) == (
        2e6,
        None,
        None,
    )


def test_the_nearest_word() -> None:
    assert hint("cubik", ["newreno", "cubic"]) == "; did you mean 'cubic'?"
    # Another word for it, and what is no text.
    assert hint("bandwidth", ["rate", "delay"]) == "; did you mean 'rate'?"
    assert (hint("\udcff", ["rate"]), hint("rat", ["\udcff", "rate"])) == ("", "; did you mean 'rate'?")
    assert listed(map(str, range(12))) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"
    assert listed(map(str, range(13))).endswith("11, ...")


def test_a_long_line_keeps_its_end() -> None:
    assert short("a" * 10, 10) == "a" * 10
    assert short("word " * 5, 12) == "word wor ..."
