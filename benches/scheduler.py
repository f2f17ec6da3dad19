"""What a stream scheduler in Python costs: the same transfer on ten streams with rr, and with a ring in Python.

    .venv/bin/python benches/scheduler.py

Prints the median of five pairs: CPU time of the run over that with rr, and what a turn costs more.
"""

import statistics
import time

import quiclab

LINK = {"name": "wire", "from": "server", "to": "client", "rate": "100 Mbit/s", "delay": "10 ms", "queue": "1 BDP"}
WORK = {"type": "bulk", "size": "125 MB", "streams": 10}
FLOW = {"name": "bulk", "client": "client", "server": "server", "application": WORK}


class Ring(quiclab.Scheduler):
    """Streams in turns, by their ids."""

    last = -1

    def next(self, view: quiclab.SchedulerView) -> int:
        """The next one in the circle."""
        return min((stream for stream in self.ready if stream > self.last), default=min(self.ready))

    def on_sent(self, stream: int, sent_bytes: int) -> None:
        """Its turn is over."""
        self.last = stream


def measure(scheduler: object) -> tuple[float, int]:
    """CPU seconds of a run, and the packets that its sender sent."""
    transport = {"scheduler": scheduler, "initial_max_data": "16 MB"}
    scenario = quiclab.Scenario(duration="1 h", transport=transport, link=[LINK], flow=[FLOW])
    start = time.process_time()
    run = scenario.run(tables=False)
    return time.process_time() - start, run.summary["connections"][0]["packets_sent"]


def main() -> None:
    """Measures and prints."""
    ratios, costs = [], []
    for _ in range(5):
        plain, _ = measure("rr")
        own, packets = measure(Ring)
        ratios.append(own / plain)
        costs.append((own - plain) / packets)
    print(f"ratio {statistics.median(ratios):.2f}, {1e6 * statistics.median(costs):.2f} us for each turn")


if __name__ == "__main__":
    main()
