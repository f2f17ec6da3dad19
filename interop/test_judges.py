"""The judges: each is shown evidence that will do, and the same without one thing that it demands."""

from dataclasses import replace
from pathlib import Path

import pytest
from cases import admission, impairments, midway, transfers
from cases.case import Evidence, ProofError
from runner.wire import (
    CERTIFICATE,
    HANDSHAKE,
    INITIAL,
    PRE_SHARED_KEY,
    RETRY,
    SERVER_HELLO,
    VERSION_2,
    ZERO_RTT,
    Datagram,
)
from runner.wire import datagram as read

PLAIN = Datagram(
    at=0,
    source=("127.0.0.1", 1000),
    destination=("127.0.0.1", 443),
    to_server=True,
    length=1200,
    ecn=0,
    connections=frozenset({0}),
    short=False,
    types=(),
    versions=(),
    phases=(),
    frames=(),
    token_lengths=(),
    messages=(),
    extensions=(),
    suites=(),
    protocols=(),
    streams=(),
    challenges=(),
    responses=(),
)
BACK = replace(PLAIN, to_server=False, source=("127.0.0.1", 443), destination=("127.0.0.1", 1000))
LOST = {"link": "path forward", "lost": 3, "corrupted": 0}


def evidence(
    at_client: list[Datagram], at_server: list[Datagram] | None = None, ours: str = "server", **relay: object
) -> Evidence:
    """As if tshark had read it."""
    made = Evidence(Path(), 443, 443, {"links": [LOST, LOST], "blacked_out": 1, **relay}, ours)
    made.__dict__.update(at_client=at_client, at_server=at_server or [])
    return made


def resumed() -> list[Datagram]:
    second = frozenset({1})
    return [
        replace(BACK, messages=(SERVER_HELLO, CERTIFICATE)),
        replace(BACK, connections=second, messages=(SERVER_HELLO,), extensions=(PRE_SHARED_KEY,)),
        replace(PLAIN, connections=second, types=(ZERO_RTT,), frames=(0x0A,)),
    ]


def migrated() -> tuple[list[Datagram], list[Datagram]]:
    at_client = [
        replace(BACK, frames=(0x1A,), challenges=("c1",)),
        replace(PLAIN, frames=(0x1B,), responses=("c1",)),
        replace(PLAIN, source=("127.0.0.1", 1001)),
    ]
    there = ("127.0.0.2", 1001)
    return at_client, [PLAIN, replace(PLAIN, source=there), replace(BACK, destination=there)]


def refused(judge: object, shown: Evidence) -> str:
    assert callable(judge)
    with pytest.raises(ProofError) as error:
        judge(shown)
    return str(error.value)


def test_two_connections_are_not_one() -> None:
    transfers.handshake(evidence([PLAIN, BACK]))
    assert "2 connections" in refused(transfers.handshake, evidence([PLAIN, replace(BACK, connections=frozenset({1}))]))
    assert "Retry" in refused(transfers.handshake, evidence([PLAIN, replace(BACK, types=(RETRY,))]))


def test_a_long_round_trip_needs_a_second_initial() -> None:
    first, second = replace(PLAIN, types=(INITIAL,)), replace(PLAIN, types=(INITIAL,), at=1)
    transfers.longrtt(evidence([first, second, replace(BACK, at=1.5)]))
    assert "no second" in refused(transfers.longrtt, evidence([first, replace(BACK, at=0.5), second]))


def test_chacha20_is_what_the_server_says() -> None:
    transfers.chacha20(evidence([replace(BACK, messages=(SERVER_HELLO,), suites=(0x1303,))]))
    refused(transfers.chacha20, evidence([replace(BACK, messages=(SERVER_HELLO,), suites=(0x1301,))]))


def test_many_files_are_many_streams() -> None:
    transfers.multiplexing(evidence([replace(BACK, streams=tuple(range(0, 8000, 4)))]))
    assert "1999" in refused(transfers.multiplexing, evidence([replace(BACK, streams=tuple(range(0, 7996, 4)))]))


def test_http3_is_what_was_chosen() -> None:
    transfers.http3(evidence([replace(BACK, protocols=("h3",), streams=(3,))]))
    refused(transfers.http3, evidence([replace(BACK, protocols=("hq-interop",), streams=(3,))]))


def test_after_a_retry_all_initials_have_the_token() -> None:
    answer, after = replace(BACK, types=(RETRY,), at=1), replace(PLAIN, types=(INITIAL,), at=2)
    admission.retry(evidence([PLAIN, answer, replace(after, token_lengths=(40,))]))
    assert "without a token" in refused(admission.retry, evidence([PLAIN, answer, replace(after, token_lengths=(0,))]))
    assert "no Retry" in refused(admission.retry, evidence([PLAIN, after]))


