"""What `quiclab view` costs: the making of the page from a log of a given size, and the page in a headless Chromium.

    .venv/bin/python benches/view.py [--packets N] [--log MB ...] [--tables]

With --log a bulk transfer is run until its qlog has about MB megabytes, and the command makes a page of it; with
--tables the run has its tables too, and so the page where the time went, the rates and the queue. A row for each log
has its CPU and wall time, its peak memory, the size of the page, and how long a pan takes to be drawn (median and
greatest of 30, wall time in the page), for the whole time, a tenth, and a thousandth. Without --log the drawings of
200,000 packets (--packets) are measured.

CPU time is that of the page's main thread, which others on the machine do not disturb much; a drawing must take less
than 16.7 ms of it to be smooth at 60 Hz. Beside it stands how many primitives were drawn and how many elements of the
data were looked at.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from chromium import Page, browser
from quiclab.drawings.view.page import page as build
from test_view_page import many

DRAWINGS = 30


def cpu(page: Page) -> float:
    """Seconds of CPU time of the page's main thread."""
    metrics = {entry["name"]: entry["value"] for entry in page.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def drawings(page: Page, prepare: str) -> tuple[float, float, float]:
    """Mean CPU time of a drawing in milliseconds, its primitives, and the elements looked at."""
    script = f"""(async () => {{
        const {{ figure }} = window.quiclab;
        for (let turn = 0; turn < {DRAWINGS}; turn++) {{
            {prepare};
            figure.invalidate();
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }}
        return figure.drawings.at(-1);
    }})()"""
    page.value(script)
    before = cpu(page)
    last = page.value(script)
    return (cpu(page) - before) / DRAWINGS * 1000, last["primitives"], last["visited"]


def figures(packets: int) -> None:
    """A row for each number of streams and each range."""
    print(f"{packets} packets, window of 1400 x 900")
    print(f"{'streams':>7} {'what':<26} {'CPU ms':>8} {'primitives':>10} {'looked at':>10}")
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "profile") as running:
        for streams in (3, 30, 1000):
            connection = many(packets, streams)
            begun = time.process_time()
            text = build("bench", [connection], [], "bench")
            built = time.process_time()
            path = Path(folder) / f"{streams}.html"
            path.write_text(text, encoding="utf-8")
            page = running.page()
            page.send("Performance.enable", timeDomain="threadTicks")
            page.load(path, "window.quiclab")
            print(f"{streams:>7} {f'page of {len(text) / 1e6:.2f} MB, Python':<26} {(built - begun) * 1000:>8.0f}")
            print(f"{streams:>7} {'start, first drawing':<26} {cpu(page) * 1000:>8.0f}")
            for what, share in (("whole", 1.0), ("a tenth", 0.1), ("a thousandth", 0.001)):
                prepare = f"""const {{ time }} = figure, span = (time.most - time.least) * {share};
                    const start = time.least + (time.most - time.least - span) * (turn + 1) / {DRAWINGS + 1};
                    time.show(start, start + span)"""
                spent, primitives, visited = drawings(page, prepare)
                print(f"{streams:>7} {what:<26} {spent:>8.1f} {primitives:>10.0f} {visited:>10.0f}", flush=True)


SCENARIO = """
name = "long"
seed = 1
duration = "{seconds} s"

[[link]]
name = "path"
from = "server"
to = "client"
delay = "10 ms"
queue = "1 BDP"

[link.forward]
rate = "100 Mbit/s"
loss = "0.01 %"

[link.backward]
rate = "10 Mbit/s"

[[flow]]
name = "download"
client = "client"
server = "server"
application = {{ type = "bulk", size = "1 TB", streams = 3 }}
"""

SECONDS_OF_A_MEGABYTE = 0.2
"""Of the transfer, for a megabyte of qlog at both ends together."""


def pans(page: Page, share: float) -> tuple[float, float]:
    """Median and greatest wall time in milliseconds from a pan to the end of its drawing."""
    script = f"""(async () => {{
        const {{ figure }} = window.quiclab, {{ time }} = figure, taken = [];
        const span = (time.most - time.least) * {share};
        time.show(time.least, time.least + span);
        for (let turn = 0; turn < {DRAWINGS}; turn++) {{
            const start = time.least + (time.most - time.least - span) * (turn + 1) / {DRAWINGS + 1};
            await new Promise(requestAnimationFrame);
            const begun = performance.now();
            time.show(start, start + span);
            figure.draw();
            taken.push(performance.now() - begun);
        }}
        return taken;
    }})()"""
    taken = page.value(script)
    return statistics.median(taken), max(taken)


def logs(sizes: list[int], tables: bool) -> None:
    """A row for each size of a log."""
    print(f"{'MB':>6} {'packets':>9} {'CPU s':>6} {'wall s':>6} {'peak MB':>7} {'page MB':>7} {'start s':>7}", end="")
    print("".join(f" {what:>16}" for what in ("whole ms", "tenth ms", "thousandth ms")))
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "profile") as running:
        for at, megabytes in enumerate(sizes):
            run = Path(folder) / f"run{at}"
            scenario = Path(folder) / "long.toml"
            scenario.write_text(SCENARIO.format(seconds=megabytes * SECONDS_OF_A_MEGABYTE), encoding="utf-8")
            arguments = ["run", str(scenario), "--qlog", *([] if tables else ["--no-tables"]), "--out", str(run)]
            subprocess.run([sys.executable, "-m", "quiclab", *arguments], check=True, capture_output=True)
            begun = time.perf_counter()
            made = subprocess.Popen([sys.executable, "-m", "quiclab", "view", str(run)], stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(made.pid, 0)
            wall = time.perf_counter() - begun
            assert status == 0, "quiclab view failed"
            page = running.page()
            page.send("Performance.enable", timeDomain="threadTicks")
            page.load(run / "view.html", "window.quiclab")
            start = cpu(page)
            size = sum(path.stat().st_size for path in run.glob("*.sqlog")) / 1e6
            print(
                f"{size:>6.0f} {page.value('window.quiclab.figure.direction.count'):>9}"
                f" {used.ru_utime + used.ru_stime:>6.1f} {wall:>6.1f} {used.ru_maxrss * 1024 / 1e6:>7.0f}"
                f" {(run / 'view.html').stat().st_size / 1e6:>7.2f} {start:>7.1f}",
                end="",
            )
            for share in (1.0, 0.1, 0.001):
                median, most = pans(page, share)
                print(f" {median:>8.1f} {most:>7.1f}", end="", flush=True)
            print()


def main() -> None:
    """Measures logs, or drawings."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--packets", type=int, default=200_000, help="Of the drawings. Default: 200000.")
    reader.add_argument("--log", type=int, nargs="+", metavar="MB", help="Sizes of logs in megabytes.")
    reader.add_argument("--tables", action="store_true", help="With the tables of the runs.")
    chosen = reader.parse_args()
    if chosen.log:
        logs(chosen.log, chosen.tables)
    else:
        figures(chosen.packets)


if __name__ == "__main__":
    main()
