"""Arguments that several commands share."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import quiclab
from quiclab._quiclab import ScenarioError
from quiclab.commands import completions
from quiclab.commands.late import late

with late():
    import quiclab.results.scenario as scenarios


if TYPE_CHECKING:
    from quiclab import Scenario

ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The scenario, a TOML file.", show_default=False, autocompletion=completions.scenarios
    ),
]

ScenarioInput = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="The scenario, a TOML file; - is standard input.",
        show_default=False,
        autocompletion=completions.scenarios,
    ),
]

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a value: link.cell.delay='10 ms'. Repeatable.",
        show_default=False,
        autocompletion=completions.changes,
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

STANDARD_INPUT = Path("-")


def read_scenario(file: Path, sets: Sequence[str] | None) -> "Scenario":
    """The scenario of a file, or of standard input for `-`, whose files are relative to the folder of the process."""
    if file != STANDARD_INPUT:
        return quiclab.Scenario.from_file(file, sets or ())
    return quiclab.Scenario.from_text(standard_input(), sets or (), origin="<stdin>")


def standard_input() -> str:
    """The text of standard input. Raises `ScenarioError` if there is none."""
    if sys.stdin is None:
        raise ScenarioError("<stdin>: closed; expected a scenario")
    try:
        return sys.stdin.buffer.read(scenarios.LONGEST).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"<stdin>: not text in UTF-8 (byte {error.start})") from error
