"""`quiclab.diff` and `quiclab diff`: what differs between two runs, scenarios, sweeps."""

import json
from pathlib import Path

import pytest

import quiclab
from conftest import SCENARIO, Command
from quiclab.differences import Values, compared, value_text


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of bulk.toml with another seed and another controller."""
    changed = {"seed": 5, "transport.controller": "bbr3"}
    run = quiclab.Scenario.from_text(SCENARIO, changed).run()
    return run.save(tmp_path_factory.mktemp("other") / "run", figure=False)


def test_what_differs_in_scenario_and_results(saved: Path, other: Path, run: quiclab.Run) -> None:
    found = quiclab.diff(saved, other)
    changes = {change.key: change for change in found.scenario}
    # A component of another type is one change, not one for each of its options.
    assert list(changes) == ["seed", "transport.controller"]
    assert (changes["seed"].a, changes["seed"].b) == (run.summary["seed"], 5)
    assert changes["transport.controller"].b["type"] == "bbr3"
    numbers = {change.key: change for change in found.results}
    (mine,) = run.summary["connections"]
    (theirs,) = quiclab.load(other).summary["connections"]
    goodput = numbers["connection.download.goodput_mbps"]
    assert (goodput.a, goodput.b) == (mine["goodput_mbps"], theirs["goodput_mbps"])
    assert goodput.difference == goodput.b - goodput.a
    assert goodput.percent == pytest.approx(100 * (goodput.b / goodput.a - 1))
    # What is the same is not told.
    assert "connection.download.delivered_bytes" not in numbers
    assert not {"seed", "scenario"} & numbers.keys()
    assert found and "connection.download.goodput_mbps" in str(found)


def test_nothing_differs(saved: Path, run: quiclab.Run) -> None:
    found = quiclab.diff(saved, run)
    assert not found and str(found) == "nothing differs"


def test_the_result_names_are_those_of_a_sweeps_columns(run: quiclab.Run, tmp_path: Path) -> None:
    text = SCENARIO + '\n[sweep]\nlink.cell.delay = ["10 ms"]\n'
    columns = quiclab.sweep(quiclab.Scenario.from_text(text), jobs=1).runs.column_names
    longer = quiclab.Scenario.from_text(SCENARIO, {"link.cell.delay": "35 ms"}).run()
    keys = {change.key for change in quiclab.diff(run, longer).results}
    assert len(keys) > 5 and keys <= {*columns}


def test_scenarios_are_compared_as_they_are_resolved(saved: Path, run: quiclab.Run) -> None:
    changed = quiclab.Scenario.from_text(SCENARIO, {"link.cell.forward.rate": "7 Mbit/s"})
    (change,) = quiclab.diff(quiclab.Scenario.from_text(SCENARIO), changed).scenario
    assert change.key == "link.cell.forward.rate.rate" and change.b == "7 Mbit/s"
    assert quiclab.diff(saved, changed).notes == [f"{changed!r} is a scenario: it has no results to compare"]


def test_what_a_flow_inherits_is_what_it_has() -> None:
    """A flow with the controller of all flows as its own does not differ from one without."""
    cubic, bbr3 = {"type": "cubic", "beta": 0.7}, {"type": "bbr3"}
    all_cubic = Values({"transport": {"controller": cubic}, "flow": [{"name": "f"}]}, {})
    all_bbr3 = Values({"transport": {"controller": bbr3}, "flow": [{"name": "f"}]}, {})
    one_bbr3 = Values(
        {"transport": {"controller": cubic}, "flow": [{"name": "f", "transport": {"controller": bbr3}}]}, {}
    )
    assert compared([all_cubic, one_bbr3]) == {"flow.f.transport.controller": [cubic, bbr3]}
    assert compared([all_bbr3, one_bbr3]) == {"transport.controller": [bbr3, cubic]}


def test_links_that_one_does_not_have_are_one_line() -> None:
    link = {"name": "a.b", "forward": {"rate": {"type": "fixed", "rate": "1 Mbit/s"}, "mtu": 1500}}
    found = compared([Values({"link": [link], "x": 1}, {}), Values({"link": [], "x": True}, {})])
    assert found["link.a.b"] == [link, None]
    # True is not 1.
    assert found["x"] == [1, True]
    assert value_text(found["link.a.b"][0]) == "present"


def test_values_are_evenly_rounded(saved: Path, other: Path) -> None:
    for change in quiclab.diff(saved, other).results:
        one, two, difference, _ = change.texts()
        if change.difference is not None:
            assert len({text.partition(".")[2].__len__() for text in (one, two, difference)}) == 1, change


def test_the_command(command: Command, saved: Path, other: Path) -> None:
    done = command("diff", str(saved), str(other))
    assert done.returncode == 1 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["scenario", "A", "B"]
    assert [line for line in lines if line.startswith("  connection.download.goodput_mbps ")]
    same = command("diff", str(saved), str(saved))
    assert (same.returncode, same.stdout, same.stderr) == (0, "nothing differs\n", "")
    told = json.loads(command("diff", str(saved), str(other), "--json").stdout)
    assert told["a"] == str(saved) and {"scenario", "results", "notes"} <= told.keys()
    (seed,) = [change for change in told["scenario"] if change["key"] == "seed"]
    assert seed["b"] == 5 and set(seed) == {"key", "a", "b", "difference", "percent"}
    mixed = command("diff", str(saved), "bulk.toml")
    assert mixed.returncode == 0 and mixed.stderr == "note: bulk.toml is a scenario: it has no results to compare\n"


def test_wrong_input_is_one_clear_error(command: Command, saved: Path) -> None:
    missing = command("diff", str(saved), "nothing")
    assert missing.returncode == 2
    assert missing.stderr == "quiclab: nothing: there is no such run folder, sweep folder or scenario file\n"
    (command.folder / "empty").mkdir()
    assert "not a run folder" in command("diff", "empty", str(saved)).stderr
    broken = command.folder / "broken"
    quiclab.load(saved).save(broken, figure=False)
    (broken / "scenario.toml").write_text("a = [", encoding="utf-8")
    done = command("diff", "broken", str(saved))
    assert (
        done.returncode == 2
        and done.stderr.count("\n") == 1
        and "broken/scenario.toml: cannot be read: not a TOML document" in done.stderr
    )


SWEEP = SCENARIO + '\n[sweep]\nrepetitions = 2\nlink.cell.delay = ["10 ms", "30 ms"]\n'


def test_two_sweeps(tmp_path: Path, saved: Path) -> None:
    one = quiclab.sweep(quiclab.Scenario.from_text(SWEEP), jobs=1, out=tmp_path / "one")
    changes = {"sweep.link.cell.delay": '["10 ms", "50 ms"]', "link.cell.forward.rate": "4 Mbit/s"}
    two = quiclab.sweep(quiclab.Scenario.from_text(SWEEP, [f"{k}={v}" for k, v in changes.items()]), jobs=1)
    found = quiclab.diff(tmp_path / "one", two)
    assert {change.key for change in found.scenario} == {f"--set.{key}" for key in changes}
    # Of the combination that both have.
    goodputs = [change for change in found.results if change.key.endswith("mean connection.download.goodput_mbps")]
    (goodput,) = goodputs
    assert goodput.key.startswith("link.cell.delay_ms=10")
    first = one.means("goodput_mbps").to_pylist()[0]
    assert goodput.a == first["mean"] and goodput.b < goodput.a
    assert len(found.notes) == 2 and "3 means are only in the first sweep" in found.notes[0]
    assert not quiclab.diff(one, one)
    with pytest.raises(quiclab.Error, match="a sweep can only be compared with another sweep"):
        quiclab.diff(one, saved)
