"""Every example of the documentation is run, or at least checked: commands, scenarios, programs. New ones are, too.

A command of `quiclab` is parsed, its scenario is read with its changes, and `quiclab run` is run. A scenario, or a part
of one that is completed here, is read. A program is run. What cannot be is listed with its reason.
"""

import contextlib
import io
import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from jsonschema import Draft7Validator

import quiclab
from documentation import PAGES, ROOT, Example, commands, examples
from quiclab import _quiclab
from quiclab.cli import main
from quiclab.commands import app
from quiclab.sweeps import planned

SCHEMA = Draft7Validator(json.loads(_quiclab.schema_json()))
EXAMPLES = [example for page in PAGES for example in examples(page)]

TESTED_ELSEWHERE = {
    "docs/satellites.md": "test_satellites.py",
    "docs/videos.md": "test_videos.py",
    "docs/wireless.md": "test_wireless.py",
    "docs/real-traffic.md": "test_real_traffic.py",
    "docs/sweeps.md": "test_sweep.py",
}
"""Pages whose programs another test runs, and compares with what the page says."""

NOT_RUN = {
    ("docs/abr.md", "quiclab.Scenario(flow=[{..."): "`...` stands for the rest of a scenario",
    ("docs/controllers.md", "quiclab.Scenario(transport="): "`...` stands for the rest of a scenario",
    ("docs/schedulers.md", "quiclab.Scenario(transport="): "`...` stands for the rest of a scenario",
    ("docs/model/abr.md", "from quiclab import p1203"): "needs the package itu-p1203, which is not on PyPI",
}
"""Programs that are not run, by their page and beginning, and why."""

BEFORE = {
    "docs/report.md": (
        'import quiclab\nquiclab.Scenario.from_file("examples/cellular.toml").run(out="runs/cellular-seed1")'
    ),
    "docs/model/resume.md": 'import quiclab\nscenario = quiclab.Scenario.from_file("examples/resume-store.toml")',
    "docs/site/pages/tables.md": (
        'import quiclab\nquiclab.Scenario.from_file("examples/cellular.toml").run(out="runs/cellular-seed1")'
    ),
}
"""What the reader of a page has done before its program."""

NOT_READ = {
    ("docs/model/presentations.md", "presentation = {"): "the reader's own film",
    (
        "docs/real-traffic.md",
        'duration = "60 s"\n\n[[node]]\nname = "server"',
    ): "a film of ffmpeg: test_real_traffic.py",
    ("docs/real-traffic.md", "quiclab video film"): "a film of ffmpeg: test_real_traffic.py",
}
"""Scenarios, and commands with one, that are not read, and why."""

OWN_FILES = {
    "docs/abr.md": {"film.toml": "examples/video.toml"},
    "docs/sweeps.md": {"sweep.toml": "examples/sweep.toml"},
    "docs/traces.md": {"my.csv": "examples/traces/driving.csv"},
}
"""Files of the reader on a page, and what stands for them."""

PARTS = {
    "docs/controllers.md": "examples/dumbbell.toml",
    "docs/emulate.md": "examples/gates.toml",
    "docs/model/events.md": "examples/migration.toml",
    "docs/model/ldad.md": "examples/ldad.toml",
    "docs/model/middleboxes.md": "examples/ldad.toml",
    "docs/model/pep.md": "examples/pep.toml",
    "docs/sweeps.md": "examples/cellular.toml",
}
"""The scenario that the part on a page changes. The others are put between two hosts, or around a medium."""

SHOWN = {
    "docs/command-line.md": 4,
    "docs/matrix.md": 1,
    "docs/model/ldad.md": 1,
    "docs/model/pep.md": 1,
    "docs/model/presentations.md": 1,
    "docs/model/resume.md": 1,
    "docs/model/satellite.md": 2,
    "docs/performance.md": 1,
    "docs/python.md": 1,
    "docs/real-traffic.md": 4,
    "docs/report.md": 1,
    "docs/results.md": 1,
    "docs/satellites.md": 1,
    "docs/scripts.md": 4,
    "docs/streams.md": 2,
    "docs/sweeps.md": 3,
    "docs/traces.md": 3,
    "docs/videos.md": 5,
    "docs/wireless.md": 5,
    "docs/why.md": 1,
}
"""Blocks that are nothing to run, by page: what is printed, contents of files, choices, other programs."""

