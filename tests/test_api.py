"""Scenario and Run from Python."""

import json
import pickle
from pathlib import Path

import pyarrow as pa
import pytest

import quiclab
from conftest import SCENARIO
from quiclab import Scenario


def test_from_file_and_from_text_give_the_same(tmp_path: Path) -> None:
    file = tmp_path / "bulk.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    assert Scenario.from_file(file).to_toml() == Scenario.from_text(SCENARIO).to_toml()
    assert Scenario.from_file(str(file)).run().summary == Scenario.from_text(SCENARIO).run().summary


def test_python_builds_the_same_document() -> None:
    import tomllib

    document = tomllib.loads(SCENARIO)
    assert Scenario(document).to_toml() == Scenario(**document).to_toml() == Scenario.from_text(SCENARIO).to_toml()


def test_the_resolved_document_gives_the_same_run() -> None:
    scenario = Scenario.from_text(SCENARIO)
    again = Scenario.from_text(scenario.to_toml())
    assert again.to_toml() == scenario.to_toml()
    assert again.run().summary == scenario.run().summary


def test_changes_make_a_copy() -> None:
    scenario = Scenario.from_text(SCENARIO)
    changed = scenario.with_({RATE: "2 Mbit/s"})
    assert changed.with_(seed=9).seed == 9
    assert scenario.seed == 1
    slow = changed.run().summary["connections"][0]["goodput_mbps"]
    assert slow < 2.0 < scenario.run().summary["connections"][0]["goodput_mbps"]
    assert scenario.with_([f"{RATE}=2 Mbit/s"]).to_toml() == changed.to_toml()
    assert Scenario.from_text(SCENARIO, set={RATE: "2 Mbit/s"}).to_toml() == changed.to_toml()


RATE = "link.cell.forward.rate"


def test_name_seed_and_description() -> None:
    scenario = Scenario.from_text(SCENARIO)
    assert (scenario.name, scenario.seed) == ("bulk", 1)
    assert repr(scenario) == "<quiclab.Scenario 'bulk' seed 1>"
    assert scenario.describe()


def test_the_summary_has_what_is_promised(run: quiclab.Run) -> None:
    summary = run.summary
    assert {"scenario", "seed", "version", "duration_s", "connections", "links"} <= summary.keys()
    assert summary["version"] == quiclab.__version__
    (connection,) = summary["connections"]
    promised = """name goodput_mbps completion_s completed rtt_mean_ms rtt_p95_ms packets_sent packets_lost
        packets_declared_lost retransmitted_bytes delivered_bytes close"""
    assert set(promised.split()) <= connection.keys()
    assert connection["completed"]
    assert connection["delivered_bytes"] == 300_000
    promised = """name direction queue_mean_packets queue_max_packets queue_mean_bytes queue_max_bytes
        delivered_bytes utilisation drops"""
    for link in summary["links"]:
        assert set(promised.split()) <= link.keys()


def test_tables_are_arrow_tables(run: quiclab.Run) -> None:
    connection = run.table("connection")
    assert isinstance(connection, quiclab.Table) and isinstance(connection.arrow, pa.Table)
    assert run.table("connection") is connection
    times = connection["time_s"].to_numpy()
    assert (times[1:] >= times[:-1]).all()
    assert connection.to_pandas().shape == connection.shape
    with pytest.raises(quiclab.Error, match=r"no table 'nonsense': .*connection"):
        run.table("nonsense")


def test_tables_tell_what_the_summary_tells(run: quiclab.Run) -> None:
    (connection,) = run.summary["connections"]
    assert run.table("loss").num_rows >= connection["packets_declared_lost"] > 0
    (worst,) = (link for link in run.summary["links"] if link["direction"] == "forward")
    queue = run.table("queue").to_pandas()
    assert queue[queue.link == f"{worst['name']} forward"].packets.max() == worst["queue_max_packets"]


def test_without_tables_there_is_only_the_summary(run: quiclab.Run) -> None:
    lean = Scenario.from_text(SCENARIO).run(tables=False)
    assert lean.tables == ()
    assert lean.summary == run.summary
    with pytest.raises(quiclab.Error, match="without tables"):
        lean.plot()


