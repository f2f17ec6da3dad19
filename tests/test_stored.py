"""Tables that are written while a run goes on: the same as in memory, whole or not at all, and memory does not grow."""

import errno
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quiclab
from quiclab import Scenario, plots
from quiclab.drawings.plots.reduced import merged, reduced
from quiclab.values import stored_tables
from quiclab.values.downsampling import downsample

LONG = """
duration = "60 s"
[[link]]
name = "wire"
from = "server"
to = "client"
delay = "10 ms"
queue = "1 BDP"
forward = { rate = "100 Mbit/s", loss = "0.01 %" }
backward = { rate = "200 Mbit/s" }
[[flow]]
name = "first"
client = "client"
server = "server"
application = { type = "bulk", size = "45 MB" }
[[flow]]
name = "second"
client = "client"
server = "server"
start = "1 s"
application = { type = "bulk", size = "45 MB" }
"""
"""Some 100,000 rows of the table `queue`."""


def same(one: quiclab.Run, other: quiclab.Run) -> None:
    """Assert that both have the same tables, however they are cut into chunks."""
    assert one.notes == other.notes
    assert one.tables == other.tables
    for name in one.tables:
        first, second = (run.table(name).combine_chunks() for run in (one, other))
        assert first.schema.equals(second.schema, check_metadata=True), name
        assert first.equals(second), name


def sizes(file: Path) -> list[int]:
    """The rows of each row group."""
    with pq.ParquetFile(file) as opened:
        return [opened.metadata.row_group(group).num_rows for group in range(opened.num_row_groups)]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[quiclab.Run, quiclab.Run]:
    """A run in memory, and the same one in a folder."""
    scenario = Scenario.from_text(LONG)
    return scenario.run(), scenario.run(out=tmp_path_factory.mktemp("long") / "run", figure=False)


def test_a_stored_run_has_the_tables_of_one_in_memory(long: tuple[quiclab.Run, quiclab.Run]) -> None:
    in_memory, in_files = long
    same(in_memory, in_files)
    assert in_files.path is not None
    groups = sizes(in_files.path / "queue.parquet")
    assert len(groups) > 3
    assert set(groups[:-1]) == {stored_tables.ROWS}
    assert {file.name for file in in_files.path.glob("*.parquet")} == {f"{name}.parquet" for name in in_files.tables}


@pytest.mark.parametrize("rows", [60_000, 20_000, 100])
def test_thinned_tables_are_the_same(tmp_path: Path, rows: int) -> None:
    scenario = Scenario.from_text(LONG, {"record.rows": rows})
    in_memory, in_files = scenario.run(), scenario.run(out=tmp_path / "run", figure=False)
    assert any("thinned" in note for note in in_memory.notes)
    same(in_memory, in_files)
    assert sorted(file.suffix for file in (tmp_path / "run").iterdir()).count(".thinned") == 0
    assert max(sum(sizes(file)) for file in (tmp_path / "run").glob("*.parquet")) <= rows


def test_a_saved_run_has_the_row_groups_of_a_stored_one(long: tuple[quiclab.Run, quiclab.Run], tmp_path: Path) -> None:
    in_memory, in_files = long
    assert in_files.path is not None
    path, in_memory._path = in_memory._path, None
    in_memory.save(tmp_path / "saved", figure=False)
    in_memory._path = path
    for file in sorted(in_files.path.glob("*.parquet")):
        assert sizes(tmp_path / "saved" / file.name) == sizes(file), file.name
    # One that is in files is copied.
    quiclab.load(in_files.path).save(tmp_path / "copied", figure=False)
    for file in sorted(in_files.path.iterdir()):
        assert (tmp_path / "copied" / file.name).read_bytes() == file.read_bytes(), file.name


@pytest.mark.parametrize("connection", [None, "first"])
def test_the_figure_is_that_of_the_run_in_memory(
    long: tuple[quiclab.Run, quiclab.Run], tmp_path: Path, connection: str | None
) -> None:
    for at, run in enumerate(long):
        plots.save(run, tmp_path / f"{at}.png", connection=connection)
    assert (tmp_path / "0.png").read_bytes() == (tmp_path / "1.png").read_bytes()


