"""Columns of tables as arrays of numpy: the same as by pyarrow's own conversions."""

import numpy as np
import pyarrow as pa
import pytest

from quiclab.values.columns import having, mask, numbers, values

KINDS = [pa.int32(), pa.int64(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("nulls", [False, True])
def test_numbers_are_doubles_and_null_is_not_a_number(kind: pa.DataType, nulls: bool) -> None:
    whole = pa.array([None if nulls and number % 3 == 1 else number for number in range(40)], kind)
    for array in (whole, whole.slice(9), whole.slice(3, 17), whole.slice(5, 0), pa.array([], kind)):
        column = pa.chunked_array([array, whole.slice(11, 2)])
        for one in (pa.chunked_array([array]), column):
            found = numbers(one)
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, np.asarray(one.to_numpy(), dtype=np.float64))
    assert len(numbers(pa.chunked_array([], kind))) == 0
    if not nulls:
        assert values(whole.slice(3, 17)).tolist() == list(range(3, 20))


def test_rows_are_chosen_by_a_word() -> None:
    words = [word for word in "abacabad" for _ in range(3)]
    whole = pa.array(words).dictionary_encode()
    column = pa.chunked_array([whole.slice(2, 9), whole.slice(11)])
    table = pa.table({"word": column, "place": pa.array(range(2, 24))})
    for word in ("a", "d", "x", None):
        rows = having(column, word)
        assert rows.tolist() == [text == word for text in words[2:]]
        chosen = table.filter(mask(rows))["place"].to_pylist()
        assert chosen == [place for place in range(2, 24) if words[place] == word]
    assert having(pa.chunked_array([], column.type), "a").tolist() == []
