"""The packets on the wire: a capture that tshark decrypts with the keys of both ends."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

INITIAL, ZERO_RTT, HANDSHAKE, RETRY = range(4)
"""Types of packets with a long header, as version 1 numbers them (RFC 9000 section 17.2)."""

VERSION_2 = 0x6B3343CF
"""RFC 9369 section 3.1."""

ACK_ECN, NEW_CONNECTION_ID, PATH_CHALLENGE, PATH_RESPONSE = 0x03, 0x18, 0x1A, 0x1B
"""Types of frames (RFC 9000 section 12.4)."""

CLIENT_HELLO, SERVER_HELLO, CERTIFICATE = 1, 2, 11
"""Types of TLS messages (RFC 8446 section 4)."""

PRE_SHARED_KEY = 41
"""The extension that a resumed session has in its ServerHello (RFC 8446 section 4.2)."""

FIELDS = {
    "at": "frame.time_epoch",
    "source4": "ip.src",
    "source6": "ipv6.src",
    "destination4": "ip.dst",
    "destination6": "ipv6.dst",
    "source_port": "udp.srcport",
    "destination_port": "udp.dstport",
    "length": "udp.length",
    "ecn4": "ip.dsfield.ecn",
    "ecn6": "ipv6.tclass.ecn",
    "connections": "quic.connection.number",
    "forms": "quic.header_form",
    "types": "quic.long.packet_type",
    "types2": "quic.long.packet_type_v2",
    "versions": "quic.version",
    "phases": "quic.key_phase",
    "frames": "quic.frame_type",
    "token_lengths": "quic.token_length",
    "messages": "tls.handshake.type",
    "extensions": "tls.handshake.extension.type",
    "suites": "tls.handshake.ciphersuite",
    "protocols": "tls.handshake.extensions_alpn_str",
    "streams": "quic.stream.stream_id",
    "challenges": "quic.path_challenge.data",
    "responses": "quic.path_response.data",
    "undecrypted": "quic.decryption_failed",
}


@dataclass(frozen=True)
class Datagram:
    """One UDP datagram. Its lists cover all packets in it, in order."""

    at: float
    source: tuple[str, int]
    destination: tuple[str, int]
    to_server: bool
    length: int
    """Bytes of UDP payload."""
    ecn: int
    connections: frozenset[int]
    short: bool
    """Whether the datagram contains a packet with a short header."""
    types: tuple[int, ...]
    """Types of packets with long headers, in the numbers of version 1."""
    versions: tuple[int, ...]
    phases: tuple[bool, ...]
    frames: tuple[int, ...]
    token_lengths: tuple[int, ...]
    messages: tuple[int, ...]
    extensions: tuple[int, ...]
    suites: tuple[int, ...]
    protocols: tuple[str, ...]
    streams: tuple[int, ...]
    challenges: tuple[str, ...]
    responses: tuple[str, ...]

    @property
    def has_stream_data(self) -> bool:
        """Whether the datagram contains STREAM frames."""
        return any(0x08 <= frame <= 0x0F for frame in self.frames)


def capture(file: Path, keys: Path, server_port: int) -> list[Datagram]:
    """Return all QUIC datagrams of a capture."""
    keys.touch()
    command = ["tshark", "-n", "-r", str(file), "-o", f"tls.keylog_file:{keys}", "-d", f"udp.port=={server_port},quic"]
    command += ["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=;"]
    for name in FIELDS.values():
        command += ["-e", name]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"tshark: {run.stderr.strip()}")
    return [datagram(line, server_port) for line in run.stdout.splitlines() if line.strip()]


def datagram(line: str, server_port: int) -> Datagram:
    """One line of tshark's."""
    texts = dict(zip(FIELDS, line.split("\t"), strict=False))

    def words(name: str) -> list[str]:
        return [word for word in texts.get(name, "").split(";") if word]

    def integers(name: str) -> tuple[int, ...]:
        return tuple(int(word, 0) for word in words(name))

    # RFC 9369 section 3.2: version 2 numbers the types one higher, modulo four.
    types = integers("types") + tuple((number - 1) % 4 for number in integers("types2"))
    return Datagram(
        at=float(texts["at"]),
        source=((texts["source4"] or texts["source6"]).split(";")[0], integers("source_port")[0]),
        destination=((texts["destination4"] or texts["destination6"]).split(";")[0], integers("destination_port")[0]),
        to_server=integers("destination_port")[0] == server_port,
        length=integers("length")[0] - 8,
        ecn=(integers("ecn4") or integers("ecn6") or (0,))[0],
        connections=frozenset(integers("connections")),
        short="0" in words("forms"),
        types=types,
        versions=integers("versions"),
        phases=tuple(word in {"1", "True"} for word in words("phases")),
        frames=integers("frames"),
        token_lengths=integers("token_lengths"),
        messages=integers("messages"),
        extensions=integers("extensions"),
        suites=integers("suites"),
        protocols=tuple(words("protocols")),
        streams=integers("streams"),
        challenges=tuple(words("challenges")),
        responses=tuple(words("responses")),
    )
