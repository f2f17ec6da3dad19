"""What the tables of a run and its summary mean: the columns as the compiled module describes them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quiclab._quiclab import tables_json


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, or a number of the summary."""

    about: str
    """What its values mean."""
    kind: str
    """`number`, `flag` or `text`."""
    optional: bool
    """Whether a value may be null."""


@dataclass(frozen=True, slots=True)
class Described:
    """A table."""

    about: str
    """What a row is."""
    columns: Mapping[str, Column]
    """In their order."""


def _described(found: Mapping[str, Any], columns: str) -> Described:
    return Described(
        found["about"],
        {one["name"]: Column(one["about"], one["kind"], one["optional"]) for one in found[columns]},
    )


_TOLD = json.loads(tables_json())

TABLES: Mapping[str, Described] = {table["name"]: _described(table, "columns") for table in _TOLD["tables"]}
"""The tables that a run can have, by name."""

SUMMARY = _described(_TOLD["summary"], "numbers")
"""Numbers of summary.json."""
