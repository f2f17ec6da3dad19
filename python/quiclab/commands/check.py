"""`quiclab check FILE`: reads a scenario, says what is wrong with it, or what it is."""

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from quiclab import _quiclab
from quiclab._quiclab import ScenarioError, Sweep
from quiclab.commands.arguments import STANDARD_INPUT, Json, ScenarioInput, Sets, read_scenario, standard_input
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.values import regular_files
from quiclab.values.components import plugged
from quiclab.values.folders import of_results
from quiclab.values.plain_text import plain

with late():
    import quiclab.engines.sweeps as sweeps


_FILES = ", files"
_QUOTED = re.compile(r'"[^"]*"')
_WARNING = ", warning"
_LEAST = 30
"""The least letters of a description in a line, however narrow the terminal is."""
_MOST_LINKS = 40
"""Links that are followed one after the other, as the system does."""


def check(file: ScenarioInput, set_: Sets = None, as_json: Json = False) -> None:
    """Check a scenario without running it, and describe its network and flows.

    Example: quiclab check examples/cellular.toml

    Warnings on standard error, and under "warnings" with --json, name what is allowed but probably not intended.
    Without --set, every value of a [sweep] table is checked too.
    """
    is_of_results = _is_of_results(file)
    if is_of_results:
        name, described = _recorded(file, set_ or [])
    else:
        scenario = read_scenario(file, set_)
        name, described = scenario.name, scenario.describe()
    if not set_ and not is_of_results:
        # With changes a single run is meant, as `quiclab run` makes it.
        sweep = Sweep.parse(scenario._text, scenario._origin, [])
        described += _sweep(sweep)
        described += [(f"sweep{_WARNING}", note) for note in sweep.notes]
        told = set(scenario.notes)
        described += [("sweep, files", note) for note in sweep.file_notes() if note not in told]
    # The contents of a file that a scenario names are not shown: it may be any file.
    described = [(one, _QUOTED.sub('"..."', text) if one.endswith(_FILES) else text) for one, text in described]
    warnings = [(subject.removesuffix(_WARNING), text) for subject, text in described if subject.endswith(_WARNING)]
    for subject, text in warnings:
        echo(f"warning: {subject}: {plain(text)}", err=True)
    # Possible mistakes in classes that it names were reported when they were read.
    warnings += [("class", text) for text in plugged.warnings]
    if as_json:
        found = {"scenario": name, "valid": True, "warnings": warnings, "description": described}
        echo(json.dumps(found, indent=2))
        return
    described = [line for line in described if not line[0].endswith(_WARNING)]
    width = max((len(subject) for subject, _ in described), default=0)
    # A terminal would continue in its first column.
    room = max(shutil.get_terminal_size().columns - width - 2, _LEAST) if sys.stdout.isatty() else 0
    here = f"{Path.cwd()}{os.sep}"
    before = None
    for subject, text in described:
        words = text.replace(here, "")
        for line in textwrap.wrap(words, room, break_on_hyphens=False) if room else [words]:
            echo(f"{'' if subject == before else subject:<{width}}  {line}")
            before = subject
    echo(f"{plain(file if str(file) != '-' else '<stdin>')}: a valid scenario")


def _is_of_results(file: Path) -> bool:
    """Whether it, or a file that a link leads to, is in the folder of a run or a sweep, or in a folder below.

    Of standard input, whether the process is there. Then it is only looked at, and code that it names is not loaded.
    """
    return any(of_results(place) for place in _led_to(file))


def _led_to(file: Path) -> Iterator[Path]:
    """The places of a file: by its name, by each link that it is, and where all links lead to in the end."""
    at = Path(os.path.normpath(file.absolute()))
    for _ in range(_MOST_LINKS):
        yield at
        if not at.is_symlink():
            break
        at = Path(os.path.normpath(at.parent / at.readlink()))
    yield Path(os.path.realpath(file))


def _recorded(file: Path, sets: list[str]) -> tuple[str, list[tuple[str, str]]]:
    if file == STANDARD_INPUT:
        scenario = _quiclab.Scenario.recorded(standard_input(), "<stdin>", sets)
        return scenario.name, scenario.describe()
    try:
        scenario = _quiclab.Scenario.recorded(regular_files.text(file), file, sets)
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{file}: {regular_files.reason(error)}") from error
    return scenario.name, scenario.describe()


def _sweep(sweep: Sweep) -> list[tuple[str, str]]:
    """What is varied and how many runs that makes; nothing if nothing is."""
    if not sweep.parameters and sweep.runs == 1:
        return []
    rows = [
        (f"sweep {path}", f"{len(values)} values, {values[0]} to {values[-1]}" if len(values) > 1 else values[0])
        for path, values, _ in sweep.parameters
    ]
    warning = sweeps.foretold(sweep)
    warned = [] if warning is None else [(f"sweep{_WARNING}", warning)]
    repeated = f", {sweep.repetitions} of each combination" if sweep.repetitions > 1 else ""
    series = f", series of {', '.join(sweep.series)}" if sweep.series else ""
    tables = f", tables {', '.join(sweep.keep)}" if sweep.keep else ""
    return [*rows, ("sweep", f"{sweep.runs} runs{repeated}{series}{tables}"), *warned]
