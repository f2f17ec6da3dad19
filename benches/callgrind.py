"""The instructions of a run, counted by callgrind (Valgrind). The count does not depend on the load of the machine.

The cipher of ring is excluded: ring chooses it by the features of the processor, and no change here makes it faster.
Everything else counts, including the C library. Valgrind shows every program the same processor (one with
AVX2, where the machine has it), so that the C library takes the same copy of memcpy everywhere.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNNER = ROOT / "target" / "release" / "own-controller"
BULK = ROOT / "python" / "quiclab" / "commands" / "bench.toml"

CIPHER = re.compile(r"ring_core_|_aesni_")
"""The prefixes of ring's assembler functions."""

FUNCTION = re.compile(r"(c?)fn=\((\d+)\)(?: (.*))?")
"""A line that names the function of the costs below it: by name at its first use, later by number."""


def costs(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield each cost of a callgrind file with its function, excluding the cost of calls."""
    names: dict[str, str] = {}
    function = ""
    called = False
    for line in lines:
        if found := FUNCTION.match(line):
            callee, number, name = found.groups()
            if name is not None:
                names[number] = name
            if not callee:
                function = names[number]
        elif line.startswith("calls="):
            called = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            own = line.split()[1:]
            if own and not called:
                yield function, int(own[0])
            called = False


def instructions(lines: Iterable[str]) -> int:
    """Return the instructions of a callgrind file without those of the cipher."""
    return sum(cost for function, cost in costs(lines) if not CIPHER.match(function))


def count(runner: Path, scenario: Path, settings: Sequence[str]) -> int:
    """Return the instructions of a run of this scenario with these settings."""
    sets = [word for setting in settings for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", str(runner), str(scenario), *sets]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        with file.open() as lines:
            return instructions(lines)
