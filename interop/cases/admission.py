"""How a connection begins: Retry, sessions that are taken up again, 0-RTT, the version, the amplification limit."""

from runner.wire import (
    CERTIFICATE,
    CLIENT_HELLO,
    HANDSHAKE,
    INITIAL,
    PRE_SHARED_KEY,
    RETRY,
    SERVER_HELLO,
    VERSION_2,
    ZERO_RTT,
)

from cases.case import Case, Evidence, needs, numbers_of_connections, one_connection

AMPLIFICATION = 3
"""RFC 9000 section 8.1: how many times as much as it received a server may send to an address not validated."""

TOLERATED = 4
"""What the QUIC interop runner lets others' servers do: some check before a datagram whether any of it is allowed."""


def retry(evidence: Evidence) -> None:
    """A Retry came, and the Initial packets after it have its token (RFC 9000 section 8.1.2)."""
    retries = [d for d in evidence.at_client if not d.to_server and RETRY in d.types]
    needs(retries, "no Retry")
    after = [d for d in evidence.at_client if d.to_server and INITIAL in d.types and d.at > retries[0].at]
    needs(after and all(any(d.token_lengths) for d in after), "an Initial without a token after the Retry")


def resumption(evidence: Evidence) -> None:
    """Two connections; the second one's ServerHello takes the ticket, and no certificate is sent."""
    hellos = [d for d in evidence.at_client if not d.to_server and SERVER_HELLO in d.messages]
    numbers = [min(d.connections) for d in hellos]
    needs(len(set(numbers)) == 2, f"{len(set(numbers))} handshakes instead of two")
    first, second = (next(d for d in hellos if min(d.connections) == n) for n in sorted(set(numbers)))
    needs(PRE_SHARED_KEY not in first.extensions, "the first handshake was resumed")
    needs(PRE_SHARED_KEY in second.extensions, "the second handshake was not resumed")
    full = {min(d.connections) for d in evidence.at_client if not d.to_server and CERTIFICATE in d.messages}
    needs(len(full) == 1, f"{len(full)} certificates instead of one")


def zerortt(evidence: Evidence) -> None:
    """The requests of the second connection are in 0-RTT packets, and not again in 1-RTT ones.

    tshark cannot open 0-RTT packets that are addressed to the server's own connection ID, as RFC 9000 section 7.2
    wants it once that is known. Then they had the requests if the client's 1-RTT packets, which it opens, have none:
    the files arrived.
    """
    resumption(evidence)
    early = [d for d in evidence.at_client if d.to_server and ZERO_RTT in d.types]
    needs(early, "no 0-RTT packet")
    connection = max(numbers_of_connections(early))
    after = [
        d for d in evidence.at_client
        if d.to_server and d.short and not d.types and d.frames and connection in d.connections
    ]  # fmt: skip
    late = [d for d in after if d.has_stream_data]
    needs(any(d.has_stream_data for d in early) or (after and not late), "the 0-RTT packets carry no data")
    bytes_early, bytes_late = (sum(d.length for d in group) for group in (early, late))
    needs(bytes_late * 5 < bytes_early, f"{bytes_early} bytes in 0-RTT packets, but {bytes_late} bytes after it")


def v2(evidence: Evidence) -> None:
    """The client begins in version 1, and both go on in version 2 (RFC 9368 section 2.3)."""
    one_connection(evidence)
    long = [d for d in evidence.at_client if d.versions]
    needs(long[0].to_server and set(long[0].versions) == {1}, "the first packet is not of version 1")
    for to_server, who in (True, "client"), (False, "server"):
        handshake = [d for d in long if d.to_server is to_server and HANDSHAKE in d.types]
        needs(handshake, f"no Handshake packet of the {who}")
        needs(all(d.versions[-1] == VERSION_2 for d in handshake), f"a Handshake packet of the {who} in version 1")


def amplificationlimit(evidence: Evidence) -> None:
    """What the server sends before a Handshake packet of the client comes is three times what it received, at most.

    The client's datagrams after its ClientHello are lost, and the certificates are more than the limit allows, so that
    the server has to stop.
    """
    limit = AMPLIFICATION if evidence.ours == "server" else TOLERATED
    received = sent = 0
    for datagram in evidence.at_server:
        if datagram.to_server:
            if HANDSHAKE in datagram.types:
                break
            received += datagram.length
        else:
            sent += datagram.length
            needs(sent <= limit * received, f"{sent} bytes sent before validation, {received} received")
    needs(received and sent > received, "the server did not come near the limit")
    needs(any(CLIENT_HELLO in d.messages or INITIAL in d.types for d in evidence.at_server), "no handshake")


CASES = [
    Case("retry", "the server answers the first Initial with a Retry", retry, server=("--retry",)),
    Case(
        "resumption",
        "the second connection resumes the session of the first",
        resumption,
        files=(5 << 10, 10 << 10),
        client=("--resume",),
    ),
    Case(
        "zerortt",
        "the requests of the second connection are sent in 0-RTT packets",
        zerortt,
        files=(32,) * 40,
        client=("--early-data",),
        of_server=("early-data",),
        long_names=True,
    ),
    Case("v2", "compatible version negotiation from version 1 to 2", v2, client=("--v2",), server=("--v2",)),
    Case(
        "amplificationlimit",
        "certificates that are larger than what may be sent before the address is validated",
        amplificationlimit,
        files=(5 << 10,),
        forward='loss = { type = "list", packets = [2, 3, 4, 5, 6, 7] }',
        certificate="long",
    ),
]
