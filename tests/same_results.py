"""Whether a change of the sources changes results.

Hashes what runs give, part by part: each table, each qlog file, and each entry of the summary. The runs are those of
all examples, of 200 scenarios that are drawn here, and the points of all reproduced figures in their quick form. Two
states of the sources that give the same results give the same hashes, on one machine.

    python tests/same_results.py write FILE [--only WORD] [--drawn N] [--no-figures]
    python tests/same_results.py compare FILE [--only WORD] [--drawn N] [--no-figures]

`write` keeps the hashes in FILE. `compare` prints which parts differ from those in FILE, are new, or are missing; it
exits with 1 if there are any without a reason: those are patterns of lines in `changed`, a table of FILE.
"""

import argparse
import hashlib
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pyarrow as pa

import quiclab

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
DRAWN = 200
"""How many scenarios are drawn."""

Parts = dict[str, str]
"""Hashes of what a run gave, by name: `summary.links`, `table.loss`, `qlog.client-0.sqlog`."""


def digest(content: bytes) -> str:
    """Sixteen hexadecimal digits of SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


def of_json(value: Any) -> str:
    """The hash of a value of JSON. Floating-point numbers count to their last bit."""
    return digest(json.dumps(value, sort_keys=True).encode())


def of_table(table: pa.Table) -> str:
    """The hash of a table: names, types, values and nulls, however they are cut into chunks."""
    sink = pa.BufferOutputStream()
    plain = table.replace_schema_metadata(None).combine_chunks()
    for at, name in enumerate(plain.column_names):
        column = plain[name]
        if column.null_count:
            zero = False if pa.types.is_boolean(column.type) else 0
            plain = plain.set_column(at, name, column.fill_null(zero)).append_column(f"{name}?", column.is_valid())
    plain = plain.combine_chunks()
    with pa.ipc.new_stream(sink, plain.schema) as writer:
        writer.write_table(plain)
    return digest(sink.getvalue().to_pybytes())


def of_run(scenario: quiclab.Scenario) -> Parts:
    """The hashes of a run of a scenario with its tables and qlog files. A run that fails gives that of its error."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = scenario.run(qlog=True, out=Path(folder) / "run", figure=False)
        except quiclab.Error as error:
            return {"error": digest(str(error).encode())}
        found: Parts = {}
        # Nobody looks at the bytes of packets here.
        plain = scenario.run(tables=False).summary
        found["plain"] = of_json(plain)
        if plain != run.summary:
            found["plain differs"] = of_json(run.summary)
        for key, value in run.summary.items():
            if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
                columns = {column: None for row in value for column in row}
                found |= {f"summary.{key}.{column}": of_json([row.get(column) for row in value]) for column in columns}
            else:
                found[f"summary.{key}"] = of_json(value)
        found |= {f"table.{name}": of_table(run.table(name).arrow) for name in run.tables}
        for file in sorted((Path(folder) / "run").glob("**/*.sqlog")):
            found[f"qlog.{file.name}"] = digest(file.read_bytes())
    return found


def examples() -> Iterator[tuple[str, quiclab.Scenario]]:
    """All scenarios of the examples."""
    for file in sorted(EXAMPLES.glob("*.toml")):
        # Real packets are not repeated.
        if 'kind = "gate"' not in file.read_text(encoding="utf-8"):
            yield f"examples/{file.name}", quiclab.Scenario.from_file(file)


