"""Python values as TOML, against the standard library's reader."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SCENARIO
from quiclab import Scenario, ScenarioError
from quiclab.values.toml_text import literal, to_toml

keys = st.text(st.characters(codec="utf-8"), max_size=8)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=20
)


@given(st.dictionaries(keys, values, max_size=6))
def test_what_is_written_reads_back_equal(document: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(document)) == document


def test_lists_of_mappings_are_arrays_of_tables() -> None:
    text = to_toml({"link": [{"name": "cell", "forward": {"rate": "10 Mbit/s"}}], "seed": 1})
    assert text == 'seed = 1\n\n[[link]]\nname = "cell"\n\n[link.forward]\nrate = "10 Mbit/s"\n'


def test_none_is_left_out() -> None:
    assert tomllib.loads(to_toml({"a": None, "b": {"c": None, "d": 1}, "e": [{"f": None}]})) == {
        "b": {"d": 1},
        "e": [{}],
    }


def test_numpy_scalars_are_numbers() -> None:
    import numpy as np

    assert literal(np.int64(3)) == "3"
    assert literal(np.float64(0.5)) == "0.5"


@pytest.mark.parametrize("value", [b"bytes", object(), {1, 2}, 1j])
def test_what_toml_cannot_hold_is_refused_by_its_key(value: object) -> None:
    with pytest.raises(ScenarioError, match=r"^link\.rate: a "):
        to_toml({"link": {"rate": value}})


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(ScenarioError, match="a key is text"):
        to_toml({"a": {1: "x"}})


def test_a_document_that_is_in_itself_is_refused() -> None:
    """So is one that is merely deep: the reader takes no more."""
    table: dict[str, Any] = {}
    table["inner"] = table
    rows: list[Any] = []
    rows.append(rows)
    tables: list[dict[str, Any]] = [{}]
    tables[0]["again"] = tables
    inline: dict[str, Any] = {"list": [1, {}]}
    inline["list"][1]["table"] = inline
    for document in ({"a": table}, {"a": rows}, {"a": tables}, {"a": inline}):
        with pytest.raises(ScenarioError, match=r"^a.*: nested too deeply; expected at most 32 levels$"):
            to_toml(document)
        with pytest.raises(ScenarioError, match="nested too deeply"):
            Scenario(document)
    with pytest.raises(ScenarioError, match="nested too deeply"):
        Scenario.from_text(SCENARIO).with_({"link": table})
