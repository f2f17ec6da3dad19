"""What controllers and queues cost in instructions, which are the same number each time, on any load of the machine.

    cargo build --release --package own-controller
    .venv/bin/python benches/instructions.py [SIZE [RUNNER]]

Counts a whole run of a bulk transfer (375 MB unless SIZE says otherwise) under each controller and through each queue
with callgrind (Valgrind), and prints the tables of docs/performance.md. With 375 MB it takes some ten minutes.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNNER = ROOT / "target" / "release" / "own-controller"
SCENARIO = ROOT / "python" / "quiclab" / "commands" / "bench.toml"
BASE = "transport.controller=newreno"
CONTROLLERS = {
    "`newreno`": BASE,
    "the same with `slow_start` of HyStart++": 'transport.controller={ type = "newreno", slow_start = "hystart++" }',
    **{f"`{name}`": f"transport.controller={name}" for name in ("cubic", "bbr1", "bbr3", "vegas", "westwood", "copa")},
    "`prague`": "transport.controller=prague",
    "`fixed`, a window of 400 kB": 'transport.controller={ type = "fixed", window = "400 kB" }',
}
QUEUES = {
    "`drop-tail`": BASE,
    **{
        f"`{name}`": f"link.wire.forward.queue={name}"
        for name in ("drop-head", "codel", "fq-codel", "red", "pie", "dualpi2")
    },
    "`priority`": 'link.wire.forward.queue={ type = "priority", classes = [["download"]] }',
    "`policer`": 'link.wire.forward.queue={ type = "policer", rate = "1 Gbit/s", burst = "1 MB" }',
}


def count(runner: Path, size: str, setting: str) -> int:
    """Instructions of a run of so many bytes with this setting."""
    sets = ["--set", f"flow.download.application.size={size}", "--set", setting]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", runner, SCENARIO, *sets]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if collected is None:
        raise SystemExit(f"callgrind says no count for {setting}: {done.stderr}")
    return int(collected[1])


def table(what: str, settings: dict[str, str], runner: Path, size: str) -> None:
    """Prints the table of one kind of thing, the first row being what the others are compared with."""
    print(f"| {what} | million instructions | over the first |\n| --- | ---: | ---: |", flush=True)
    first = None
    for name, setting in settings.items():
        instructions = count(runner, size, setting)
        share = "" if first is None else f"{100 * (instructions / first - 1):+.1f} %"
        first = first or instructions
        print(f"| {name} | {instructions / 1e6:,.1f} | {share} |", flush=True)
    print()


def main() -> None:
    """Counts and prints."""
    size = sys.argv[1] if len(sys.argv) > 1 else "375 MB"
    runner = Path(sys.argv[2]) if len(sys.argv) > 2 else RUNNER
    table("controller", CONTROLLERS, runner, size)
    table("queue", QUEUES, runner, size)


if __name__ == "__main__":
    main()
