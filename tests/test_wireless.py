"""docs/wireless.md: the commands of the guide can be typed as they stand, and its numbers are those that they give."""

import contextlib
import io
import re
import shlex
import statistics
from pathlib import Path
from typing import Any

import pytest

import quiclab
from conftest import Command

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "wireless.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
COMMANDS = re.findall(r"^    (quiclab .*)$", PAGE, re.MULTILINE)
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = dict(re.findall(r"`(\w+\.toml)`:\n\n```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
"""The scenarios that the reader is to save, by name."""


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like that of the checkout, with the files of the page in it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(file: str, *sets: str) -> quiclab.Run:
    return quiclab.Scenario.from_file(file, sets).run()


def flows(run: quiclab.Run) -> dict[str, dict[str, Any]]:
    """The entries of the connections by name."""
    return {entry["name"]: entry for entry in run.summary["connections"]}


def lanes(run: quiclab.Run) -> dict[str, dict[str, Any]]:
    """What the summary says of the lanes of the air, by name."""
    keys = ("name", "attachment", "to")
    return {" ".join(entry[key] for key in keys if key in entry): entry["air"] for entry in run.summary["media"]}


def rows(title: str) -> dict[str, list[str]]:
    """The table whose first cell is `title`: the cells of its rows by the first of each."""
    lines = PAGE.splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith(f"| {title} |"))
    found = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *others = (cell.strip() for cell in line.strip("|").split("|"))
        found[first] = others
    return found


def sets(row: str) -> list[str]:
    """The changes that a row's first cell has in code type."""
    words = [word for code in re.findall("`([^`]*)`", row) for word in shlex.split(code)]
    assert all((word == "--set") == (number % 2 == 0) for number, word in enumerate(words)), row
    return words[1::2]


def printed(program: str) -> list[str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, {})
    return out.getvalue().splitlines()


def said(*phrases: str) -> None:
    """Asserts that the page says these words, wherever its lines end."""
    for phrase in phrases:
        assert phrase in WORDS, phrase


def test_the_page_has_its_parts() -> None:
    assert set(FILES) == {"phone.toml", "two.toml"}
    assert len(COMMANDS) >= 7
    assert len(PROGRAMS) >= 3


@pytest.mark.parametrize("typed", COMMANDS)
def test_a_command_can_be_typed_as_it_stands(command: Command, checkout: Path, typed: str) -> None:
    """It is checked instead of run, which takes the same files and changes."""
    _, verb, *arguments = shlex.split(typed)
    assert verb in ("run", "check", "list", "reproduce")
    command.folder = checkout
    if verb == "reproduce":
        verb, arguments = "reproduce", ["--list"]
    result = command("check" if verb == "run" else verb, *arguments)
    assert (result.returncode, result.stderr) == (0, "")


def test_one_phone_and_three_radios() -> None:
    for row, cells in rows("radio").items():
        (get,) = flows(run("phone.toml", *sets(row))).values()
        assert cells == [f"{get['goodput_mbps']:.1f}", f"{get['rtt_mean_ms']:.0f}"], row
    fastest, faster = (run("phone.toml", f"medium.air.channel={sinr}").summary["connections"][0] for sinr in (25, 40))
    assert fastest["goodput_mbps"] == faster["goodput_mbps"]
    reached = [run("phone.toml", f"medium.air.channel={sinr}").summary["connections"][0] for sinr in (-2.1, -2.2)]
    assert [get["delivered_bytes"] > 0 for get in reached] == [True, False]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_prints_what_the_page_shows(number: int) -> None:
    block = "".join(f"    {line}\n" for line in printed(PROGRAMS[number]))
    assert f"```\n\n{block}\n" in PAGE, block


def messages(file: str, *sets: str) -> dict[str, Any]:
    """The entry of a connection with messages of 100 bytes."""
    message = '{ type = "messages", source = { type = "constant", size = 100, gap = "97 ms" } }'
    (get,) = flows(run(file, "duration=20 s", f"flow.get.application={message}", *sets)).values()
    return get


def test_what_a_grant_costs() -> None:
    (grant,) = re.findall(r"`--set \"(medium.air.first_grant=[^\"]*)\"` makes it", WORDS)
    said(f"makes it {messages('phone.toml', grant)['messages']['delay_mean_ms']:.1f} ms")
    download = messages("phone.toml", "flow.get.application.direction=download", "transport.ack_ratio=1")
    rtt = round(download["rtt_mean_ms"])
    said(f"measures a mean RTT of {rtt} ms, {rtt - 20} ms more than the internet takes")
    (period,) = re.findall(r"`--set \"(medium.air.request_period=[^\"]*)\"` makes", WORDS)
    delay = messages("phone.toml", "medium.air.type=nr", period)["messages"]["delay_mean_ms"]
    usual = messages("phone.toml", "medium.air.type=nr")["messages"]["delay_mean_ms"]
    said(f"makes {delay:.1f} ms of the {usual:.1f}")


def test_the_edge_of_the_cell() -> None:
    for row, cells in rows("at the edge").items():
        edge = run("examples/cell-edge.toml", *sets(row))
        film, heard, spoken = flows(edge).values()
        late = [f"{call['messages']['deadline_misses']:,}" for call in (heard, spoken)]
        seconds = f"{film['completion_s']:.3f}" if film["completed"] else "never"
        assert cells == [seconds, f"{film['packets_lost']:,}", *late], row
        assert all(990 < call["messages"]["number"] < 1000 for call in (heard, spoken))
        drops = sum(entry["drops"]["queue"] for entry in edge.summary["media"])
        if row.startswith("as it is"):
            said(f"all {film['packets_lost']} losses are drops of the queue")
            assert film["packets_lost"] + heard["packets_lost"] + spoken["packets_lost"] == drops
        if row.startswith("neither"):
            down = lanes(edge)["cell enb phone"]
            assert down["lost_blocks"] / down["sent_blocks"] == pytest.approx(1 / 8, abs=0.01)
            said(f"in 15 s the film gets {film['goodput_mbps']:.2f} Mbit/s")


def test_schedulers() -> None:
    for row, cells in rows("scheduler").items():
        two = flows(run("two.toml", *sets(row)))
        rates = [two[name]["goodput_mbps"] for name in ("near", "far")]
        assert cells == [f"{rate:.1f}" for rate in (*rates, sum(rates))], row
        if "max-rate" in row:
            assert two["far"]["rtt_mean_ms"] > 2000


def test_two_uploads() -> None:
    (typed,) = (command for command in COMMANDS if "two.toml --set" in command)
    first = shlex.split(typed)[4::2]
    for row, cells in rows("two uploads").items():
        two = flows(run("two.toml", *first, *sets(row)))
        assert cells == [f"{two[name]['goodput_mbps']:.1f}" for name in ("near", "far")], row


def delays_of_call(run: quiclab.Run, start: float, end: float) -> list[float]:
    """The delays in ms of the messages of a call that were written between two times in seconds, and delivered."""
    messages = [row for row in run.table("message").to_pylist() if row["connection"] == "call"]
    return [row["delay_ms"] for row in messages if start <= row["written_s"] < end and row["delay_ms"] is not None]


def test_a_call_among_laptops() -> None:
    for row, cells in rows("the call").items():
        wlan = run("examples/wlan.toml", *sets(row))
        call = flows(wlan)["call"]["messages"]
        delays = [f"{call[key]:.1f}" for key in ("delay_mean_ms", "delay_p95_ms")]
        assert cells == [*delays, str(call["deadline_misses"])], row
        assert call["number"] == 250
        if row.startswith("a fair queue"):
            parts = [delays_of_call(wlan, 1, 2), delays_of_call(wlan, 2, 3.5)]
            before, after = (sum(delays) / len(delays) for delays in parts)
            said(f"takes {before:.0f} ms beside downloads, and {after:.0f} ms from second 2 on")
        if row.startswith("as it is"):
            uploads = [lanes(wlan)[f"air laptop{number}"] for number in (3, 4, 5)]
            again, first = (sum(lane[key] for lane in uploads) for key in ("again_blocks", "sent_blocks"))
            said(f"{100 * again / (again + first):.0f} % are repetitions")


def test_a_train() -> None:
    late, losses = [], []
    for row, cells in rows("the train").items():
        train = run("examples/train.toml", *sets(row))
        film, call = flows(train).values()
        late.append(call["messages"]["deadline_misses"])
        losses.append(film["packets_lost"])
        assert cells == [f"{film['goodput_mbps']:.1f}", f"{losses[-1]:,}", f"{late[-1]:,}"], row
        if row.startswith("never"):
            said(f"in the last row {3400 - call['messages']['number']} of them were not even written")
        else:
            assert call["messages"]["number"] == 3400
        if row.startswith("as it is"):
            view = train.table("connection").to_pylist()
            peak = max(
                row["latest_rtt_ms"] or 0 for row in view if row["connection"] == "film" and row["side"] == "server"
            )
            assert peak == pytest.approx(2000, rel=0.15)
    said(
        f"{round((losses[2] - losses[0]) / 2, -1):.0f} packets each time",
        f"costs the call {(late[1] - late[0]) / 2:.0f} packets more at each",
    )
    film = flows(run("examples/train.toml", "flow.film.protocol=tcp", "medium.railway.forwarding=false"))["film"]
    said(f"loses {film['packets_lost']} packets and reaches {film['goodput_mbps']:.1f} Mbit/s")


def test_a_call_in_thirty_runs() -> None:
    scenario = quiclab.Scenario.from_file("examples/wlan.toml")
    runs = [flows(scenario.run(seed))["call"]["messages"]["delay_mean_ms"] for seed in range(1, 31)]
    says = f"lies between {min(runs):.0f} and {max(runs):.0f} ms, with a median of {statistics.median(runs):.0f} ms."
    assert says in WORDS, says
