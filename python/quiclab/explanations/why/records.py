"""The tables of a run, as far as `why` needs them."""

from collections.abc import Iterable, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.explanations.why.nodes import PROCESSING
from quiclab.explanations.why.steps import Steps
from quiclab.results import numbers as _results
from quiclab.results.run import Run
from quiclab.values.columns import mask, numbers, values
from quiclab.values.quantities import number

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Rows = dict[str, NDArray[Any]]
    """The columns of some rows."""


_SIDES = ("client", "server")
_NOTHING = 0.01
"""A hop with less than this share of its mean capacity carries nothing."""


class Records:
    """The tables of a run, split by what their rows are about. Each is read once.

    :param run: the run.
    :param entries: the entries of the summary for the connections that are asked about.
    """

    def __init__(self, run: Run, entries: Iterable[dict[str, Any]]) -> None:
        self.run = run
        entries = list(entries)
        self._names = {entry["name"] for entry in entries}
        self.shares: dict[str, Any] = {}
        """What is known of who has a hop, by its name (`Shares.of_hop`)."""
        self._waiting: dict[str, Steps | None] = {}
        self._lengths: dict[str, Steps | None] = {}
        self._bottlenecks = {entry.get("bottleneck") or "" for entry in entries}

    @cached_property
    def document(self) -> dict[str, Any]:
        """The resolved scenario."""
        return self.run._document

    @cached_property
    def _flows(self) -> dict[str, dict[str, Any]]:
        return {flow["name"]: flow for flow in self.document.get("flow", [])}

    @property
    def flow_names(self) -> Set[str]:
        """The flows of the scenario."""
        return self._flows.keys()

    def flow(self, connection: str) -> dict[str, Any]:
        """The flow of a connection, as it stands in the resolved scenario."""
        return self._flows.get(_results.flow_of(connection, self._flows), {})

    def mean_rate(self, hop: str) -> float | None:
        """The mean capacity of a hop in Mbit/s, where it has one."""
        rows = self.rate.get((hop, "capacity"))
        return None if rows is None or not len(rows["mbps"]) else float(rows["mbps"].astype(float).mean())

    def usual_rate(self, hop: str) -> float | None:
        """The median of the capacity of a hop in Mbit/s while it carries anything."""
        import numpy as np

        rows = self.rate.get((hop, "capacity"))
        rates = np.zeros(0) if rows is None else rows["mbps"].astype(float)
        rates = rates[rates > _NOTHING * rates.mean()] if rates.size else rates
        return float(np.median(rates)) if rates.size else None

    def after(self, connection: str) -> str | None:
        """The flow that must be over before that of a connection begins."""
        after = self.flow(connection).get("after")
        return None if after is None else str(after)

    def passed(self, connection: str) -> list[str]:
        """The queues between the two ends of a connection, in both directions."""
        route = self._route(connection)
        return sorted({*route["there"], *route["back"]})

    def towards(self, connection: str, receiver: str) -> list[str]:
        """The queues that packets of a connection to one of its ends, `client` or `server`, can pass."""
        return sorted(self._route(connection)["back" if receiver == "client" else "there"])

    def nodes(self, connection: str) -> list[dict[str, Any]]:
        """The nodes between the two ends of a connection, and these, as far as the resolved scenario describes them."""
        names = set(self._route(connection)["nodes"])
        return [node for node in self.document.get("node", []) if node["name"] in names]

    def _route(self, connection: str) -> dict[str, list[str]]:
        """The ways of a connection's packets."""
        known = self._routes
        route = known.get(connection) or known.get(_results.flow_of(connection, self._flows))
        if route is None:
            raise Error(
                f"{self.run.path}: the summary has no route of {connection}, as runs of earlier versions; "
                "expected a run of this version: run it again"
            )
        return route

    @cached_property
    def _routes(self) -> dict[str, dict[str, list[str]]]:
        """By the names of connections."""
        entries = self.run.summary.get("connections") or []
        return {entry["name"]: entry["route"] for entry in entries if "route" in entry}

    @cached_property
    def senders(self) -> dict[str, list[tuple[str, str]]]:
        """By the names of queues: the connections of the run that can send through them, and from which end."""
        found: dict[str, list[tuple[str, str]]] = {}
        names = [entry.get("name") for entry in self.run.summary.get("connections") or []]
        for name in filter(lambda name: isinstance(name, str), names):
            for sender, receiver in (_SIDES, _SIDES[::-1]):
                for queue in self.towards(name, receiver):
                    found.setdefault(queue, []).append((name, sender))
        return found

    def medium(self, name: str | None) -> dict[str, Any] | None:
        """A medium of the resolved scenario."""
        return next((medium for medium in self.document.get("medium", []) if medium["name"] == name), None)

    def crossing(self, queue: str) -> list[str]:
        """The cross traffic that can pass a queue."""
        return [name for name, route in self._cross.items() if queue in route["there"]]

    def crosses(self, cross: str, node: str) -> bool:
        """Whether packets of cross traffic can arrive at a node."""
        return cross in self._cross and node in self._cross[cross]["nodes"][1:]

    @cached_property
    def _cross(self) -> dict[str, dict[str, list[str]]]:
        """The ways of cross traffic, by its name."""
        entries = self.run.summary.get("cross_traffic") or []
        return {entry["name"]: entry["route"] for entry in entries if "route" in entry}

    def policer(self, connection: str) -> str | None:
        """The policer between the two ends of a connection that dropped the most packets, by the link's direction."""
        passed = set(self.passed(connection))
        dropped = {name: len(rows["time_s"]) for (name,), rows in self._policed.items() if name in passed}
        return max(dropped, key=lambda name: dropped[name], default=None)

    @cached_property
    def policers(self) -> dict[str, tuple[float, float]]:
        """The policers that drop, by the directions of links: their rates in Mbit/s, and their bursts in bytes."""
        found: dict[str, tuple[float, float]] = {}
        for link in self.document.get("link", []):
            for direction in ("forward", "backward"):
                queue = link[direction]["queue"]
                if queue["type"] == "policer" and queue["exceed"] == "drop":
                    found[f"{link['name']} {direction}"] = (number(queue["rate"]), number(queue["burst"]))
        return found

    @cached_property
    def _policed(self) -> "dict[tuple[str, ...], Rows]":
        return self._split("drop", ("link",), ["time_s"], self.policers.keys()) if self.policers else {}

    @cached_property
    def dropped(self) -> "dict[tuple[str, ...], Rows]":
        """When the middleboxes of the scenario dropped packets, by their names."""
        names = {str(node["name"]) for node in self.document.get("node", []) if isinstance(node.get("kind"), dict)}
        return self._split("drop", ("link",), ["time_s"], names) if names else {}

    @cached_property
    def lost(self) -> "dict[tuple[str, ...], Rows]":
        """When the hops that a connection can pass dropped or lost packets."""
        return self._split("drop", ("link",), ["time_s"], self._all_passed)

    def endless(self, connection: str) -> bool:
        """Whether its transfer has no size."""
        return _results.is_endless(self.flow(connection))

    def kind_of_stream(self, connection: str) -> int | None:
        """The kind of the stream with the most data: the lowest two bits of its number (RFC 9000 section 2.1)."""
        import numpy as np

        rows = self._streams.get((connection,))
        if rows is None:
            return None
        return int(rows["stream"][np.argmax(np.nan_to_num(rows["received_bytes"]))]) % 4

    @cached_property
    def _streams(self) -> "dict[tuple[str, ...], Rows]":
        return self._split("stream", ("connection",), ["stream", "received_bytes"], self._names)

    def transport(self, connection: str) -> tuple[str, dict[str, Any]]:
        """The protocol of a connection, `quic` or `tcp`, and the options of its endpoints."""
        flow = self.flow(connection)
        protocol = flow.get("protocol", "quic")
        table = "tcp" if protocol == "tcp" else "transport"
        return protocol, {**self.document.get(table, {}), **flow.get(table, {})}

    @cached_property
    def wait(self) -> "dict[tuple[str, ...], Rows]":
        """What each end of a connection waited for."""
        columns = [name for name in self.run.table("wait").column_names if name not in ("connection", "side")]
        return self._split("wait", ("connection", "side"), columns, self._names)

    @cached_property
    def rate(self) -> "dict[tuple[str, ...], Rows]":
        """The rates of each link and attachment that a connection can pass, and of media, by their kind."""
        wanted = self._all_passed | self._lanes | {str(medium["name"]) for medium in self.document.get("medium", [])}
        return self._split("rate", ("subject", "kind"), ["time_s", "mbps"], wanted)

    @cached_property
    def air(self) -> "dict[tuple[str, ...], Rows]":
        """The share of air time of each lane of a medium, in the bins of the table `rate`."""
        return self._split("air", ("link",), ["time_s", "air_share"], self._lanes)

    @cached_property
    def _lanes(self) -> set[str]:
        """Those of all media."""
        media = self.run.summary.get("media") or []
        return {" ".join(str(one[key]) for key in ("name", "attachment", "to") if one.get(key)) for one in media}

    @cached_property
    def _all_passed(self) -> set[str]:
        servers = {f"{node['name']} {PROCESSING}" for node in self.document.get("node", []) if node.get("processing")}
        return self._bottlenecks.union(servers, *(self.passed(name) for name in self._names))

    @cached_property
    def queue(self) -> "dict[tuple[str, ...], Rows]":
        """The packets in each queue that a connection can pass, when they changed."""
        return self._split("queue", ("link",), ["time_s", "packets", "bytes"], self._all_passed)

    def waiting(self, queue: str) -> Steps | None:
        """1 while packets were in a queue, and 0 otherwise; None without rows about it."""
        if queue not in self._waiting:
            rows = self.queue.get((queue,))
            self._waiting[queue] = None if rows is None else _steps(rows["time_s"], rows["packets"] > 0)
        return self._waiting[queue]

    def length(self, queue: str) -> Steps | None:
        """The packets in a queue; None without rows about it."""
        if queue not in self._lengths:
            rows = self.queue.get((queue,))
            self._lengths[queue] = None if rows is None else _steps(rows["time_s"], rows["packets"])
        return self._lengths[queue]

    def bytes_waiting(self, queue: str) -> Steps | None:
        """The bytes in a queue; None without rows about it."""
        rows = self.queue.get((queue,))
        return None if rows is None else _steps(rows["time_s"], rows["bytes"])

    @cached_property
    def sent(self) -> "dict[tuple[str, ...], Rows]":
        """What each end of each connection sent, by its name and side."""
        names = {f"{entry['name']} {side}" for entry in self.run.summary.get("connections") or [] for side in _SIDES}
        return self._split("rate", ("subject", "kind"), ["time_s", "mbps"], names)

    @cached_property
    def windows(self) -> "dict[tuple[str, ...], Rows]":
        """Congestion window and round-trip times of each end of a connection, when they changed."""
        columns = ["time_s", "cwnd_bytes", "smoothed_rtt_ms", "latest_rtt_ms"]
        return self._split("connection", ("connection", "side"), columns, self._names)

    @cached_property
    def losses(self) -> "dict[tuple[str, ...], Rows]":
        """When each end of a connection declared packets lost."""
        return self._split("loss", ("connection", "side"), ["time_s"], self._names)

    def _split(
        self, name: str, keys: tuple[str, ...], columns: list[str], wanted: Set[str]
    ) -> "dict[tuple[str, ...], Rows]":
        """The rows of a table, if there is one, by columns of text, of which the first has one of these values."""
        import numpy as np

        # `pyarrow.array` would import pandas.
        parts: dict[tuple[str, ...], dict[str, list[NDArray[Any]]]] = {}
        for part in self.run.parts(name, [*keys, *columns]) if name in self.run.tables else ():
            coded = part[keys[0]].cast("string").combine_chunks().dictionary_encode()
            codes = [code for code, word in enumerate(coded.dictionary.to_pylist()) if word in wanted]
            rows = part.filter(mask(np.isin(values(coded.indices), codes)))
            for key, found in _groups(rows, keys, columns):
                known = parts.setdefault(key, {column: [] for column in columns})
                for column, array in found.items():
                    known[column].append(array)
        # Column by column: the parts of one are dropped before the next is put together.
        return {key: {column: np.concatenate(found.pop(column)) for column in columns} for key, found in parts.items()}


