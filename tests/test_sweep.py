"""Sweeps from Python: what comes out, what the folder keeps, what goes wrong."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

import quiclab
from conftest import SCENARIO
from quiclab import _quiclab, progress

SWEEP = (
    SCENARIO
    + """
[sweep]
repetitions = 3
series = ["queue"]
transport.ack_ratio = [1, 4]
link.cell.delay = { from = "10 ms", to = "20 ms", count = 2 }
"""
)
"""2 x 2 x 3 runs."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The sweep in a file."""
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP, encoding="utf-8")
    return path


def test_a_row_for_each_run_with_its_parameters(file: Path, tmp_path: Path) -> None:
    made = quiclab.sweep(file, out=tmp_path / "out")
    assert made.parameters == ["transport.ack_ratio", "link.cell.delay_ms"]
    rows = made.runs.select(["run", "repetition", *made.parameters]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (1 + 3 * (2 * ratio + delay) + repetition, 1 + repetition, (1, 4)[ratio], (10.0, 20.0)[delay])
        for ratio in range(2)
        for delay in range(2)
        for repetition in range(3)
    ]
    assert len(set(made.runs.column("seed").to_pylist())) == 12
    assert made.failures == []
    assert made.runs.column("connection.download.goodput_mbps").null_count == 0


def test_a_row_is_what_the_run_alone_gives(file: Path) -> None:
    row = quiclab.sweep(file).runs.to_pylist()[7]
    alone = quiclab.Scenario.from_file(
        file, {"transport.ack_ratio": row["transport.ack_ratio"], "link.cell.delay": f"{row['link.cell.delay_ms']} ms"}
    ).run(row["seed"])
    connection = alone.summary["connections"][0]
    for key in ("goodput_mbps", "completion_s", "packets_sent", "ack_only_packets_received", "rtt_mean_ms"):
        assert row[f"connection.download.{key}"] == connection[key], key


def test_series_are_those_of_the_runs(file: Path) -> None:
    made = quiclab.sweep(file)
    assert made.series is not None
    seed = made.runs.column("seed")[0].as_py()
    first = made.series.filter(pc.field("run") == 1).to_pandas()
    of_link = first[(first.table == "queue") & (first.quantity == "packets") & (first.subject == "cell forward")]
    alone = quiclab.Scenario.from_file(file, {"transport.ack_ratio": 1, "link.cell.delay": "10 ms"}).run(seed)
    queue = alone.table("queue").to_pandas()
    queue = queue[queue.link == "cell forward"]
    np.testing.assert_array_equal(of_link.time_s, queue.time_s)
    np.testing.assert_array_equal(of_link.value, queue.packets)


def test_kept_tables_are_those_of_the_runs(file: Path, tmp_path: Path) -> None:
    file.write_text(SWEEP.replace('series = ["queue"]', 'keep = ["stream", "queue"]'), encoding="utf-8")
    out = tmp_path / "out"
    made = quiclab.sweep(file, out=out)
    assert (made.info["keep"], made.series) == (["queue", "stream"], None)
    rows = made.runs.to_pylist()
    for name in ("stream", "queue"):
        kept = made.table(name)
        assert set(kept.column("run").to_pylist()) == set(range(1, 13))
        for row in (rows[0], rows[7]):
            changes = {
                "transport.ack_ratio": row["transport.ack_ratio"],
                "link.cell.delay": f"{row['link.cell.delay_ms']} ms",
            }
            alone = quiclab.Scenario.from_file(file, changes).run(row["seed"]).table(name)
            of_it = kept.filter(pc.field("run") == row["run"]).drop_columns(["run"])
            assert of_it.to_pylist() == alone.to_pylist()
    assert quiclab.load_sweep(out).table("stream") == made.table("stream")
    with pytest.raises(quiclab.OutputError, match="does not keep the table 'loss'; it keeps queue, stream"):
        made.table("loss")
    # Another choice is another sweep: the tables of this one are gone, and nothing else is.
    (out / "mine.parquet").write_bytes(b"mine")
    file.write_text(SWEEP.replace('series = ["queue"]', 'keep = ["queue"]'), encoding="utf-8")
    assert quiclab.sweep(file, out=out).reused == 0
    assert {path.name for path in out.glob("*.parquet")} == {"runs.parquet", "queue.parquet", "mine.parquet"}