@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), quiclab.OutputError, "out: cannot be written: No space"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
        (ValueError("a mistake"), ValueError, "a mistake"),
    ],
)
@pytest.mark.parametrize("method", ["append", "thin"])
def test_an_error_while_parts_are_written_ends_the_run_and_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    error: BaseException,
    raised: type[BaseException],
    message: str | None,
) -> None:
    calls = 0
    original = getattr(stored_tables.Files, method)

    def fails(self: stored_tables.Files, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise error
        return original(self, *arguments)

    monkeypatch.setattr(stored_tables.Files, method, fails)
    with pytest.raises(raised, match=message):
        Scenario.from_text(LONG, {"record.rows": 40_000}).run(out=tmp_path / "out")
    assert calls == 2
    assert list(tmp_path.iterdir()) == []


PEAK = """
import resource, sys
from pathlib import Path
from quiclab import Scenario
from quiclab.values import libraries
libraries.alone()
change = {"flow.first.application.size": sys.argv[2], "flow.second.application.size": sys.argv[2]}
Scenario.from_text(Path(sys.argv[1]).read_text(), change).run(out=Path(sys.argv[1]).parent / sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
"""Prints the most memory, in KiB, that a run needed with its figure."""


def test_memory_does_not_grow_with_the_bytes_of_a_download(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)

    def peak_mib(size: str) -> float:
        command = [sys.executable, "-c", PEAK, str(tmp_path / "long.toml"), size]
        # Linux counts the resident set in KiB, macOS in bytes.
        units = 1 << (20 if sys.platform == "darwin" else 10)
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / units

    # In memory, the tables of the larger one and its figure take 40 MiB more.
    assert peak_mib("500 MB") - peak_mib("50 MB") < 25


parts = st.lists(st.lists(st.tuples(st.floats(0, 50), st.floats(-1e9, 1e9) | st.just(np.nan)), max_size=60), max_size=6)


@given(parts, st.integers(1, 20), st.lists(st.tuples(st.floats(0, 50), st.floats(0, 1)), max_size=5))
def test_reduced_in_parts_is_downsampled_as_a_whole(
    lists: list[list[tuple[float, float]]], columns: int, more: list[tuple[float, float]]
) -> None:
    points = sorted((point for part in lists for point in part), key=lambda point: point[0])
    times, values = np.array(points, dtype=float).reshape(-1, 2).T
    cuts: Any = np.cumsum([len(part) for part in lists])[:-1] if lists else []
    split = list(zip(np.split(times, cuts), np.split(values, cuts), strict=True))
    for expected, found in zip(
        downsample(times, values, columns), reduced(split, times[-1] if len(times) else 0.0, columns), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    more_times, more_values = np.array(sorted(more), dtype=float).reshape(-1, 2).T
    order = np.argsort(np.append(times, more_times), kind="stable")
    both = [np.append(times, more_times)[order], np.append(values, more_values)[order]]
    whole = [np.concatenate(column) for column in zip(*merged(split, more_times, more_values), strict=True)]
    for expected, found in zip(both, whole, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_rows_of_a_subject_are_thinned_across_parts() -> None:
    def part(*rows: tuple[str, str, int]) -> pa.Table:
        who, side, value = zip(*rows, strict=True)
        texts = {"who": pa.array(who).dictionary_encode(), "side": pa.array(side).dictionary_encode()}
        return pa.table({**texts, "value": pa.array(value)})

    # The words of the parts have other codes.
    split = [part(("a", "x", 1), ("a", "y", 2), ("a", "x", 3)), part(("b", "x", 4), ("a", "x", 5), ("a", "y", 6))]
    left = [row["value"] for kept in stored_tables._every_second(split, ["who", "side"]) for row in kept.to_pylist()]
    assert left == [1, 2, 4, 5]
