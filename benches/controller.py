"""What a congestion controller in Python costs: the same transfer with newreno and with examples/aimd.py.

    .venv/bin/python benches/controller.py

Prints the median of five pairs: CPU time of the run over that with newreno, and what an ACK frame costs more.
"""

import statistics
import time
from pathlib import Path

import quiclab

AIMD = Path(__file__).parent.parent / "examples" / "aimd.py"
LINK = {"name": "wire", "from": "server", "to": "client", "rate": "100 Mbit/s", "delay": "10 ms", "queue": "1 BDP"}
FLOW = {"name": "bulk", "client": "client", "server": "server", "application": {"type": "bulk", "size": "375 MB"}}


def measure(controller: str) -> tuple[float, int]:
    """CPU seconds of a run, and the ACK frames that its sender was told of."""
    transport = {"controller": controller, "initial_max_data": "16 MB"}
    scenario = quiclab.Scenario(duration="1 h", transport=transport, link=[LINK], flow=[FLOW])
    start = time.process_time()
    run = scenario.run(tables=False)
    return time.process_time() - start, run.summary["connections"][0]["ack_only_packets_received"]


def main() -> None:
    """Measures and prints."""
    ratios, costs = [], []
    for _ in range(5):
        plain, _ = measure("newreno")
        own, acks = measure(f"{AIMD}:Aimd")
        ratios.append(own / plain)
        costs.append((own - plain) / acks)
    print(f"ratio {statistics.median(ratios):.2f}, {1e6 * statistics.median(costs):.2f} us for each ACK frame")


if __name__ == "__main__":
    main()
