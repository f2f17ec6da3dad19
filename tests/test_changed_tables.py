"""Tables, summaries and sweeps that somebody changed: one line with the file, the column and what would be right."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import quiclab
from conftest import SCENARIO, Command
from quiclab.values import shapes
from quiclab.values.plain_text import harmless

READERS = {
    "connection": (["plot"], ["why"]),
    "loss": (["plot"], ["why"]),
    "queue": (["plot"], ["view"]),
    "rate": (["plot"], ["why"], ["view"]),
    "wait": (["why"], ["view"]),
}
"""Commands that read a table."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    scenario = quiclab.Scenario.from_text(SCENARIO)
    scenario.run(out=folder / "run", qlog=True, figure=False)
    quiclab.sweep(scenario.with_({"sweep.seed": [1, 2], "sweep.series": ["queue"]}), out=folder / "swept", jobs=1)
    return folder


def changed(made: Path, to: Path, what: str, table: str, change: Callable[[pa.Table], pa.Table]) -> Path:
    folder = to / "changed"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made / what, folder)
    path = folder / f"{table}.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    return folder


def filled(column: str, value: Any, row: int | None = None) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        at = table.column_names.index(column)
        values = table[column].to_pylist()
        values = [value] * len(values) if row is None else [*values[:row], value, *values[row + 1 :]]
        return table.set_column(at, column, pa.array(values))

    return change


WRONG = [
    ("connection", "time_s", -1e18, r"column time_s is -1e\+18; expected a number of 0 or more"),
    ("connection", "time_s", -5.0, r"column time_s is -5; expected a number of 0 or more"),
    ("connection", "time_s", 1e300, r"column time_s is 1e\+300; expected a number below 9,000,000,000"),
    ("connection", "smoothed_rtt_ms", float("nan"), r"column smoothed_rtt_ms is not a number; expected a number below"),
    ("connection", "cwnd_bytes", float("inf"), r"column cwnd_bytes is too large; expected a number below 1e\+18"),
    ("connection", "cwnd_bytes", -1, r"column cwnd_bytes is -1; expected a number of 0 or more"),
    ("loss", "time_s", float("-inf"), r"column time_s is too small; expected a number of 0 or more"),
    ("queue", "bytes", -1500, r"column bytes is -1500; expected a number of 0 or more"),
    ("queue", "packets", 1e30, r"column packets is 1e\+30; expected a number below 1e\+18"),
    ("rate", "mbps", float("nan"), r"column mbps is not a number"),
    ("rate", "mbps", 1e300, r"column mbps is 1e\+300"),
    ("wait", "gap_s", -1e18, r"column gap_s is -1e\+18"),
    ("wait", "gap_s", 1e300, r"column gap_s is 1e\+300"),
]


@pytest.mark.parametrize(("table", "column", "value", "problem"), WRONG)
@pytest.mark.parametrize("row", [None, 3])
def test_impossible_numbers_are_named(
    made: Path, tmp_path: Path, table: str, column: str, value: float, problem: str, row: int | None
) -> None:
    folder = changed(made, tmp_path, "run", table, filled(column, value, row))
    with pytest.raises(quiclab.OutputError, match=rf"changed/{table}\.parquet: cannot be read: {problem}"):
        quiclab.load(folder).table(table)


@pytest.mark.parametrize("table", READERS)
def test_commands_say_the_file_and_the_column(made: Path, tmp_path: Path, table: str) -> None:
    command = Command(tmp_path)
    for what, change, problem in (
        ("a number", filled("time_s", -1e18), "column time_s is -1e+18; expected a number of 0 or more"),
        ("a column", without("time_s"), "column time_s is missing; expected"),
        ("a table", lambda _: pq.read_table(made / "run" / "drop.parquet").rename_columns(list("abcd")), "is missing"),
    ):
        folder = changed(made, tmp_path, "run", table, change)
        for words in READERS[table]:
            done = command(words[0], folder.name, *words[1:])
            assert done.returncode == 2, (what, words, done.stdout)
            (line,) = done.stderr.splitlines()
            assert f"{table}.parquet: cannot be read: column " in line and problem in line, (what, words, line)
            assert "Error" not in line and "Warning" not in line


def test_what_readers_need_is_in_every_run(made: Path) -> None:
    run = quiclab.load(made / "run")
    for name, columns in shapes.NEEDED.items():
        if name != "series":
            assert set(columns) <= set(run.table(name).column_names), name
    swept = quiclab.load_sweep(made / "swept")
    assert swept.series is not None and set(shapes.NEEDED["series"]) <= set(swept.series.column_names)


