"""A rate adaptation in Python, by throughput and buffer together, compared with `dynamic` and `mpc`.

python examples/own_abr.py
quiclab run SCENARIO --set flow.NAME.application.abr=examples/own_abr.py:Affordable
"""

from pathlib import Path

import numpy as np

import quiclab
from quiclab.statistics import interval_of, mean_of

SEEDS = range(1, 11)
TRACE = Path(__file__).parent / "traces" / "lte-like.down"
NETWORKS: dict[str, dict[str, object]] = {
    "driving": {"type": "generated", "model": "lte-driving"},
    "lte-like": {"type": "trace", "file": TRACE, "offset": "random"},
}
COLUMNS = ("qoe_lin", "bitrate_mean_mbps", "stalled_s", "switches")


class Affordable(quiclab.Abr):
    """The highest representation that the throughput sustains, or that the buffer above a floor pays for."""

    options = {"floor": 0.4, "samples": 5}
    floor: float
    samples: int

    def choose(self, view: quiclab.AbrView) -> int:
        rate_bps = self.rate_bps(view)
        spare_s = max(view.buffer_s - self.floor * view.max_buffer_s, 0.0)
        times = [8 * size / rate_bps for size in view.sizes_bytes]
        chosen = max((number for number, time in enumerate(times) if time <= view.duration_s + spare_s), default=0)
        # A step up at a time: the next choice knows more.
        return chosen if view.last is None else min(chosen, view.last + 1)

    def abandon(self, view: quiclab.AbrView, download: quiclab.PartialDownload) -> int | None:
        took_s = view.now_s - download.first_byte_s
        if took_s < 0.5:
            return None
        left_s = (download.total_bytes - download.bytes) * took_s / download.bytes
        return 0 if left_s > 1.5 * view.buffer_s and download.representation > 0 else None

    def rate_bps(self, view: quiclab.AbrView) -> float:
        """The harmonic mean of the last downloads: what all of them together had."""
        last = view.downloads[-self.samples :]
        took_s = sum(download.last_byte_s - download.asked_s for download in last)
        return 8 * sum(download.bytes for download in last) / took_s if took_s > 0 else 1.0


def scenario(abr: object, network: str) -> quiclab.Scenario:
    """Three minutes of video over a link whose capacity each seed draws anew, or enters elsewhere."""
    link = {"name": "cell", "from": "server", "to": "client", "delay": "25 ms", "queue": "300 kB"}
    video = {"type": "video", "presentation": {"type": "ladder", "duration": "180 s", "variation": 0.2}, "abr": abr}
    return quiclab.Scenario(
        duration="10 min",
        transport={"controller": "cubic"},
        link=[{**link, "forward": {"rate": NETWORKS[network]}, "backward": {"rate": "20 Mbit/s"}}],
        flow=[{"name": "film", "client": "client", "server": "server", "application": video}],
    )


def main() -> None:
    """Prints a table: means over the seeds, with 95 % intervals."""
    print(f"{'network':8} {'abr':12}" + "".join(f"{column:>26}" for column in COLUMNS))
    for network in NETWORKS:
        for name, abr in {"Affordable": Affordable(), "dynamic": "dynamic", "mpc": "mpc"}.items():
            runs = [scenario(abr, network).run(seed, tables=False) for seed in SEEDS]
            playbacks = [run.summary["connections"][0]["playback"] for run in runs]
            cells = []
            for column in COLUMNS:
                values = np.array([playback[column] for playback in playbacks], dtype=float)
                low, high = interval_of(values) or (np.nan, np.nan)
                cells.append(f"{mean_of(values):.2f} [{low:.2f}, {high:.2f}]")
            print(f"{network:8} {name:12}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
