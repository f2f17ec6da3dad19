"""The situation of one flow: its options, the hops of its path in both directions, and their keys in the scenario."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from quiclab._quiclab import Error
from quiclab.explanations.why.events import Down, downs
from quiclab.explanations.why.nodes import PROCESSING, Node
from quiclab.explanations.why.records import Records
from quiclab.values.quantities import number as read

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Hop:
    """A direction of a link, or the attachment of a medium."""

    name: str
    """As in the tables: `cell forward`."""
    key: str
    """Where its queue stands in the scenario: `link.cell.forward`."""
    shared: str
    """Where its rate stands: for a medium, that of all attachments."""
    medium: str | None
    """The type of its medium; None for a link."""
    options: Mapping[str, Any]
    """Its resolved options."""
    rate_mbps: float | None
    """Its mean capacity, where it has one."""

    def kind(self, option: str) -> str:
        """The type of one of its components: that of its queue, its loss."""
        return kind(self.options.get(option, ""))


class Situation:
    """What is known of a flow before its tables are read.

    :param records: the tables of its run.
    :param entry: its entry in the summary.
    """

    def __init__(self, records: Records, entry: Mapping[str, Any]) -> None:
        self.records, self.entry = records, entry
        self.name = str(entry["name"])
        self.sender = str(entry.get("sender", "server"))
        self.receiver = "client" if self.sender == "server" else "server"
        self.flow = records.flow(self.name)
        self.key = f"flow.{quoted(str(self.flow.get('name', self.name)))}"
        self.protocol, self.options = records.transport(self.name)
        self.controller = kind(self.options.get("controller", ""))

    def own(self, **options: Any) -> dict[str, Any]:
        """Changes of the options of its endpoints."""
        table = "tcp" if self.protocol == "tcp" else "transport"
        return {f"{self.key}.{table}.{option}": value for option, value in options.items()}

    @cached_property
    def application(self) -> Mapping[str, Any]:
        """Its application, with its options."""
        application = self.flow.get("application", {})
        return application if isinstance(application, Mapping) else {"type": str(application)}

    @cached_property
    def applications(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The key of each of its applications below that of the flow, and the application."""
        parts = self.application.get("parts")
        if isinstance(parts, list):
            found = [(f"{self.key}.application.parts.{at}", part) for at, part in enumerate(parts)]
            return [(key, part) for key, part in found if isinstance(part, Mapping)]
        return [(f"{self.key}.application", self.application)]

    @cached_property
    def data(self) -> list[Hop]:
        """The hops that its data can pass."""
        return [self._hop(name) for name in self.records.towards(self.name, self.receiver)]

    @cached_property
    def back(self) -> list[Hop]:
        """The hops that packets back to the sender can pass: acknowledgements, and requests."""
        return [self._hop(name) for name in self.records.towards(self.name, self.sender)]

    def hop(self, name: str) -> Hop | None:
        """A hop of its path by its name."""
        return next((hop for hop in (*self.data, *self.back) if hop.name == name), None)

    def _hop(self, name: str) -> Hop:
        document = self.records.document
        rate = self.records.mean_rate(name)
        for link in document.get("link", []):
            for direction in ("forward", "backward"):
                if name == f"{link['name']} {direction}":
                    key = f"link.{quoted(link['name'])}.{direction}"
                    return Hop(name, key, key, None, link.get(direction, {}), rate)
        for medium in document.get("medium", []):
            for node in (*([medium["station"]] if medium.get("station") else []), *medium.get("terminals", [])):
                if f"{name} ".startswith(f"{medium['name']} {node} "):
                    shared = f"medium.{quoted(medium['name'])}"
                    options = {**medium, **medium.get("at", {}).get(node, {})}
                    if rate is None and isinstance(given := options.get("rate"), Mapping):
                        # That of all attachments together.
                        rate = number(given.get("rate"))
                    return Hop(name, f"{shared}.at.{quoted(node)}", shared, str(medium["type"]), options, rate)
        return Hop(name, "", "", None, {}, rate)

    def at(self, hop: Hop) -> Mapping[str, Mapping[str, Any]]:
        """The options of single nodes of the medium of a hop."""
        medium = self.records.medium(hop.name.split(" ")[0]) if hop.medium is not None else None
        return {} if medium is None else medium.get("at", {})

    @cached_property
    def stations(self) -> list[str]:
        """The nodes of its path."""
        return [str(node["name"]) for node in self.records.nodes(self.name)]

    @cached_property
    def downs(self) -> list[Down]:
        """When interfaces of its path were down."""
        events = self.records.document.get("event") or []
        timed = [(number(event.get("at")) or 0.0, event) for event in events]
        carriers = {hop.name.split(" ")[0] for hop in (*self.data, *self.back)}
        interfaces: dict[str, set[str]] = {node: set() for node in self.stations}
        for kind_of, ends in (("link", ("from", "to")), ("medium", ("station", "terminals"))):
            for carrier in self.records.document.get(kind_of) or []:
                nodes = [carrier.get(end) for end in ends]
                for node in itertools.chain.from_iterable(one if isinstance(one, list) else [one] for one in nodes):
                    if carrier["name"] in carriers and node in interfaces:
                        interfaces[node].add(str(carrier["name"]))
        # Of one instant, those that come first in the scenario happen first.
        timed.sort(key=lambda pair: pair[0])
        return downs(timed, str(self.flow.get("name")), str(self.flow.get("client")), interfaces)

    @cached_property
    def path_rtt_s(self) -> float | None:
        """The round-trip time of its path without queues, as the run knows it; None without a route."""
        known = self.entry.get("path_rtt_ms")
        return known / 1e3 if isinstance(known, int | float) else None

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes that take time for its packets."""
        ends = {end: str(self.flow.get(end)) for end in ("client", "server")}
        found: list[Node] = []
        for node in self.records.nodes(self.name):
            options, name = node.get(PROCESSING), str(node["name"])
            if isinstance(options, Mapping):
                packet, ack, byte = (number(options.get(option)) for option in ("packet", "ack", "byte"))
                times = (packet or 0.0, (packet or 0.0) if ack is None else ack, byte or 0.0)
                takes = (name != ends[self.sender], name != ends[self.receiver])
                found.append(Node(name, f"node.{quoted(name)}.{PROCESSING}", options, *times, *takes))
        return found

    @cached_property
    def middleboxes(self) -> list[Mapping[str, Any]]:
        """The middleboxes of the scenario, with their kind and options: name, type, options."""
        nodes = self.records.document.get("node", [])
        return [node for node in nodes if isinstance(node.get("kind"), Mapping)]

    @property
    def is_alone(self) -> bool:
        """Whether no other traffic is in the scenario."""
        document = self.records.document
        return len(document.get("flow", [])) == 1 and not document.get("cross_traffic")


def kind(component: object) -> str:
    """The type of a component."""
    return str(component.get("type", "")) if isinstance(component, Mapping) else str(component)


def quoted(name: str) -> str:
    """A name as a part of a path of keys."""
    return name if _BARE.fullmatch(name) else f'"{name}"'


def number(value: object) -> float | None:
    """A quantity of a resolved scenario in Mbit/s, seconds or bytes; None if it is no number."""
    try:
        return read(value) if isinstance(value, int | float | str) else None
    except Error:
        return None
