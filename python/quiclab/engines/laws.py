"""The laws of parts and applications, for those of quiclab and for yours: each call runs them over one.

A law is checked in runs: three flows over QUIC and TCP in both directions and datagrams share a link that is too slow
for them, have pauses, and differ with the seed.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from quiclab.results.run import Run
from quiclab.results.scenario import Scenario
from quiclab.values.components.parts import Plugged

Subject = str | Mapping[str, Any] | Plugged | type[Plugged]
"""A part as a scenario names it: a word, a table with its options, a class or an object."""

_SEEDS = (1, 2)
_HEADER_BYTES = 20
"""No IP packet is smaller."""
_TABLES = ("connection", "loss", "queue", "drop", "stream", "node", "object")
_MTU_BYTES = 1500


def check_queue(
    queue: Subject, *, ordered: bool = True, limit_packets: int | None = None, seeds: tuple[int, ...] = _SEEDS
) -> None:
    """Checks the laws of a queue.

    >>> quiclab.testing.check_queue("codel", limit_packets=1000)

    :param queue: the queue as a scenario names it, or a class derived from `quiclab.Queue`, or an object of it.
    :param ordered: whether packets of one end of a flow must leave in the order in which they came.
    :param limit_packets: what the queue may hold at most; None if it is not known.
    :param seeds: the seeds of the runs.
    :raises AssertionError: a law does not hold: which, and where.
    :raises quiclab.Error: the queue does what cannot be, such as to send a packet twice.

    The laws: what came was sent, lost, dropped, or is still there, and nothing else leaves; packets of a flow keep
    their order; the queue keeps its limit; its packets and bytes fit each other; times do not go back; equal seeds give
    equal results, whatever ran before.
    """
    _check([_scenario({"queue": queue}, None, seed) for seed in seeds], ordered, limit_packets)


def check_loss(loss: Subject, *, seeds: tuple[int, ...] = _SEEDS) -> None:
    """Checks the laws of a loss model, which are those of `check_queue` for what it does not lose.

    >>> quiclab.testing.check_loss("1 %")

    :param loss: the loss model as a scenario names it, or a class derived from `quiclab.Loss`, or an object of it.
    :param seeds: the seeds of the runs.
    :raises AssertionError: a law does not hold: which, and where.
    :raises quiclab.Error: the loss model does what cannot be.
    """
    _check([_scenario({"loss": loss}, None, seed) for seed in seeds])


def check_jitter(jitter: Subject, *, seeds: tuple[int, ...] = _SEEDS) -> None:
    """Checks the laws of a jitter, which are those of `check_queue`: without `reorder` packets keep their order.

    >>> quiclab.testing.check_jitter("2 ms")

    :param jitter: the jitter as a scenario names it, or a class derived from `quiclab.Jitter`, or an object of it.
    :param seeds: the seeds of the runs.
    :raises AssertionError: a law does not hold: which, and where.
    :raises quiclab.Error: the jitter does what cannot be, such as to be no number.
    """
    _check([_scenario({"jitter": jitter}, None, seed) for seed in seeds])


def check_rate(rate: Subject, *, seeds: tuple[int, ...] = _SEEDS) -> None:
    """Checks the laws of a rate, which are those of `check_queue`: it sends one packet after the other.

    >>> quiclab.testing.check_rate("5 Mbit/s")

    :param rate: the rate as a scenario names it, or a class derived from `quiclab.Rate`, or an object of it.
    :param seeds: the seeds of the runs.
    :raises AssertionError: a law does not hold: which, and where.
    :raises quiclab.Error: the rate does what cannot be, such as to end a packet before it begins.
    """
    _check([_scenario({"rate": rate}, None, seed) for seed in seeds])


def check_middlebox(middlebox: Subject, *, ordered: bool = True, seeds: tuple[int, ...] = _SEEDS) -> None:
    """Checks the laws of a middlebox between two links.

    >>> quiclab.testing.check_middlebox("ack-pacer")

    :param middlebox: the middlebox as a scenario names it, or a class derived from `quiclab.Middlebox`, or an object.
    :param ordered: whether packets of one end of a flow must leave in the order in which they came.
    :param seeds: the seeds of the runs.
    :raises AssertionError: a law does not hold: which, and where.
    :raises quiclab.Error: the middlebox does what cannot be, such as to send a packet twice.

    The laws are those of `check_queue`; and what leaves the node has come to it.
    """
    _check([_scenario({}, middlebox, seed) for seed in seeds], ordered)


def check_cell_scheduler(scheduler: Subject, *, seeds: tuple[int, ...] = _SEEDS) -> None:
    """Checks the laws of a scheduler of cells, in a cell of LTE with three terminals.

    >>> quiclab.testing.check_cell_scheduler("round-robin")

    :param scheduler: as a scenario names it, or a class derived from `quiclab.CellScheduler`, or an object.
    :param seeds: the seeds of the runs.
    :raises AssertionError: a law does not hold: which, and where.
    :raises quiclab.Error: the scheduler does what cannot be, such as to rank other terminals than there are.

    The laws are those of `check_queue`.
    """
    _check([_cell(scheduler, seed) for seed in seeds])


def check_application(
    application: Subject,
    *,
    ends: bool = True,
    protocols: tuple[str, ...] = ("quic", "tcp"),
    transport: Mapping[str, Any] | None = None,
    seeds: tuple[int, ...] = _SEEDS,
) -> None:
    """Checks the laws of an application, over a link that loses and delays packets.

    >>> quiclab.testing.check_application({"type": "bulk", "size": "200 kB"})

    :param application: the application as a scenario names it, or a class derived from `quiclab.Application`, or an
        object of it.
    :param ends: whether it must be complete within a minute; False for one that lasts as long as its run.
    :param protocols: the protocols that it runs over.
    :param transport: the options of QUIC that it needs, such as `max_datagram_frame_size`.
    :param seeds: the seeds of the runs.
    :raises AssertionError: a law does not hold: which, and where.
    :raises quiclab.Error: the application does something impossible, such as writing to a stream that it has finished.

    The laws: it is complete when the run ends, and so is all that it measures; no stream brings more bytes than were
    sent on it; no object is complete before it was requested; equal seeds give equal results, whatever ran before.
    """
    scenarios = [_flow(application, protocol, dict(transport or {}), seed) for protocol in protocols for seed in seeds]
    _check(scenarios, ordered=False, more=lambda run: _unfinished(run, ends))


def _check(
    scenarios: list[Scenario],
    ordered: bool = True,
    limit: int | None = None,
    more: Callable[[Run], Iterator[str]] = lambda _: iter(()),
) -> None:
    runs = [_run(scenario, ordered) for scenario in scenarios]
    for scenario, run in zip(scenarios, runs, strict=True):
        for problem in (*more(run), *_problems(run, limit)):
            raise AssertionError(f"seed {scenario.seed}: {problem}")
    # The other runs were in between, and before them nothing.
    for scenario, run in zip(scenarios, runs, strict=True):
        seed, again = scenario.seed, scenario.run()
        if again.summary != run.summary:
            raise AssertionError(
                f"seed {seed}: the same run has another summary; expected equal results for equal seeds"
            )
        for name in _TABLES:
            if not again.table(name).equals(run.table(name)):
                raise AssertionError(f"seed {seed}: the same run has another table {name}; expected an equal one")


def _scenario(link: Mapping[str, Any], box: Subject | None, seed: int) -> Scenario:
    near = {"rate": "4 Mbit/s", "delay": "10 ms", "queue": "40 packets", **link}
    slow: dict[str, Any] = {"name": "slow", "from": "left", "to": "box", "both": near}
    fast: dict[str, Any] = {
        "name": "fast",
        "from": "box",
        "to": "right",
        "both": {"rate": "20 Mbit/s", "delay": "3 ms"},
    }
    nodes: list[dict[str, Any]] = [{"name": "left"}, {"name": "box", "kind": "router" if box is None else box}]

    def flow(name: str, start: str, size: str, **more: Any) -> dict[str, Any]:
        ends = {"client": "right", "server": "left"}
        return {"name": name, **ends, "start": start, "application": {"type": "bulk", "size": size}, **more}

    datagrams = {"type": "poisson", "gap": "8 ms", "size": 400}
    upload = {"type": "bulk", "size": "200 kB", "direction": "upload"}
    return Scenario(
        seed=seed,
        duration="8 s",
        node=[*nodes, {"name": "right"}],
        link=[slow, fast],
        flow=[
            flow("first", "0 s", "600 kB", transport={"controller": "cubic"}),
            flow("second", "300 ms", "300 kB", protocol="tcp"),
            flow("third", "4 s", "0 B") | {"application": upload},
        ],
        cross_traffic=[{"name": "noise", "from": "left", "to": "right", "stop": "3 s", "source": datagrams}],
    )


def _cell(scheduler: Subject, seed: int) -> Scenario:
    terminals = ["one", "two", "three"]
    medium = {"name": "air", "type": "lte", "station": "mast", "terminals": terminals, "scheduler": scheduler}
    wire = {"name": "wire", "from": "server", "to": "mast", "both": {"rate": "100 Mbit/s", "delay": "5 ms"}}

    def flow(name: str, at: int) -> dict[str, Any]:
        bulk = {"type": "bulk", "size": "1 MB", "direction": "upload" if at == 2 else "download"}
        return {"name": f"of-{name}", "client": name, "server": "server", "start": f"{at}00 ms", "application": bulk}

    return Scenario(
        seed=seed,
        duration="8 s",
        medium=[medium],
        link=[wire],
        flow=[flow(name, at) for at, name in enumerate(terminals)],
    )


def _flow(application: Subject, protocol: str, transport: dict[str, Any], seed: int) -> Scenario:
    both = {"rate": "10 Mbit/s", "delay": "10 ms", "jitter": "4 ms", "reorder": True, "loss": "1 %"}
    ends = {"client": "right", "server": "left", "protocol": protocol}
    options = {"transport": transport} if protocol == "quic" else {}
    return Scenario(
        seed=seed,
        duration="60 s",
        link=[{"name": "wire", "from": "left", "to": "right", "both": both}],
        flow=[{"name": "flow", **ends, "application": application, **options}],
    )


def _unfinished(run: Run, ends: bool) -> Iterator[str]:
    """The laws of an application that do not hold in a run."""
    (entry,) = run.summary["connections"]
    if ends and not entry["completed"]:
        yield f"it is not complete after {run.summary['duration_s']:g} s ({entry['close']}); expected that it ends"
    for what in ("messages", "requests"):
        if ends and (missing := entry.get(what, {}).get("missing")):
            yield f"{missing} {what} are missing at its end; expected none"
    for row in run.table("object").to_pylist():
        times = [row[key] for key in ("asked_s", "complete_s") if row[key] is not None]
        if times != sorted(times):
            yield f"object {row['object']} is complete at {times[1]} s, before {times[0]} s; expected times in order"
    sides: dict[int, dict[str, dict[str, Any]]] = {}
    for row in run.table("stream").to_pylist():
        if row["closed_s"] is not None:
            sides.setdefault(row["stream"], {})[row["side"]] = row
    for stream, rows in sides.items():
        for one, other in (("client", "server"), ("server", "client")):
            if one in rows and other in rows and rows[one]["sent_bytes"] < rows[other]["received_bytes"]:
                sent, received = rows[one]["sent_bytes"], rows[other]["received_bytes"]
                yield f"stream {stream}: the {one} sent {sent} bytes, and {received} arrived; expected no more"


def _run(scenario: Scenario, ordered: bool) -> Run:
    if not ordered:
        return scenario.run()
    with tempfile.TemporaryDirectory() as folder:
        run = scenario.run(out=Path(folder) / "run", qlog=True)
        for path in sorted(Path(folder).glob("**/*.sqlog")):
            for (before_ms, before), (after_ms, after) in pairwise(_received(path)):
                # Packets that came before their keys are read later, with the one that brings these.
                if after < before and after_ms > before_ms:
                    raise AssertionError(
                        f"seed {scenario.seed}, {path.stem}: packet {after} arrives behind packet {before}; "
                        "expected the order in which they were sent"
                    )
        return run


def _received(path: Path) -> Iterator[tuple[float, int]]:
    """The times and numbers of the 1-RTT packets that a QUIC connection received, in the order of its log."""
    for line in path.read_text(encoding="utf-8").split("\x1e"):
        event = json.loads(line) if line.strip() else {}
        header = event.get("data", {}).get("header", {})
        if event.get("name", "").endswith("packet_received") and header.get("packet_type") == "1RTT":
            yield event["time"], header["packet_number"]


def _problems(run: Run, limit: int | None) -> Iterator[str]:
    """The laws that do not hold in a run."""
    links = {f"{link['name']} {link['direction']}": link for link in run.summary["links"]}
    for name, link in links.items():
        came = link["offered_packets"] + link["duplicated"]
        went = link["delivered_packets"] + sum(link["drops"].values()) + link["inside_packets"]
        if came != went:
            yield f"link {name}: {came} packets came, and {went} were delivered, dropped or are there; expected as many"
        if limit is not None and name.startswith("slow") and link["queue_max_packets"] > limit:
            yield f"link {name}: {link['queue_max_packets']} packets waited; expected at most {limit}"
    if "slow forward" in links:
        came = links["slow forward"]["delivered_packets"] + links["fast backward"]["delivered_packets"]
        went = links["fast forward"]["offered_packets"] + links["slow backward"]["offered_packets"]
        if went > came or (went < came and "nodes" not in run.summary):
            yield f"node box: {came} packets came, and {went} left; expected no more, and all of them from a router"
    waiting = run.table("queue").to_pylist()
    for row in waiting:
        least, most = _HEADER_BYTES * row["packets"], _MTU_BYTES * row["packets"]
        if not least <= row["bytes"] <= most:
            yield f"link {row['link']}: {row['packets']} packets have {row['bytes']} bytes; expected {least} to {most}"
    for name in ("queue", "drop", "connection"):
        times = run.table(name).column("time_s").to_pylist()
        keys = [tuple(row.get(key) for key in ("link", "connection", "side")) for row in run.table(name).to_pylist()]
        last: dict[Any, float] = {}
        for key, time_s in zip(keys, times, strict=True):
            if time_s < last.get(key, 0.0):
                yield f"table {name}: {time_s} s follows {last[key]} s; expected times that do not go back"
            last[key] = time_s
