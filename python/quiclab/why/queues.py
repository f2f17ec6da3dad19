"""The queues between the two ends of a flow: when packets waited in them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from quiclab.why.records import Records

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Queues:
    """The queues that packets of a flow can pass, in both directions.

    :param records: the tables of its run.
    :param connection: its name.
    """

    def __init__(self, records: Records, connection: str) -> None:
        waiting = {name: records.waiting(name) for name in records.passed(connection)}
        self._waiting = {name: steps for name, steps in waiting.items() if steps is not None}

    def waited(self, starts: "NDArray[np.float64]", ends: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """In each of some times, for how many seconds packets waited: the sum over the queues.

        A packet that passes all of them within such a time has not waited for longer.
        """
        return sum((steps.integrals(starts, ends) for steps in self._waiting.values()), np.zeros_like(starts))

    def longest(self, spans: list[tuple[float, float]], usual: str) -> str:
        """The queue in which packets waited for most of these times; of about equal ones, the usual one."""
        starts, ends = (np.array([span[at] for span in spans], dtype=float) for at in (0, 1))
        sums = {name: float(steps.integrals(starts, ends).sum()) for name, steps in self._waiting.items()}
        most = max(sums, key=lambda name: sums[name], default=usual)
        return usual if sums.get(usual, 0.0) >= _ABOUT * sums.get(most, 0.0) else most


_ABOUT = 0.8
"""A share of the greatest sum that counts as about equal."""


def passed(document: dict[str, Any], summary: dict[str, Any], ends: set[str]) -> list[str]:
    """The names of the queues between two nodes, as in the table `queue`.

    :param document: the resolved scenario.
    :param summary: that of the run.
    :param ends: the two nodes.
    """
    # A carrier connects its nodes: the two of a link, and all those of a medium.
    carriers: dict[str, set[str]] = {link["name"]: {link["from"], link["to"]} for link in document.get("link", [])}
    queues: list[tuple[str, str, set[str]]] = [
        (link["name"], f"{link['name']} {link['direction']}", carriers.get(link["name"], set()))
        for link in summary.get("links") or []
    ]
    for medium in summary.get("media") or []:
        nodes = [str(medium[key]) for key in ("attachment", "to") if medium.get(key)]
        carriers.setdefault(medium["name"], set()).update(nodes)
        queues.append((medium["name"], " ".join([medium["name"], *nodes]), set(nodes)))
    nodes_between = _between(carriers, ends)
    return [name for carrier, name, nodes in queues if nodes <= nodes_between and carrier in carriers]


def _between(carriers: dict[str, set[str]], ends: set[str]) -> set[str]:
    """The nodes that can be between two nodes: without the dead ends, and what is not connected to them."""
    left = {name: set(nodes) for name, nodes in carriers.items()}
    while True:
        degrees: dict[str, int] = {}
        for nodes in left.values():
            for node in nodes:
                degrees[node] = degrees.get(node, 0) + 1
        dead = {node for node, degree in degrees.items() if degree == 1} - ends
        idle = [name for name, nodes in left.items() if len(nodes - dead) < 2]
        if not dead and not idle:
            break
        left = {name: nodes - dead for name, nodes in left.items() if name not in idle}
    reached = set(ends)
    while more := {node for nodes in left.values() if nodes & reached for node in nodes} - reached:
        reached |= more
    return reached
