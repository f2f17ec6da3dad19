"""Every column of every table and every key of the summary is what plain code computes from the packets of the run.

The sources are the logs of both ends and the capture; `tests/recomputed/` has the code, and nothing of quiclab but its
files. A column or a key without a row there fails a test.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import quiclab
from recomputed import applications, carriers, counted, events, playback, radio, summary, transport
from recomputed.scenarios import SCENARIOS
from recomputed.sheet import Sheet
from recomputed.sources import Case

HERE = Path(__file__).parent
FILES = HERE.parent / "examples" / "pages"
CHECKS: dict[str, Callable[[Case, Sheet], None]] = {
    "connection": transport.connection,
    "loss": transport.loss,
    "packet": transport.packet,
    "stream": transport.stream,
    "gauge": transport.gauge,
    "event": events.event,
    "wait": events.wait,
    "one wait": events.single,
    "message": applications.message,
    "object": applications.object_,
    "segment": applications.segment,
    "playback": playback.playback,
    "queue": carriers.queue,
    "drop": carriers.drop,
    "rate": carriers.rate,
    "node": carriers.node,
    "air": carriers.air,
    "delays on the air": radio.air,
    "block": radio.block,
    "run": summary.run,
    "connections": summary.connections,
    "links": summary.links,
    "altered packets": counted.altered,
    "media": counted.media,
    "nodes": counted.nodes,
    "applications": counted.applications,
    "several flows": counted.several,
    "memory": counted.known,
    "playbacks": counted.played,
}
APART = {
    "lateness": ("tests/test_emulate.py", "test_gates_share_the_link_with_simulated_hosts"),
}
"""Tables that no run in virtual time has: the file and the name of their test."""
NAMES = re.compile(
    r"(connection|side|link|node|subject|name|part|page|gauge|event|kind|direction|fate|outcome|number|stream)$"
)
"""Columns of names, and of numbers that may be equal."""


def _case(folder: Path, name: str) -> Case:
    text = SCENARIOS[name].replace("FILES", str(FILES))
    run = quiclab.Scenario.from_text(text).run(qlog=True, pcap=True, out=folder / name, figure=False)
    files = {file.name: file.read_text(encoding="utf-8") for file in FILES.glob("*.csv")}
    return Case(name, run, tomllib.loads(run.scenario_toml), files)


class Results:
    """All runs, compared once."""

    def __init__(self, folder: Path) -> None:
        self.sheet = Sheet()
        self.wrong: dict[tuple[str, str], AssertionError] = {}
        self.columns: set[str] = set()
        self.keys: set[str] = set()
        for name in SCENARIOS:
            case = _case(folder, name)
            for check, compare in CHECKS.items():
                try:
                    compare(case, self.sheet)
                except AssertionError as error:
                    self.wrong[name, check] = error
            self.columns |= {f"{table}.{column}" for table, columns in case.tables.items() for column in columns}
            self.keys |= set(_keys(case.run.summary))


def _keys(value: Any, path: str = "") -> Iterator[str]:
    """The keys of a summary, those of the run itself below `run`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            is_table = isinstance(inner, dict) or (isinstance(inner, list) and inner and isinstance(inner[0], dict))
            place = path or ("" if is_table else "run")
            yield from _keys(inner, f"{place}.{key}".lstrip("."))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from _keys(inner, path)
    else:
        yield path


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The runs of all scenarios, and what was compared."""
    return Results(tmp_path_factory.mktemp("recomputed"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_says_what_its_packets_say(name: str, results: Results) -> None:
    wrong = [f"{check}: {error}" for (scenario, check), error in results.wrong.items() if scenario == name]
    assert not wrong, "\n".join(wrong)


def test_every_column_is_compared(results: Results) -> None:
    """With two values at least, where it is not a name: a column of zeros shows nothing."""
    compared = results.sheet.values
    assert sorted(results.columns - set(compared)) == []
    assert sorted(name for name in compared if name.partition(".")[0] in APART) == []
    few = [name for name in results.columns if len(compared[name]) < 2 and not NAMES.search(name)]
    assert sorted(few) == []


def test_every_key_of_the_summary_is_compared(results: Results) -> None:
    assert sorted(results.keys - set(results.sheet.values)) == []


def test_tables_that_are_left_out_have_their_own_test() -> None:
    for file, name in APART.values():
        assert f"def {name}(" in (HERE.parent / file).read_text(encoding="utf-8"), name
