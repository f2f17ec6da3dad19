"""Means, intervals and quantiles against published values."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import quiclab
from quiclab import statistics
from quiclab.results import statistics as results

# Student (1908), "The Probable Error of a Mean": the additional hours of sleep of ten patients.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


@pytest.mark.parametrize(
    ("probability", "degrees", "critical"),
    # Abramowitz and Stegun, table 26.10; the last of each is the normal distribution's.
    [
        (0.90, 1, 3.078), (0.95, 5, 2.015), (0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 9, 2.262),
        (0.975, 29, 2.045), (0.975, 60, 2.000), (0.975, 120, 1.980), (0.975, 10**7, 1.960), (0.995, 1, 63.657),
        (0.995, 9, 3.250), (0.995, 30, 2.750), (0.9995, 10, 4.587), (0.995, 10**7, 2.576),
    ],
)  # fmt: skip
def test_critical_values_of_student(probability: float, degrees: int, critical: float) -> None:
    assert statistics.student_quantile(probability, degrees) == pytest.approx(critical, abs=5.1e-4)


@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.99999])
def test_the_closed_forms_of_student(probability: float) -> None:
    """With one degree of freedom it is Cauchy's distribution, and with two it has a closed form too."""
    two = 2 * probability - 1
    assert statistics.student_quantile(probability, 1) == pytest.approx(math.tan(math.pi * two / 2), rel=1e-9, abs=1e-9)
    closed = two * math.sqrt(2 / (1 - two * two))
    assert statistics.student_quantile(probability, 2) == pytest.approx(closed, rel=1e-9, abs=1e-9)


def test_a_mean_with_its_interval() -> None:
    (row,) = statistics.means(pa.table({"hours": SLEEP}), ["hours"], []).to_pylist()
    # As R's t.test(extra) gives it.
    assert row == pytest.approx(
        {
            "column": "hours",
            "n": 10,
            "total": 10,
            "mean": 1.58,
            "stddev": 1.229995,
            "low": 0.7001142,
            "high": 2.4598858,
        },
        abs=1e-6,
    )
    (wide,) = statistics.means(pa.table({"hours": SLEEP}), ["hours"], [], confidence=0.99).to_pylist()
    assert wide["high"] - 1.58 == pytest.approx(3.249836 * 1.229995 / math.sqrt(10), rel=1e-6)


def test_equal_values_have_no_interval_but_themselves() -> None:
    """Their sum is rounded: three times 0.1 is not 0.3."""
    for interval in ("student", "bootstrap"):
        (row,) = statistics.means(pa.table({"x": [0.1] * 3}), ["x"], [], interval=interval).to_pylist()
        assert (row["mean"], row["stddev"], row["low"], row["high"]) == (0.1, 0, 0.1, 0.1)


def test_the_bootstrap_has_a_seed_of_its_own() -> None:
    table = pa.table({"hours": SLEEP})
    first, second, other = (
        statistics.means(table, ["hours"], [], interval="bootstrap", seed=seed) for seed in (1, 1, 2)
    )
    assert first == second
    assert first != other
    # The mean of ten draws from five ones and five zeros is a tenth of a binomial number, and its quantiles are known.
    coins = pa.table({"x": [0.0, 1.0] * 5})
    (row,) = statistics.means(coins, ["x"], [], interval="bootstrap").to_pylist()
    assert (row["low"], row["high"]) == pytest.approx((0.2, 0.8))
    (row,) = statistics.means(coins, ["x"], [], interval="bootstrap", confidence=0.8).to_pylist()
    assert (row["low"], row["high"]) == pytest.approx((0.3, 0.7))


@pytest.mark.parametrize("interval", ["student", "bootstrap"])
def test_nineteen_of_twenty_intervals_have_the_mean_in_them(interval: statistics.Interval) -> None:
    """The coverage over a thousand samples of thirty normal numbers; three standard errors are 2 percent."""
    samples = np.random.Generator(np.random.PCG64(5)).normal(3.0, 2.0, size=(1000, 30))
    table = pa.table({"sample": np.repeat(np.arange(1000), 30), "x": samples.ravel()})
    rows = statistics.means(table, ["x"], ["sample"], interval=interval).to_pylist()
    held = sum(row["low"] <= 3.0 <= row["high"] for row in rows) / 1000
    # The percentile bootstrap is known to be a little narrow.
    assert (0.93 if interval == "student" else 0.91) <= held <= 0.97


def test_quantiles() -> None:
    (row,) = statistics.quantiles(
        pa.table({"x": [1.0, 2, 3, 4, 10]}), ["x"], [], [0, 0.05, 0.25, 0.5, 0.975]
    ).to_pylist()
    assert row == pytest.approx(
        {"column": "x", "n": 5, "total": 5, "q00": 1, "q05": 1.2, "q25": 2, "q50": 3, "q97.5": 9.4}
    )


