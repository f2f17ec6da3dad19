"""Transfers over a path that does nothing but take its time."""

from runner.wire import INITIAL, SERVER_HELLO

from cases.case import Case, Evidence, needs, one_connection

CHACHA20 = 0x1303
"""TLS_CHACHA20_POLY1305_SHA256 (RFC 8446 appendix B.4)."""


def handshake(evidence: Evidence) -> None:
    """One handshake, without a Retry."""
    one_connection(evidence)
    needs(not any(3 in datagram.types for datagram in evidence.at_client), "a Retry that nobody asked for")


def longrtt(evidence: Evidence) -> None:
    """The client's first probe is sent before any answer can have come (RFC 9002 section 6.2.2)."""
    one_connection(evidence)
    answered = next((datagram.at for datagram in evidence.at_client if not datagram.to_server), 0)
    flights = [d for d in evidence.at_client if d.to_server and INITIAL in d.types and d.at < answered]
    needs(len(flights) >= 2, "no second Initial before the first answer")


def chacha20(evidence: Evidence) -> None:
    """The server chose ChaCha20-Poly1305."""
    one_connection(evidence)
    hellos = [d for d in evidence.at_client if not d.to_server and SERVER_HELLO in d.messages]
    needs(hellos, "no ServerHello")
    needs(all(CHACHA20 in hello.suites for hello in hellos), "another suite than ChaCha20-Poly1305 was chosen")


def multiplexing(evidence: Evidence) -> None:
    """All files came over one connection, each on a stream of its own."""
    one_connection(evidence)
    streams = {s for d in evidence.at_client if not d.to_server for s in d.streams if s % 4 == 0}
    needs(len(streams) >= 2000, f"{len(streams)} streams with answers instead of 2000")


def http3(evidence: Evidence) -> None:
    """The protocol that was chosen is HTTP/3, and the server opened its control stream (RFC 9114 section 6.2.1)."""
    one_connection(evidence)
    chosen = {p for d in evidence.at_client if not d.to_server for p in d.protocols}
    needs(chosen == {"h3"}, f"the chosen protocol is {chosen or 'not to be seen'}")
    needs(any(s % 4 == 3 for d in evidence.at_client if not d.to_server for s in d.streams), "no control stream")


def ipv6(evidence: Evidence) -> None:
    """All of it over IPv6."""
    one_connection(evidence)
    needs(all(":" in datagram.source[0] for datagram in evidence.at_client), "a datagram over IPv4")


CASES = [
    Case("handshake", "one connection, a small file", handshake),
    Case(
        "transfer",
        "three files at the same time",
        one_connection,
        files=(2 << 20, 3 << 20, 5 << 20),
    ),
    Case(
        "longrtt",
        "a round trip of 1.5 s",
        longrtt,
        link='rate = "10 Mbit/s"\ndelay = "750 ms"\nqueue = "25 packets"',
    ),
    Case(
        "chacha20",
        "ChaCha20-Poly1305 is all that is offered, or all that is accepted",
        chacha20,
        files=(3 << 20,),
        wanted=("--chacha20",),
    ),
    Case("multiplexing", "2000 small files", multiplexing, files=(32,) * 2000),
    Case(
        "http3", "HTTP/3", http3, files=(5 << 10, 10 << 10, 500 << 10), client=("--alpn", "h3"), server=("--alpn", "h3")
    ),
    Case("ipv6", "over IPv6", ipv6, address="::1"),
]
