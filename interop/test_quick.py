"""What CI runs of the matrix (`make interop-quick`): two peers that are built soon, the cases that take seconds."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cases import CASES
from runner import matrix
from runner.cell import FAILED, PASSED, UNSUPPORTED_BY_PEER, Cell, Result
from runner.stacks import OURS, STACKS, certificates

PEERS = ("quinn", "aioquic")
LONG = {"transfer", "longrtt", "handshakeloss", "handshakecorruption", "blackhole", "rebind-port", "rebind-addr"}
"""Cases that take ten seconds and more."""

JOBS = 4
"""Cells at one time: most of their time they wait."""

CELLS = [(peer, case, role) for peer in PEERS for case in CASES if case not in LONG for role in ("client", "server")]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], Result]:
    """All cells, run side by side."""
    base = tmp_path_factory.mktemp("interop")
    trusted = certificates(base / "certificates")
    with ThreadPoolExecutor(JOBS) as pool:
        return dict(zip(CELLS, pool.map(lambda cell: run(cell, base, trusted), CELLS), strict=True))


def run(which: tuple[str, str, str], base: Path, trusted: Path) -> Result:
    """One cell."""
    peer, case, role = which
    ours, theirs = STACKS[OURS], STACKS[peer]
    client, server = (ours, theirs) if role == "client" else (theirs, ours)
    return Cell("-".join(which), CASES[case], role, client, server, 1, matrix.again(*which, 1)).run(base, trusted)


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_a_cell_is_as_the_matrix_says(cell: tuple[str, str, str], results: dict[tuple[str, str, str], Result]) -> None:
    """What passed when the matrix was made passes still; what failed may have got better."""
    result = results[cell]
    known = {matrix.key(row): row["result"] for row in matrix.load(matrix.MATRIX)}
    allowed = {PASSED: {PASSED}, UNSUPPORTED_BY_PEER: {UNSUPPORTED_BY_PEER}, FAILED: {PASSED, FAILED}}
    assert result.result in allowed[known[cell]], f"{result.reason}\nagain: {matrix.again(*cell, 1)}"


def test_what_fails_has_a_cause() -> None:
    """A failed cell of the matrix is one of those whose cause is known, and each of those is a cell of the matrix."""
    rows = matrix.load(matrix.MATRIX)
    explained = {matrix.key(row) for row in matrix.load_failures()}
    assert {matrix.key(row) for row in rows if row["result"] == "failed"} <= explained
    assert explained <= {matrix.key(row) for row in rows if row["result"] != "unsupported"}


def test_what_is_unsupported_has_a_source() -> None:
    """Each thing that a peer denies has a reason with a source, and nothing else has."""
    denied = {(peer, option) for peer in PEERS for option in STACKS[peer].cannot}
    explained = {(row["peer"], row["option"]) for row in matrix.load_sources() if row["peer"] in PEERS}
    assert denied == explained
