"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

ScenarioFile = Annotated[Path, typer.Argument(metavar="FILE", help="The scenario, a TOML file.", show_default=False)]

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change the scenario: link.cell.forward.rate='10 Mbit/s'. May be given more than once.",
        show_default=False,
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
