"""Tables of runs and sweeps on their way to pyarrow, pandas, polars and SQL."""

import copy
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import quiclab
from conftest import SCENARIO, many_short_runs
from quiclab.results.table import _RESERVED, Table, sql_names


@pytest.fixture(scope="module")
def table() -> Table:
    """The table `connection` of a run."""
    return quiclab.Scenario.from_text(SCENARIO).run().table("connection")


@pytest.fixture(scope="module")
def sweep() -> quiclab.Sweep:
    """A sweep of twelve runs with a series."""
    return quiclab.sweep(quiclab.Scenario.from_text(many_short_runs(2)))


def test_pandas_and_polars_get_all_of_it(table: Table) -> None:
    frame, other = table.to_pandas(), table.to_polars()
    assert isinstance(frame, pandas.DataFrame) and isinstance(other, polars.DataFrame)
    assert list(frame.columns) == other.columns == table.column_names
    assert len(frame) == len(other) == len(table) == table.num_rows > 100
    assert frame["cwnd_bytes"].tolist() == other["cwnd_bytes"].to_list() == table["cwnd_bytes"].to_pylist()
    assert frame["side"].tolist() == other["side"].to_list()


def test_tables_of_sweeps_are_the_same_kind(sweep: quiclab.Sweep) -> None:
    assert sweep.series is not None
    tables = [sweep.runs, sweep.series, sweep.means("goodput_mbps"), sweep.quantiles("goodput_mbps")]
    for one in tables:
        assert one.to_polars().shape == one.to_pandas().shape == (one.num_rows, one.num_columns)


@pytest.mark.parametrize("read", [pa.table, polars.DataFrame, pa.RecordBatchReader.from_stream])
def test_what_reads_arrow_takes_it(table: Table, read: Callable[[Any], Any]) -> None:
    found = read(table)
    rows = found.read_all() if isinstance(found, pa.RecordBatchReader) else found
    assert len(rows) == len(table)


def test_arrow_that_is_handed_on_is_not_copied(table: Table) -> None:
    first, second = (pa.table(one)["cwnd_bytes"].chunk(0).buffers()[1].address for one in (table, table.arrow))
    assert first == second


def test_what_pyarrow_makes_of_it_is_a_table_again(table: Table) -> None:
    chosen = table.filter(pc.equal(table["side"].cast("string"), "server")).select(["time_s", "cwnd_bytes"])
    assert isinstance(chosen, Table) and chosen.column_names == ["time_s", "cwnd_bytes"]
    assert chosen.equals(chosen.arrow) and chosen.equals(chosen)
    rows = table.select(["time_s", "cwnd_bytes"]).slice(0, 3)
    joined = rows.join(chosen, keys="time_s", right_suffix=" of the server")
    assert isinstance(joined, Table) and joined.num_columns == 3
    assert table.schema == table.arrow.schema
    assert "filter" in dir(table)
    with pytest.raises(AttributeError):
        table.nothing  # noqa: B018


def test_copies_are_equal(table: Table) -> None:
    assert pickle.loads(pickle.dumps(table)) == copy.copy(table) == table == table.arrow
    assert table != table.slice(1)
    assert table != "a text"


def test_sql_takes_its_names_without_quotes(sweep: quiclab.Sweep, table: Table) -> None:
    runs = sweep.runs.for_sql()
    assert "transport_ack_ratio" in runs.column_names
    names = ", ".join(runs.column_names)
    assert len(duckdb.execute(f"SELECT {names} FROM runs").fetchall()) == 12
    connection = table
    ((found,),) = duckdb.execute("SELECT max(cwnd_bytes) FROM connection").fetchall()
    assert found == pc.max(connection["cwnd_bytes"]).as_py()
    assert sweep.series is not None
    series = sweep.series.for_sql()
    assert "table_" in series.column_names
    assert duckdb.execute("SELECT DISTINCT table_ FROM series").fetchall() == [("queue",)]


def test_every_reserved_word_of_duckdb_is_known() -> None:
    words = duckdb.execute("SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'").fetchall()
    assert {word for (word,) in words} <= _RESERVED


def test_names_for_sql_are_names_and_no_two_are_equal() -> None:
    names = ["a.b", "a-b", "A_b", "1x", "table", "Größe", "", "select_", "select"]
    found = sql_names(names)
    assert found == ["a_b", "a_b_2", "A_b_3", "_1x", "table_", "Gr__e", "_", "select_", "select__2"]
    assert sql_names(["time_s", "cwnd_bytes"]) == ["time_s", "cwnd_bytes"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing_says_how_to_get_it(
    table: Table, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(quiclab.Error, match=rf"^a DataFrame of {library} .*: .* -m pip install {library}$"):
        getattr(table, f"to_{library}")()


def test_it_shows_its_first_rows_and_says_what_is_left_out(sweep: quiclab.Sweep) -> None:
    text = repr(sweep.runs)
    assert text.startswith("<quiclab.Table, 12 rows, ")
    assert "and 2 more rows" in text and " more columns: " in text
    assert max(map(len, text.split("\n")[:-2])) <= 110
    html = sweep.runs._repr_html_()
    assert html.count("<tr>") == 11 and "and 2 more rows" in html and " more columns: " in html
    empty = sweep.runs.slice(0, 0)
    assert "0 rows" in repr(empty) and "0 rows" in empty._repr_html_()


def test_names_and_texts_are_shown_as_text() -> None:
    table = Table(pa.table({"<b>": ["<script>alert(1)</script>", "line\nbreak"], "long": ["x" * 1000, None]}))
    html = table._repr_html_()
    assert "<script>" not in html and "<b>" not in html and "&lt;script&gt;" in html
    assert "x" * 61 not in html and "x" * 61 not in repr(table)
    assert len(repr(table).split("\n")) == 4


def test_a_missing_file_is_an_error_of_ours(tmp_path: Path) -> None:
    sweep = quiclab.sweep(quiclab.Scenario.from_text(SCENARIO), out=tmp_path / "sweep")
    (tmp_path / "sweep" / "runs.parquet").unlink()
    with pytest.raises(quiclab.OutputError, match=r"runs\.parquet: cannot be read"):
        sweep._first(1)
