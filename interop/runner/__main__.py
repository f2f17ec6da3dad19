"""The command: `python -m runner [--peer NAME] [--case NAME] [--role client|server]`."""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cases import CASES

from runner import matrix, throughput
from runner.cell import FAILED, PASSED, Cell, Result
from runner.stacks import BUILT, OTHERS, OURS, STACKS, certificates

ROLES = ("client", "server")


def command_line() -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(prog="python -m runner", description=__doc__)
    parser.add_argument("--peer", action="append", choices=list(STACKS), help="with these only")
    parser.add_argument("--case", action="append", choices=list(CASES), help="these cases only")
    parser.add_argument("--role", action="append", choices=ROLES, help="our role")
    parser.add_argument("--ours", choices=list(STACKS), default=OURS, help="another stack in the place of quiclab")
    parser.add_argument("--seed", type=int, default=1, help="of what befalls datagrams, and of the files; default 1")
    parser.add_argument("--jobs", type=int, default=2, help="cells at one time; default 2")
    parser.add_argument("--keep", action="store_true", help="keep the folders of cells that pass too")
    parser.add_argument("--write", action="store_true", help="write interop/matrix.json and docs/interop.md")
    parser.add_argument("--page", action="store_true", help="only make docs/interop.md anew")
    parser.add_argument("--throughput", action="store_true", help="the large transfers instead of the cases")
    parser.add_argument("--out", type=Path, default=BUILT / "runs", help="the folder for what fails")
    return parser.parse_args()


def cells(options: argparse.Namespace) -> list[tuple[dict[str, str], Cell]]:
    """The cells that were asked for, each with its row as far as it is known."""
    made = []
    for peer in options.peer or OTHERS:
        for case in options.case or CASES:
            for role in options.role or ROLES:
                ours, theirs = STACKS[options.ours], STACKS[peer]
                again = matrix.again(peer, case, role, options.seed)
                client, server = (ours, theirs) if role == "client" else (theirs, ours)
                row = {"peer": peer, "case": case, "role": role, "version": str(theirs.about["name"])}
                cell = Cell(f"{peer}-{case}-{role}", CASES[case], role, client, server, options.seed, again)
                made.append((row, cell))
    return made


def main() -> int:
    """Run them; 0 if none failed."""
    options = command_line()
    if options.page:
        matrix.write_page()
        return 0
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    trusted = certificates(options.out / "certificates")
    if options.throughput:
        return throughput.run(options.peer or OTHERS, options.out, trusted)
    start = time.monotonic()

    def run(chosen: tuple[dict[str, str], Cell]) -> tuple[dict[str, str], Result]:
        row, cell = chosen
        result = cell.run(options.out, trusted, options.keep)
        told = f"{row['peer']:<8} {row['case']:<20} {row['role']:<6} {result.result:<11} {result.seconds:5.1f} s"
        print(f"{told}  {result.reason}".rstrip(), flush=True)
        return row, result

    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(run, cells(options)))
    rows = [
        {**row, "result": result.result, **({"reason": result.reason} if result.reason else {})}
        for row, result in results
    ]
    if options.write:
        matrix.save(rows)
    counts = {name: sum(result.result == name for _, result in results) for name in (PASSED, FAILED, "unsupported")}
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    print(f"{told}, after {time.monotonic() - start:.0f} s; what failed is below {options.out}")
    return 1 if counts[FAILED] else 0


if __name__ == "__main__":
    sys.exit(main())