def test_a_run_without_the_table_of_the_figure_is_kept(tmp_path: Path) -> None:
    few = Scenario.from_text(SCENARIO, {"record.tables": ["rate"]}).run(out=tmp_path / "run")
    assert quiclab.load(tmp_path / "run").tables == few.tables == ("rate",)
    assert not (tmp_path / "run" / "figure.png").exists()
    with pytest.raises(quiclab.Error, match="no table 'connection'"):
        few.plot()


def test_saved_and_loaded_is_equal(run: quiclab.Run, saved: Path) -> None:
    again = quiclab.load(saved)
    assert again.path == saved
    assert again.summary == run.summary
    assert again.scenario_toml == run.scenario_toml
    assert sorted(again.tables) == sorted(run.tables)
    for name in run.tables:
        assert again.table(name).equals(run.table(name)), name


def test_a_loaded_run_can_be_saved_again(saved: Path, tmp_path: Path) -> None:
    quiclab.load(saved).save(tmp_path / "again")
    for file in sorted(saved.iterdir()):
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def test_traces_follow_the_run(tmp_path: Path) -> None:
    run = Scenario.from_text(SCENARIO).run(qlog=True)
    assert len(run.qlogs) == 2
    assert run.capture is None
    run.save(tmp_path / "run", figure=False)
    assert {path.parent for path in run.qlogs} == {tmp_path / "run"}
    assert not (tmp_path / "run" / "figure.png").exists()


def test_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = Scenario.from_text(SCENARIO)
    paths = [scenario.run(seed, out=True, figure=False).path for seed in (5, 5, 6)]
    assert [str(path) for path in paths] == ["runs/bulk-seed5", "runs/bulk-seed5-2", "runs/bulk-seed6"]
    assert json.loads(Path("runs/bulk-seed6/summary.json").read_text())["seed"] == 6
    assert "seed = 6" in Path("runs/bulk-seed6/scenario.toml").read_text()


def test_progress_is_told() -> None:
    told: list[quiclab.Progress] = []
    Scenario.from_text(SCENARIO).run(progress=told.append)
    assert told
    assert all(0 <= progress.fraction <= 1 for progress in told)


def test_load_refuses_what_is_no_run_folder(tmp_path: Path, saved: Path) -> None:
    with pytest.raises(quiclab.OutputError, match="no such run folder"):
        quiclab.load(tmp_path / "nothing")
    with pytest.raises(quiclab.OutputError, match=r"it has no summary\.json"):
        quiclab.load(tmp_path)
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(quiclab.OutputError, match="cannot be read"):
        quiclab.load(tmp_path)
    (tmp_path / "summary.json").write_text("{}")
    (tmp_path / "scenario.toml").write_text("")
    with pytest.raises(
        quiclab.OutputError, match=r"cannot be read as a run folder: summary\.json: scenario is missing"
    ):
        quiclab.load(tmp_path)
    for name in ("summary.json", "scenario.toml"):
        (tmp_path / name).write_bytes((saved / name).read_bytes())
    (tmp_path / "connection.parquet").write_bytes((saved / "connection.parquet").read_bytes()[:-10])
    with pytest.raises(quiclab.OutputError, match=r"connection\.parquet: cannot be read"):
        quiclab.load(tmp_path).table("connection")


def test_topics_are_described() -> None:
    topics = {topic["name"]: topic for topic in quiclab.topics()}
    assert {"controllers", "losses", "applications"} <= topics.keys()
    newreno = next(row for row in topics["controllers"]["rows"] if row["name"] == "newreno")
    assert newreno["about"]


def test_errors_survive_a_process_pool() -> None:
    for error in (quiclab.ScenarioError("x"), quiclab.RunError("x"), quiclab.OutputError("x")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert again.args == ("x",)


def test_scenarios_go_to_other_processes() -> None:
    scenario = Scenario.from_text(SCENARIO).with_(seed=7)
    again = pickle.loads(pickle.dumps(scenario))
    assert (again.to_toml(), again.seed) == (scenario.to_toml(), 7)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("Adjustment", "ResumeAdjustment"),
        ("Trouble", "CongestionSignal"),
        ("Underway", "PartialDownload"),
        ("View", "SchedulerView"),
        ("rooms", "topics"),
    ],
)
def test_names_of_before_go_on_working_with_a_warning(before: str, now: str) -> None:
    assert before not in quiclab.__all__ and now in quiclab.__all__
    with pytest.warns(DeprecationWarning, match=f"^quiclab.{before} is called quiclab.{now} now$"):
        assert getattr(quiclab, before) is getattr(quiclab, now)