def test_means_are_over_the_repetitions(file: Path) -> None:
    made = quiclab.sweep(file)
    frame = made.runs.to_pandas()
    means = made.means("goodput_mbps").to_pandas()
    expected = frame.groupby(made.parameters, sort=False)["connection.download.goodput_mbps"]
    np.testing.assert_allclose(means["mean"], expected.mean())
    np.testing.assert_allclose(means["stddev"], expected.std())
    # Student's t with two degrees of freedom: 4.303.
    np.testing.assert_allclose(means["high"] - means["mean"], 4.30265 * expected.std() / np.sqrt(3), rtol=1e-5)
    by_path = made.means("goodput_mbps", by=["link.cell.delay"])
    assert by_path == made.means("goodput_mbps", by=["link.cell.delay_ms"])
    assert by_path.column("n").to_pylist() == [6, 6]
    assert made.quantiles("goodput_mbps", by=[], q=[0.5]).to_pylist() == [
        {
            "column": "connection.download.goodput_mbps",
            "n": 12,
            "total": 12,
            "q50": frame["connection.download.goodput_mbps"].median(),
        }
    ]


def test_a_folder_is_read_back(file: Path, tmp_path: Path) -> None:
    made = quiclab.sweep(file, out=tmp_path / "out")
    read = quiclab.load_sweep(tmp_path / "out")
    assert (read.info, read.runs, read.series) == (made.info, made.runs, made.series)
    assert (tmp_path / "out" / "sweep.toml").read_text(encoding="utf-8") == SWEEP
    with pytest.raises(quiclab.OutputError, match=r"it has no sweep\.json"):
        quiclab.load_sweep(tmp_path)
    whole = made.info
    for key, value, wrong in (
        ("scenario", 1, "scenario is 1; expected a text"),
        ("parameters", 3, "parameters is 3; expected a list"),
        ("parameters", [{}], "parameters.0.path is missing; expected a text"),
        ("parameters", [1], "parameters.0 is 1; expected a table"),
        ("failures", {}, "failures is a table; expected a list"),
    ):
        (tmp_path / "out" / "sweep.json").write_text(json.dumps({**whole, key: value}), encoding="utf-8")
        with pytest.raises(quiclab.OutputError, match=re.escape(f"cannot be read as a sweep: sweep.json: {wrong}")):
            quiclab.load_sweep(tmp_path / "out")
    (tmp_path / "out" / "sweep.json").unlink()
    with pytest.raises(quiclab.OutputError, match="not complete: run it again"):
        quiclab.load_sweep(tmp_path / "out")


def test_a_scenario_without_a_table_is_a_sweep_of_one_run() -> None:
    made = quiclab.sweep(quiclab.Scenario.from_text(SCENARIO))
    assert (made.path, made.info["runs"], made.parameters, made.series) == (None, 1, [], None)
    assert made.runs.column("seed").to_pylist() == [1]