def _steps(times: "NDArray[Any]", values: "NDArray[Any]") -> Steps:
    return Steps(times, values.astype(float))


class Waited:
    """What one end of a connection waited for."""

    def __init__(self, rows: "Rows") -> None:
        self._rows = rows
        self.last: str = rows["wait"][-1]
        """What it waited for at the end."""
        self.since = float(rows["time_s"][-1])
        """The time of the last row, in seconds of the run."""

    def seconds(self, wait: str, start: float, end: float) -> float:
        """How much of a time it waited for this; between two rows evenly."""
        return self._until(wait, end) - self._until(wait, start)

    def _until(self, wait: str, time: float) -> float:
        import numpy as np

        more = max(0.0, time - self.since) if wait == self.last else 0.0
        return float(np.interp(time, self._rows["time_s"], self._rows[f"{wait}_s"])) + more


def _groups(rows: "pa.Table", keys: tuple[str, ...], columns: list[str]) -> "Iterable[tuple[tuple[str, ...], Rows]]":
    """Groups of rows with equal values in columns of text, each in the order of the table."""
    import numpy as np

    # `to_numpy` would import pandas.
    if not rows.num_rows:
        return
    codes = np.zeros(rows.num_rows, dtype=np.int64)
    words: list[list[str]] = []
    for key in keys:
        coded = rows[key].cast("string").combine_chunks().dictionary_encode()
        words.append(coded.dictionary.to_pylist())
        codes = codes * len(words[-1]) + values(coded.indices)
    order = np.argsort(codes, kind="stable")
    arrays = {column: _array(rows[column])[order] for column in columns}
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        rest, key_words = int(codes[order[start]]), []
        for known in reversed(words):
            rest, at = divmod(rest, len(known))
            key_words.append(known[at])
        yield tuple(reversed(key_words)), {column: array[start:end] for column, array in arrays.items()}


def _array(column: "pa.ChunkedArray") -> "np.ndarray[Any, Any]":
    """The values of a column; NaN where a number is null."""
    import numpy as np
    import pyarrow as pa

    # `to_numpy` would import pandas.
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return numbers(column)
    return np.asarray(column.to_pylist(), dtype=bool if pa.types.is_boolean(column.type) else object)
