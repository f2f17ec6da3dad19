"""Results whose parts no longer agree: whatever reads them says the file, the place and what would be right."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quiclab
from conftest import SCENARIO
from quiclab import cli

Change = Callable[[Any], Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    scenario = quiclab.Scenario.from_text(SCENARIO)
    scenario.run(out=folder / "run", qlog=True, figure=False)
    quiclab.sweep(scenario.with_({"sweep.link.cell.delay": ["10 ms", "20 ms"]}), out=folder / "swept", jobs=1)
    return folder


def copied(made: Path, to: Path, what: str) -> Path:
    folder = to / "changed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made / what, folder)
    return folder


def with_table(folder: Path, name: str, change: Change) -> Path:
    path = folder / f"{name}.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    return folder


def with_summary(folder: Path, change: Change) -> Path:
    path = folder / "summary.json"
    summary = json.loads(path.read_text())
    change(summary)
    path.write_text(json.dumps(summary))
    return folder


def filled(column: str, value: Any) -> Change:
    def change(table: pa.Table) -> pa.Table:
        at = table.column_names.index(column)
        return table.set_column(at, column, pa.array([value] * table.num_rows))

    return change


def doubled(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table, table])


def turned(table: pa.Table) -> pa.Table:
    return table.take(pa.array(range(len(table) - 1, -1, -1)))


def of_connection(**values: Any) -> Change:
    return lambda summary: summary["connections"][0].update(values)


def of_link(**values: Any) -> Change:
    return lambda summary: summary["links"][0].update(values)


SUMMARIES: tuple[tuple[Change, str], ...] = (
    # Numbers that are none of a run.
    (of_connection(rtt_mean_ms=-1), "connections.0.rtt_mean_ms is -1; expected a number of 0 or more"),
    (of_connection(goodput_mbps=-5), "connections.0.goodput_mbps is -5; expected a number of 0 or more"),
    (of_connection(delivered_bytes=-1), "connections.0.delivered_bytes is -1; expected a whole number, 0 or more"),
    (of_connection(packets_lost=-3), "connections.0.packets_lost is -3; expected a whole number, 0 or more"),
    (of_connection(packets_sent=213.5), "connections.0.packets_sent is 213.5; expected a whole number, 0 or more"),
    (of_connection(first_byte_s=-0.1), "connections.0.first_byte_s is -0.1; expected a number of 0 or more"),
    (of_link(queue_mean_packets=-4), "links.0.queue_mean_packets is -4; expected a number of 0 or more"),
    (of_link(utilisation=-1), "links.0.utilisation is -1; expected a number of 0 or more"),
    (of_link(utilisation=7), "links.0.utilisation is 7; expected a number from 0 to 1"),
    (of_link(delivered_packets=0.5), "links.0.delivered_packets is 0.5; expected a whole number, 0 or more"),
    (lambda summary: summary.update(duration_s=-1), "duration_s is -1; expected a number of 0 or more"),
    # Numbers that contradict others.
    (of_connection(completion_s=9999), "connections.0.completion_s is 9999; expected no more than its duration_s, "),
    (of_connection(completion_s=None), "connections.0.completion_s is null; expected a number for what is"),
    (of_connection(completed=False), "connections.0.completion_s is .*; expected null for what is not completed"),
    (of_connection(first_byte_s=15), "connections.0.first_byte_s is 15; expected no more than its (dur|compl)"),
    (of_connection(goodput_mbps=99), "connections.0.goodput_mbps is 99; expected .*, as its delivered_bytes and"),
    (of_connection(delivered_bytes=9 * 10**17), "connections.0.goodput_mbps is .*; expected .*, as its delivered"),
    (of_connection(packets_lost=10**9), "connections.0.packets_lost is 1e.09; expected no more than its"),
    (of_connection(bottleneck="x forward"), "connections.0.bottleneck has 'x forward'; expected a link, medium or n"),
    (lambda summary: summary["connections"][0].pop("packets_lost"), "connections.0.packets_lost is missing; expe"),
    (lambda summary: summary["connections"][0].pop("completion_s"), "connections.0.completion_s is missing; expected"),
    (lambda summary: summary["connections"].append(summary["connections"][0]), "connections.1 has a name that .*0 "),
    (lambda summary: summary["links"].append(summary["links"][1]), "links.2 has a name that links.1 has"),
    # Those of the scenario and the tables.
    (lambda summary: summary["connections"].clear(), "connections has none of the flow download; expected one of each"),
    (of_connection(name="other"), "connections has none of the flow download"),
    (lambda summary: summary["links"].pop(1), "links has none of the link cell backward; expected one of each link"),
    (lambda summary: summary.update(seed=99), "seed is 99; expected 1, as in scenario.toml"),
    (lambda summary: summary.update(scenario="other"), "scenario is other; expected .*, as in scenario.toml"),
)  # fmt: skip
TABLES: tuple[tuple[str, Change, str], ...] = (
    ("connection", filled("connection", "other"), r"connection.parquet: .*connection has 'other'; expected a conn"),
    ("connection", filled("side", "left"), r"connection.parquet: .* column side has 'left'; expected client or server"),
    ("queue", filled("link", "\x1b[31mq"), r"queue.parquet: .* column link has .*31mq'; expected a link of the run"),
    ("stream", filled("stream", -4), r"stream.parquet: .* column stream is -4; expected a number of 0 or more"),
    ("stream", filled("side", "up"), r"stream.parquet: .* column side has 'up'; expected client or server"),
    ("wait", filled("time_s", 900.0), r"wait.parquet: .* column time_s is 900; expected no more than the duration_s"),
    ("connection", lambda table: table.slice(0, 0), r"connection.parquet: has no row of the connection download"),
    ("connection", turned, r"connection.parquet: .* column time_s is .*; expected .* or later, as in the row before"),
    ("queue", turned, r"queue.parquet: .* column time_s is .*; expected .* or later"),
    ("connection", doubled, r"connection.parquet: .* column time_s is 0.*; expected .* or later"),
    ("wait", doubled, r"wait.parquet: .* column time_s is .*; expected .* or later"),
    ("wait", lambda table: table.drop_columns(["wait"]), r"wait.parquet: .* column wait is missing"),
)  # fmt: skip


def commands(folder: Path, good: Path, out: Path) -> dict[str, list[str]]:
    """All that reads a run."""
    return {
        "why": ["why", str(folder), "--no-try"],
        "report": ["report", str(folder), "--out", str(out / "r.html")],
        "view": ["view", str(folder), "--out", str(out / "v.html")],
        "plot": ["plot", str(folder), "--out", str(out / "p.png")],
        "diff": ["diff", str(good), str(folder)],
        "export": ["export", str(folder), "--out", str(out / "e.csv")],
    }


def refused(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line with the problem, and no other answer."""
    import re

    code = cli.main(arguments)
    told = capsys.readouterr()
    assert code == 2, (arguments, told)
    (line,) = told.err.splitlines()
    assert line.startswith("quiclab: ") and re.search(problem, line), (arguments, line)
    assert "internal" not in line and "contradict" not in line and "\x1b" not in line


