"""The independent reading of BBRv3 beside the endpoint, under random loss."""

from math import inf
from pathlib import Path
from statistics import fmean

import pytest

import quiclab
from quiclab.papers.theory.bbr3_transfer import transfer

SCENARIO = """
duration = "20 s"
[record]
tables = []
[transport]
controller = "bbr3"
initial_max_data = "1 GB"
initial_max_stream_data_uni = "1 GB"
[[link]]
name = "bottleneck"
from = "sender"
to = "receiver"
rate = "10 Mbit/s"
delay = "10 ms"
queue = "4 BDP"
forward.loss = { type = "random", probability = "3 %" }
[[flow]]
name = "data"
client = "sender"
server = "receiver"
application = { type = "bulk", direction = "upload" }
[sweep]
repetitions = 8
transport.ack_ratio = [1, 2]
"""
SEEDS = range(1, 9)


def shares(**options: float) -> float:
    """The mean share of 10 Mbit/s that the reading keeps with an RTT of 20 ms and 3 % of loss."""
    rate = 10e6 / 8 / 1280
    return fmean(transfer(rate, 0.02, 0.03, 20, seed, **options) for seed in SEEDS)  # type: ignore[arg-type]


def test_the_endpoint_keeps_what_the_reading_keeps_for_each_ratio_of_acknowledgements(tmp_path: Path) -> None:
    sweep = quiclab.sweep(quiclab.Scenario.from_text(SCENARIO), jobs=1, out=tmp_path / "sweep")
    rows = sweep.runs.to_pylist()
    for ratio in (1, 2):
        of_it = [row for row in rows if row["transport.ack_ratio"] == ratio]
        here = fmean(row["link.bottleneck.forward.delivered_bytes"] for row in of_it) * 8 / 20 / 10e6
        assert here == pytest.approx(shares(ratio=ratio), rel=0.1), ratio


def test_losses_found_late_cost_a_small_window() -> None:
    # RFC 9002 section 6.1.2: without the time threshold a lost packet fills the window for three packets more.
    assert shares(time_threshold=inf) < 0.92 * shares()


def test_the_delay_of_acknowledgements_is_what_one_for_two_packets_costs() -> None:
    each, held, prompt = shares(), shares(ratio=2), shares(ratio=2, max_ack_delay=1e-4)
    assert held < 0.92 * each
    assert prompt == pytest.approx(each, rel=0.06)
