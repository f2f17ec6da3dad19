"""What controllers, queues and rates over time cost in instructions: the same number each time, on any load.

    cargo build --release --package own-controller
    .venv/bin/python benches/instructions.py [SIZE [RUNNER]]

Counts with callgrind (Valgrind) a whole run of a bulk transfer of SIZE (375 MB) under each controller and through
each queue, and one of 100 MB over rates that change, and prints the tables of docs/performance.md. With 375 MB it
takes some ten minutes.
"""

import sys
import tempfile
from pathlib import Path

from callgrind import BULK, RUNNER, count

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


RATE = "link.wire.forward.rate="
LIMIT = "link.wire.queue=250 kB"
"""What 1 BDP comes to at the fixed rate, for all of them alike."""


def rates(folder: Path) -> dict[str, list[str]]:
    """The fixed rate of the scenario, and files that say the same rate again and again, for 60 s."""
    found = {"`fixed`": [LIMIT]}
    for step in (100, 10, 1):
        rows = (f"{at},100" for at in range(0, 60_000, step))
        path = folder / f"{step}.csv"
        path.write_text("\n".join(["time_ms,rate_mbps", *rows, ""]))
        series = f'{RATE}{{ type = "series", file = "{path}" }}'
        found[f"`series`, a line each {step} ms"] = [LIMIT, series]
    path = folder / "a.trace"
    path.write_text("".join(f"{(at * 12 + 99) // 100}\n" for at in range(1, 500_001)))
    found["`trace`, a line for each 1500 bytes"] = [LIMIT, f'{RATE}{{ type = "trace", file = "{path}" }}']
    return found


def sized(size: str) -> str:
    """The setting of the size of the transfer."""
    return f"flow.download.application.size={size}"


def over(value: int, first: int | None) -> str:
    """How much more a value is than that of the first row; nothing for that itself."""
    return "" if first is None else f"{100 * (value / first - 1):+.1f} %"


def table(what: str, settings: dict[str, list[str]], runner: Path, size: str) -> None:
    """Prints the table of one kind of thing, the first row being what the others are compared with."""
    print(f"| {what} | million instructions | over the first |\n| --- | ---: | ---: |", flush=True)
    first = None
    for name, setting in settings.items():
        instructions = count(runner, BULK, [sized(size), *setting])
        print(f"| {name} | {instructions / 1e6:,.1f} | {over(instructions, first)} |", flush=True)
        first = first or instructions
    print()


def rate_table(settings: dict[str, list[str]], runner: Path) -> None:
    """Prints the table of rates: what a run of 1 MB takes more than the first one is for reading the file."""
    print("| rate | million instructions | of that, reading | the rest over the first |\n| --- | ---: | ---: | ---: |")
    first = short = None
    for name, setting in settings.items():
        whole, begin = (count(runner, BULK, [sized(size), *setting]) for size in ("100 MB", "1 MB"))
        reading = 0 if short is None else begin - short
        rest = over(whole - reading, first)
        print(f"| {name} | {whole / 1e6:,.1f} | {reading / 1e6:,.1f} | {rest} |", flush=True)
        first, short = first or whole, short or begin
    print()


def main() -> None:
    """Counts and prints."""
    size = sys.argv[1] if len(sys.argv) > 1 else "375 MB"
    runner = Path(sys.argv[2]) if len(sys.argv) > 2 else RUNNER
    for what, rows in (("controller", CONTROLLERS), ("queue", QUEUES)):
        table(what, {name: [setting] for name, setting in rows.items()}, runner, size)
    with tempfile.TemporaryDirectory() as folder:
        rate_table(rates(Path(folder)), runner)


if __name__ == "__main__":
    main()