CONTROLLERS = (
    '"newreno"',
    '{ type = "newreno", slow_start = "hystart++", beta = 0.7 }',
    '{ type = "newreno", pacing = false, increase = "approximate" }',
    '"cubic"',
    '{ type = "cubic", fast_convergence = false, slow_start = "standard" }',
    '"bbr1"',
    '"bbr3"',
    '"vegas"',
    '"westwood"',
    '"copa"',
    '{ type = "copa", delta = 0.1, competitive = false }',
    '"prague"',
    '{ type = "fixed", window = "60 kB" }',
    '{ type = "fixed", window = "1 MB", rate = "3 Mbit/s" }',
)
QUEUES = (
    '"1 BDP"',
    '"30 packets"',
    '"drop-head"',
    '"codel"',
    '"fq-codel"',
    '"red"',
    '"pie"',
    '{ type = "pie", delay = "timestamp" }',
    '"dualpi2"',
    '{ type = "dualpi2", scheduler = "ts-fifo" }',
    '{ type = "drop-tail", limit = "2 BDP", mark_above = "20 packets" }',
    '{ type = "priority", classes = [["a"]], limit = "100 packets" }',
    '{ type = "policer", rate = "4 Mbit/s", burst = "30 kB" }',
)
RATES = (
    '"2 Mbit/s"',
    '"10 Mbit/s"',
    '"25 Mbit/s"',
    '{ type = "changes", steps = [["0 s", "4 Mbit/s"], ["2 s", "12 Mbit/s"]], repeat = "4 s" }',
    '{ type = "trace", file = "traces/lte-like.down" }',
    '{ type = "trace", file = "traces/lte-like.down", offset = "random" }',
    '{ type = "generated", model = "lte-driving", duration = "30 s" }',
    '{ type = "token-bucket", rate = "6 Mbit/s", burst = "50 kB", peak = "20 Mbit/s" }',
)
LOSSES = (
    '"none"',
    '"0.2 %"',
    '"2 %"',
    '{ type = "periodic", every = 70 }',
    '{ type = "gilbert-elliott", to_bad = "0.3 %", to_good = 0.4, loss_in_bad = "60 %" }',
    '{ type = "list", packets = [2, 3, 11, 40, 41, 42, 300] }',
    '{ type = "changes", steps = [["0 s", "0 %"], ["1 s", "5 %"], ["1.5 s", "0 %"]] }',
)
JITTERS = (
    '"none"',
    '"3 ms"',
    '{ type = "normal", mean = "2 ms", deviation = "1 ms" }',
    '{ type = "spikes", probability = "1 %", lateness = "30 ms" }',
)
SCHEDULERS = ("rr", "fifo", "pfifo", "edf", "wrr", "wfq", "abs", "adaptive", "rfc9218")
OVER_BOTH = (
    '{ type = "bulk", size = "1 MB" }',
    '{ type = "bulk", size = "400 kB", direction = "upload" }',
    '"bulk"',
    '{ type = "request-response", request = 300, response = 20000, count = 40, over = "stream" }',
    '{ type = "messages", source = { type = "poisson", size = 600, gap = "15 ms" }, direction = "download" }',
)
OVER_QUIC = (
    '{ type = "bulk", size = "600 kB", streams = 3, urgencies = [1, 3, 3], weights = [1, 4, 2] }',
    '{ type = "messages", source = "mavlink", over = "datagrams" }',
    '{ type = "messages", source = { type = "on-off", gap = "4 ms" }, over = "streams", deadline = "200 ms" }',
    '{ type = "mix", parts = [{ type = "messages", source = "mavlink", urgency = 0 },'
    ' { type = "bulk", direction = "upload", size = "500 kB", urgencies = [4] }] }',
    '{ type = "request-response", response = 5000, count = 60, pipelining = 4, over = "stream" }',
    '{ type = "hq", sizes = ["50 kB", "5 kB"], count = 12 }',
    '{ type = "http3", sizes = ["100 kB", "10 kB", "3 kB"], count = 15, urgencies = [3, 1, 5], incremental = true }',
    '{ type = "page", page = "ns3", pages = 2 }',
    '{ type = "page", page = { type = "list", file = "pages/article.csv" } }',
    '{ type = "page-streams", page = "3gpp" }',
)
OVER_TCP = (
    '{ type = "http1", sizes = ["60 kB", "6 kB"], count = 12 }',
    '{ type = "http2", sizes = ["60 kB", "6 kB"], count = 12, urgencies = [1, 4] }',
    '{ type = "page", over = "http1.1", page = "3gpp" }',
    '{ type = "page", over = "http2", page = { type = "list", file = "pages/article.csv" } }',
)
ENDPOINT = (
    "ack_ratio = 10",
    'versions = "2 1"',
    "mtu_discovery = true\nmax_udp_payload = 1452",
    'min_ack_delay = "1 ms"\npeer_ack_ratio = 8',
    "initial_window = 30",
    'initial_max_data = "200 kB"',
    'pacing_burst = 2\nmax_ack_delay = "5 ms"',
    "ecn = false",
)
TCP = (
    "sack = false",
    "prr = false",
    "timestamps = false",
    "ecn = true",
    'tls = "tls1.3"',
    "nagle = true",
    "rack = false",
)


