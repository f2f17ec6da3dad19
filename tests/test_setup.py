"""The way from a scenario to a run: a new seed reads nothing again, values need no text, threads share a scenario."""

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import log
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import callgrind
from conftest import SCENARIO
from programs import needs
from quiclab import Scenario, ScenarioError
from quiclab.values.toml_text import to_toml

FLOW = {"name": "get", "client": "a", "server": "b", "application": {"type": "bulk", "size": "1 kB"}}
DOCUMENT: dict[str, Any] = {"duration": "1 s", "link": [{"name": "wire", "from": "a", "to": "b"}], "flow": [FLOW]}


def refuse(*_: object, **__: object) -> None:
    """Fail where a scenario is read."""
    pytest.fail("the scenario is read again")


@pytest.mark.parametrize("protection", ["null", "tls"])
def test_another_seed_gives_what_a_scenario_with_it_gives(
    protection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario.from_text(SCENARIO, {"tls.protection": protection})
    scenario.with_(seed=9).run(pcap=True, out=tmp_path / "read", figure=False)
    monkeypatch.setattr(Scenario, "_new", refuse)
    run = scenario.run(9, pcap=True, out=tmp_path / "seeded", figure=False)
    assert (scenario.seed, run.summary["seed"]) == (1, 9)
    names = sorted(path.name for path in (tmp_path / "read").iterdir())
    assert sorted(path.name for path in (tmp_path / "seeded").iterdir()) == names
    for name in names:
        assert (tmp_path / "seeded" / name).read_bytes() == (tmp_path / "read" / name).read_bytes(), name


@pytest.mark.parametrize("seed", [-1, 1 << 63, 1.5, True])
def test_a_seed_that_is_none_is_refused_as_the_reader_does(seed: Any) -> None:
    with pytest.raises(ScenarioError, match="seed: "):
        Scenario(DOCUMENT).run(seed)


def test_a_scenario_is_run_by_several_threads_at_once() -> None:
    scenario = Scenario.from_text(SCENARIO)
    wanted = [scenario.run(seed).summary for seed in range(12)]
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(scenario.run, range(12)))
        texts = set(pool.map(lambda _: Scenario(DOCUMENT).to_toml(), range(12)))
    assert [run.summary for run in runs] == wanted
    assert [run.table("queue").num_rows > 0 for run in runs] == [True] * 12
    assert texts == {Scenario(DOCUMENT).to_toml()}


def test_what_nobody_has_asked_for_yet_is_copied_too(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Scenario.from_text(SCENARIO).run(7, tables=False)
    monkeypatch.setattr(Scenario, "_new", refuse)
    for other in (copy.copy(run), copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert other.summary == run.summary
        assert other.scenario_toml == run.scenario_toml
        assert "seed = 7\n" in other.scenario_toml


def read(make: Callable[[], Scenario]) -> str:
    """Return the resolved scenario, or what is wrong with it."""
    try:
        return make().to_toml()
    except ScenarioError as error:
        return f"error: {error}"


words = st.sampled_from(["bulk", "1 kB", "5 ms", "cubic", "newreno", "a", "b", 'x"\n\\', ""])
values: st.SearchStrategy[Any] = (
    words | st.integers() | st.floats() | st.booleans() | st.lists(words, max_size=2) | st.tuples(words)
)
tables = st.dictionaries(st.sampled_from(["type", "size", "beta", "x y"]), values, max_size=3)
PLACES = ["seed", "duration", "name", "transport", "flow", "link", "tls", "sweep", "flow.start", "flow.transport"]


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from(PLACES), values | tables | st.lists(tables, min_size=1, max_size=2), max_size=2),
    st.sampled_from(["ack_ratio", "controller", "initial_window", "none"]),
    values | tables,
)
def test_values_are_read_as_their_text_is(changes: dict[str, Any], option: str, value: Any) -> None:
    """Both give one scenario, or one error at one place of the text."""
    own = {key.removeprefix("flow."): item for key, item in changes.items() if key.startswith("flow.")}
    flow = {**FLOW, "transport": {option: value}, **own}
    document = {**DOCUMENT, "flow": [FLOW, flow | {"name": "put"}], **changes}
    for key in own:
        del document[f"flow.{key}"]
    assert read(lambda: Scenario(document)) == read(lambda: Scenario.from_text(to_toml(document), origin="<python>"))


def many(flows: int) -> dict[str, Any]:
    """Return a document with this many flows, a part of them with options of their own."""
    own = {"transport": {"initial_window": 32}}
    names = ({**FLOW, "name": f"get-{number}", **(own if number % 2 else {})} for number in range(flows))
    return {**DOCUMENT, "flow": list(names)}


def test_changing_the_values_later_changes_no_scenario() -> None:
    document = many(2)
    scenario = Scenario(document)
    document["flow"][0]["name"] = "other"
    assert '"get-0"' in scenario.with_(seed=2).to_toml()


COUNTED = """
import json, sys, quiclab
read = quiclab.Scenario(json.load(sys.stdin))
quiclab.Scenario.from_text(read.to_toml())
"""


def instructions(flows: int, folder: Path) -> int:
    """Return the instructions of a process that reads this many flows from values and from text, by callgrind."""
    file = folder / f"{flows}.out"
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "0"}
    document = json.dumps(many(flows)).encode()
    done = subprocess.run([*tool, sys.executable, "-c", COUNTED], input=document, capture_output=True, env=env)
    assert done.returncode == 0, done.stderr
    with file.open() as lines:
        return callgrind.instructions(lines)


def test_reading_takes_as_much_for_each_flow_however_many_there_are(tmp_path: Path) -> None:
    needs("valgrind")
    empty = instructions(1, tmp_path)
    few, more = (instructions(flows, tmp_path) - empty for flows in (300, 1200))
    assert log(more / few) / log(4) < 1.1
