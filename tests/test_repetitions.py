"""Repetitions that are all the same run, and traces that make them differ."""

import json
import re
from pathlib import Path

import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

import quiclab
from quiclab.commands import app
from quiclab.values.traces import generate

BASE = """
duration = "3 s"
[record]
tables = []
[[link]]
name = "cell"
from = "server"
to = "client"
forward = { rate = RATE, delay = "10 ms", queue = "50 packets" }
backward = { rate = "100 Mbit/s", delay = "10 ms" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "1 MB" }
"""
SWEEP = '[sweep]\nrepetitions = 3\nlink.cell.backward.delay = ["5 ms", "10 ms"]\n'
SERIES = '{ type = "series", file = "drive.csv"OFFSET }'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "drive.csv").write_text(generate("lte-driving", seed=4, duration_s=30))
    return tmp_path


def scenario(folder: Path, rate: str, more: str = SWEEP) -> Path:
    path = folder / "a.toml"
    path.write_text(BASE.replace("RATE", rate) + more)
    return path


def told(*arguments: object) -> tuple[str, str]:
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout, done.stderr


def test_identical_repetitions_are_told_before_and_found_after(folder: Path) -> None:
    path = scenario(folder, SERIES.replace("OFFSET", ""))
    warning = "nothing in it is random: all 3 repetitions of each combination are the same run"
    assert warning in told("check", path)[1]
    _, said = told("sweep", path, "--out", folder / "out")
    assert said.count("warning: ") == 1 and warning in said
    result = quiclab.load_sweep(folder / "out")
    assert (result.info["identical"], result.info["combinations"]) == (2, 2)
    (after,) = result.warnings
    assert after.startswith("all 3 repetitions gave the same results in 2 of 2 combinations")


@pytest.mark.parametrize(
    "rate",
    [
        SERIES.replace("OFFSET", ', offset = "random"'),
        '{ type = "generated", model = "mmwave", duration = "60 s" }',
    ],
)
def test_a_random_offset_and_a_generated_trace_make_repetitions_differ(folder: Path, rate: str) -> None:
    path = scenario(folder, rate)
    assert "warning" not in told("check", path)[1]
    result = quiclab.sweep(path, out=folder / "out")
    assert (result.warnings, result.info["identical"]) == ([], 0)
    times = result.runs["connection.get.completion_s"]
    assert pc.count_distinct(times).as_py() == 6
    # The same again in another folder, one run at a time; and each alone, from its resolved scenario.
    again = quiclab.sweep(path, out=folder / "again", jobs=1)
    assert again.runs == result.runs
    row = result.runs.to_pylist()[4]
    alone = quiclab.Scenario.from_file(path, ["link.cell.backward.delay=10 ms"]).with_(seed=row["seed"])
    resolved = alone.to_toml()
    assert re.search(r"(offset|model) = ", resolved)
    connection = quiclab.Scenario.from_text(resolved).run().summary["connections"][0]
    assert connection["completion_s"] == row["connection.get.completion_s"]


def test_paired_seeds_give_all_combinations_the_same_trace(folder: Path) -> None:
    rate = '{ type = "generated", model = "mmwave", duration = "60 s" }'
    sweep = SWEEP.replace("[sweep]", '[sweep]\nseries = ["rate"]\nseeds = "paired"')
    path = scenario(folder, rate, sweep)
    path.write_text(path.read_text().replace("tables = []", 'tables = ["rate"]'))
    series = quiclab.sweep(path).series
    assert series is not None
    capacity: dict[int, list[float]] = {}
    for row in series.to_pylist():
        if row["quantity"] == "capacity_mbps" and row["subject"] == "cell forward":
            capacity.setdefault(row["run"], []).append(row["value"])
    least = min(map(len, capacity.values()))
    cut = {run: values[:least] for run, values in capacity.items()}
    assert all(cut[run] == cut[run + 3] for run in (1, 2, 3))
    assert cut[1] != cut[2] != cut[3]


def test_a_seed_gives_the_trace_that_the_command_writes(folder: Path) -> None:
    made = '{ type = "generated", model = "lte-driving", duration = "30 s", seed = 4 }'
    one, other = (
        quiclab.Scenario.from_file(scenario(folder, rate, "")).run().summary
        for rate in (made, SERIES.replace("OFFSET", ""))
    )
    assert one == other


def test_a_fixed_offset_begins_there(folder: Path) -> None:
    steps = "time_ms,rate_mbps\n" + "".join(f"{at * 100},{5 + at}\n" for at in range(50))
    (folder / "drive.csv").write_text(steps)
    text = scenario(folder, SERIES.replace("OFFSET", ', offset = "2 s"'), "").read_text()
    path = folder / "b.toml"
    path.write_text(text.replace("tables = []", 'tables = ["rate"]'))
    table = quiclab.Scenario.from_file(path).run().table("rate").to_pylist()
    rows = [row["mbps"] for row in table if row["kind"] == "capacity" and row["subject"] == "cell forward"]
    assert rows[:4] == pytest.approx([25, 26, 27, 28])


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (SERIES.replace("OFFSET", ', offset = "30 s"'), "offset: 30 s; expected less than 30 s"),
        (SERIES.replace("OFFSET", ', offset = "anywhere"'), "offset: "),
        ('{ type = "generated", model = "wifi" }', 'found "wifi"; expected one of mmwave, lte-driving'),
        ('{ type = "generated", model = "mmwave", duration = "30 s" }', "duration: 30 s; expected from 60 s to 3600 s"),
        ('{ type = "generated" }', "model: missing"),
    ],
)
def test_what_cannot_be_played_is_one_line(folder: Path, rate: str, said: str) -> None:
    with pytest.raises(quiclab.ScenarioError) as problem:
        quiclab.Scenario.from_file(scenario(folder, rate))
    assert said in str(problem.value) and "\n" not in str(problem.value)


def test_reproduce_tells_of_repetitions_that_are_the_same(folder: Path) -> None:
    from quiclab.reproduce.runs import make

    runs = make(scenario(folder, SERIES.replace("OFFSET", "")), (), folder / "runs", 2, None)
    assert runs.warnings and "all 3 repetitions gave the same results" in runs.warnings[0]
    info = json.loads((folder / "runs" / "sweep.json").read_text())
    assert info["identical"] == 2
