"""What the page of `quiclab view` costs in a headless Chromium: size, start, and each drawing, in CPU time.

    .venv/bin/python benches/view.py [PACKETS]

CPU time is that of the page's main thread, which others on the machine do not disturb much; a drawing must take less
than 16.7 ms of it to be smooth at 60 Hz. Beside it stands how many primitives were drawn and how many elements of the
data were looked at.
"""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from chromium import Page, browser
from quiclab.view.page import page as build
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


def main() -> None:
    """A row for each number of streams and each range."""
    packets = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
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


if __name__ == "__main__":
    main()
