"""What `quiclab explain` can be asked: keys, components, tables, columns, figures of papers."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from quiclab.commands.keys import Keys
from quiclab.commands.late import late

with late():
    import quiclab.reproduce.paper_files as paper_files


def table_columns() -> dict[str, dict[str, str]]:
    """What each table of a run is, and each of its columns."""
    with (Path(__file__).parents[1] / "columns.toml").open("rb") as file:
        return tomllib.load(file)


def words(keys: Keys) -> list[str]:
    """All that can be explained."""
    return words_with(keys, table_columns())


def words_with(keys: Keys, columns: "Mapping[str, Mapping[str, str]]") -> list[str]:
    """The same, where the columns are known."""
    found = [path for path, _ in keys.every()]
    found += [path.rpartition(".")[2] for path in found]
    found += [name for name in keys.topics if name != "sections"]
    found += [row["name"] for topic in keys.topics.values() for row in topic["rows"]]
    found += [name for name in columns if name != "any"]
    found += [name for meanings in columns.values() for name in meanings if name != "about"]
    found += [
        name for paper in paper_files.catalogue() for name in (paper.name, *(figure.id for figure in paper.figures))
    ]
    return list(dict.fromkeys(found))
