"""`quiclab dev script`: what it prints, what it gives as JSON, and its exit codes."""

import json
from pathlib import Path

import pytest

from conftest import Command

HOLDS = """\
// RFC 9000 section 13.2.1: the acknowledgement of a single packet waits for max_ack_delay at most.
option role = server
handshake rtt 40ms
+0      < 1rtt #1 PING
@25ms   > 1rtt ACK(.., delay 25ms)
"""
FAILS = HOLDS.replace("@25ms", "@20ms")

SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture
def scripts(command: Command) -> Command:
    """Two scripts in a folder, of which one does not hold, and one beside it."""
    for name, text in {"a/fails.quic": FAILS, "a/b/holds.quic": HOLDS, "alone.quic": HOLDS}.items():
        file = command.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return command


def test_a_line_per_script_and_exit_code_0_if_all_hold(scripts: Command) -> None:
    result = scripts("dev", "script", "alone.quic", "a/b")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "pass   alone.quic",
        "pass   a/b/holds.quic",
        "2 of 2 scripts pass, 2 packets compared",
    ]


def test_a_script_is_run_once_however_often_it_is_named(scripts: Command) -> None:
    result = scripts("dev", "script", "a/b/holds.quic", "a/b", "a/b/holds.quic")
    assert result.stdout.count("pass ") == 1


def test_a_difference_is_shown_side_by_side(scripts: Command) -> None:
    result = scripts("dev", "script", "a", "alone.quic")
    assert (result.returncode, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert [line for line in lines if line.startswith(("pass", "FAIL"))] == [
        "pass   a/b/holds.quic",
        "FAIL   a/fails.quic",
        "pass   alone.quic",
    ]
    assert "a/fails.quic:5: nothing was sent between @19.9ms and @20.1ms" in lines
    (marked,) = [line for line in lines if line.startswith("!")]
    assert marked == "!     5  @20ms   > 1rtt ACK(.., delay 25ms) | nothing; its next timer is due @25ms"
    assert lines[-1] == "2 of 3 scripts pass, 2 packets compared"


def test_json(scripts: Command) -> None:
    result = scripts("dev", "script", "a", "--json")
    assert (result.returncode, result.stderr) == (1, "")
    told = json.loads(result.stdout)
    assert told["passed"] is False
    holds, fails = told["scripts"]
    assert holds == {"file": "a/b/holds.quic", "passed": True, "statements": 3, "packets": 1}
    assert (fails["passed"], fails["line"], fails["at"]) == (False, 5, "@20.1ms")
    assert fails["reason"].startswith("nothing was sent")
    assert fails["report"].startswith(f"a/fails.quic:5: {fails['reason']}\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (HOLDS.replace("PING", "PNIG"), 'x.quic:4:19: unknown frame "PNIG"'),
        (HOLDS.replace("server", "sever"), 'x.quic:2:15: found "sever"; expected client or server'),
        (HOLDS.replace("ACK(..", "ACK(dealy"), 'x.quic:5:20: unknown field of ACK "dealy"'),
        (HOLDS.replace("1rtt", "1rrt"), 'x.quic:4:11: unknown packet "1rrt"'),
        (HOLDS.replace("#1 ", "#$n "), 'x.quic:4:17: unknown variable "n"'),
        (HOLDS.replace("handshake", "handshak"), 'did you mean "handshake"?'),
        (HOLDS.replace("role", "transport.ack_ration"), 'did you mean "ack_ratio"?'),
        (HOLDS.replace("25ms   >", "25   >"), "x.quic:5:2: "),
    ],
)
def test_a_mistake_is_one_line_that_says_where(command: Command, text: str, told: str) -> None:
    (command.folder / "x.quic").write_text(text, encoding="utf-8")
    result = command("dev", "script", "x.quic")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert told in result.stderr
    assert result.stderr.startswith("quiclab: x.quic:")


def test_a_mistake_in_one_does_not_keep_others_from_running(scripts: Command) -> None:
    (scripts.folder / "broken.quic").write_text("nonsense\n", encoding="utf-8")
    result = scripts("dev", "script", "broken.quic", "missing.quic", "alone.quic", "--json")
    assert result.returncode == 2
    assert result.stderr.startswith("quiclab: broken.quic:1:1: unknown statement")
    assert "(and 1 more with a mistake)" in result.stderr
    broken, missing, alone = json.loads(result.stdout)["scripts"]
    assert broken["error"].startswith("broken.quic:1:1: ")
    assert missing["error"] == "missing.quic: No such file or directory"
    assert alone["passed"] is True


def test_what_is_no_text_and_a_folder_without_scripts_are_told(command: Command) -> None:
    (command.folder / "x.quic").write_bytes(b"\xff\xfe")
    (command.folder / "empty").mkdir()
    result = command("dev", "script", "x.quic")
    assert (result.returncode, result.stderr) == (
        2,
        "quiclab: x.quic: the file is UTF-16; expected UTF-8: save it as UTF-8\n",
    )
    result = command("dev", "script", "empty")
    assert (result.returncode, result.stderr) == (2, "quiclab: empty: no script (*.quic) in this folder\n")


def test_the_scripts_of_the_repository_hold(command: Command) -> None:
    result = command("dev", "script", str(SCRIPTS), "--json")
    assert (result.returncode, result.stderr) == (0, "")
    told = json.loads(result.stdout)
    assert told["passed"] is True
    assert len(told["scripts"]) == len(list(SCRIPTS.rglob("*.quic")))
