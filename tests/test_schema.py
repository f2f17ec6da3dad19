"""The JSON schema of scenarios: it accepts what the reader accepts, and refuses wrong keys, types, units and words."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator, Draft7Validator

import quiclab
from conftest import SCENARIO, Command
from quiclab._quiclab import schema_json
from quiclab.commands.new import TEMPLATES

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads(schema_json())
VALIDATOR = Draft7Validator(SCHEMA)

SCENARIOS = sorted(
    [
        *(ROOT / "examples").glob("*.toml"),
        *(ROOT / "python" / "quiclab" / "papers").glob("*/*.scenario.toml"),
        *TEMPLATES.glob("*.toml"),
        ROOT / "tests" / "bulk.toml",
        ROOT / "python" / "quiclab" / "commands" / "bench.toml",
    ]
)


def problems(document: dict[str, Any]) -> list[str]:
    """What the schema says is wrong."""
    return [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in VALIDATOR.iter_errors(document)
    ]


def test_it_is_a_schema_for_editors_too() -> None:
    Draft7Validator.check_schema(SCHEMA)
    # What taplo documents.
    Draft4Validator.check_schema({**SCHEMA, "$schema": "http://json-schema.org/draft-04/schema#"})
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_every_row_is_in_it() -> None:
    properties = SCHEMA["properties"]
    for topic in quiclab.topics():
        if topic["name"] == "sections":
            continue
        forms = json.dumps(SCHEMA["definitions"][f"one-of-the-{topic['name'].replace(' ', '-')}"])
        for row in topic["rows"]:
            if ":" not in row["name"]:
                assert json.dumps(row["name"]) in forms, row["name"]
                assert all(f'"{option["name"]}": ' in forms for option in row["parameters"]), row["name"]
    ratio = properties["transport"]["allOf"][0]["$ref"].rpartition("/")[2]
    ratio = SCHEMA["definitions"][ratio]["properties"]["ack_ratio"]
    assert (ratio["default"], ratio["minimum"], ratio["maximum"]) == (2, 1, 10_000)
    assert "RFC 9000" in ratio["description"]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_scenarios_are_valid(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert problems(tomllib.loads(text)) == []
    if path.parent != TEMPLATES:
        # The resolved document as well, with all defaults.
        assert problems(tomllib.loads(quiclab.Scenario.from_text(text, origin=path).to_toml())) == []


WRONG = {
    "an unknown key at the top": ("duration =", "durration ="),
    "an unknown table": ("[flow.transport]", "[flow.transprot]"),
    "an unknown key of a link": ('delay = "10 ms"', 'dealy = "10 ms"'),
    "an unknown key of a direction": ('loss = "1 %"', 'los = "1 %"'),
    "an unknown key of a flow": ('server = "server"\n', 'server = "server"\nsevrer = "server"\n'),
    "an unknown option of a transport": ('controller = "newreno"', "ack_rato = 2"),
    "an unknown option of an application": ('size = "300 kB"', 'sise = "300 kB"'),
    "an option of another component": ('"newreno"', '{ type = "newreno", fast_convergence = true }'),
    "text for a number": ("seed = 1", 'seed = "one"'),
    "a fraction for a whole number": ("seed = 1", "seed = 1.5"),
    "a negative seed": ("seed = 1", "seed = -1"),
    "a number without a unit": ('delay = "10 ms"', "delay = 10"),
    "a text without a unit": ('"5 Mbit/s"', '"5"'),
    "a unit of something else": ('delay = "10 ms"', 'delay = "10 kB"'),
    "an unknown unit": ('"5 Mbit/s"', '"5 Mbps"'),
    "a negative rate": ('"5 Mbit/s"', '"-5 Mbit/s"'),
    "a probability above one": ('"1 %"', "1.1"),
    "a queue without a measure": ('"1 BDP"', '"many"'),
    "an unknown controller": ('"newreno"', '"newrneo"'),
    "an unknown application": ('type = "bulk"', 'type = "blk"'),
    "an application without what it needs": ('{ type = "bulk", size = "300 kB" }', '"page-streem"'),
    "an unknown protocol": ('server = "server"\n', 'server = "server"\nprotocol = "sctp"\n'),
    "a list for a text": ('client = "client"', 'client = ["client"]'),
    "a table for a text": ('name = "cell"', "name = { first = 1 }"),
    "a table for an array": ("[[flow]]", "[flow]"),
    "a key that is missing": ('server = "server"\n', ""),
    "a word for a flag": ('controller = "newreno"', 'pacing_burst = "yes"'),
    "an unknown table to record": ("seed = 1", 'seed = 1\nrecord.tables = ["quue"]'),
    "an option out of range": ("[link.backward]", "[link.backward]\nmtu = 10"),
    "a range without its end": ('controller = "newreno"\n', '[sweep]\nlink.cell.delay = { from = "1 ms" }\n'),
}
"""What is replaced in bulk.toml by what."""


@pytest.mark.parametrize("mistake", WRONG)
def test_what_the_reader_refuses_is_refused(mistake: str) -> None:
    old, new = WRONG[mistake]
    assert SCENARIO.count(old) >= 1
    text = SCENARIO.replace(old, new, 1)
    with pytest.raises(quiclab.ScenarioError):
        quiclab.sweeps.planned(quiclab.Scenario.from_text(text))
    assert problems(tomllib.loads(text)), mistake


@pytest.mark.parametrize(
    "change",
    [
        'transport.controller = "mine.py:Mine"',
        'transport.controller = { type = "mine.py:Mine", gain = 2 }',
        '[link.forward]\nrate = { type = "fixed", rate = ".5 Gbit/s" }',
        '[link.forward]\nqueue = "unlimited"',
        "[link.forward]\nloss = 0.01",
        "sweep.link.x.delay = ['1 ms', '2 ms']\nsweep.repetitions = 2",
    ],
)
def test_other_spellings_are_accepted(change: str) -> None:
    document = tomllib.loads(change)
    document["link"] = [{"name": "x", "from": "a", "to": "b", **document.get("link", {})}]
    assert problems(document) == []


def test_the_command_prints_and_writes_it(command: Command) -> None:
    printed = command("dev", "schema")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert json.loads(printed.stdout) == SCHEMA
    assert command("dev", "schema", "--out", "quiclab.schema.json").stdout == "quiclab.schema.json\n"
    assert json.loads((command.folder / "quiclab.schema.json").read_text(encoding="utf-8")) == SCHEMA


def test_taplo_checks_scenarios_with_it(command: Command) -> None:
    taplo = shutil.which("taplo", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if taplo is None:
        told = "there is no taplo: that editors check scenarios was NOT TESTED (the extra `test` has it)"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    assert command("dev", "schema", "--out", "quiclab.schema.json").returncode == 0
    for name, text in {"right": SCENARIO, "wrong": SCENARIO.replace("durat", "durrat")}.items():
        file = command.folder / f"{name}.toml"
        file.write_text(f"#:schema ./quiclab.schema.json\n{text}", encoding="utf-8")
        done = subprocess.run(
            [taplo, "lint", "--no-auto-config", file], cwd=command.folder, capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0) == (name == "right"), done.stderr
        assert ("'durration' was unexpected" in done.stdout + done.stderr) == (name == "wrong")
