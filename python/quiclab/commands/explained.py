"""What `quiclab explain` can be asked: keys, components, tables, columns, figures of papers."""

from quiclab.commands.keys import Keys
from quiclab.commands.late import late
from quiclab.values.described_tables import SUMMARY, TABLES

with late():
    import quiclab.reproduce.paper_files as paper_files

RESULTS = {**TABLES, "summary": SUMMARY}
"""The tables of a run, and its summary."""


def words(keys: Keys) -> list[str]:
    """All that can be explained."""
    found = [path for path, _ in keys.every()]
    found += [path.rpartition(".")[2] for path in found]
    found += [name for name in keys.topics if name != "sections"]
    found += [row["name"] for topic in keys.topics.values() for row in topic["rows"]]
    found += RESULTS
    found += [name for table in RESULTS.values() for name in table.columns]
    found += [
        name for paper in paper_files.catalogue() for name in (paper.name, *(figure.id for figure in paper.figures))
    ]
    return list(dict.fromkeys(found))
