"""Whole runs decide as the reference of rate adaptation, segment by segment (`abr_in_runs.py`)."""

from pathlib import Path

import pytest

from abr_in_runs import SESSIONS, Answer, answer, compared, next_packet, varint
from abr_reference import ALGORITHMS


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_decisions_of_whole_runs_are_those_of_the_reference(algorithm: str, tmp_path: Path) -> None:
    """Also of the reference alone: it knows the bytes of each download on the link, so that none may differ."""
    result = compared(algorithm, tmp_path)
    assert result.choices == SESSIONS * 40
    assert result.differ_replayed == 0, result
    assert result.request_off_s < 1e-5, result
    assert result.differ_alone == 0, result
    # About a byte at 9 Mbit/s. If packets or headers have changed, `answer` has to count them.
    assert result.download_off_s < 1e-6, result
    assert result.end_off_s < 1e-4, result
    assert result.sessions_probed <= 1, result


def test_the_bytes_of_an_answer_by_hand() -> None:
    """The third request, for 1000 bytes in packet 100: one packet."""
    head = (2 + 2 + 1 + 2 + 3) + (1 + 2)
    packet = 1 + 8 + 1 + 16 + (1 + 2 + 1 + 1 + 2) + (1 + 1 + 2)
    assert (varint(100), varint(1000)) == (2, 2)
    found = answer(1000, 2, 100)
    assert found.link_bytes == found.first_bytes == 28 + packet + head + 1000
    assert found.packets == 1
    # With 1500 bytes there are two: the first is full, and the other one has an offset, and a length of 76.
    found = answer(1500, 2, 100)
    full = 1472 - (1 + 8 + 1 + 16 + 7 + 2)
    assert (found.packets, found.first_bytes) == (2, 1500)
    assert found.link_bytes == 1500 + 28 + (1 + 8 + 1 + 16) + (1 + 1 + 2 + 2) + head + 1500 - full
    assert head + 1500 - full == 76


def test_the_next_request_by_hand() -> None:
    """Ten packets are acknowledged by five; the fifth has the request, unless the player waits."""
    ten, eleven = Answer(0, 0, 10), Answer(0, 0, 11)
    assert next_packet(100, 3, ten, waits=False) == 105
    assert next_packet(100, 3, ten, waits=True) == 106
    # The eleventh is acknowledged with the request. Before the first answer there is another packet.
    assert next_packet(100, 3, eleven, waits=True) == 106
    assert next_packet(0, 0, eleven, waits=False) == 6
