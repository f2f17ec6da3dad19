"""Where the instructions of a data packet go, by stage: a table for docs/performance.md, "What a packet costs".

    .venv/bin/python benches/stages.py [RUNNER]

Counts the bulk transfer of that page (`null`) with 75 MB and with 150 MB by callgrind, so that everything that is
done once drops out, and adds up the functions of each stage. What the compiler has put into another function counts
there: serving an endpoint contains most of what it takes to build a packet. Needs a build with
`cargo build --release -p own-controller`.
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from callgrind import BULK, RUNNER, costs

PAYLOAD = 1439
"""Bytes of data in a full packet."""
SIZES = (75, 150)
"""Megabytes of the two transfers."""

STAGES = {
    "serving the endpoint: the loop, building packets": r"StackPort<S>::drain",
    "wants: window, pacer, data": r"data_wants|note_nothing_to_send|Allowance|::allowance",
    "frames of a packet": r"Streams>::fill|ReceivedPackets::fill|SendBuffer|RoundRobin|schedule::",
    "noting what was sent": r"Recovery::on_sent|SentPackets::push|SentPackets::forget_acks",
    "timers of the endpoint": r"Endpoint::settle|Endpoint::wake|Timers",
    "the host: taking a packet": r"Host as network::node::Node>::(accept|wake)|slot_of",
    "processing frames": r"process_typed|note_received|RangeSet|Truncated::expand|trace_datagram|is_duplicate|receive",
    "acknowledgements: news, losses, controller": r"acknowledge::|congestion::|SentPackets::|Recovery::|divti3|u128",
    "reading data, and the application": r"Streams::read|is_readable|traffic::|QuicTransport|stream::recv",
    "the loop of the world, and the delay lines": r"lab::run::execute|World<H>>::(deliver|arrive|catch_up)",
    "forwarding": r"World<H>>::forward",
    "the link: rate, queue, losses": r"link::Link|queue::|DropTail|buffer::",
    "memory of packets": r"Exits",
}
"""The functions of each stage, by what their names contain; the first that fits counts."""


def by_stage(runner: Path, megabytes: int) -> Counter[str]:
    """The instructions of a transfer of this size by stage; what fits no stage is `other`."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "callgrind.out"
        size = f"flow.download.application.size={megabytes} MB"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", runner, BULK, "--set", size]
        subprocess.run(command, check=True, capture_output=True)
        with file.open() as lines:
            for function, cost in costs(lines):
                fits = (stage for stage, names in STAGES.items() if re.search(names, function))
                found[next(fits, "other")] += cost
    return found


def main() -> None:
    """Prints the table."""
    runner = Path(sys.argv[1]) if len(sys.argv) > 1 else RUNNER
    short, long = (by_stage(runner, size) for size in SIZES)
    packets = (SIZES[1] - SIZES[0]) * 1e6 / PAYLOAD
    print("| stage | instructions per data packet |\n| --- | ---: |")
    rows = {stage: round((long[stage] - short[stage]) / packets) for stage in [*STAGES, "other"]}
    for stage, instructions in sorted(rows.items(), key=lambda row: -row[1]):
        print(f"| {stage} | {instructions:,} |")
    print(f"| all | {round((long.total() - short.total()) / packets):,} |")


if __name__ == "__main__":
    main()
