"""Where the time of a flow went: what its sender waited for, and what the network did meanwhile.

Every moment from the start of a flow to its end belongs to one cause. The table `wait` says what kept the sender from
sending more; where that was its window or its pacer, the records of the bottleneck say whether the network had more to
give (docs/why.md).
"""

from typing import TYPE_CHECKING

from quiclab._quiclab import Error
from quiclab.explanations.why.flow import Flow
from quiclab.explanations.why.records import Records
from quiclab.explanations.why.trial import Trials
from quiclab.results.answer import Answer, Cause, Remedy
from quiclab.values import arguments

if TYPE_CHECKING:
    from quiclab.results.run import Run

__all__ = ["Answer", "Cause", "Remedy", "why"]


def why(run: "Run", connection: str | None = None, *, tries: bool = True) -> list[Answer]:
    """Where the time of each connection went, or of one.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> for answer in run.why():
    ...     print(answer.connection, [cause.name for cause in answer.causes])
    download ['capacity', 'outage', 'recovery', 'slow start', 'handshake']

    :param run: a run with the tables `wait` and `rate`; both are kept by default.
    :param connection: the name of a connection; by default all.
    :param tries: run the scenario again with each remedy, and rank causes by what that saves. Without, and for runs
        that cannot be repeated, the savings are estimates from the records. Nothing is tried for a scenario that names
        components in Python, for a run in real time, and for more than two million packets in all.
    :raises Error: if the run has no such connection, or lacks a table.
    """
    run._check()
    if not run.tables:
        raise Error("the run was made without tables")
    missing = [table for table in ("wait", "rate") if table not in run.tables]
    if missing:
        raise Error(f"the run has no table {missing[0]!r}: add it to record.tables")
    connections = run.summary.get("connections") or []
    names = [entry["name"] for entry in connections]
    if connection is not None and arguments.text("connection", connection, "the name of a connection") not in names:
        raise Error(f"the run has no connection {connection!r}; it has {_some(names)}")
    chosen = [entry for entry in connections if connection in (None, entry["name"])]
    records = Records(run, chosen)
    trials = Trials(run, len(chosen)) if tries and chosen else None
    refused = trials.refused if trials is not None else None
    return [Flow(records, entry, None if refused else trials, refused).answer() for entry in chosen]


def _some(names: list[str]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
