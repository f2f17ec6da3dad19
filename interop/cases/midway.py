"""What happens in the middle of a connection: key updates, ECN, moves to other ports and addresses."""

from runner.wire import ACK_ECN

from cases.case import Case, Evidence, needs, one_connection

ECT = (0b01, 0b10)
"""RFC 3168 section 5."""


def keyupdate(evidence: Evidence) -> None:
    """Both ends sent packets of the first key phase, and of the second (RFC 9001 section 6)."""
    one_connection(evidence)
    for to_server, who in (True, "client"), (False, "server"):
        phases = {phase for d in evidence.at_client if d.to_server is to_server for phase in d.phases}
        needs(phases == {False, True}, f"the {who} sent packets of one key phase only")


def ecn(evidence: Evidence) -> None:
    """Both ends mark what they send as ECN-capable, and report what came (RFC 9000 section 13.4)."""
    one_connection(evidence)
    for to_server, who, sees in (True, "client", evidence.at_client), (False, "server", evidence.at_server):
        mine = [d for d in sees if d.to_server is to_server]
        needs(any(d.ecn in ECT for d in mine), f"the {who} marks nothing as ECN-capable")
        needs(any(ACK_ECN in d.frames for d in mine), f"the {who} sends no ECN counts")


def moved(evidence: Evidence, *, address: bool, least: int = 2) -> None:
    """The server sees the client elsewhere, validates the path, and goes on there (RFC 9000 sections 8.2 and 9)."""
    came = [d.source for d in evidence.at_server if d.to_server]
    # In the order in which they were last seen.
    places = list(reversed(dict.fromkeys(reversed(came))))
    needs(len(places) >= least, f"the server saw the client in {len(places)} places only")
    if address:
        needs(len({ip for ip, _ in places}) >= 2, "the client's IP address did not change")
    challenged = {c for d in evidence.at_client if not d.to_server for c in d.challenges}
    answered = {r for d in evidence.at_client if d.to_server for r in d.responses}
    needs(challenged, "no PATH_CHALLENGE of the server")
    needs(challenged & answered, "no PATH_RESPONSE of the client to a challenge of the server")
    there = [d for d in evidence.at_server if not d.to_server and d.destination == places[-1]]
    needs(there, "the server sent nothing to where the client was last")


def rebind_port(evidence: Evidence) -> None:
    """The relay moved the client to another port, twice at most while data flowed."""
    one_connection(evidence)
    moved(evidence, address=False)


def rebind_addr(evidence: Evidence) -> None:
    """The relay moved the client to another address."""
    one_connection(evidence)
    moved(evidence, address=True)


def connectionmigration(evidence: Evidence) -> None:
    """The client itself moved to another port, and validated the path from there, or had it validated."""
    ports = {d.source for d in evidence.at_client if d.to_server}
    needs(len(ports) >= 2, "the client sent from one port only")
    moved(evidence, address=False)


CASES = [
    Case("keyupdate", "one end updates the keys", keyupdate, files=(3 << 20,), first_able="--key-update"),
    Case("ecn", "both ends use ECN", ecn, files=(100 << 10,), client=("--ecn",), server=("--ecn",)),
    Case(
        "rebind-port",
        "the client's port changes, as the server sees it",
        rebind_port,
        files=(10 << 20,),
        relay=("--rebind-port", "1 s", "--rebind-port", "6 s"),
        of_server=("follow",),
    ),
    Case(
        "rebind-addr",
        "the client's address changes, as the server sees it",
        rebind_addr,
        files=(10 << 20,),
        relay=("--rebind-addr", "1 s", "--rebind-addr", "6 s"),
        of_server=("follow",),
    ),
    Case(
        "connectionmigration",
        "the client moves to another port by itself",
        connectionmigration,
        files=(2 << 20,),
        client=("--migrate",),
        of_server=("follow", "active-migration"),
    ),
]
