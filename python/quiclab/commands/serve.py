"""`quiclab real serve DIR`: the files of a folder over QUIC."""

import json
from pathlib import Path
from typing import Annotated

import typer

from quiclab import _quiclab
from quiclab.commands import completions, wire
from quiclab.commands.arguments import Json
from quiclab.commands.output import echo
from quiclab.values.plain_text import plain

MaxOfSource = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Clients of one network (IPv4 /24, IPv6 /56). Default: a tenth, at least 16.",
        show_default=False,
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="All bytes read but not yet acknowledged. Default: 512 MB.",
        show_default=False,
    ),
]
MaxFiles = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Files open at a time. Default: 256.", show_default=False),
]
Remember = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep what is learned about paths (resume = careful).",
        show_default=False,
    ),
]


def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder.", show_default=False, autocompletion=completions.folders)
    ],
    listen: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Default: 127.0.0.1 and ::1, port 4433."),
    ] = None,
    cert: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="PEM of the certificates, its own first.", show_default=False),
    ] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="PEM of their key.", show_default=False)] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Host name in a certificate made here."),
    ] = None,
    preferred_address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Where clients are asked to move to.", show_default=False),
    ] = None,
    alpn: wire.Protocols = None,
    controller: wire.Controller = None,
    scheduler: wire.Scheduler = None,
    early_data: Annotated[bool, typer.Option("--early-data", help="Accept 0-RTT data.")] = False,
    max_connections: Annotated[int, typer.Option(metavar="N", min=1, max=1 << 24, help="Clients at a time.")] = 10_000,
    max_of_source: MaxOfSource = None,
    max_memory: MaxMemory = None,
    max_files: MaxFiles = None,
    dotfiles: Annotated[
        bool, typer.Option("--dotfiles", help="Also serve files whose names begin with a dot.")
    ] = False,
    remember: Remember = None,
    qlog: wire.Qlog = None,
    set_: wire.Options = None,
    only_cipher: wire.OnlyCipher = False,
    as_json: Json = False,
) -> None:
    """Serve the files of a folder over QUIC until Ctrl-C.

    Example: quiclab real serve site --listen 127.0.0.1:4433

    Without --cert and --key it makes a temporary key and certificate, and prints the hashes that clients need to trust
    them (--pin). The environment variable SSLKEYLOGFILE names a file for the secrets of TLS.
    """
    if (cert is None) != (key is None):
        raise typer.BadParameter("--cert and --key belong together")
    if not all(one.strip() for one in name or ()):
        raise typer.BadParameter("expected a host name or an IP address, like localhost", param_hint="--name")
    try:
        memory = None if max_memory is None else _quiclab.server_memory(max_memory, max_connections)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--max-memory") from None
    identity = None if cert is None or key is None else (read(cert), read(key))
    # Two tickets, so that a client that returns twice at a time has one for each connection.
    options = ["tls.tickets=2", f"tls.early_data={str(early_data).lower()}"]
    if remember is not None:
        options.append("transport.resume=careful")

    def ready(addresses: list[str], fingerprint: str, public_key: str, certificate: str) -> None:
        if as_json:
            told = {
                "addresses": addresses,
                "fingerprint": fingerprint,
                "public_key": public_key,
                "certificate": certificate,
            }
            echo(json.dumps(told))
            return
        for address in addresses:
            echo(f"serving {plain(folder)} at {address}")
        echo(f"certificate SHA-256  {fingerprint}")
        echo(f"public key SHA-256   {public_key}")

    wire.end_on_signals()
    try:
        told = _quiclab.serve(
            folder,
            listen or ["127.0.0.1:4433", "[::1]:4433"],
            identity=identity,
            names=name or ["localhost", "127.0.0.1", "::1"],
            preferred=preferred_address,
            only_cipher=only_cipher,
            sets=options + wire.sets(controller, scheduler, set_),
            protocols=wire.protocols(alpn),
            hidden=dotfiles,
            max_connections=max_connections,
            max_of_source=max_of_source,
            max_memory=memory,
            max_files=max_files,
            known_paths=remember,
            key_log=wire.key_log(),
            qlog=qlog,
            ready=ready,
            complain=complain,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except _quiclab.Error as error:
        files = {"invalid certificate (PEM)": cert, "invalid private key (PEM)": key}
        file = next((file for words, file in files.items() if str(error).startswith(words)), None)
        raise error if file is None else _quiclab.Error(f"{file}: {error}") from None
    if as_json:
        echo(json.dumps(told))
    else:
        echo(", ".join(f"{count} {what.replace('_', ' ')}" for what, count in told.items() if count) or "nobody came")


def complain(text: str) -> None:
    """A file that cannot be written, and what follows from that."""
    echo(f"warning: {text}", err=True)


def read(path: Path) -> bytes:
    """A file of the command line."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from None
