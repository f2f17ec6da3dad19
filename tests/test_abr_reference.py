"""The reference of rate adaptation: its player and its algorithms by hand, and the vectors for the tests in Rust."""

import json
from dataclasses import replace

import pytest

import abr_reference
from abr_reference import ALGORITHMS, VECTORS, Algorithm, Past, Session, drawn, play


def session(**changes: object) -> Session:
    usual: dict[str, object] = {
        "segment_ms": 2000,
        "max_buffer_ms": 10_000,
        "ladder_kbit": [1000, 2000, 4000],
        "permille": [1000] * 5,
        "series": [(1000, 1_000_000), (1000, 0), (2000, 3_000_000)],
    }
    return Session(**{**usual, **changes})  # type: ignore[arg-type]


def test_a_download_takes_the_time_in_which_the_series_carries_it() -> None:
    network = session()
    assert network.download_s(0.0, 1_000_000) == 1.0
    assert network.download_s(0.0, 1_000_001) == pytest.approx(2 + 1 / 3e6)
    assert network.download_s(1.5, 6_000_000) == 2.5
    assert network.download_s(3.5, 2_000_000) == 0.5 + 0.5, "1.5 Mbit, then 0.5 at the beginning of the series"
    assert network.download_s(400.0, 500_000) == 0.5
    assert network.download_s(0.0, 0) == 0.0


def test_the_buffer_by_hand() -> None:
    """Segments of 2 Mbit: 1 s, then nothing for 1 s, then 1/3 s; the third one of 8 Mbit takes too long."""
    outcome = play(session(), lambda past: (2 if len(past.downloads) == 2 else 0, 0.0))
    first = 2 + 1 / 3
    second = first + 2 / 3
    # 2 s and 2 s less 0.667 s are in the buffer; 3 Mbit until 4 s, 1 until 5, nothing until 6, 4 in 1.333 s.
    third = 6 + 4 / 3
    assert outcome.completed_s[:3] == pytest.approx([first, second, third])
    assert outcome.stalled_s == pytest.approx(third - second - (2 - 2 / 3 + 2))


def test_a_segment_is_asked_for_when_it_has_room() -> None:
    fast = session(max_buffer_ms=5000, series=[(1000, 2_000_000_000)])
    outcome = play(fast, lambda _: (0, 0.0))
    # 1 ms each. The third has room when 1 s of the first two is played.
    assert outcome.completed_s == pytest.approx([0.001, 0.002, 1.002, 3.002, 5.002], abs=2e-3)
    assert outcome.stalled_s == 0


def test_algorithms_by_hand() -> None:
    past = Past(session(segment_ms=3000, max_buffer_ms=60_000), last=0)

    def at(algorithm: Algorithm, buffer_s: float) -> tuple[int, float]:
        past.buffer_s = buffer_s
        return algorithm(past)

    # Vp = 22 / (ln 4 + 5): the levels are at 14.837, 17.224 and 22 s.
    assert [at(abr_reference.bola, s)[0] for s in (0, 14.83, 14.84, 17.22, 17.23)] == [0, 0, 1, 1, 2]
    assert at(abr_reference.bola, 23.5) == pytest.approx((2, 1.5))
    # 1000 + 300 (B - 5) kbit/s.
    assert [at(abr_reference.bba, s)[0] for s in (5, 8.3, 8.4, 14.9, 15)] == [0, 0, 1, 1, 2]
    assert at(abr_reference.throughput, 9) == (0, 0.0)
    past.downloads = [(3.0, 1e6), (3.0, 4e6)]
    # The slow average is (k + 4) / (1 + k) = 2.70 Mbit/s with k = 2 ** (-3 / 8), of which 2.43 are used.
    assert at(abr_reference.throughput, 9) == (1, 0.0)


def test_a_plan_by_hand() -> None:
    """Segments of 4 s at 1 and 3 Mbit/s at 1.5 Mbit/s; the next one is small, the one after it takes 2.67 or 8 s."""

    def chosen(max_buffer_ms: int, wrong_by: float = 0.0) -> int:
        played = session(
            segment_ms=4000, max_buffer_ms=max_buffer_ms, ladder_kbit=[1000, 3000], permille=[1000, 1000, 250, 1000]
        )
        past = Past(played, 6.0, 0, [(1.0, 1.5e6 * (1 - wrong_by)), (1.0, 1.5e6 * (1 + wrong_by))])
        return abr_reference.mpc(past)[0]

    # 8 s are left for the second one, or 6 s where that has no room with more: then it stalls for 2 s.
    assert (chosen(12_000), chosen(10_000)) == (1, 0)
    # Twice as much as predicted is an error of a half: 1.33 Mbit/s become 0.89.
    assert chosen(12_000, wrong_by=1 / 3) == 0


def test_plans_of_equal_value_by_hand() -> None:
    """Segments of 2 s at 1, 2 or 4 Mbit/s at 2 Mbit/s, from 5 s of buffer; the last has a quarter of the size.

    4, 4 stalls for 1 s, which costs 2.66. One step down and up again costs ln 2 + 0.9 x 2 ln 2 = 1.94, wherever it is.
    """
    played = session(max_buffer_ms=20_000, permille=[1000, 1000, 1000, 250])
    past = Past(played, 5.0, 2, [(1.0, 2e6)])
    assert abr_reference.mpc_best(past) == [1, 2]
    chosen = [abr_reference.mpc(replace(past, other=other)) for other in (None, 0, 1, 2)]
    assert chosen == [(1, 0.0), (1, 0.0), (1, 0.0), (2, 0.0)], "0 is none of the best"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_laws_of_drawn_sessions(name: str) -> None:
    for drawn_session in drawn(50, seed=1):
        outcome = play(drawn_session, ALGORITHMS[name])
        assert all(0 <= chosen < len(drawn_session.ladder_kbit) for chosen in outcome.chosen)
        assert outcome.completed_s == sorted(outcome.completed_s)
        # At the end, what was played, the stalls and the start-up are the time that has passed.
        media_s = len(outcome.chosen) * drawn_session.segment_ms / 1000
        buffer_s = media_s + outcome.completed_s[0] + outcome.stalled_s - outcome.completed_s[-1]
        assert drawn_session.segment_ms / 1000 - 1e-6 <= buffer_s <= drawn_session.max_buffer_ms / 1000 + 1e-6


def test_the_vectors_are_up_to_date() -> None:
    """`python tests/abr_reference.py --vectors > crates/video/tests/abr_reference.json` writes them."""
    text = VECTORS.read_text(encoding="utf-8")
    assert json.loads(text) == json.loads(abr_reference.vectors())