def test_groups_are_told_apart_and_what_is_null_does_not_count() -> None:
    table = pa.table({"a": [1, 1, 2, 2, 3], "b": ["x", "x", "x", "y", "y"], "v": [1.0, 3.0, 5.0, None, None]})
    rows = statistics.means(table, ["v"], ["a", "b"]).to_pylist()
    assert [(row["a"], row["b"], row["n"], row["mean"]) for row in rows] == [
        (1, "x", 2, 2.0), (2, "x", 1, 5.0), (2, "y", 0, None), (3, "y", 0, None),
    ]  # fmt: skip
    # Of one value there is no interval.
    assert (rows[1]["stddev"], rows[1]["low"], rows[1]["high"]) == (None, None, None)
    assert rows[0]["high"] == pytest.approx(2 + 12.7062 * math.sqrt(2) / math.sqrt(2), rel=1e-5)


def test_columns_by_the_end_of_their_names() -> None:
    table = pa.table({"connection.a.goodput_mbps": [1.0], "connection.b.goodput_mbps": [2.0], "link.c.drops": [3.0]})
    assert statistics.means(table, ["c.drops"], []).column("column").to_pylist() == ["link.c.drops"]
    with pytest.raises(quiclab.Error, match=r"ambiguous: connection\.a\.goodput_mbps, connection\.b"):
        statistics.means(table, ["goodput_mbps"], [])
    with pytest.raises(quiclab.Error, match=r"no column 'rtt'; there are: connection\.a\.goodput_mbps"):
        statistics.means(table, ["rtt"], [])
    many = pa.table({f"link.{number}.drops": [1.0] for number in range(100)})
    for name in ("drops", "nothing"):
        with pytest.raises(quiclab.Error, match=r"link\.11\.drops, \.\.\.$") as found:
            statistics.means(many, [name], [])
        assert len(str(found.value)) < 300


def test_large_whole_numbers_and_truth_values_are_numbers() -> None:
    table = pa.table({"seed": [2**62 + 1, 2**62 + 3], "clean": [True, False], "text": ["1", "2"]})
    assert statistics.means(table, ["seed", "clean"], []).column("mean").to_pylist() == [2.0**62, 0.5]
    with pytest.raises(quiclab.Error, match="'text' is not numeric"):
        statistics.means(table, ["text"], [])


def test_what_makes_no_sense_is_refused() -> None:
    table = pa.table({"a": ["x"], "v": [1.0]})
    for confidence in (0.0, 1.0, 95.0):
        with pytest.raises(quiclab.Error, match="confidence"):
            statistics.means(table, ["v"], [], confidence=confidence)
    with pytest.raises(quiclab.Error, match="quantile"):
        statistics.quantiles(table, ["v"], [], [1.5])
    with pytest.raises(quiclab.Error, match="'a' is not numeric"):
        statistics.means(table, ["a"], [])
    with pytest.raises(quiclab.Error, match="expected student or bootstrap"):
        statistics.means(table, ["v"], [], interval="normal")  # type: ignore[arg-type]


def test_a_group_counts_the_rows_without_a_value_too() -> None:
    table = pa.table({"x": [1.0, None, 3.0, None], "g": [1, 1, 1, 2]})
    counts = [(row["n"], row["total"], row["mean"]) for row in statistics.means(table, ["x"], ["g"]).to_pylist()]
    assert counts == [(2, 3, 2.0), (0, 1, None)]


def test_the_end_of_a_name_begins_behind_a_dot() -> None:
    assert statistics.resolve("goodput_mbps", ["connection.get.goodput_mbps"]) == "connection.get.goodput_mbps"
    with pytest.raises(quiclab.Error, match=r"no column 'put_mbps'"):
        statistics.resolve("put_mbps", ["connection.get.goodput_mbps"])


def test_the_points_with_the_fewest_and_the_most_runs_are_said() -> None:
    part = results.Part
    places = [part(3, 4), part(1, 4), part(4, 4)]
    told = "x: covers 1 to 3 of 4 runs at 2 of 3 points; the other runs have no value: failed"
    assert results.part_told("x", places, "failed") == told
    assert results.part_told("x", [part(4, 4)]) is None
    assert str(results.part_told("x", [part(1, 2), part(2, 3)])).startswith("x: covers 1 of 2 to 2 of 3 runs at 2 of 2")


def test_a_bootstrap_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([0.0] * 5 + [1.0] * 5)
    whole = results.bootstrap(values, 0.95, 1)
    # 300 resamples at once: six whole parts, and one of 200.
    monkeypatch.setattr(results, "_MOST_DRAWS", 3000)
    assert results.bootstrap(values, 0.95, 1) == whole
    sizes = []

    class Counted(np.random.Generator):
        def integers(self, *given: Any, **named: Any) -> Any:
            sizes.append(named["size"][0])
            return super().integers(*given, **named)

    monkeypatch.setattr(np.random, "Generator", Counted)
    results.bootstrap(values, 0.95, 1)
    assert sizes == [300] * 6 + [200]
