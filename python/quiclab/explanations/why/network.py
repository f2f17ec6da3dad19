"""The graph of a run's network: which queues packets between two nodes can pass."""

from collections.abc import Iterable
from typing import Any

_Vertex = tuple[str, str]
"""A node or a carrier, and its name."""


class Network:
    """The nodes of a run, and the links and media that connect them.

    :param document: the resolved scenario.
    :param summary: that of the run.
    """

    def __init__(self, document: dict[str, Any], summary: dict[str, Any]) -> None:
        # Nodes and carriers are the vertices of one graph: a link has two neighbours, a medium all its nodes.
        self._beside: dict[_Vertex, set[_Vertex]] = {}
        self._queues: dict[_Vertex, list[tuple[str, list[_Vertex]]]] = {}
        ends = {link["name"]: (link["from"], link["to"]) for link in document.get("link", [])}
        for link in summary.get("links") or []:
            if link["name"] in ends:
                between = ends[link["name"]] if link["direction"] == "forward" else ends[link["name"]][::-1]
                self._add(link["name"], between, f"{link['name']} {link['direction']}")
        for medium in summary.get("media") or []:
            nodes = [str(medium[key]) for key in ("attachment", "to") if medium.get(key)]
            self._add(medium["name"], nodes, " ".join([medium["name"], *nodes]))
        self._towards, self._core = _peeled(self._beside)

    def _add(self, carrier: str, nodes: Iterable[str], queue: str) -> None:
        """A queue of a carrier, for packets from the first of these nodes, to the second if there is one."""
        at = ("carrier", carrier)
        vertices: list[_Vertex] = [("node", node) for node in nodes]
        self._queues.setdefault(at, []).append((queue, vertices))
        self._beside.setdefault(at, set()).update(vertices)
        for vertex in vertices:
            self._beside.setdefault(vertex, set()).add(at)

    def passed(self, client: str, server: str) -> list[str]:
        """The names of the queues between two nodes, in both directions, as in the table `queue`, sorted."""
        nodes = set(between := self._between(client, server))
        return sorted(
            name for vertex in between for name, ends in self._queues.get(vertex, ()) if nodes.issuperset(ends)
        )

    def towards(self, sender: str, receiver: str) -> list[str]:
        """The names of those that packets from one node to another can pass, sorted: those that lead away from it."""
        nodes = set(between := self._between(sender, receiver))
        far = {between[0]: 0}
        waiting = [between[0]]
        for vertex in waiting:
            for other in self._beside.get(vertex, ()):
                if other in nodes and other not in far:
                    far[other] = far[vertex] + 1
                    waiting.append(other)
        return sorted(
            name
            for vertex in between
            for name, (first, *others) in self._queues.get(vertex, ())
            if nodes.issuperset((first, *others))
            # From its node into the carrier; a medium has lanes of both directions.
            and far.get(first, 0) < min(far.get(vertex, 0), *(far.get(other, 0) for other in others), len(far))
        )

    def nodes(self, client: str, server: str) -> list[str]:
        """The names of the nodes that can lie between two nodes, and theirs."""
        return [name for word, name in self._between(client, server) if word == "node"]

    def _between(self, client: str, server: str) -> list[_Vertex]:
        """All that can lie between two nodes, and they themselves, from the first on."""
        first, second = self._inwards(("node", client)), self._inwards(("node", server))
        meeting = next((vertex for vertex in first if vertex in second), None)
        if meeting is not None:
            return [*first[: first.index(meeting) + 1], *second[: second.index(meeting)]]
        return list(dict.fromkeys([*first, *self._core.get(first[-1], ()), *second]))

    def _inwards(self, vertex: _Vertex) -> list[_Vertex]:
        """From a vertex out of a dead end, to where there is more than one way on."""
        path = [vertex]
        while (following := self._towards.get(path[-1])) is not None:
            path.append(following)
        return path


def _peeled(beside: dict[_Vertex, set[_Vertex]]) -> tuple[dict[_Vertex, _Vertex], dict[_Vertex, list[_Vertex]]]:
    """The way out of each dead end, vertex by vertex; and of each vertex in none, all that are connected with it."""
    left = {vertex: set(others) for vertex, others in beside.items()}
    towards: dict[_Vertex, _Vertex] = {}
    dead = [vertex for vertex, others in left.items() if len(others) == 1]
    while dead:
        vertex = dead.pop()
        if not left[vertex]:
            continue
        (other,) = left.pop(vertex)
        towards[vertex] = other
        left[other].discard(vertex)
        if len(left[other]) == 1:
            dead.append(other)
    core: dict[_Vertex, list[_Vertex]] = {}
    for vertex in left:
        if vertex in core:
            continue
        connected, more = {vertex: None}, [vertex]
        while more:
            for other in left[more.pop()]:
                if other not in connected:
                    connected[other] = None
                    more.append(other)
        together = list(connected)
        core |= dict.fromkeys(together, together)
    return towards, core
