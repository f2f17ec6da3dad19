"""`quiclab real fetch URL...`: URLs over QUIC into files."""

import base64
import binascii
import json
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from quiclab import _quiclab
from quiclab.commands import wire
from quiclab.commands.arguments import Json
from quiclab.commands.output import echo
from quiclab.commands.serve import read
from quiclab.values.plain_text import plain

Watch = Callable[[int, int, int], object]


def fetch(
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="https://host[:port]/path", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the files.")] = Path(),
    ca: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="PEM of the authorities to trust.", show_default=False),
    ] = None,
    pin: Annotated[
        str | None,
        typer.Option(
            metavar="SHA256",
            help="Trust this certificate or key (see `quiclab real serve`).",
            show_default=False,
        ),
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", "-k", help="Trust any server.")] = False,
    alpn: wire.Protocols = None,
    controller: wire.Controller = None,
    scheduler: wire.Scheduler = None,
    ipv4: Annotated[bool, typer.Option("--ipv4", "-4", help="Use IPv4 only.")] = False,
    ipv6: Annotated[bool, typer.Option("--ipv6", "-6", help="Use IPv6 only.")] = False,
    urgency: Annotated[
        list[int] | None,
        typer.Option(metavar="N", min=0, max=7, help="Urgency over HTTP/3. Default: 3."),
    ] = None,
    incremental: Annotated[
        bool,
        typer.Option("--incremental", help="Over HTTP/3: parts of a response are useful."),
    ] = False,
    parallel: Annotated[int, typer.Option(metavar="N", min=1, help="Requests at a time.")] = 100,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="The other URLs over a second, resumed connection."),
    ] = False,
    each: Annotated[bool, typer.Option("--each", help="A connection for each URL, one after the other.")] = False,
    early_data: Annotated[
        bool, typer.Option("--early-data", help="With --resume: send requests in 0-RTT packets.")
    ] = False,
    bdp: Annotated[
        bool,
        typer.Option(
            "--bdp",
            help="With --resume: send the BDP_FRAME back in 0-RTT.",
        ),
    ] = False,
    migrate_after: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            help="When to move to another local port.",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.001, help="Limit of a handshake.")] = 10.0,
    max_time: Annotated[
        float | None,
        typer.Option(min=0.001, metavar="SECONDS", help="Limit of the whole command.", show_default=False),
    ] = None,
    stall: Annotated[float, typer.Option(metavar="SECONDS", min=0.001, help="Limit without any data.")] = 30.0,
    max_size: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Limit of each file, like '100 MB'.", show_default=False),
    ] = None,
    qlog: wire.Qlog = None,
    set_: wire.Options = None,
    only_cipher: wire.OnlyCipher = False,
    as_json: Json = False,
) -> None:
    """Fetch files over QUIC. In the end each is complete or absent; exit code 0 only if all are complete.

    Example: quiclab real fetch https://localhost:4433/page.html --insecure

    The environment variable SSLKEYLOGFILE names a file for the secrets of TLS.
    """
    if ipv4 and ipv6:
        raise typer.BadParameter("--ipv4 and --ipv6 exclude each other")
    if each and resume:
        raise typer.BadParameter("--each and --resume exclude each other")
    if early_data and not resume:
        raise typer.BadParameter("--early-data needs --resume: a first connection has no session to resume")
    if bdp and not resume:
        raise typer.BadParameter("--bdp needs --resume: a first connection has nothing to send back")
    options = ["transport.resume=careful"] if bdp else []
    try:
        with shown(len(urls)) as watch:
            told = _quiclab.fetch(
                urls,
                out,
                trust=trust(ca, pin, insecure),
                sets=options + wire.sets(controller, scheduler, set_),
                protocols=wire.protocols(alpn),
                ipv6=True if ipv6 else False if ipv4 else None,
                concurrency=parallel,
                urgencies=urgency or [],
                incremental=incremental,
                connections="each" if each else "resumed" if resume else "one",
                early_data=early_data or bdp,
                bdp_frame=bdp,
                migrate_after=migrate_after,
                only_cipher=only_cipher,
                timeout=max_time,
                connect_timeout=timeout,
                stall_timeout=stall,
                max_size=max_size,
                key_log=wire.key_log(),
                qlog=qlog,
                watch=watch,
            )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    except _quiclab.Error as error:
        if ca is not None and str(error).startswith("invalid certificate (PEM)"):
            raise _quiclab.Error(f"{ca}: {error}") from None
        if "UnknownIssuer" not in str(error):
            raise
        # The server made its certificate itself, as `quiclab real serve` does.
        raise _quiclab.Error(f"{error} (use --pin, --ca or --insecure to trust it)") from None
    if as_json:
        echo(json.dumps(told, indent=2))
    else:
        show(told)
    if not told["complete"]:
        raise typer.Exit(1)


def trust(ca: Path | None, pin: str | None, insecure: bool) -> tuple[str, bytes]:
    """Whom to believe: one of the three, or the authorities of the system."""
    if (ca is not None) + (pin is not None) + insecure > 1:
        raise typer.BadParameter("--ca, --pin and --insecure exclude each other")
    if insecure:
        return "anyone", b""
    if pin is not None:
        return "pin", hexadecimal(pin).encode()
    system = ssl.get_default_verify_paths()
    file = ca or (Path(system.cafile) if system.cafile else None)
    if file is None:
        raise typer.BadParameter("this system has no file of trusted authorities: give --ca, --pin or --insecure")
    return "roots", read(file)


def hexadecimal(pin: str) -> str:
    """A SHA-256 in hexadecimal digits, out of what `serve` prints: these or base 64, with or without its words."""
    value = pin.split()[-1] if pin.split() else ""
    value = value.removeprefix("sha256:").removeprefix("sha256//").removeprefix("sha256/")
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return value
    return decoded.hex() if len(decoded) == 32 else value


def show(told: dict[str, Any]) -> None:
    """What became of all, for people."""
    for url in told["urls"]:
        if url["file"] is not None:
            echo(f"{plain(url['file'])}  {url['bytes']} B")
        else:
            echo(plain(f"{url['url']}: {url['problem'] or 'not fetched'}"), err=True)
    for over in told["connections"]:
        seconds = over["duration_s"]
        size = sum(url["bytes"] for url in told["urls"])
        rate = f", {size * 8e-6 / seconds:.1f} Mbit/s" if seconds > 0 and len(told["connections"]) == 1 else ""
        how = ", resumed" if over["resumed"] else ""
        if over["capacity_returned_bytes"] is not None:
            how += f", capacity of {over['capacity_returned_bytes']} B sent back"
        echo(
            f"{over['remote']}: {over['protocol']}, version {over['version']:#x}{how}, {seconds:.3f} s{rate}, "
            f"{over['packets_lost']} packets lost"
        )


@contextmanager
def shown(files: int) -> Iterator[Watch]:
    """Shows on stderr how far it is: a bar on a terminal, otherwise a line every few seconds."""
    if not sys.stderr.isatty():
        yield _lines(files)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("fetch", total=None)

        def watch(done: int, total: int, whole: int) -> None:
            bar.update(task, completed=done, total=total or None, description=f"{whole} of {files} files")

        yield watch


def _lines(files: int) -> Watch:
    next_line = time.monotonic() + 5.0

    def watch(done: int, total: int, whole: int) -> None:
        nonlocal next_line
        if time.monotonic() >= next_line:
            next_line = time.monotonic() + 5.0
            known = f" of {total}" if total else ""
            print(f"fetch: {whole} of {files} files, {done}{known} B", file=sys.stderr, flush=True)

    return watch
