"""Whether the cost of a run grows faster than what causes it: `make exponents`.

    python benches/exponents.py [--runner PROGRAM] [--only WORD]

Counts with callgrind what runs of three sizes take, each twice as large as the one before, in each of the ways in
which a scenario can be large: bytes, rate, window, loss, connections, streams, hops, hosts, virtual time, nodes of a
cell. What is the same for all sizes (reading the program, certificates, handshakes) is no part of growth, so the
exponent is that of the differences: the logarithm to base 2 of the second difference over the first one. It is 1 if
twice as much costs twice as much. An exponent of more than 1.1 fails.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from callgrind import RUNNER, count

MOST = 1.1
"""The highest exponent that passes."""

ROOMY = '[transport]\ninitial_max_data = "1 GB"\ninitial_max_stream_data_bidi_local = "1 GB"\n'


def fixed(window: str) -> str:
    """The line of a fixed window."""
    return f'controller = {{ type = "fixed", window = "{window}" }}\n'


def link(rate: str, delay: str, more: str = "", ends: tuple[str, str] = ("server", "client")) -> str:
    """A link with this rate and delay."""
    name = "-".join(ends)
    nodes = f'[[link]]\nname = "{name}"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\n'
    return f'{nodes}rate = "{rate}"\ndelay = "{delay}"\n{more}\n'


def flow(application: str, name: str = "flow", client: str = "client") -> str:
    """A flow with this application."""
    return f'[[flow]]\nname = "{name}"\nclient = "{client}"\nserver = "server"\napplication = {application}\n'


def bulk(size: str) -> str:
    """A download of this size."""
    return f'{{ type = "bulk", size = "{size}" }}'


def many_bytes(n: int) -> str:
    """A transfer of n times 10 MB."""
    return ROOMY + fixed("400 kB") + link("100 Mbit/s", "10 ms") + flow(bulk(f"{10 * n} MB"))


def high_rate(n: int) -> str:
    """A second at n times 100 Mbit/s, with the window that this asks for."""
    network = link(f"{100 * n} Mbit/s", "10 ms")
    return f'duration = "1 s"\n{ROOMY}{fixed(f"{250 * n} kB")}{network}{flow(chr(34) + "bulk" + chr(34))}'


def large_window(n: int) -> str:
    """Two seconds with a window of n times 2 MB on a path of 200 ms that never fills."""
    network = link("10 Gbit/s", "100 ms")
    return f'duration = "2 s"\n{ROOMY}{fixed(f"{2 * n} MB")}{network}{flow(chr(34) + "bulk" + chr(34))}'


def many_losses(n: int) -> str:
    """Two seconds with a window of 8 MB, of which n times 0.5 % are lost."""
    network = link("10 Gbit/s", "100 ms", f'[link.forward]\nloss = "{0.5 * n} %"')
    return f'duration = "2 s"\n{ROOMY}{fixed("8 MB")}{network}{flow(chr(34) + "bulk" + chr(34))}'


def many_connections(n: int) -> str:
    """Transfers of 100 kB, n times 40 at once."""
    flows = "".join(flow(bulk("100 kB"), name=f"flow-{number}") for number in range(40 * n))
    return ROOMY + fixed("60 kB") + link("1 Gbit/s", "10 ms", 'queue = "100000 packets"') + flows


def many_streams(n: int) -> str:
    """Objects over HTTP/3, n times 200."""
    application = f'{{ type = "http3", sizes = ["20 kB"], count = {200 * n} }}'
    return ROOMY + fixed("400 kB") + link("100 Mbit/s", "10 ms") + flow(application)


def many_hops(n: int) -> str:
    """A transfer of 3 MB over n times 4 links, without losses."""
    nodes = ["server", *(f"router-{number}" for number in range(4 * n - 1)), "client"]
    links = "".join(link("100 Mbit/s", "1 ms", ends=ends) for ends in pairwise(nodes))
    return ROOMY + fixed("80 kB") + links + flow(bulk("3 MB"))


def many_hosts(n: int) -> str:
    """Clients around a router, n times 250, each with a download of 3 kB, and a server behind the router."""
    names = [f"client-{number}" for number in range(250 * n)]
    nodes = "".join(f'[[node]]\nname = "{name}"\n' for name in ["server", *names])
    router = '[[node]]\nname = "router"\nkind = "router"\n'
    links = "".join(link("100 Mbit/s", "1 ms", ends=("router", name)) for name in names)
    trunk = link("10 Gbit/s", "10 ms", 'queue = "100000 packets"\n', ends=("server", "router"))
    return nodes + router + trunk + links + "".join(flow(bulk("3 kB"), name=name, client=name) for name in names)


def much_time(n: int) -> str:
    """A message each 10 ms for n times 60 s."""
    source = '{ type = "constant", size = 600, gap = "10 ms" }'
    application = f'{{ type = "messages", source = {source}, over = "datagrams", direction = "download" }}'
    return (
        f'duration = "{60 * n} s"\n[transport]\nmax_datagram_frame_size = 1200\n'
        + link("10 Mbit/s", "10 ms")
        + flow(application)
    )


def many_terminals(n: int) -> str:
    """Terminals of an LTE cell, n times 8, with a message each 20 ms to each of them, for two seconds."""
    names = [f"terminal-{number}" for number in range(8 * n)]
    nodes = "".join(f'[[node]]\nname = "{name}"\n' for name in ["server", *names])
    listed = ", ".join(f'"{name}"' for name in names)
    cell = f'[[medium]]\nname = "cell"\ntype = "lte"\nstation = "enb"\nterminals = [{listed}]\nbandwidth = "20 MHz"\n'
    source = '{ type = "constant", size = 300, gap = "20 ms" }'
    application = f'{{ type = "messages", source = {source}, over = "datagrams", direction = "download" }}'
    flows = "".join(flow(application, name=name, client=name) for name in names)
    return (
        'duration = "2 s"\n[transport]\nmax_datagram_frame_size = 1200\n'
        + nodes
        + '[[node]]\nname = "enb"\nkind = "router"\n'
        + cell
        + link("1 Gbit/s", "10 ms", ends=("server", "enb"))
        + flows
    )


WAYS: dict[str, Callable[[int], str]] = {
    "bytes": many_bytes,
    "rate": high_rate,
    "window": large_window,
    "loss": many_losses,
    "connections": many_connections,
    "streams": many_streams,
    "hops": many_hops,
    "hosts": many_hosts,
    "virtual time": much_time,
    "nodes of a cell": many_terminals,
}
"""The scenario of each size, by the way in which it is large."""


@dataclass(frozen=True)
class Growth:
    """The instructions of three sizes, each twice the one before."""

    counts: tuple[int, int, int]

    @property
    def exponent(self) -> float:
        """How the growth grows: 1 if it is proportional to the size, -inf if the last step costs nothing more."""
        first, second = (self.counts[at + 1] - self.counts[at] for at in (0, 1))
        if second <= 0:
            return -math.inf
        return math.inf if first <= 0 else math.log2(second / first)


def measured(document: Callable[[int], str], runner: Path) -> Growth:
    """Counts three sizes."""
    with tempfile.TemporaryDirectory() as folder:
        counts = []
        for size in (1, 2, 4):
            path = Path(folder) / f"{size}.toml"
            path.write_text('name = "growth"\n' + document(size))
            counts.append(count(runner, path, []))
    return Growth((counts[0], counts[1], counts[2]))


def main() -> int:
    """Prints the table; 1 if an exponent is too high."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runner", type=Path, default=RUNNER, help="the program that runs a scenario")
    parser.add_argument("--only", default="", metavar="WORD", help="ways with this word in their name")
    options = parser.parse_args()
    steep = []
    print("| twice as much | million instructions | exponent of the growth |\n| --- | ---: | ---: |", flush=True)
    for way, document in WAYS.items():
        if options.only in way:
            growth = measured(document, options.runner)
            counts = ", ".join(f"{counted / 1e6:,.0f}" for counted in growth.counts)
            print(f"| {way} | {counts} | {growth.exponent:.2f} |", flush=True)
            steep += [way] if growth.exponent > MOST else []
    if steep:
        print(f"\nsteeper than {MOST}: {', '.join(steep)}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
