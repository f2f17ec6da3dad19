"""The examples in docstrings are run: sessions with their outputs, and programs."""

import doctest
import importlib
import inspect
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quiclab

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "site"))
try:
    public = importlib.import_module("public")
finally:
    sys.path.pop(0)

NAMES: list[str] = [name for names in public.MODULES.values() for name in names]

WITHOUT = {
    "quiclab.Ack": "an argument of a method of `Controller`",
    "quiclab.CongestionSignal": "an argument of a method of `Controller`",
    "quiclab.ResumeAdjustment": "an argument of a method of `Controller`",
    "quiclab.Packet": "an argument of methods of `Queue`, `Middlebox` and `Loss`",
    "quiclab.Connection": "a value of `End`",
    "quiclab.Stream": "an argument of methods of `End`",
    "quiclab.Measurement": "the result of `Connection.measure`",
    "quiclab.SchedulerView": "an argument of a method of `Scheduler`",
    "quiclab.Priority": "a value of `Scheduler.ready`",
    "quiclab.AbrView": "an argument of a method of `Abr`",
    "quiclab.Download": "a value of `AbrView.downloads`",
    "quiclab.PartialDownload": "an argument of a method of `Abr`",
    "quiclab.p1203.score": "needs the package itu-p1203, which is not on PyPI",
    "quiclab.p1203.Score": "needs the package itu-p1203, which is not on PyPI",
    "quiclab.view.Shown": "the result of `view.write`",
    "quiclab.Diff": "the result of `diff`",
    "quiclab.Change": "a value of `Diff`",
    "quiclab.RunError": "no scenario of the examples fails",
    "quiclab.ScriptError": "no script fails",
}
"""Public names without an example, and why."""


def value(name: str) -> Any:
    """What a public name stands for."""
    found: Any = quiclab
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def docstrings(name: str) -> Iterator[tuple[str, str]]:
    """The docstrings of something public and of its members, by their names."""
    thing = value(name)
    yield name, "\n\n".join([inspect.getdoc(thing) or "", public.EXAMPLES.get(name, "")])
    for member, one in vars(thing).items() if inspect.isclass(thing) else ():
        ours = getattr(one, "__module__", "") != "matplotlib.artist"
        if ours and not member.startswith("_") and (callable(one) or isinstance(one, classmethod | property)):
            yield f"{name}.{member}", inspect.getdoc(getattr(thing, member)) or ""


TEXTS = dict(pair for name in NAMES for pair in docstrings(name))
SESSIONS = [name for name, text in TEXTS.items() if ">>> " in text]


def programs(text: str) -> list[str]:
    """The indented blocks that follow two colons."""
    return [textwrap.dedent(found) for found in re.findall(r"::\n\n((?:(?: {4}.*)?\n)+)", text + "\n")]


PROGRAMS = [(name, program) for name, text in TEXTS.items() for program in programs(text)]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the examples."""
    shutil.copytree(
        ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("own-controller", "own-parts")
    )
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", SESSIONS)
def test_sessions_give_what_they_say(name: str, checkout: None) -> None:
    known = {"quiclab": quiclab, "Path": Path}
    session = doctest.DocTestParser().get_doctest(TEXTS[name], known, name, None, 0)
    told: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(session, out=told.append).failed == 0, "".join(told)


@pytest.mark.parametrize(("name", "program"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_programs_run(name: str, program: str, checkout: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class is defined at the top of a module, and used by a run that ends."""
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("of_docstring", None))
    monkeypatch.setitem(sys.modules, "of_docstring", module)
    vars(module)["quiclab"] = quiclab
    exec(program, vars(module))
    # The ends of an application are no components of their own.
    (own,) = (one for one in vars(module).values() if isinstance(one, type) and not issubclass(one, quiclab.End))
    (file, key) = next(place for base, place in PLACES.items() if issubclass(own, base))
    scenario = quiclab.Scenario.from_file(file, {key: own})
    assert "of_docstring" in scenario.to_toml()
    assert scenario.run(tables=False).summary["connections"][0]["delivered_bytes"] > 0


PLACES = {
    quiclab.Controller: ("examples/cellular.toml", "flow.download.transport.controller"),
    quiclab.Scheduler: ("examples/streams.toml", "transport.scheduler"),
    quiclab.Abr: ("examples/video.toml", "flow.near.application.abr"),
    quiclab.Queue: ("examples/dumbbell.toml", "link.bottleneck.queue"),
    quiclab.Loss: ("examples/dumbbell.toml", "link.bottleneck.loss"),
    quiclab.Jitter: ("examples/dumbbell.toml", "link.bottleneck.jitter"),
    quiclab.Rate: ("examples/dumbbell.toml", "link.bottleneck.rate"),
    quiclab.CellScheduler: ("examples/cell.toml", "medium.cell.scheduler"),
    quiclab.Middlebox: ("examples/dumbbell.toml", "node.left.kind"),
    quiclab.Application: ("examples/dumbbell.toml", "flow.first.application"),
}
"""Where a class that somebody has written is used."""


def test_everything_public_has_an_example() -> None:
    shown = {name for name in NAMES if any(text.startswith(name) for text in [*SESSIONS, *dict(PROGRAMS)])}
    assert set(NAMES) - shown == set(WITHOUT)


PARTS = {
    "__init__": "the package",
    "__main__": "`python -m quiclab`",
    "cli": "the program `quiclab`",
    "commands": "its commands",
    "papers": "data of `quiclab reproduce`",
    "reproduce": "`quiclab reproduce`",
    "sidx": "`python -m quiclab.sidx`",
    **dict.fromkeys(("values", "records", "results", "explanations", "drawings", "engines", "learning"), "a floor"),
}
"""Modules without an underscore that are not public, and what they are."""


def test_a_module_is_public_or_begins_with_an_underscore() -> None:
    folder = Path(quiclab.__file__).parent
    found = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    public = {name.split(".")[1] for name in NAMES if name.count(".") > 1} | set(quiclab._PLACES)
    assert {name for name in found if not name.startswith("_") or name.startswith("__")} == public | set(PARTS)
