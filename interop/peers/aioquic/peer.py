"""The peer aioquic: `serve` and `fetch` over hq-interop and HTTP/3."""

import argparse
import asyncio
import json
import os
import ssl
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.h3.connection import H3_ALPN, ErrorCode, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import HandshakeCompleted, QuicEvent, StreamDataReceived, StreamReset
from aioquic.quic.packet import QuicProtocolVersion
from aioquic.tls import CipherSuite, SessionTicket

CANNOT = {
    "ecn": "it sends no ECN counts and asks for no marks",
    "preferred-address": "its server has no setting for it",
}
"""What the interface of aioquic gives no access to, by option."""

MIDWAY = 0.3
"""How long after its handshake a connection updates its keys or migrates, if it was told to; seconds."""


def command_line() -> argparse.Namespace:
    """Read the command line that every peer understands; interop/README.md is its manual."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("about")
    server, client = commands.add_parser("serve"), commands.add_parser("fetch")
    for command in server, client:
        command.add_argument("--alpn", default="hq-interop")
        for flag in "v2", "chacha20", "key-update", "ecn":
            command.add_argument(f"--{flag}", action="store_true")
    server.add_argument("--listen", required=True)
    for name in "cert", "key", "root":
        server.add_argument(f"--{name}", type=Path, required=True)
    server.add_argument("--retry", action="store_true")
    server.add_argument("--preferred-address")
    for name in "out", "ca":
        client.add_argument(f"--{name}", type=Path, required=True)
    client.add_argument("--timeout", type=float, default=60)
    for flag in "resume", "early-data", "each", "migrate":
        client.add_argument(f"--{flag}", action="store_true")
    client.add_argument("urls", nargs="+")
    options = parser.parse_args()
    for feature, why in CANNOT.items():
        if getattr(options, feature.replace("-", "_"), False):
            print(f"unsupported: {feature}: {why}", file=sys.stderr)
            raise SystemExit(127)
    return options


def configuration(options: argparse.Namespace, is_client: bool) -> QuicConfiguration:
    """The settings that both sides share."""
    made = QuicConfiguration(is_client=is_client, alpn_protocols=[options.alpn], max_datagram_size=1350)
    if options.chacha20:
        made.cipher_suites = [CipherSuite.CHACHA20_POLY1305_SHA256]
    if options.v2:
        made.supported_versions = [QuicProtocolVersion.VERSION_2, QuicProtocolVersion.VERSION_1]
        made.original_version = QuicProtocolVersion.VERSION_1 if is_client else None
    made.secrets_log_file = key_log()
    return made


def key_log() -> TextIO | None:
    """The file of SSLKEYLOGFILE."""
    name = os.environ.get("SSLKEYLOGFILE")
    return Path(name).open("a", buffering=1) if name else None


class Answers(QuicConnectionProtocol):
    """One connection of the server."""

    options: argparse.Namespace

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.http: H3Connection | None = None
        self.asking: dict[int, bytes] = {}

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answer requests as soon as they have come as a whole."""
        if isinstance(event, HandshakeCompleted) and self.options.key_update:
            self._loop.call_later(MIDWAY, self.request_key_update)
        if self.options.alpn in H3_ALPN:
            self.http = self.http or H3Connection(self._quic)
            for heard in self.http.handle_event(event):
                if isinstance(heard, HeadersReceived):
                    self.answer_http(heard)
        elif isinstance(event, StreamDataReceived):
            line = self.asking.pop(event.stream_id, b"") + event.data
            if event.end_stream:
                self.answer(event.stream_id, line.decode(errors="replace"))
            else:
                self.asking[event.stream_id] = line

    def answer(self, stream: int, line: str) -> None:
        """One request of hq-interop: `GET /NAME`, answered with the bytes of the file."""
        file = self.file(line.removeprefix("GET ").strip()) if line.startswith("GET ") else None
        if file is None:
            self._quic.reset_stream(stream, 1)
        else:
            self._quic.send_stream_data(stream, file.read_bytes(), end_stream=True)

    def answer_http(self, request: HeadersReceived) -> None:
        """One request of HTTP/3."""
        assert self.http is not None
        file = self.file(dict(request.headers).get(b":path", b"").decode(errors="replace"))
        status = b"404" if file is None else b"200"
        self.http.send_headers(request.stream_id, [(b":status", status)], end_stream=file is None)
        if file is not None:
            self.http.send_data(request.stream_id, file.read_bytes(), end_stream=True)

    def file(self, path: str) -> Path | None:
        """The file below the root that a request asks for, if its name is a plain one."""
        name = path.lstrip("/")
        if not name or name.startswith(".") or "/" in name:
            return None
        file: Path = self.options.root / name
        return file if file.is_file() else None


async def run_server(options: argparse.Namespace) -> None:
    """Serve until the process is ended."""
    Answers.options = options
    settings = configuration(options, is_client=False)
    settings.load_cert_chain(options.cert, options.key)
    host, _, port = options.listen.rpartition(":")
    tickets: dict[bytes, SessionTicket] = {}

    def remember(ticket: SessionTicket) -> None:
        tickets[ticket.ticket] = ticket

    # A ticket is good for one connection: what is sent in 0-RTT packets cannot be played a second time.
    def recall(label: bytes) -> SessionTicket | None:
        return tickets.pop(label, None)

    await serve(
        host.strip("[]"),
        int(port),
        configuration=settings,
        create_protocol=Answers,
        session_ticket_fetcher=recall,
        session_ticket_handler=remember,
        retry=options.retry,
    )
    print("listening on", options.listen, flush=True)
    await asyncio.Event().wait()


