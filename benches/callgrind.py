"""The instructions of a run, counted by callgrind (Valgrind): the same number each time, on any load of the machine.

The cipher of ring is left out: it is chosen by what the processor can do, and no change here makes it faster. All else
counts, what the C library does on the program's behalf too. Valgrind shows every program the same processor (one with
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
"""How the functions begin that ring has in assembler."""

FUNCTION = re.compile(r"(c?)fn=\((\d+)\)(?: (.*))?")
"""A line that names the function of the next costs: in full where it comes first, by its number after that."""


def costs(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Each cost of a callgrind file with the function it belongs to; what a function calls is not among its costs."""
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
    """All instructions of a callgrind file but those of the cipher."""
    return sum(cost for function, cost in costs(lines) if not CIPHER.match(function))


def count(runner: Path, scenario: Path, settings: Sequence[str]) -> int:
    """The instructions of a run of this scenario with these settings."""
    sets = [word for setting in settings for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", str(runner), str(scenario), *sets]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        with file.open() as lines:
            return instructions(lines)