FOREIGN = {
    "make": "targets are in the Makefile",
    "cargo": "compiles",
    "pip": "asks a registry",
    "dask": "starts a cluster",
    "./": "is the reader's own",
}
"""Commands that are not ours, and why they are not run here."""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like that of the checkout."""
    shutil.copytree(
        ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("own-controller", "own-parts")
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "scripts").symlink_to(ROOT / "tests" / "scripts")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_kind(*kinds: str) -> list[Any]:
    """The examples of these kinds, as parameters of a test."""
    return [pytest.param(example, id=example.place) for example in EXAMPLES if example.kind in kinds]


def save_files(page: str) -> None:
    """Writes the files that the reader of a page is to save."""
    for example in examples(page):
        if example.file:
            Path(example.file).write_text(example.text, encoding="utf-8")
    for name, stand_in in OWN_FILES.get(page, {}).items():
        shutil.copyfile(stand_in, name)


def parsed(line: str) -> tuple[list[str], dict[str, Any]]:
    """The words of a command of quiclab, and the values of its parameters. An unknown option is an error."""
    words = [word for word in shlex.split(line, comments=True) if word]
    words = words[1 : next((at for at, word in enumerate(words) if word in ("|", "&", "&&", ">", "<")), None)]
    command: Any = typer.main.get_command(app)
    context = command.make_context("quiclab", list(words), resilient_parsing=words[0].startswith("-"))
    name: list[str] = []
    while hasattr(command, "list_commands") and words and not words[0].startswith("-"):
        named, command, words = command.resolve_command(context, words)
        name.append(named)
        context = command.make_context(named, list(words), parent=context, resilient_parsing="--help" in words)
    return name, dict(context.params)


def test_the_pages_are_found() -> None:
    kinds = {kind: sum(example.kind == kind for example in EXAMPLES) for kind in ("sh", "toml", "python")}
    assert kinds["sh"] > 100 and kinds["toml"] > 30 and kinds["python"] > 25, kinds


def listed(example: Example, exceptions: dict[tuple[str, str], str]) -> bool:
    """Whether an example is among the exceptions."""
    return any(example.page == page and example.text.startswith(words) for page, words in exceptions)


def test_lists_of_exceptions_are_up_to_date() -> None:
    for exceptions in (NOT_RUN, NOT_READ):
        for page, words in exceptions:
            assert any(listed(example, {(page, words): ""}) for example in EXAMPLES), (
                f"{page}: no example begins with {words}"
            )
    assert not (PARTS.keys() | BEFORE.keys() | TESTED_ELSEWHERE.keys()) - set(PAGES), "no such page"


def test_blocks_say_what_they_are() -> None:
    unknown = [
        example.place for example in EXAMPLES if example.kind not in ("sh", "toml", "python", "quic", "text", "rust")
    ]
    assert not unknown, "languages of blocks are sh, toml, python, quic, rust and text"


def test_blocks_that_are_not_run_are_known() -> None:
    found = {page: sum(one.kind == "text" for one in EXAMPLES if one.page == page) for page in PAGES}
    assert {page: count for page, count in found.items() if count} == SHOWN, "is it an example? Then say of what kind"


@pytest.mark.parametrize("example", of_kind("sh"))
def test_commands(example: Example, checkout: Path) -> None:
    save_files(example.page)
    lines = list(commands(example))
    assert lines, f"{example.place}: no command in it"
    for line in lines:
        check_command(line, read=not listed(example, NOT_READ))


def check_command(line: str, *, read: bool = True) -> None:
    """Runs a command, or checks it: without `read` its options only."""
    program = line.split()[0]
    if program == "make":
        target = re.sub(r"\s+#.*", "", line).split()[1]
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), line
    elif program in ("python", "python3"):
        file = next(word for word in line.split()[1:] if not word.startswith("-"))
        assert (ROOT / file).exists() or "-m" in line, line
    elif program != "quiclab":
        assert any(line.startswith(known) for known in FOREIGN), f"{line}: an unknown program"
    else:
        name, values = parsed(line)
        if read:
            check_quiclab(line, " ".join(name), values)


def check_quiclab(line: str, name: str, values: dict[str, Any]) -> None:
    """Runs a command of quiclab, or checks its scenario."""
    file = values.get("file")
    # FILE and the like are the reader's.
    placeholder = file is not None and Path(file).suffix == ""
    sets = [one.replace("=PATH", "=traces/lte-like.down") for one in values.get("set_") or ()]
    if name in ("new", "list", "explain", "dev completion", "dev schema", "check", "trace info"):
        with contextlib.redirect_stdout(io.StringIO()):
            assert main(shlex.split(line, comments=True)[1:]) == 0, line
    elif str(file) == "-" and (redirected := re.search(r"< (?!PLACE)(\S+)$", line)):
        # Its files are then relative to the current folder.
        text = Path(redirected[1]).read_text(encoding="utf-8")
        quiclab.Scenario.from_text(text, sets).run(values.get("seed"), tables=False)
    elif (
        name in ("run", "sweep", "emulate", "real relay", "real shell", "video play")
        and file is not None
        and not placeholder
    ):
        read = quiclab.Scenario.from_file(file, sets)
        if name == "run":
            read.run(values.get("seed"), tables=False)
        elif name == "sweep":
            planned(read)


@pytest.mark.parametrize("example", of_kind("toml"))
def test_scenarios(example: Example, checkout: Path) -> None:
    if listed(example, NOT_READ):
        return
    save_files(example.page)
    document = completed(example)
    assert [error.message for error in SCHEMA.iter_errors(document)] == []
    text = _quiclab.document_to_toml(document)
    read = quiclab.Scenario.from_text(text, origin=checkout / "examples" / "example.toml")
    if "sweep" in tomllib.loads(example.text):
        planned(read)


_TWO = """
[[link]]
name = "wire"
both = { rate = "10 Mbit/s", delay = "20 ms" }
[[flow]]
name = "download"
application = { type = "bulk", size = "100 kB" }
"""
_VIDEO = {"type": "video", "presentation": {"type": "ladder", "duration": "1 min"}}


def completed(example: Example) -> dict[str, Any]:
    """The whole scenario of an example that may be a part of one."""
    text = re.sub(r'"package\.module:(\w+)"', lambda word: f'"{MODULES[word[1]]}:{word[1]}"', example.text)
    part = tomllib.loads(text)
    if {"link", "flow"} <= part.keys() or {"medium", "flow"} <= part.keys():
        return part
    if example.file or (any(node.get("kind") == "gate" for node in part.get("node", [])) and "medium" in part):
        return part
    base = PARTS.get(example.page)
    if base:
        document: dict[str, Any] = merged(tomllib.loads((ROOT / base).read_text(encoding="utf-8")), part)
        return document
    whole = around(part["medium"][0]) if "medium" in part else between_two(part)
    for key in ("queue", "rate", "jitter", "loss", "series", "delay"):
        if key in part:
            whole["link"][0]["forward"] = {**whole["link"][0].get("forward", {}), key: part.pop(key)}
            whole["link"][0]["both"].pop(key, None)
            if key == "series":
                whole["link"][0].update(backward=whole["link"][0].pop("both"))
    for key in ("application", "protocol"):
        if key in part:
            whole["flow"][0][key] = part.pop(key)
    for flow in whole["flow"] + part.get("flow", []):
        if flow.get("application", {}).get("type") == "video":
            flow["application"] = {**_VIDEO, **flow["application"]}
    if "memory" in part:
        whole["transport"] = {"resume": "careful"}
    whole = dict(merged(whole, part))
    if "node" in whole:
        # Where some nodes are declared, all are.
        known = {node["name"] for node in whole["node"]}
        ends = [end for link in whole.get("link", []) for end in (link["from"], link["to"])]
        ends += [name for medium in whole.get("medium", []) for name in medium["terminals"]]
        whole["node"] += [{"name": name} for name in dict.fromkeys(ends) if name not in known]
    return whole


MODULES = {"Aimd": "aimd.py", "Affordable": "own_abr.py", "Quota": "quota.py"}
"""Where the classes of examples are, which may be in any module."""


def between_two(part: dict[str, Any]) -> dict[str, Any]:
    """A link and a flow, between the hosts that a part names."""
    of = (part.get("flow") or [{}])[0]
    server, client = of.get("server", "server"), of.get("client", "client")
    if "cross_traffic" in part:
        server, client = part["cross_traffic"][0]["from"], part["cross_traffic"][0]["to"]
    if "link" in part:
        server, client = part["link"][0]["from"], part["link"][0]["to"]
    whole = tomllib.loads(_TWO)
    whole["link"][0].update({"from": server, "to": client})
    if "link" in part:
        del whole["link"]
    names = [one["name"] for one in part.get("flow", [])] or ["download"]
    if "queue" in part and isinstance(part["queue"], dict) and "classes" in part["queue"]:
        names = [name for each in part["queue"]["classes"] for name in each]
    flow = whole["flow"][0]
    whole["flow"] = [{**flow, "name": name, "client": client, "server": server} for name in names]
    return whole


def around(medium: dict[str, Any]) -> dict[str, Any]:
    """A network around a medium."""
    station, terminal = medium["station"], medium["terminals"][0]
    whole = tomllib.loads(_TWO)
    whole["node"] = [{"name": station, "kind": "router"}]
    whole["link"][0].update({"from": "server", "to": station})
    whole["flow"][0].update({"client": terminal, "server": "server"})
    return whole


def merged(base: Any, part: Any) -> Any:
    """A document with changes: tables by their keys, tables of a list by their names."""
    if isinstance(base, dict) and isinstance(part, dict):
        if base.get("type") != part.get("type", base.get("type")):
            return part
        both = {key: merged(base[key], value) if key in base else value for key, value in part.items()}
        return {**base, **both}
    if isinstance(base, list) and isinstance(part, list) and all(isinstance(one, dict) for one in base + part):
        found = list(base)
        for one in part:
            at = next(
                (at for at, other in enumerate(found) if other.get("name") == one.get("name", other.get("name"))), None
            )
            if at is None or ("name" not in one and "at" in one):
                found.append(one)
            else:
                found[at] = merged(found[at], one)
        return found
    return part


@pytest.mark.parametrize("example", of_kind("python"))
def test_programs(example: Example, checkout: Path) -> None:
    if listed(example, NOT_RUN):
        return
    program = compile(example.text, example.place, "exec")
    if example.page in TESTED_ELSEWHERE:
        assert (ROOT / "tests" / TESTED_ELSEWHERE[example.page]).exists()
        return
    save_files(example.page)
    names: dict[str, Any] = {"__name__": "example"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(BEFORE.get(example.page, ""), names)
        exec(program, names)


COMING_FROM = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
ROWS = [line for line in COMING_FROM.splitlines() if line.startswith("|") and not line.startswith(("| ---", "|---"))]
TRIED = [row.rsplit("|", 2)[1].strip() for row in ROWS if not row.endswith("| try it |")]


@pytest.mark.parametrize("cell", TRIED)
def test_every_row_of_a_word_from_elsewhere_can_be_tried(cell: str, checkout: Path) -> None:
    (line,) = re.findall(r"^`([^`]+)`$", cell)
    check_command(f"quiclab run examples/cellular.toml {line}" if line.startswith("--set") else line)