class Questions(QuicConnectionProtocol):
    """One connection of the client."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.http: H3Connection | None = None
        self.coming: dict[int, tuple[asyncio.Future[bytes], bytearray]] = {}

    def ask(self, url: str, alpn: str) -> asyncio.Future[bytes]:
        """Send a request; the answer comes later."""
        parts = urlsplit(url)
        stream = self._quic.get_next_available_stream_id()
        answer: asyncio.Future[bytes] = self._loop.create_future()
        self.coming[stream] = answer, bytearray()
        if alpn in H3_ALPN:
            self.http = self.http or H3Connection(self._quic)
            headers = [
                (b":method", b"GET"),
                (b":scheme", b"https"),
                (b":authority", parts.netloc.encode()),
                (b":path", parts.path.encode()),
            ]
            self.http.send_headers(stream, headers, end_stream=True)
        else:
            self._quic.send_stream_data(stream, f"GET {parts.path}\r\n".encode(), end_stream=True)
        return answer

    def quic_event_received(self, event: QuicEvent) -> None:
        """Gather what has come."""
        if isinstance(event, StreamReset) and event.stream_id in self.coming:
            self.coming.pop(event.stream_id)[0].set_exception(ConnectionError(f"{event}"))
        elif self.http is not None:
            for heard in self.http.handle_event(event):
                self.http_event(heard)
        elif isinstance(event, StreamDataReceived):
            self.came(event.stream_id, event.data, event.end_stream)

    def http_event(self, event: H3Event) -> None:
        """Gather what HTTP/3 has read."""
        if isinstance(event, HeadersReceived):
            status = dict(event.headers).get(b":status")
            if status not in {None, b"200"}:
                self.coming.pop(event.stream_id)[0].set_exception(ConnectionError(f"status {status!r}"))
            elif event.stream_ended:
                self.came(event.stream_id, b"", True)
        elif isinstance(event, DataReceived):
            self.came(event.stream_id, event.data, event.stream_ended)

    def came(self, stream: int, data: bytes, end: bool) -> None:
        """Part of an answer."""
        if stream in self.coming:
            answer, body = self.coming[stream]
            body += data
            if end:
                del self.coming[stream]
                answer.set_result(bytes(body))

    async def midway(self, options: argparse.Namespace) -> None:
        """Update the keys, or move to another local port."""
        await asyncio.sleep(MIDWAY)
        if options.key_update:
            self.request_key_update()
        if options.migrate:
            # The one thing that the connection does by itself is to answer the challenge of the server.
            local = self._transport.get_extra_info("sockname")[0]
            transport, _ = await self._loop.create_datagram_endpoint(lambda: Forward(self), local_addr=(local, 0))
            self._transport = transport
            self._quic.change_connection_id()
            await self.ping()


class Forward(asyncio.DatagramProtocol):
    """What comes in on the other port."""

    def __init__(self, to: Questions) -> None:
        self.to = to

    def datagram_received(self, data: bytes, addr: Any) -> None:
        """Hand it on."""
        self.to.datagram_received(data, addr)


async def run_client(options: argparse.Namespace) -> None:
    """Fetch all files."""
    settings = configuration(options, is_client=True)
    settings.load_verify_locations(str(options.ca))
    settings.verify_mode = ssl.CERT_REQUIRED
    tickets: list[SessionTicket] = []
    again = options.resume or options.early_data
    if options.each:
        batches = [[url] for url in options.urls]
    else:
        batches = [options.urls[:1], options.urls[1:]] if again else [options.urls]
    for index, urls in enumerate(batches):
        if again and index:
            if not tickets:
                raise ConnectionError("no ticket came")
            settings.session_ticket = tickets[-1]
        await one_connection(options, settings, urls, tickets, early=bool(options.early_data and index))


async def one_connection(
    options: argparse.Namespace,
    settings: QuicConfiguration,
    urls: list[str],
    tickets: list[SessionTicket],
    early: bool,
) -> None:
    """Fetch files over one connection."""
    server = urlsplit(urls[0])
    async with connect(
        server.hostname or "",
        server.port or 443,
        configuration=settings,
        create_protocol=Questions,
        session_ticket_handler=tickets.append,
        wait_connected=not early,
    ) as connection:
        assert isinstance(connection, Questions)
        answers = [connection.ask(url, options.alpn) for url in urls]
        connection.transmit()
        midway = asyncio.ensure_future(connection.midway(options))
        closed = asyncio.ensure_future(connection.wait_closed())
        for url, answer in zip(urls, answers, strict=True):
            await asyncio.wait({answer, closed}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ConnectionError(f"closed: {connection._quic._close_event}")
            (options.out / urlsplit(url).path.rpartition("/")[2]).write_bytes(answer.result())
        midway.cancel()
        if early and not connection._quic.tls.early_data_accepted:
            raise ConnectionError("0-RTT was not accepted")
        connection.close(ErrorCode.H3_NO_ERROR if options.alpn in H3_ALPN else 0)
        await closed


def main() -> None:
    """Do what the command line says."""
    options = command_line()
    try:
        if options.command == "about":
            print(json.dumps({"name": f"aioquic {version('aioquic')}", "cannot": CANNOT}, indent=2))
        elif options.command == "serve":
            asyncio.run(run_server(options))
        else:
            asyncio.run(asyncio.wait_for(run_client(options), options.timeout))
    except (OSError, ConnectionError, TimeoutError) as error:
        print(f"failed: {type(error).__name__} {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(0) from None


if __name__ == "__main__":
    main()
