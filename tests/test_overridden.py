"""Values that a file's [sweep] overrides: setting one changes nothing, and is reported."""

from pathlib import Path

import pytest

import quiclab
from conftest import SCENARIO, Command
from quiclab import _quiclab

SWEEP = (
    SCENARIO
    + """
[[link]]
name = "far"
from = "server"
to = "other"
rate = "1 Mbit/s"

[[flow]]
name = "second"
client = "client"
server = "server"
application = { type = "bulk", size = "10 kB" }

[sweep]
"link.cell.forward.rate" = ["5 Mbit/s"]
flow.second.application = [{ type = "bulk", size = "10 kB" }, { type = "bulk", size = "20 kB" }]

[[sweep.zip]]
"transport.controller" = ["newreno", "cubic"]
"transport.ack_ratio" = [1, 2]
"""
)


def parse(*sets: str, text: str = SWEEP) -> _quiclab.Sweep:
    return _quiclab.Sweep.parse(text, "s.toml", list(sets))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("link.cell.forward.rate=9 Mbit/s", r"varied by the sweep; expected sweep\.link\.cell\.forward\.rate="),
        # The same in other words: by its number, or below what is varied.
        (
            "link.0.forward.rate=9 Mbit/s",
            r"link\.0\.forward\.rate: no run has it, since the sweep varies link\.cell\.forward\.rate; "
            r"expected sweep\.link\.cell\.forward\.rate=\[\.\.\.\], its values",
        ),
        ('link.cell.forward={ rate = "9 Mbit/s", loss = "1 %" }', r"sweep varies link\.cell\.forward\.rate;"),
        ("flow.second.application.size=1 MB", r"since the sweep varies flow\.second\.application;"),
        ("flow.1.application.size=1 MB", r"since the sweep varies flow\.second\.application;"),
        ("transport.controller=bbr1", r"varied by the sweep; expected sweep\.transport\.controller="),
    ],
)
def test_a_change_that_no_run_has_is_refused(change: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(quiclab.ScenarioError, match="^--set .*" + message):
        parse(change)
    # From Python too; alone it is a scenario like any other.
    changed = quiclab.Scenario.from_text(SWEEP).with_([change])
    with pytest.raises(quiclab.ScenarioError, match=message):
        quiclab.sweep(changed, out=tmp_path / "s")
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    "change",
    [
        "link.cell.backward.rate=9 Mbit/s",
        # Another value beside the one that is varied.
        'link.cell.forward={ rate = "9 Mbit/s", loss = "2 %" }',
        "link.far.rate=9 Mbit/s",
        "link.1.rate=9 Mbit/s",
        "duration=2 s",
        # It changes nothing, but not because of the sweep.
        "duration=20 s",
        "sweep.repetitions=2",
    ],
)
def test_other_changes_are_made(change: str) -> None:
    assert parse(change).runs >= 4


@pytest.mark.parametrize(
    ("change", "path", "values"),
    [
        ('sweep.link.cell.forward.rate=["9 Mbit/s", "8 Mbit/s"]', "link.cell.forward.rate", ["9 Mbit/s", "8 Mbit/s"]),
        ('sweep."link.cell.forward.rate"=["9 Mbit/s"]', "link.cell.forward.rate", ["9 Mbit/s"]),
        ('sweep.transport.controller=["bbr1", "bbr3"]', "transport.controller", ["bbr1", "bbr3"]),
        ('sweep.transport.max_ack_delay=["1 ms"]', "transport.max_ack_delay", ["1 ms"]),
    ],
)
def test_what_the_error_advises_works(change: str, path: str, values: list[str]) -> None:
    """However the path stands in the file: in quotation marks, as tables, in a zip."""
    changed = parse(change)
    found = [(where, labels) for where, labels, _ in changed.parameters if where == path]
    assert found == [(path, values)]
    before = {where for where, _, _ in parse().parameters}
    assert sorted(where for where, _, _ in changed.parameters) == sorted(before | {path})


def test_a_zip_keeps_its_length() -> None:
    with pytest.raises(quiclab.ScenarioError, match="wrong length, found 1 values; expected 2, as many as the paths"):
        parse('sweep.transport.controller=["bbr1"]')


def test_the_paths_of_a_zip_are_changed_together() -> None:
    both = ('sweep.transport.controller=["newreno", "cubic", "bbr1"]', "sweep.transport.ack_ratio=[1, 2, 4]")
    for sets in (both, both[::-1]):
        values = {path: values for path, values, _ in parse(*sets).parameters}
        assert [len(values[path]) for path in ("transport.controller", "transport.ack_ratio")] == [3, 3]