@pytest.mark.parametrize(("change", "problem"), SUMMARIES)
def test_a_changed_summary_is_one_line(
    made: Path, tmp_path: Path, change: Change, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_summary(copied(made, tmp_path, "run"), change)
    for arguments in commands(folder, made / "run", tmp_path).values():
        refused(arguments, f"summary.json.*{problem}", capsys)


@pytest.mark.parametrize(("table", "change", "problem"), TABLES)
def test_a_changed_table_is_one_line(
    made: Path, tmp_path: Path, table: str, change: Change, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_table(copied(made, tmp_path, "run"), table, change)
    for arguments in commands(folder, made / "run", tmp_path).values():
        refused(arguments, problem, capsys)


@pytest.mark.parametrize("table", ["connection", "queue", "stream", "message"])
def test_a_missing_table_is_one_line(
    made: Path, tmp_path: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copied(made, tmp_path, "run")
    (folder / f"{table}.parquet").unlink()
    for arguments in commands(folder, made / "run", tmp_path).values():
        refused(arguments, rf"{table}.parquet: is missing; expected every table of record.tables", capsys)
    for path in folder.glob("*.parquet"):
        path.unlink()
    # Without any, it is a run that was made without tables.
    assert cli.main(["export", str(folder)]) == 0


SWEEPS: tuple[tuple[Change, str], ...] = (
    (filled("connection.download.goodput_mbps", -5.0), "goodput_mbps is -5; expected a number of 0 or more"),
    (filled("connection.download.goodput_mbps", float("inf")), "goodput_mbps is too large; expected a number below"),
    (filled("connection.download.goodput_mbps", float("nan")), "goodput_mbps is not a number; expected a number below"),
    (filled("connection.download.goodput_mbps", "a"), "goodput_mbps is of type string; expected numbers"),
    (filled("link.cell.forward.queue_mean_packets", -1.0), "queue_mean_packets is -1; expected a number of 0 or more"),
    (filled("run", 1), "column run has a run twice; expected each run once"),
    (doubled, "the table has 4 rows; expected 2, the runs of sweep.json"),
    (lambda table: table.slice(0, 0), "the table has 0 rows; expected 2, the runs of sweep.json"),
    (lambda table: table.slice(0, 1), "the table has 1 rows; expected 2, the runs of sweep.json"),
    (lambda table: table.drop_columns(["connection.download.goodput_mbps"]), "goodput_mbps is missing; expected it"),
)  # fmt: skip


@pytest.mark.parametrize(("change", "problem"), SWEEPS)
def test_a_changed_table_of_runs_is_one_line(
    made: Path, tmp_path: Path, change: Change, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = with_table(copied(made, tmp_path, "swept"), "runs", change)
    for arguments in (
        ["plot", str(folder), "--x", "delay_ms", "--y", "rtt_mean_ms", "--out", str(tmp_path / "p.png")],
        ["report", str(folder), "--out", str(tmp_path / "r.html")],
        ["diff", str(made / "swept"), str(folder)],
        ["export", str(folder), "--out", str(tmp_path / "e.csv")],
    ):
        refused(arguments, f"runs.parquet: cannot be read: .*{problem}", capsys)


def test_diff_says_what_differs_in_tables_and_sweeps(made: Path, tmp_path: Path) -> None:
    def table_differs(table: str, change: Change) -> str:
        return str(quiclab.diff(made / "run", with_table(copied(made, tmp_path, "run"), table, change)))

    assert str(quiclab.diff(made / "run", made / "run")) == "nothing differs"
    assert str(quiclab.diff(made / "run", copied(made, tmp_path, "run"))) == "nothing differs"
    rows = pq.read_table(made / "run" / "loss.parquet").num_rows
    assert table_differs("loss", lambda table: table.slice(0, rows - 1)).startswith(
        f"table.loss.rows {rows} {rows - 1}"
    )
    assert table_differs("event", filled("detail", "x")).startswith("table.event.detail ")
    assert table_differs("queue", filled("bytes", 7)).startswith("table.queue.bytes ")
    assert table_differs("loss", lambda table: table.append_column("own", pa.array([1] * rows))) == (
        "table.loss.columns none own"
    )
    each = pa.array([row for row in range(rows) for _ in "ab"])
    assert table_differs("loss", lambda table: table.take(each)).startswith(f"table.loss.rows {rows} {2 * rows}")
    # A sweep of fewer runs whose files agree.
    folder = with_table(copied(made, tmp_path, "swept"), "runs", lambda table: table.slice(0, 0))
    info = json.loads((folder / "sweep.json").read_text())
    (folder / "sweep.json").write_text(json.dumps({**info, "runs": 0}))
    assert "runs 2 0" in str(quiclab.diff(made / "swept", folder))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_a_pipe_among_the_logs_is_named_and_not_opened(made: Path, tmp_path: Path) -> None:
    folder = copied(made, tmp_path, "run")
    os.mkfifo(folder / "x.sqlog")
    (folder / "y.sqlog").mkdir()
    (folder / "z.sqlog").symlink_to("/dev/zero")
    notes = quiclab.view.write(folder, tmp_path / "v.html").notes
    assert "left out: x.sqlog: cannot be read: not a regular file" in notes
    assert "left out: y.sqlog: cannot be read: a folder, not a file" in notes
    assert "left out: z.sqlog: cannot be read: not a regular file" in notes


def test_what_is_shown_of_results_has_no_home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(made))
    for shown in (quiclab.load(made / "run"), quiclab.load_sweep(made / "swept")):
        for text in (repr(shown), shown._repr_html_()):
            assert str(made) not in text and "~/" in text
