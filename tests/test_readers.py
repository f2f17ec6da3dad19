"""Readers of files from outside under any change: each is read and shown, or refused in one line that names it."""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import quiclab
from quiclab import traces
from quiclab.drawings.view import model
from quiclab.drawings.view.page import page
from quiclab.records import qlog
from quiclab.records.qlog import events
from view_logs import header, two_streams

ANY_FOLDER = settings(
    max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
"""The folder of a test is written anew by each of its examples."""

NUMBERS = st.sampled_from([0, -1, 1, 63, 2**31, 2**53 + 1, 2**62 - 1, 2**62, 2**64, 10**400, 1e308, 1e-308, -1e308])
VALUES: st.SearchStrategy[object] = st.one_of(
    NUMBERS,
    st.sampled_from([None, True, "", "1", "-1", "1e308", "nan", "\x00", "\ud800", "</script>", "x" * 5000, [], {}]),
    st.sampled_from([float("nan"), float("inf"), float("-inf")]),
    st.sampled_from([[[5, 3]], [[0, 2**62 - 1]], [[1], [0]], [[0, 2**61], [2**61, 2**62 - 1]], {"length": 2**32}]),
    st.text(max_size=5),
)
CHANGES = st.lists(
    st.tuples(st.integers(0, 10**6), st.sampled_from(["put", "drop", "twice", "swap"]), VALUES, st.integers(0, 10**6)),
    min_size=1,
    max_size=6,
)
BYTES = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4)


def logs() -> list[list[dict[str, Any]]]:
    """Both ends of a connection, as records."""
    ends = zip(("server", "client"), two_streams(), strict=True)
    return [
        [header(side), *({"time": time, "name": f"quic:{name}", "data": data} for time, name, data in events)]
        for side, events in ends
    ]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Each container below a value, with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [place for key in keys for place in [(value, key), *places(value[key])]]


def change(records: list[Any], changes: list[tuple[int, str, Any, int]]) -> None:
    """Changes a document in place."""
    for number, what, value, other in changes:
        found = places(records)
        if not found:
            return
        container, key = found[number % len(found)]
        another = found[other % len(found)]
        if what == "put":
            container[key] = deepcopy(value)
        elif what == "drop":
            del container[key]
        elif what == "twice" and isinstance(container, list):
            container.insert(key, json.loads(json.dumps(container[key])))
        else:
            container[key] = json.loads(json.dumps(another[0][another[1]]))


def written(records: list[Any], contained: bool) -> bytes:
    """The bytes of a file with these records."""
    if not contained or not records or not isinstance(records[0], dict):
        return "".join(f"\x1e{json.dumps(record)}\n" for record in records).encode("utf-8", "surrogatepass")
    first = dict(records[0])
    trace = first.pop("trace", None)
    traces = [{**trace, "events": records[1:]}] if isinstance(trace, dict) else trace
    return json.dumps({**first, "traces": traces}).encode("utf-8", "surrogatepass")


def altered(content: bytes, changes: list[tuple[int, int]]) -> bytes:
    """The bytes with some set to others; zero cuts off what stands behind."""
    for at, byte in changes:
        if not content:
            break
        place = at % len(content)
        content = content[:place] if byte == 0 else content[:place] + bytes([byte]) + content[place + 1 :]
    return content


def read(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[qlog.Log]:
    """The logs of a file. Reading all records one at a time must tell the same, whether they are right or wrong."""
    with monkeypatch.context() as patch:
        patch.setattr(events, "FAST", False)
        try:
            expected = [content(log) for log in qlog.read(path)]
        except quiclab.Error as error:
            with pytest.raises(quiclab.Error, match=f"^{re.escape(str(error))}$"):
                patch.undo()
                qlog.read(path)
            raise
    found = qlog.read(path)
    # As text, in which NaN is equal to itself.
    assert repr([content(log) for log in found]) == repr(expected)
    return found


def content(log: qlog.Log) -> tuple[Any, ...]:
    """All that a log says; what was lost and written is seen in what the page makes of it."""
    alone = model.connections([log])
    text = page("x", alone, log.notes, "1")
    return (log.name, log.side, log.group, log.title, list(log.sent), list(log.received), log.metrics, log.notes, text)


def shown(path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a log can be shown; otherwise it is refused in one line."""
    try:
        connections = model.connections(read(path, monkeypatch))
    except quiclab.Error as error:
        assert str(path) in str(error) and "\n" not in str(error) and len(str(error)) < 1000
        return False
    for connection in connections:
        text = page(connection.name, [connection], connection.notes, "1")
        assert len(text.encode("utf-8")) < 1_000_000
    return True


@ANY_FOLDER
@given(st.integers(0, 1), CHANGES, st.booleans(), BYTES)
def test_a_log_with_any_changes_is_shown_or_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    end: int,
    changes: list[tuple[int, str, Any, int]],
    contained: bool,
    set_to: list[tuple[int, int]],
) -> None:
    records = logs()[end]
    change(records, changes)
    path = tmp_path / "x.qlog"
    path.write_bytes(altered(written(records, contained), set_to))
    shown(path, monkeypatch)


@ANY_FOLDER
@given(CHANGES)
def test_both_ends_with_any_changes_are_put_together(tmp_path: Path, changes: list[tuple[int, str, Any, int]]) -> None:
    both = logs()
    change(both, changes)
    found = []
    for name, records in zip(("a", "b"), both, strict=False):
        path = tmp_path / f"{name}.qlog"
        path.write_bytes(written(records if isinstance(records, list) else [records], False))
        try:
            found += qlog.read(path)
        except quiclab.Error:
            return
    for connection in model.connections(found):
        page(connection.name, [connection], connection.notes, "1").encode("utf-8")


@pytest.mark.parametrize("contained", [False, True])
def test_what_is_not_changed_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contained: bool) -> None:
    """Otherwise the properties above would be vacuous."""
    path = tmp_path / "x.qlog"
    path.write_bytes(written(logs()[0], contained))
    assert shown(path, monkeypatch)
    path.write_bytes(b"[" * 100_000)
    assert not shown(path, monkeypatch)


LINES = st.one_of(
    st.integers(0, 40).map(str),
    st.tuples(st.integers(0, 40), st.integers(0, 9)).map(lambda pair: f"{pair[0]},{pair[1]}"),
    st.sampled_from(["", "0", "-1", "4294967295", "4294967296", "1e308", "nan,1", "9,1e308", "0,0", "1,", ",", "\x00"]),
    st.sampled_from(["18446744073.709551615,1", "0.000001,0.000001", "1,18446744073709", "5,18446744073710", "1 ,2"]),
    st.text(max_size=5),
)


@ANY_FOLDER
@given(st.sampled_from(["", "time_ms,rate_mbps\n0,1\n", "time_s,rate_mbps\n0,3\n"]), st.lists(LINES, max_size=12))
def test_a_trace_of_any_lines_is_read_or_refused(tmp_path: Path, head: str, lines: list[str]) -> None:
    path = tmp_path / "x.trace"
    path.write_text(head + "\n".join(lines), encoding="utf-8", errors="replace")
    try:
        capacity = traces.read(path)
    except quiclab.Error as error:
        assert str(path) in str(error) and "\n" not in str(error)
        return
    assert capacity.end_ns > 0 and capacity.mean_mbps >= 0
    for form in ("csv", "mahimahi"):
        try:
            text = traces.write(capacity, form)
        except quiclab.Error as error:
            assert "\n" not in str(error)
            continue
        path.write_text(text, encoding="utf-8")
        again = traces.read(path)
        if form == "csv":
            assert again.mean_mbps == pytest.approx(capacity.mean_mbps)