def test_resumption_and_early_data() -> None:
    admission.zerortt(evidence(resumed()))
    full = [resumed()[0], replace(resumed()[1], extensions=())]
    assert "was not resumed" in refused(admission.resumption, evidence(full))
    assert "no 0-RTT" in refused(admission.zerortt, evidence(resumed()[:2]))
    late = replace(PLAIN, connections=frozenset({1}), short=True, frames=(0x0A,))
    assert "after it" in refused(admission.zerortt, evidence([*resumed(), late]))
    closed = [*resumed()[:-1], replace(resumed()[-1], frames=())]
    assert "no data" in refused(admission.zerortt, evidence(closed))
    assert "no data" in refused(admission.zerortt, evidence([*closed, late]))
    admission.zerortt(evidence([*closed, replace(late, frames=(0x02,))]))


def test_version_2_is_in_the_headers() -> None:
    hello = replace(PLAIN, types=(INITIAL,), versions=(1,))
    ends = [replace(d, types=(HANDSHAKE,), versions=(VERSION_2,)) for d in (PLAIN, BACK)]
    admission.v2(evidence([hello, *ends]))
    assert "server in version 1" in refused(admission.v2, evidence([hello, ends[0], replace(ends[1], versions=(1,))]))


def test_our_server_keeps_to_three_times_and_no_more() -> None:
    hello, validated = replace(PLAIN, types=(INITIAL,)), replace(PLAIN, types=(HANDSHAKE,))
    flight = [replace(BACK, length=1200)] * 3
    admission.amplificationlimit(evidence([], [hello, *flight, validated, *flight]))
    over = evidence([], [hello, *flight, replace(BACK, length=1)])
    assert "3601 bytes" in refused(admission.amplificationlimit, over)
    admission.amplificationlimit(replace_role(over))
    assert "near" in refused(admission.amplificationlimit, evidence([], [hello, replace(BACK, length=100)]))


def replace_role(shown: Evidence) -> Evidence:
    return evidence(shown.at_client, shown.at_server, ours="client")


def test_impairments_have_to_be_real() -> None:
    many = [replace(PLAIN, connections=frozenset({n})) for n in range(50)]
    impairments.handshakes(evidence(many))
    assert "49 connections" in refused(impairments.handshakes, evidence(many[:49]))
    calm = {"link": "path forward", "lost": 0, "corrupted": 0}
    assert "nothing befell" in refused(impairments.transfer, evidence([PLAIN], links=[LOST, calm]))
    assert "dark" in refused(impairments.blackhole, evidence([PLAIN], blacked_out=0))


def test_a_key_update_is_seen_at_both_ends() -> None:
    both = [replace(d, phases=(phase,)) for d in (PLAIN, BACK) for phase in (False, True)]
    midway.keyupdate(evidence(both))
    assert "the server" in refused(midway.keyupdate, evidence(both[:3]))


def test_ecn_is_marks_and_counts_of_both() -> None:
    client, server = replace(PLAIN, ecn=2, frames=(3,)), replace(BACK, ecn=2, frames=(3,))
    midway.ecn(evidence([client], [server]))
    assert "no ECN counts" in refused(midway.ecn, evidence([client], [replace(server, frames=(2,))]))
    assert "marks nothing" in refused(midway.ecn, evidence([replace(client, ecn=0)], [server]))


def test_a_move_is_a_new_place_and_an_answered_challenge() -> None:
    at_client, at_server = migrated()
    for judge in midway.rebind_port, midway.rebind_addr, midway.connectionmigration:
        judge(evidence(at_client, at_server))
    assert "places only" in refused(midway.rebind_port, evidence(at_client, at_server[:1]))
    same = replace(at_server[1], source=("127.0.0.1", 1001))
    assert "IP address" in refused(midway.rebind_addr, evidence(at_client, [at_server[0], same, at_server[2]]))
    assert "sent nothing" in refused(midway.rebind_port, evidence(at_client, [at_server[0], same, BACK]))
    silent = [at_client[0], replace(at_client[1], responses=("c2",)), at_client[2]]
    assert "PATH_RESPONSE" in refused(midway.rebind_port, evidence(silent, at_server))
    assert "one port" in refused(midway.connectionmigration, evidence(at_client[:2], at_server))


def test_a_line_of_tshark() -> None:
    ends = "127.0.0.1\t\t127.0.0.2\t\t443\t1000"
    line = f"7.5\t{ends}\t1208\t2\t\t0;0\t1;0\t\t2\t0x6b3343cf\t1\t2;6\t0\t2\t41\t0x1303\th3\t3\tab\tcd\t"
    made = read(line, 443)
    assert (made.to_server, made.length, made.ecn, made.short) == (False, 1200, 2, True)
    # Version 2 numbers an Initial 1 and a 0-RTT packet 2 (RFC 9369 section 3.2).
    assert (made.types, made.versions, made.phases) == ((ZERO_RTT,), (VERSION_2,), (True,))
    assert (made.messages, made.extensions, made.protocols, made.streams) == ((2,), (41,), ("h3",), (3,))
