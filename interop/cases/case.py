"""What a test case is, and what it is judged from."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from runner.wire import Datagram, capture

CLEAN = 'rate = "10 Mbit/s"\ndelay = "15 ms"\nqueue = "25 packets"'
"""The path of every case that does not say otherwise: that of the QUIC interop runner."""

LOOPBACK = "127.0.0.1"


class ProofError(Exception):
    """Evidence that a case needs is not there; the text says which."""


@dataclass(frozen=True)
class Evidence:
    """What one cell left behind."""

    folder: Path
    port: int
    """The server's UDP port."""
    door: int
    """The relay's UDP port."""
    relay: dict[str, Any]
    """What the relay counted."""
    ours: str
    """Our role: `client` or `server`."""

    @cached_property
    def at_client(self) -> list[Datagram]:
        """All datagrams, as seen at the client."""
        return capture(self.folder / "capture" / "client.pcapng", self.folder / "keys.log", self.door)

    @cached_property
    def at_server(self) -> list[Datagram]:
        """All datagrams, as seen at the server."""
        return capture(self.folder / "capture" / "server.pcapng", self.folder / "keys.log", self.port)


def needs(is_so: object, what: str) -> None:
    """Evidence that has to be there."""
    if not is_so:
        raise ProofError(what)


def numbers_of_connections(datagrams: Iterable[Datagram]) -> set[int]:
    """Which connections a capture has, as tshark numbers them."""
    return {number for datagram in datagrams for number in datagram.connections}


def one_connection(evidence: Evidence) -> None:
    """All was done over one connection."""
    seen = numbers_of_connections(evidence.at_client)
    needs(len(seen) == 1, f"{len(seen)} connections instead of one")


@dataclass(frozen=True)
class Case:
    """One test case of the QUIC interop runner."""

    name: str
    about: str
    judge: Callable[[Evidence], None]
    """Raises `ProofError` if what the case is about cannot be seen on the wire."""
    files: tuple[int, ...] = (1024,)
    """Sizes of the files that are fetched, in bytes."""
    link: str = CLEAN
    """The path between client and server, as a link of a scenario."""
    backward: str = ""
    """What is said of the way to the client only."""
    forward: str = ""
    """What is said of the way to the server only."""
    relay: tuple[str, ...] = ()
    """More options of `quiclab real relay`."""
    client: tuple[str, ...] = ()
    """Options of the client."""
    server: tuple[str, ...] = ()
    """Options of the server."""
    of_server: tuple[str, ...] = ()
    """What the server has to be able to do without being told, by the names in `about`."""
    wanted: tuple[str, ...] = ()
    """Options of whichever end knows them; one end at least has to."""
    first_able: str | None = None
    """An option of the client, or of the server if the client does not know it."""
    address: str = LOOPBACK
    certificate: str = "cert"
    timeout: float = 60
    long_names: bool = False
    """Whether the names of the files, and so the requests, are long: 200 characters."""

    @property
    def key(self) -> str:
        """The file of the certificate's key."""
        return "key.pem" if self.certificate == "cert" else f"{self.certificate}-key.pem"
