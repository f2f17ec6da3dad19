"""The page `reference/tables`: columns of the tables of a run, from runs of examples, and what they mean."""

from pathlib import Path

import pyarrow as pa
from markup import code, table

import quiclab
from quiclab.commands.explain import UNITS
from quiclab.values.described_tables import TABLES

_EXAMPLES = ["cellular", "streams", "page", "video", "cell"]
"""Examples that have, together, all tables of a run in virtual time."""

_WORDS = {"side", "direction", "kind", "trigger", "fate"}
"""Columns whose words are few, and the same in every run."""


def tables_page(project: Path) -> str:
    """Every table."""
    schemas = _schemas(project)
    rows = [(f"[`{name}`](#table-{name})", TABLES[name].about) for name in schemas]
    parts = [table(["table", "a row is"], rows)]
    for name, columns in schemas.items():
        about = TABLES[name].about
        parts += [f"(table-{name})=", f"## `{name}`", "", about[:1].upper() + about[1:] + ".", ""]
        rows = []
        for field, words in columns:
            meaning = TABLES[name].columns[field.name].about + (f": {', '.join(map(code, words))}" if words else "")
            rows.append((code(field.name), _type(field), _unit(field), meaning))
        parts.append(table(["column", "type", "unit", "meaning"], rows))
    return "\n".join(parts)


def _schemas(project):
    """Of each table, its fields, each with its words if it has few."""
    found = {}
    for name in _EXAMPLES:
        scenario = quiclab.Scenario.from_file(
            project / "examples" / f"{name}.toml", {"record.packets": True, "record.blocks": True}
        )
        if "gauge" not in scenario.to_toml().split("tables = ")[1].split("]")[0]:
            tables = next(row for row in quiclab.topics()[0]["rows"] if row["name"] == "record")["parameters"][0]
            words = tables["kind"].removeprefix("list of ").split(" | ")
            scenario = scenario.with_({"record.tables": words})
        run = scenario.run()
        for one in run.tables:
            data = run.table(one)
            found.setdefault(one, [(field, _words(data, field)) for field in data.schema])
    return found


def _words(data, field):
    if field.name not in _WORDS or not pa.types.is_dictionary(field.type) or data.num_rows == 0:
        return []
    return data.column(field.name).chunk(0).dictionary.to_pylist()


def _type(field):
    kind = "text" if pa.types.is_dictionary(field.type) else {"double": "float64"}.get(str(field.type), str(field.type))
    return kind + (" or null" if field.nullable else "")


def _unit(field):
    if pa.types.is_dictionary(field.type) or pa.types.is_boolean(field.type):
        return ""
    return UNITS.get(field.name.rsplit("_", 1)[-1], "bytes" if field.name == "bytes_in_flight" else "")