def without(column: str) -> Callable[[pa.Table], pa.Table]:
    return lambda found: found.drop_columns([column])


def test_tables_of_sweeps_are_checked_too(made: Path, tmp_path: Path) -> None:
    for table, column in (("runs", "seed"), ("series", "quantity"), ("series", "time_s")):
        swept = quiclab.load_sweep(changed(made, tmp_path, "swept", table, without(column)))
        with pytest.raises(quiclab.OutputError, match=rf"{table}\.parquet: cannot be read: column {column} is missing"):
            assert swept.runs and swept.series


def test_numbers_that_are_too_large_are_called_so(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "run")
    path = tmp_path / "run" / "summary.json"
    text = path.read_text()
    duration = json.loads(text)["duration_s"]
    for number, told in (("1e999", "is too large"), ("-1e999", "is too small"), ("1e30", r"is 1e\+30")):
        path.write_text(text.replace(f'"duration_s": {duration}', f'"duration_s": {number}'))
        with pytest.raises(
            quiclab.OutputError, match=rf"summary\.json: duration_s {told}; expected a number below 1e\+18"
        ):
            quiclab.load(tmp_path / "run")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("seed=1e999", "seed: out of range, found a number of many digits"),
        (
            "link.cell.forward.loss={ type = 'random', probability = 1e999 }",
            "out of range, found a number of many digits",
        ),
        ("link.cell.forward.rate='1e999 Mbit/s'", "a number with an exponent, found .*expected a rate with its unit"),
        ("link.cell.delay='1e3 ms'", "a number with an exponent, found .*expected a duration with its unit"),
        ("duration=1e999", "the unit is missing, found a number of many digits"),
    ],
)
def test_numbers_of_scenarios_that_are_too_large_are_called_so(change: str, problem: str) -> None:
    with pytest.raises(quiclab.ScenarioError, match=problem):
        quiclab.Scenario.from_text(SCENARIO, [change])


ESCAPES = "a\x1b]0;owned\x07\x1b[31mb\x9b2J\u202ec"


def test_no_command_writes_the_escapes_of_a_stranger(made: Path, tmp_path: Path) -> None:
    command = Command(tmp_path)
    shutil.copytree(made / "run", tmp_path / "run")
    for table, column in (("event", "detail"), ("loss", "trigger"), ("drop", "reason"), ("event", "event")):
        changed(made, tmp_path, "run", table, filled(column, ESCAPES))
        for words in (["--format", "csv"], ["--json"], ["--format", "jsonl"], ["--out", "o.csv"], ["--out", "o.json"]):
            done = command("export", "changed", table, *words)
            assert done.returncode == 0, done.stderr
            written = done.stdout + ((tmp_path / words[1]).read_text() if "--out" in words else "")
            assert "owned" in written and not set("\x1b\x07\x9b\u202e").intersection(written), words
            if words[-1] in ("--json", "o.json"):
                text = done.stdout if words[-1] == "--json" else (tmp_path / "o.json").read_text()
                assert json.loads(text)[0][column] == ESCAPES
    changed(made, tmp_path, "run", "event", filled("event", ESCAPES))
    summary = tmp_path / "changed" / "summary.json"
    summary.write_text(summary.read_text().replace('"name": "download"', f'"name": {json.dumps(ESCAPES)}'))
    scenario = tmp_path / "changed" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace('"download"', '"a\\u001B[31mb"'))
    for words in (
        ["why"],
        ["plot"],
        ["report"],
        ["view"],
        ["export"],
        ["video", "qoe"],
        ["diff", "run"],
        ["explain"],
        ["check"],
    ):
        given = ["changed/scenario.toml"] if words == ["check"] else ["changed"]
        done = command(*words, *given)
        assert not set("\x1b\x07\x9b").intersection(done.stdout + done.stderr), words


def test_commands_print_by_one_door() -> None:
    folder = Path(quiclab.__file__).parent / "commands"
    # The pager prints what rich has coloured, of the program's own pages.
    others = [path.name for path in folder.glob("*.py") if "typer.echo(" in path.read_text(encoding="utf-8")]
    assert sorted(others) == ["output.py", "pager.py"]


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert harmless("plain\ttext\nof lines") == "plain\ttext\nof lines"
    assert harmless("\x1b[31m\x07\x7f\x9b\u202e") == "\\u001b[31m\\u0007\\u007f\\u009b\\u202e"
    assert harmless("Ünïcode 漢字 🙂") == "Ünïcode 漢字 🙂"
    assert json.loads(harmless(json.dumps({"a": ESCAPES}, ensure_ascii=False))) == {"a": ESCAPES}
