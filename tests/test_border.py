"""The compiled module: its stub, its exceptions, its tables without copying."""

import gc
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import quiclab
from conftest import SCENARIO
from quiclab import _quiclab


def native() -> list[_quiclab.Table]:
    return _quiclab.Scenario.parse(SCENARIO, "x.toml", []).run()[1]


def value_buffer(column: pa.ChunkedArray) -> int:
    (chunk,) = column.chunks
    array = chunk.indices if isinstance(chunk, pa.DictionaryArray) else chunk
    return int(array.buffers()[1].address)


def test_the_stub_is_what_the_module_has() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "quiclab._quiclab"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def members_with_a_type(thing: object) -> set[str]:
    """The names that a class annotates."""
    return set(vars(thing).get("__annotations__", ())) if isinstance(thing, type) else set()


def test_everything_public_is_documented() -> None:
    for module in (quiclab, _quiclab):
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, str):
                continue
            assert thing.__doc__, name
            members = vars(thing).items() if isinstance(thing, type) else ()
            # The default of a field stands in its place; what is said of the field is for the reference.
            fields = getattr(thing, "__dataclass_fields__", {}).keys() | members_with_a_type(thing)
            for member, value in members:
                assert member in fields or member.startswith("_") or value.__doc__, f"{name}.{member}"


def test_the_exceptions_are_one_tree() -> None:
    for error in (quiclab.ScenarioError, quiclab.RunError, quiclab.OutputError):
        assert error.__bases__ == (quiclab.Error,)
        assert error.__module__ == "quiclab"
    assert quiclab.Error.__bases__ == (Exception,)


def test_no_column_is_copied() -> None:
    tables = native()
    assert {table.name for table in tables} >= {"connection", "loss", "queue", "rate", "drop", "stream", "event"}
    for table in tables:
        arrow = pa.table(table)
        arrow.validate(full=True)
        assert arrow.num_rows == table.num_rows
        assert arrow.column_names == table.column_names
        if table.num_rows:
            assert [value_buffer(column) for column in arrow.columns] == table.addresses(), table.name


def test_every_way_of_the_interface_gives_the_same() -> None:
    for table in native():
        stream = pa.table(table)
        (batch,) = stream.to_batches() or [pa.RecordBatch.from_pylist([], schema=stream.schema)]
        assert pa.record_batch(table) == batch
        assert pa.schema(table) == stream.schema


def test_memory_lives_as_long_as_somebody_reads_it() -> None:
    table = pa.table(native()[0])
    column = table["time_s"]
    before = column.to_pylist()
    del table
    gc.collect()
    noise = [np.random.default_rng(0).random(100_000) for _ in range(20)]
    assert column.to_pylist() == before
    del noise


def test_capsules_that_nobody_reads_are_freed() -> None:
    table = max(native(), key=lambda table: table.num_rows)
    schema = pa.schema(table)
    for _ in range(1000):
        table.__arrow_c_schema__()
        table.__arrow_c_array__()
        table.__arrow_c_stream__(schema.__arrow_c_schema__())
    assert pa.table(table).num_rows == table.num_rows


def test_nulls_and_words() -> None:
    connection = {table.name: pa.table(table) for table in native()}["connection"]
    assert connection.schema.field("ssthresh_bytes").nullable
    assert not connection.schema.field("time_s").nullable
    # Infinite until the first loss (RFC 9002 section 7.3.1).
    assert connection["ssthresh_bytes"][0].as_py() is None
    assert connection["connection"].type.value_type == pa.string()
    assert set(connection["side"].to_pylist()) == {"client", "server"}


def test_tables_only_when_asked_for() -> None:
    _, tables = _quiclab.Scenario.parse(SCENARIO, "x.toml", []).run(tables=False)
    assert tables == []


def test_the_lock_of_python_is_free_during_a_run() -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    # The interpreter takes the lock from nobody for so long: the other thread
    # counts while a run goes on only if that run gives the lock away.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(3600)
    during = 0
    thread.start()
    try:
        give_up = time.perf_counter() + 60
        while during <= 20 and time.perf_counter() < give_up:
            scenario = _quiclab.Scenario.parse(SCENARIO, "x.toml", [])
            before = ticks
            scenario.run()
            during += ticks - before
        assert during > 20
    finally:
        stop.set()
        sys.setswitchinterval(usual)
        thread.join()


def test_what_the_progress_function_raises_ends_the_run() -> None:
    class EnoughError(Exception):
        pass

    def progress(*_: object) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        _quiclab.Scenario.parse(SCENARIO, "x.toml", []).run(progress=progress)