def test_a_value_of_the_file_that_no_run_has_is_noted() -> None:
    assert parse().notes == []
    # In other words it is the same.
    assert parse(text=SWEEP.replace('rate = "5 Mbit/s"', 'rate = "5000 kbit/s"')).notes == []
    (note,) = parse(text=SWEEP.replace('rate = "5 Mbit/s"', 'rate = "40 Mbit/s"')).notes
    assert note == (
        's.toml:14:8: link.cell.forward.rate: no run of the sweep has this value, "40 Mbit/s"; '
        "in [sweep] is the value: 5 Mbit/s"
    )
    edited = SWEEP.replace('application = { type = "bulk", size = "10 kB" }', 'application = "bulk"')
    (note,) = parse(text=edited).notes
    assert "flow.second.application: no run of the sweep has this value" in note
    # Values given on the command line need no note.
    assert parse('sweep.link.cell.forward.rate=["9 Mbit/s"]').notes == []


HIDDEN = """
[transport]
controller = "bbr1"
[[link]]
name = "l"
from = "server"
to = "client"
both = { rate = "7 Mbit/s" }
[[flow]]
name = "d"
client = "client"
server = "server"
application = { type = "bulk", size = "20 kB" }
[sweep]
flow.d.transport.controller = ["newreno", "cubic"]
link.l.forward.rate = ["2 Mbit/s", "3 Mbit/s"]
"""


def test_what_is_hidden_from_every_flow_and_direction_is_told() -> None:
    """A value of all flows, or of both directions, where each one is varied."""
    # The rate of the other direction is that of the file.
    (note,) = parse(text=HIDDEN).notes
    assert note == (
        's.toml:3:14: controller: no run of the sweep has this value, "bbr1"; '
        "[sweep] varies flow.d.transport.controller"
    )
    both = HIDDEN + 'link.l.backward.rate = ["2 Mbit/s"]\n'
    notes = parse(text=both).notes
    assert len(notes) == 2 and notes[1] == (
        's.toml:8:17: rate: no run of the sweep has this value, "7 Mbit/s"; '
        "[sweep] varies link.l.forward.rate, link.l.backward.rate"
    )
    with pytest.raises(quiclab.ScenarioError, match=r"^--set transport\.controller=copa: .*varies flow\.d\.transport"):
        parse("transport.controller=copa", text=HIDDEN)
    # An option that is not varied is had by all runs; and so is one that another flow has.
    parse("transport.ack_ratio=4", text=HIDDEN)
    other = HIDDEN.replace(
        "[sweep]",
        """[[flow]]
name = "e"
client = "client"
server = "server"
application = "bulk"
[sweep]""",
    )
    assert parse(text=other).notes == []


def test_many_values_are_compared_and_of_more_nothing_is_said() -> None:
    def notes(count: int, delay: str) -> int:
        delays = ", ".join(f'"{ms} ms"' for ms in range(1, count + 1))
        text = f"{SCENARIO}\n[sweep]\nlink.cell.delay = [{delays}]\n"
        return len(parse(text=text.replace('delay = "10 ms"', f'delay = "{delay}"', 1)).notes)

    assert [notes(100, delay) for delay in ("99 ms", "0.099 s", "500 ms")] == [0, 0, 1]
    assert notes(1100, "5 s") == 0


def test_the_commands_tell_it(command: Command) -> None:
    text = SWEEP.replace('rate = "5 Mbit/s"', 'rate = "40 Mbit/s"')
    (command.folder / "s.toml").write_text(text, encoding="utf-8")
    result = command("sweep", "s.toml", "--out", "s")
    assert result.returncode == 0
    assert result.stderr.startswith("note: s.toml:14:8: link.cell.forward.rate: no run of the sweep has this value")
    result = command("check", "s.toml")
    assert result.returncode == 0
    assert "warning: sweep: s.toml:14:8: link.cell.forward.rate: no run of the sweep" in result.stderr
    result = command("sweep", "s.toml", "--set", "link.0.forward.rate=9 Mbit/s", "--out", "t")
    assert (result.returncode, result.stdout) == (2, "") and not (command.folder / "t").exists()
    assert "since the sweep varies link.cell.forward.rate" in result.stderr


EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.toml"))


# Gates have real packets, and no runs in virtual time.
@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem != "gates"], ids=lambda path: path.name)
def test_the_columns_are_known_before_the_runs(path: Path) -> None:
    """And no example needs a note."""
    # A flow of the dumbbell begins after five seconds, the last event of the migration comes after three, and the last
    # visits after twenty and thirty.
    returns = dict.fromkeys(("resume-store", "resume-token", "resume-bdp-frame"), "31 s")
    durations = {
        "dumbbell": "6 s",
        "migration": "4 s",
        "return-visit": "21 s",
        "ldad": "9 s",
        "wlan": "3 s",
        "cell-edge": "6 s",
        "video": "41 s",
        **returns,
    }
    duration = durations.get(path.stem, "1 s")
    changes = [f'sweep.duration=["{duration}"]', "sweep.repetitions=1"]
    made = quiclab.sweep(path, changes)
    assert _quiclab.Sweep.parse(path.read_text(encoding="utf-8"), path, changes).columns() == made.runs.column_names
    assert _quiclab.Sweep.parse(path.read_text(encoding="utf-8"), path, []).notes == []