def drawn(number: int) -> str:
    """The document of a drawn scenario: the same for the same number."""
    draw = random.Random(number)
    lines = [f"seed = {number}", f'duration = "{draw.choice((3, 6, 10))} s"', "[record]", "packets = true"]
    lines += ["[tls]", f'protection = "{"tls" if draw.random() < 0.15 else "null"}"']
    lines += ["[transport]", f"controller = {draw.choice(CONTROLLERS)}", f'scheduler = "{draw.choice(SCHEDULERS)}"']
    lines += ["max_datagram_frame_size = 65535"]
    lines += draw.sample(ENDPOINT, draw.choice((0, 0, 1, 2)))
    lines += ["[tcp]", f"controller = {draw.choice(CONTROLLERS)}", *draw.sample(TCP, draw.choice((0, 1, 2)))]
    pairs = draw.choice((1, 1, 2, 3))
    routed = pairs > 1 or draw.random() < 0.3
    if routed:
        for pair in range(pairs):
            lines += _link(f"near-{pair}", f"server-{pair}", "left", "100 Mbit/s", draw.choice((1, 5)))
            lines += _link(f"far-{pair}", "right", f"client-{pair}", "100 Mbit/s", draw.choice((1, 20)))
    lines += ["[[link]]", 'name = "path"', *([] if routed else ['from = "server-0"', 'to = "client-0"'])]
    if routed:
        lines += ['from = "left"', 'to = "right"']
    for direction in ("forward", "backward"):
        easy = direction == "backward" and draw.random() < 0.5
        lines += [f"[link.{direction}]", f'delay = "{draw.choice((2, 10, 40, 150))} ms"']
        lines += [f"rate = {draw.choice(RATES)}"]
        if not easy:
            lines += [f"queue = {draw.choice(QUEUES)}", f"loss = {draw.choice(LOSSES)}"]
            lines += [f"jitter = {draw.choice(JITTERS)}", f"reorder = {draw.choice(('true', 'false'))}"]
            lines += draw.sample(['duplicate = "0.2 %"', 'corrupt = "0.2 %"'], draw.choice((0, 0, 1)))
    for flow, name in enumerate("abcd"[: draw.choice((1, 1, 2, 3, 4))]):
        over_tcp = draw.random() < 0.35
        pair = flow % pairs
        lines += ["[[flow]]", f'name = "{name}"', f'client = "client-{pair}"', f'server = "server-{pair}"']
        lines += [f"application = {draw.choice(OVER_BOTH + (OVER_TCP if over_tcp else OVER_QUIC))}"]
        lines += ['protocol = "tcp"'] if over_tcp else []
        lines += [f'start = "{draw.choice((100, 700, 2000))} ms"'] if flow else []
        lines += ["ip = 6"] if draw.random() < 0.2 else []
        if draw.random() < 0.3:
            lines += [f"[flow.{'tcp' if over_tcp else 'transport'}]", f"controller = {draw.choice(CONTROLLERS)}"]
    if draw.random() < 0.2:
        lines += ["[[cross_traffic]]", 'name = "noise"', 'from = "server-0"', 'to = "client-0"']
        lines += ['source = { type = "poisson", size = 900, gap = "12 ms" }', 'start = "1 s"']
    return "\n".join(lines) + "\n"


def _link(name: str, start: str, end: str, rate: str, delay_ms: int) -> list[str]:
    both = f'both = {{ rate = "{rate}", delay = "{delay_ms} ms" }}'
    return ["[[link]]", f'name = "{name}"', f'from = "{start}"', f'to = "{end}"', both]


def draws(count: int) -> Iterator[tuple[str, quiclab.Scenario]]:
    """The first drawn scenarios, with the files of the examples."""
    for number in range(1, count + 1):
        name = f"drawn-{number:03}"
        yield name, quiclab.Scenario.from_text(drawn(number), origin=EXAMPLES / f"{name}.toml")


def figures(only: str) -> Iterator[tuple[str, Parts]]:
    """The points of all reproduced figures in their quick form."""
    from quiclab.reproduce import catalogue, reproduce

    for paper in catalogue():
        for figure in paper.figures:
            name = f"figures/{figure.id}"
            if only in name:
                with tempfile.TemporaryDirectory() as folder:
                    result = reproduce(figure.id, quick=True, out=folder)
                    yield name, {"points": digest((Path(result.folder) / "points.csv").read_bytes())}


def measured(only: str, count: int, with_figures: bool) -> Iterator[tuple[str, Parts]]:
    """The hashes of everything, one after the other."""
    for source in (examples(), draws(count)):
        yield from ((name, of_run(scenario)) for name, scenario in source if only in name)
    if with_figures:
        yield from figures(only)


def differences(before: Mapping[str, Parts], now: Mapping[str, Parts]) -> list[str]:
    """What is not the same, a line for each part: of the runs that are in both."""
    lines = []
    for name, parts in now.items():
        if name not in before:
            lines.append(f"{name}: it is new")
            continue
        for part in sorted(before[name].keys() | parts.keys()):
            old, new = before[name].get(part), parts.get(part)
            if old != new:
                what = "it is new" if old is None else "it is missing" if new is None else "it differs"
                lines.append(f"{name} {part}: {what}")
    return lines


def known(line: str, patterns: Mapping[str, str]) -> bool:
    """Return whether a difference has a recorded reason."""
    return any(fnmatch(line, pattern) for pattern in patterns)


def main(arguments: list[str] | None = None) -> int:
    """Write or compare the hashes. Return 1 if a difference has no recorded reason."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("file", type=Path, help="JSON: the hashes, and the differences from them that have a reason")
    parser.add_argument("--only", default="", metavar="WORD", help="runs with this word in their name")
    parser.add_argument("--drawn", type=int, default=DRAWN, metavar="N", help=f"scenarios that are drawn ({DRAWN})")
    parser.add_argument("--no-figures", action="store_true", help="without the figures of papers")
    options = parser.parse_args(arguments)
    now: dict[str, Parts] = {}
    for name, parts in measured(options.only, options.drawn, not options.no_figures):
        now[name] = parts
        print(f"{name}: {len(parts)} parts", file=sys.stderr, flush=True)
    if options.what == "write":
        text = json.dumps({"changed": {}, "runs": now}, indent=0, sort_keys=True)
        options.file.write_text(text + "\n", encoding="utf-8")
        return 0
    kept = json.loads(options.file.read_text(encoding="utf-8"))
    found = differences(kept["runs"], now)
    unknown = [line for line in found if not known(line, kept["changed"])]
    print("\n".join(unknown))
    print(f"{len(now)} runs; {len(unknown)} differences, and {len(found) - len(unknown)} that have a reason")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
