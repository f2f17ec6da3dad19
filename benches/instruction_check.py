"""Whether reduced scenarios still take the instructions that are committed in instructions.json: `make instructions`.

    python benches/instruction_check.py [--renew REASON] [--runner PROGRAM]

More than 2 % above the committed figure is a loss that somebody has to want; more than 2 % below it is a gain that
would hide the next loss. Both fail, and `--renew` writes the new figure with its reason, to be committed with the
change. Only figures that moved that far are written anew, so that many small losses add up until they are seen.

Figures of different compilers cannot be compared. With a compiler other than that of the committed figures nothing is
counted. In CI (`CI=true`) that is a failure: a change of compiler comes with new figures.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from callgrind import BULK, ROOT, RUNNER, count

FIGURES = ROOT / "benches" / "instructions.json"

TOLERANCE = 2
"""How far a count may be from its committed figure, in per cent of that."""

HUGE_WINDOW = [
    "transport.initial_max_data=64 MB",
    "transport.initial_max_stream_data_bidi_local=64 MB",
]


def bulk(size: str) -> list[str]:
    """The bulk transfer of docs/performance.md, of this size."""
    return [f"flow.download.application.size={size}"]


SCENARIOS = {
    "bulk-null": bulk("75 MB"),
    "bulk-tls": [*bulk("25 MB"), "tls.protection=tls"],
    "lossy": [
        *bulk("50 MB"),
        *HUGE_WINDOW,
        "link.wire.rate=1 Gbit/s",
        "link.wire.delay=50 ms",
        "link.wire.forward.loss=0.5 %",
        'transport.controller={ type = "fixed", window = "10 MB" }',
    ],
    "page": [
        'flow.download.application={ type = "page", pages = 40 }',
        "transport.scheduler=rfc9218",
        "transport.max_idle_timeout=1 h",
    ],
    "flows-100": [],
    "tcp": [*bulk("75 MB"), "flow.download.protocol=tcp", "tcp.controller=newreno"],
    "cell": ["flow.film.application.size=20 MB", "duration=20 s"],
    "wlan": ["duration=4 s"],
    "video": ["duration=60 s"],
    "emulated": [],
}
"""What each scenario changes of its document, which is bench.toml unless it is one of `DOCUMENTS`."""

DOCUMENTS = {
    **{name: ROOT / "examples" / f"{name}.toml" for name in ("cell", "wlan", "video")},
    "emulated": ROOT / "benches" / "emulated" / "emulated.toml",
}
"""The documents that are files, by scenario; that of `flows-100` is made here."""


def flows(number: int, duration: str) -> str:
    """A scenario with this number of transfers over one link of 10 Gbit/s."""
    network = f"""\
name = "flows"
duration = "{duration}"

[transport]
initial_max_data = "64 MB"
initial_max_stream_data_bidi_local = "64 MB"

[[link]]
name = "wire"
from = "server"
to = "client"
rate = "10 Gbit/s"
delay = "10 ms"
queue = "1 BDP"
"""
    flow = '\n[[flow]]\nname = "flow-{}"\nclient = "client"\nserver = "server"\napplication = "bulk"\n'
    return network + "".join(flow.format(at) for at in range(number))


@dataclass(frozen=True)
class Figure:
    """A committed count, and why it is what it is."""

    instructions: int
    reason: str


@dataclass(frozen=True)
class Figures:
    """The committed counts, and the compiler they are of."""

    compiler: str
    scenarios: dict[str, Figure]

    @classmethod
    def read(cls, path: Path) -> "Figures":
        """The figures of a file; none, of no compiler, if there is no file."""
        if not path.exists():
            return cls("", {})
        document = json.loads(path.read_text())
        return cls(document["compiler"], {name: Figure(**row) for name, row in document["scenarios"].items()})

    def write(self, path: Path) -> None:
        """Writes the file that `read` reads."""
        rows = {name: vars(figure) for name, figure in self.scenarios.items()}
        path.write_text(json.dumps({"compiler": self.compiler, "scenarios": rows}, indent=2) + "\n")

    def renewed(self, compiler: str, counts: Mapping[str, int], reason: str) -> "Figures":
        """These figures after a change: what moved too far is new, and all is if the compiler is another one."""
        kept = self.scenarios if compiler == self.compiler else {}
        return Figures(
            compiler,
            {
                name: kept[name] if name in kept and within(kept[name], counted) else Figure(counted, reason)
                for name, counted in counts.items()
            },
        )


def within(figure: Figure, counted: int) -> bool:
    """Whether a count is near enough to its committed figure."""
    return 100 * abs(counted - figure.instructions) <= TOLERANCE * figure.instructions


def problems(figures: Figures, counts: Mapping[str, int]) -> list[str]:
    """What is wrong with these counts, a line for each scenario."""
    lines = [f"{name} has a committed figure but is not counted" for name in figures.scenarios if name not in counts]
    for name, counted in counts.items():
        figure = figures.scenarios.get(name)
        if figure is None:
            lines.append(f"{name} has no committed figure: {counted:,} instructions were counted")
        elif not within(figure, counted):
            change = counted / figure.instructions - 1
            what = "a loss" if change > 0 else "a gain, without which the next loss would go unseen"
            lines.append(
                f"{name} takes {counted:,} instructions, committed are {figure.instructions:,}: {change:+.1%}, {what}"
            )
    return lines


def compiler() -> str:
    """The compiler that cargo takes, and what it compiles for."""
    told = subprocess.run(["rustc", "-vV"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    host = next(line for line in told if line.startswith("host: "))
    return f"{told[0]}, {host.removeprefix('host: ')}"


def counted(runner: Path) -> dict[str, int]:
    """What each scenario takes, printed as it is counted."""
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        many = Path(folder) / "flows.toml"
        many.write_text(flows(100, "150 ms"))
        documents = {"flows-100": many, **DOCUMENTS}
        for name, settings in SCENARIOS.items():
            program = runner.parent / "emulated" if name == "emulated" else runner
            counts[name] = count(program, documents.get(name, BULK), settings)
            print(f"  {name:<10} {counts[name]:>13,} instructions", flush=True)
    return counts


RENEW = "make instructions RENEW='why they changed'"


def check(figures: Figures, here: str, runner: Path) -> int:
    """Counts and compares; the exit code."""
    if here != figures.compiler:
        print(f"INSTRUCTIONS ARE NOT COMPARED: the committed figures are of {figures.compiler}, this one is {here}.")
        print(f"With the new compiler, on sources that did not change otherwise: {RENEW}")
        return 1 if os.environ.get("CI") else 0
    found = problems(figures, counted(runner))
    for line in found:
        print(line)
    if found:
        print(f"If that is as it should be, renew the figures and commit {FIGURES.relative_to(ROOT)}: {RENEW}")
        return 1
    print(f"all within {TOLERANCE} % of the committed figures")
    return 0


def main() -> int:
    """Compares, or renews."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--renew", metavar="REASON", help="write what moved too far, with this reason")
    parser.add_argument("--runner", type=Path, default=RUNNER, help="the program that runs a scenario")
    arguments = parser.parse_args()
    figures, here = Figures.read(FIGURES), compiler()
    if arguments.renew is None:
        return check(figures, here, arguments.runner)
    if not arguments.renew.strip():
        parser.error("a new figure needs its reason")
    new = figures.renewed(here, counted(arguments.runner), arguments.renew.strip())
    new.write(FIGURES)
    changed = [name for name, figure in new.scenarios.items() if figures.scenarios.get(name) != figure]
    print(f"renewed: {', '.join(changed)}" if changed else "nothing moved far enough to be renewed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
