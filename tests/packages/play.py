"""What somebody does who has installed quiclab, and what must come of it.

It runs in the Python that has quiclab, with what quiclab needs and nothing else, in a folder that it may fill:

    python play.py [--quick] [--extra cluster ...] [--record FILE] [--like FILE]

`--record` writes the hashes of the tables, which depend on nothing but the version; `--like` compares them with those
of another system. `--extra` installs an extra by the command that quiclab itself names.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

QUICKLY = ("examples/cellular.toml", "examples/tls.toml", "examples/wlan.toml")
"""The examples that are run by `--quick`."""
NOT_RUN = {"gates.toml": "it is run in real time", "sweep.toml": "a sweep, which is made below"}
FIGURE = "inet-flow-control"
QUICLAB = str(Path(sys.executable).parent / "quiclab")


class PlayError(Exception):
    """Something came out that must not."""


def quiclab(*arguments: str, code: int = 0) -> str:
    """Runs a command; its standard output, or its standard error if it is to fail."""
    started = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [QUICLAB, *arguments], capture_output=True, text=True, encoding="utf-8", check=False, env=environment
    )
    print(f"  {time.monotonic() - started:6.2f} s  quiclab {' '.join(arguments)}", flush=True)
    if done.returncode != code or "internal error" in done.stderr:
        raise PlayError(f"quiclab {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr if code else done.stdout


def expect(what: str, text: str) -> None:
    """Fails unless the text has it."""
    if what not in text:
        raise PlayError(f"{what!r} is not in\n{text}")


def contents(file: Path) -> bytes:
    """What a file says: of a table the values, because every version of pyarrow writes its own bytes."""
    if file.suffix != ".parquet":
        return file.read_bytes()
    from pyarrow import parquet

    table = parquet.read_table(file)
    columns = (
        (name, str(table.schema.field(name).type), table.column(name).to_pylist()) for name in table.column_names
    )
    return repr([(name, kind, values) for name, kind, values in columns]).encode()


def hashes(folder: Path) -> dict[str, str]:
    """Of the tables and the summary of a run or a sweep."""
    files = sorted([*folder.glob("*.parquet"), *folder.glob("summary.json"), *folder.glob("sweep.json")])
    if not files:
        raise PlayError(f"{folder} has no tables")
    return {f"{folder.name}/{file.name}": hashlib.sha256(contents(file)).hexdigest() for file in files}


def play(quick: bool) -> Iterator[dict[str, str]]:
    """All of it; the hashes of what was made."""
    expect("quiclab 0.", quiclab("--version"))
    expect("cellular.toml", quiclab("examples"))
    quiclab("examples", "examples")
    page = quiclab("list", "cubic")
    for part in ("fast_convergence", "Equations", "W_cubic(t) = C (t - K)^3 + W_max", "References"):
        expect(part, page)
    expect("runs. Files:", quiclab("explain", FIGURE))
    for file in sorted(Path("examples").glob("*.toml")):
        quiclab("check", str(file), "--json")
        if (quick and str(file) not in QUICKLY) or file.name in NOT_RUN:
            continue
        quiclab("run", str(file), "--out", f"runs/{file.stem}")
        yield hashes(Path("runs") / file.stem)
    quiclab("new", "mine", "--like", "dumbbell")
    quiclab("run", "mine.toml", "--qlog", "--pcap", "--out", "runs/mine")
    yield hashes(Path("runs/mine"))
    expect("slow start", quiclab("why", "runs/cellular"))
    quiclab("report", "runs/cellular", "--out", "report.html")
    quiclab("view", "runs/mine", "--out", "view.html")
    quiclab("export", "runs/cellular", "connection", "--out", "connection.csv")
    for made in ("report.html", "view.html", "connection.csv", "runs/cellular/figure.png"):
        if not Path(made).stat().st_size:
            raise PlayError(f"{made} is empty")
    if quick:
        return
    quiclab("sweep", "examples/sweep.toml", "--out", "swept")
    yield hashes(Path("swept"))
    quiclab("plot", "swept", "--x", "ack_ratio", "--y", "goodput_mbps", "--style", "ieee", "--out", "chart.pdf")
    # The quick form makes fewer runs, and lists the claims that it does not judge.
    quiclab("reproduce", FIGURE, "--quick", code=3)
    fetch()


def fetch() -> None:
    """A file over the loopback interface, with real packets."""
    site = Path("site")
    site.mkdir()
    (site / "file").write_bytes(os.urandom(3_000_000))
    address = "127.0.0.1:4439"
    serving = subprocess.Popen(
        [QUICLAB, "real", "serve", str(site), "--listen", address], stdout=subprocess.PIPE, text=True
    )
    try:
        assert serving.stdout is not None
        serving.stdout.readline()
        quiclab("real", "fetch", f"https://{address}/file", "--insecure", "--out", "fetched")
    finally:
        serving.terminate()
        serving.wait()
    if Path("fetched/file").read_bytes() != (site / "file").read_bytes():
        raise PlayError("the fetched file differs")


MISSING = {
    "cluster": ("sweep", "examples/sweep.toml", "--engine", "dask", "--jobs", "1", "--out", "by-dask"),
    "gym": ("-c", "import quiclab.gym; print(quiclab.gym.CongestionControl)"),
}
"""What needs an extra: a command of quiclab, or a program."""


def extra(name: str) -> None:
    """What needs it says how to get it; that command is called as it stands; then it works."""
    program: list[str] = [str(sys.executable) if MISSING[name][0] == "-c" else QUICLAB, *MISSING[name]]
    refused = subprocess.run(program, capture_output=True, text=True, check=False)
    told = refused.stderr.strip().splitlines()[-1]
    if refused.returncode == 0:
        raise PlayError(f"{name} is there already")
    command = told[told.index(": ", told.index("needs")) + 2 :]
    print(f"            {command}", flush=True)
    subprocess.run(["sh", "-c", f"{command} --quiet"], check=True)
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL)


def oldest() -> list[str]:
    """The oldest version that each requirement allows, as pip wants it."""
    plain = [requirement for requirement in requires("quiclab") or [] if "extra" not in requirement]
    return [requirement.split(",")[0].replace(">=", "==") for requirement in plain]


def main() -> int:
    """Plays; the exit code is 0 only if all came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--extra", action="append", default=[], choices=sorted(MISSING))
    parser.add_argument("--record", type=Path)
    parser.add_argument("--like", type=Path)
    parser.add_argument("--oldest", action="store_true", help="print the oldest versions of what quiclab needs")
    options = parser.parse_args()
    if options.oldest:
        print(*oldest(), sep="\n")
        return 0
    for place in ("runs", "examples", "swept", "site", "fetched", "by-dask", "reproduced"):
        shutil.rmtree(place, ignore_errors=True)
    Path("mine.toml").unlink(missing_ok=True)
    made: dict[str, str] = {}
    try:
        for part in play(options.quick):
            made.update(part)
        for name in options.extra:
            extra(name)
        if options.like is not None:
            other = json.loads(options.like.read_text(encoding="utf-8"))
            differ = [name for name in made if made[name] != other.get(name)]
            if differ:
                raise PlayError(f"not the same values as elsewhere: {', '.join(differ)}")
    except PlayError as failed:
        print(f"FAILED: {failed}", file=sys.stderr)
        return 1
    if options.record is not None:
        options.record.write_text(json.dumps(made, indent=1), encoding="utf-8")
    print(f"  {len(made)} files{' equal those made elsewhere' if options.like else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