def test_a_folder_that_is_none_of_a_sweep_is_left_alone(file: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(quiclab.OutputError, match="is not the folder of a sweep"):
        quiclab.sweep(file, out=tmp_path / "other")
    assert [entry.name for entry in (tmp_path / "other").iterdir()] == ["notes.txt"]


def test_mistakes_name_their_line(file: Path) -> None:
    with pytest.raises(quiclab.ScenarioError, match=r"sweep\.toml:\d+:\d+: .*ack_ration.*ack_ratio"):
        file.write_text(SWEEP.replace("ack_ratio", "ack_ration"), encoding="utf-8")
        quiclab.sweep(file)
    with pytest.raises(quiclab.Error, match="sweep: jobs is 0; expected a whole number"):
        quiclab.sweep(quiclab.Scenario.from_text(SCENARIO), jobs=0)


def test_progress_counts_runs(file: Path, tmp_path: Path) -> None:
    seen: list[quiclab.SweepProgress] = []
    quiclab.sweep(file, out=tmp_path / "out", progress=seen.append)
    # A slow machine is told of the tables as well.
    assert replace(seen[-1], written=None) == quiclab.SweepProgress(done=12, reused=0, failed=0, total=12)
    quiclab.sweep(file, out=tmp_path / "out", progress=seen.append)
    assert replace(seen[-1], written=None) == quiclab.SweepProgress(done=12, reused=12, failed=0, total=12)


def test_lines_of_progress_tell_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal. What the folder had already took no time, and does not count for what is to come."""
    now = 100.0
    monkeypatch.setattr("quiclab.values.progress.time.monotonic", lambda: now)
    with progress.shown_sweep("bulk") as callback:
        for seconds, done in ((0, 50), (1, 51), (10, 60), (11, 61), (20, 70)):
            now = 100.0 + seconds
            callback(quiclab.SweepProgress(done=done, reused=50, failed=seconds // 10, total=100))
    assert capsys.readouterr().err.splitlines() == [
        "bulk: 60 of 100 runs, 1 failed, about 40 s left",
        "bulk: 70 of 100 runs, 2 failed, about 30 s left",
    ]


def test_lines_of_progress_tell_that_no_worker_is_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("quiclab.values.progress.time.monotonic", lambda: now)
    with progress.shown_sweep("bulk") as callback:
        for seconds, done, workers in ((0, 0, 0), (6, 0, 0), (12, 0, 2), (18, 50, 2), (24, 50, 0)):
            now = 100.0 + seconds
            callback(quiclab.SweepProgress(done=done, reused=0, failed=0, total=100, workers=workers))
    assert capsys.readouterr().err.splitlines() == [
        "bulk: 0 of 100 runs, 0 failed, no worker yet: waiting for one",
        "bulk: 50 of 100 runs, 0 failed, about 6 s left",
        "bulk: 50 of 100 runs, 0 failed, no worker yet: waiting for one",
    ]


def test_lines_of_progress_tell_how_far_the_tables_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("quiclab.values.progress.time.monotonic", lambda: now)
    with progress.shown_sweep("bulk") as callback:
        for seconds, done, written in ((0, 0, None), (1, 100, None), (2, 100, 0.0), (12, 100, 0.25), (22, 100, 0.5)):
            now = 100.0 + seconds
            callback(quiclab.SweepProgress(done=done, reused=0, failed=0, total=100, written=written))
    assert capsys.readouterr().err.splitlines() == [
        "bulk: 100 of 100 runs, 0 failed, writing tables 25%, about 30 s left",
        "bulk: 100 of 100 runs, 0 failed, writing tables 50%, about 20 s left",
    ]


def test_what_the_progress_raises_ends_the_sweep(file: Path, tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    def stop(_: quiclab.SweepProgress) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        quiclab.sweep(file, out=tmp_path / "out", progress=stop)
    assert not (tmp_path / "out" / "sweep.json").exists()
    assert quiclab.sweep(file, out=tmp_path / "out").info["failed"] == 0


def test_the_information_is_json(file: Path, tmp_path: Path) -> None:
    quiclab.sweep(file, out=tmp_path / "out")
    info = json.loads((tmp_path / "out" / "sweep.json").read_text(encoding="utf-8"))
    assert info == {
        "scenario": "bulk",
        "version": quiclab.__version__,
        "runs": 12,
        "failed": 0,
        "repetitions": 3,
        "combinations": 4,
        "identical": 0,
        "parameters": [
            {"path": "transport.ack_ratio", "column": "transport.ack_ratio", "values": ["1", "4"]},
            {"path": "link.cell.delay", "column": "link.cell.delay_ms", "values": ["10 ms", "20 ms"]},
        ],
        "series": ["queue"],
        "keep": [],
        "set": [],
        "notes": [],
        "failures": [],
    }


def test_the_examples_of_the_page_are_right(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    page = page[page.index("## The table") :]
    table = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert table and code
    # 4 ratios, 6 delays, 10 loss rates, 2 rates with their sizes, 20 repetitions.
    assert _quiclab.Sweep.parse(SCENARIO + table[1], "page.toml", []).runs == 4 * 6 * 10 * 2 * 20
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    pytest.importorskip("pandas")
    exec(compile(code[1], "docs/sweeps.md", "exec"), {})
    assert (tmp_path / "sweeps" / "ack" / "runs.parquet").exists()


def test_what_stands_at_the_top_can_be_varied(tmp_path: Path) -> None:
    document = quiclab.Scenario.from_text(SCENARIO).to_toml()
    text = document + '\n[sweep]\nseed = [1, 2]\nduration = ["1 s", "2 s"]\n'
    made = quiclab.sweep(quiclab.Scenario.from_text(text), out=tmp_path / "out", jobs=1)
    assert made.parameters == ["scenario.seed", "scenario.duration_ms"]
    assert made.runs.column("scenario.duration_ms").to_pylist() == [1000.0, 2000.0] * 2
