"""The bins of tables that count over time: how wide they are, and whether their last ones are missing."""

from typing import TYPE_CHECKING

from quiclab.results.run import Run
from quiclab.values.stored_tables import NOTE
from quiclab.values.units import number

if TYPE_CHECKING:
    import pyarrow as pa

_BIN_S = 0.1
"""The default of `record.bin`."""


def bin_s(run: Run) -> float:
    """The width of the bins of the table, as the resolved scenario has it."""
    text = run._document.get("record", {}).get("bin")
    return _BIN_S if text is None else number(str(text))


def is_cut_off(table: "pa.Table") -> bool:
    """Whether rows after the last one were left out."""
    return NOTE in (table.schema.metadata or {})
