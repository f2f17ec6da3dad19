"""Large files over the loopback interface: we with a peer in both directions, and the peer with itself."""

import filecmp
import json
import shutil
import time
from pathlib import Path

from runner.cell import CellError, Program, free_port
from runner.matrix import THROUGHPUT, load, write_page
from runner.stacks import OURS, STACKS, Stack

SIZES = {"aioquic": 10**8}
"""Bytes of the file, where it is not `SIZE`."""

SIZE = 10**9

LONGEST = 900
"""Seconds after which a transfer has failed."""


def run(peers: list[str], base: Path, certificates: Path) -> int:
    """Measure them; 0 if all files came as they were."""
    rows = {row["peer"]: row for row in load(THROUGHPUT)}
    failed = 0
    for peer in peers:
        size = SIZES.get(peer, SIZE)
        row: dict[str, str] = {"peer": peer, "version": str(STACKS[peer].about["name"]), "bytes": str(size)}
        for column, client, server in ("client", OURS, peer), ("server", peer, OURS), ("peer", peer, peer):
            try:
                rate = transfer(STACKS[client], STACKS[server], size, base / "throughput", certificates)
                row[f"{column}_mbit_s"] = f"{rate:.0f}"
                print(f"{peer:<8} {client} fetches {size} bytes from {server}: {rate:.0f} Mbit/s", flush=True)
            except CellError as error:
                failed += 1
                print(f"{peer:<8} {client} fetches {size} bytes from {server}: failed: {error}", flush=True)
        rows[peer] = row
    kept = [rows[peer] for peer in STACKS if peer in rows]
    THROUGHPUT.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    write_page()
    return 1 if failed else 0


def transfer(client: Stack, server: Stack, size: int, folder: Path, certificates: Path) -> float:
    """One file; gives its goodput from the start of the client to its end, in Mbit/s."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "root").mkdir(parents=True)
    (folder / "out").mkdir()
    file = folder / "root" / "large"
    with file.open("wb") as out, Path("/dev/urandom").open("rb") as source:
        for start in range(0, size, 1 << 20):
            out.write(source.read(min(1 << 20, size - start)))
    address = f"127.0.0.1:{free_port('127.0.0.1')}"
    programs: list[Program] = []
    try:
        serving = Program(
            server.words(
                [
                    "serve",
                    "--listen",
                    address,
                    "--root",
                    str(folder / "root"),
                    "--cert",
                    str(certificates / "cert.pem"),
                    "--key",
                    str(certificates / "key.pem"),
                ]
            ),
            folder,
            "server",
            qlog=False,
        )
        programs.append(serving)
        serving.wait_for(server.ready)
        start_time = time.monotonic()
        fetching = Program(
            client.words(
                [
                    "fetch",
                    "--out",
                    str(folder / "out"),
                    "--ca",
                    str(certificates / "ca.pem"),
                    "--timeout",
                    str(LONGEST),
                    f"https://{address}/large",
                ]
            ),
            folder,
            "client",
            qlog=False,
        )
        programs.append(fetching)
        code = fetching.wait(LONGEST + 15)
        seconds = time.monotonic() - start_time
    finally:
        for program in programs:
            program.kill()
    if code:
        raise CellError(f"the client ended with {code}: {fetching.last_line()}")
    if not filecmp.cmp(file, folder / "out" / "large", shallow=False):
        raise CellError("the file is not what was served")
    shutil.rmtree(folder)
    return size * 8 / seconds / 1e6
