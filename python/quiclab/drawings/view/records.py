"""What the tables of a run know of its connections: the bottleneck, and where the time went."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quiclab.drawings.view.bottleneck import Bottleneck, bottleneck
from quiclab.drawings.view.causes import Causes, causes
from quiclab.results.run import load
from quiclab.values import folders, libraries


@dataclass
class Recorded:
    """What is known of a connection."""

    sender: str | None
    """The end that sends its data."""
    bottleneck: Bottleneck | None = None
    """On the way of its data. Connections may share one."""
    causes: Causes | None = None
    """Where its time went."""


def read(where: Path, summary: dict[str, Any], names: Collection[str]) -> dict[str, Recorded]:
    """What is known of the connections of a run folder, by their names; empty if it is another folder.

    :param summary: the summary of the run.
    :param names: only these. Default, if there is none: all.
    """
    if "scenario" not in summary or not (where / folders.SCENARIO).exists():
        return {}
    run = load(where)
    run._check()
    entries = {str(entry.get("name")): entry for entry in summary.get("connections", [])}
    entries = {name: entry for name, entry in entries.items() if not names or name in names}
    if "rate" not in run.tables:
        return {name: Recorded(entry.get("sender")) for name, entry in entries.items()}
    with libraries.loaded(figures=False):
        from quiclab.explanations.why.records import Records

    tables = Records(run, entries.values())
    links = sorted({entry["bottleneck"] for entry in entries.values() if entry.get("bottleneck")})
    known = {link: bottleneck(tables, link) for link in links}
    return {
        name: Recorded(
            entry.get("sender"),
            known.get(entry.get("bottleneck")),
            causes(tables, entry) if "wait" in run.tables else None,
        )
        for name, entry in entries.items()
    }
