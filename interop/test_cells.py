"""Which cells are unsupported: those of which an end says that it cannot do what the case needs."""

from pathlib import Path

import pytest
from cases import CASES
from runner.cell import UNSUPPORTED_BY_PEER, Cell
from runner.stacks import Stack


def stack(*cannot: str) -> Stack:
    """A stack that says so of itself."""
    made = Stack("theirs", ())
    made.__dict__["about"] = {"name": "theirs 1.0", "cannot": dict.fromkeys(cannot, "it has none")}
    return made


@pytest.mark.parametrize(
    ("case", "option", "role"),
    [
        ("http3", "h3", "client"),
        ("http3", "h3", "server"),
        ("zerortt", "early-data", "client"),
        ("zerortt", "early-data", "server"),
        ("connectionmigration", "migrate", "server"),
        ("connectionmigration", "follow", "client"),
        ("rebind-port", "follow", "client"),
        ("rebind-addr", "follow", "client"),
        ("retry", "retry", "client"),
        ("v2", "v2", "server"),
    ],
)
def test_a_cell_that_an_end_cannot_do_is_not_run(case: str, option: str, role: str, tmp_path: Path) -> None:
    """A value of an option and what a server has to do without being told count as much as an option."""
    able, unable = stack(), stack(option)
    client, server = (able, unable) if role == "client" else (unable, able)
    result = Cell("cell", CASES[case], role, client, server, 1, "").run(tmp_path, tmp_path)
    assert (result.result, result.reason) == (UNSUPPORTED_BY_PEER, f"theirs, {option}: it has none")


@pytest.mark.parametrize(
    ("case", "option", "role"), [("rebind-port", "follow", "server"), ("retry", "retry", "server")]
)
def test_what_the_other_end_has_to_do_is_no_reason(case: str, option: str, role: str) -> None:
    """A client need not do what only a server does."""
    assert Cell("cell", CASES[case], role, stack(option), stack(), 1, "").missing() is None
