"""What CI runs of `make validation-radio`: some closed forms, and a short scenario of each kind beside ns-3."""

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from math import exp

import pytest
from validation import cells, radio, wireless
from validation.saturated import Row, near


def hold(rows: Sequence[Row]) -> None:
    """Fails with the rows that do not hold."""
    assert rows
    assert not [row for row in rows if not row.holds]


@pytest.fixture
def ns3() -> None:
    """`make interop-quick` installs ns-3; without it only CI fails."""
    if not radio.PYTHON and not os.environ.get("CI"):
        pytest.skip("NS3_PYTHON is not set (make interop-quick sets it)")


def test_a_wireless_lan_is_as_bianchi_says() -> None:
    """One station by hand; some, of two standards, by Bianchi's model; a slow one beside a fast one."""
    hold([*wireless.alone(1), *wireless.saturation(1, (2, 10), 10), *wireless.anomaly(1)])


def test_blocks_of_lte_are_as_large_and_as_late_as_they_should_be() -> None:
    """Peak rates; repetitions and the distribution of delays."""
    hold([*cells.peaks(), *cells.repetitions(1, (0.1,)), *cells.delays_of_harq(1, (0.1, 0.3), 200)])


def test_the_acknowledged_mode_loses_nothing() -> None:
    """And keeps the order of the packets of a download."""
    hold(cells.acknowledged())


def test_proportional_fair_gains_what_the_integral_says() -> None:
    """Five terminals that fade."""
    hold(cells.diversity(1, (5,), 50))


@pytest.mark.usefixtures("ns3")
def test_saturated_stations_are_as_in_ns3() -> None:
    """And wait for EIFS after collisions, here and there. The speed is judged where nothing else runs."""
    there = radio.wlan_of_ns3(5, 5, "frames")
    *rows, _ = radio.wlan_beside(5, 5, 1, there)
    hold(rows)
    frames = wireless.data_frames(radio.AS_NS3, 5, 5), [(at, sender) for at, sender in there["frames"]]
    hold([wireless.after_collisions("", wireless.waits_us(each)) for each in frames])


@pytest.mark.usefixtures("ns3")
def test_a_saturated_cell_is_as_in_ns3() -> None:
    """One terminal in the middle."""
    *rows, _ = radio.lte_beside(1, radio.DISTANCES[1], 3)
    hold(rows)


def test_a_number_that_is_too_far_off_does_not_hold() -> None:
    """On both sides, and of the mean of some runs."""
    assert near("", 100.0, [104.9], 0.05, "").holds
    assert near("", 100.0, [95.0, 100.0, 105.0], 0.05, "").holds
    for values in ([105.1], [94.9], [100.0, 111.0]):
        assert not near("", 100.0, values, 0.05, "").holds


def test_a_page_with_a_row_that_does_not_hold_does_not_hold() -> None:
    """The row says so."""
    good, bad = near("good", 1.0, [1.0], 0.05, "s"), near("bad", 1.0, [2.0], 0.05, "s")
    assert radio.section([good]).holds
    section = radio.section([good, bad], ["behind"])
    assert not section.holds
    assert section.lines[-3:] == ["| bad | 1.000 s | 2.000 | +100.00% of 5.0% | DOES NOT HOLD |", "", "behind"]


def test_ns3_is_slower_by_a_hundred_times_or_the_row_does_not_hold() -> None:
    """Of each scenario by itself, and the least of them is named."""
    fast, slow = radio.speed("fast", 5.0, 0.05), radio.speed("slow", 4.9, 0.05)
    assert fast.holds
    assert not slow.holds
    assert radio.least([fast, slow]) == replace(slow, case=f"{slow.case}, the least of 2 scenarios")


def drawn(p: float, after_ms: float, count: int = 20_000) -> list[float]:
    """Delays of blocks that fail with this probability and are repeated after this many ms."""
    draws = random.Random(1)
    delays = []
    for _ in range(count):
        attempt = next((attempt for attempt in range(4) if draws.random() >= p), None)
        if attempt is not None:
            delays.append(1.5 + after_ms * attempt)
    return delays


def test_delays_that_are_not_geometric_do_not_hold() -> None:
    """Another probability, another time of a repetition, one attempt less."""
    delays = drawn(0.2, 8.0)
    assert cells.geometric("", 0.2, 20_000, delays).holds
    assert not cells.geometric("", 0.19, 20_000, delays).holds
    assert not cells.geometric("", 0.2, 20_000, drawn(0.2, 7.0)).holds
    assert not cells.geometric("", 0.2, 20_000, [delay for delay in delays if delay < 25]).holds
    assert not cells.geometric("", 0.2, 20_000, [*delays[1:], 3.5]).holds


def test_packets_that_are_lost_or_late_do_not_hold() -> None:
    """Or that come twice; the row counts each."""
    assert cells.in_order("", [1, 2, 4], [1, 2, 4]).holds
    for received, says in (
        ([1, 4], "1 lost, 0 out of order, 0 twice"),
        ([1, 4, 2], "0 lost, 1 out of order, 0 twice"),
        ([1, 2, 2, 4], "0 lost, 0 out of order, 1 twice"),
    ):
        row = cells.in_order("", [1, 2, 4], received)
        assert not row.holds
        assert row.here == says


def test_the_gain_is_that_of_draws() -> None:
    """The integral beside 100,000 draws of the channels of five terminals; one terminal gains nothing."""
    assert cells.gain(1) == pytest.approx(1)
    assert cells.mean_rate([1.0] * 15, 10.0, 1) == pytest.approx(exp(-0.0617), abs=1e-3)
    gap = 5.529
    levels = [gap * (2**efficiency - 1) for efficiency in cells.EFFICIENCY]
    draws = random.Random(1)

    def rate(ratio: float, prbs: int) -> float:
        reached = sum(level <= ratio for level in levels)
        return cells.mbps(cells.OF_SCHEME[prbs][reached - 1]) if reached else 0.0

    best = each = 0.0
    for _ in range(100_000):
        ratios = [draws.expovariate(0.1) for _ in range(5)]
        best += rate(max(ratios), 50)
        reached = [rate(ratio, 10) for ratio in ratios if ratio >= levels[0]]
        each += 5 * sum(reached) / len(reached) if reached else 0.0
    assert cells.gain(5) == pytest.approx(best / each, rel=0.01)


def test_who_does_not_wait_for_eifs_is_seen() -> None:
    """Two collide at 0 us, and a third station sends this many us after them; who collided may begin before."""
    collision = [(0, 1), (0, 2)]

    def waits(after_us: int, sender: int) -> list[int]:
        return wireless.waits_us([(wireless.DATA_US + after_us, sender), *collision])

    assert waits(364 + 40, 3) == [404]
    assert waits(272, 1) == []
    assert wireless.share_of_eifs([404, 364]) == 1.0
    assert wireless.share_of_eifs([404, 50, 50 + 400, 344]) == 0.25
    assert not wireless.after_collisions("", [404] * 98 + [50, 70]).holds
