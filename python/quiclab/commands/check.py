"""`quiclab check FILE`: reads a scenario, says what is wrong with it, or what it is."""

import json

import typer

from quiclab.commands.arguments import Json, ScenarioFile, Sets


def check(file: ScenarioFile, set_: Sets = None, as_json: Json = False) -> None:
    """Check a scenario without running it, and print what it describes."""
    from quiclab.scenario import Scenario

    scenario = Scenario.from_file(file, set_ or ())
    described = scenario.describe()
    if as_json:
        typer.echo(json.dumps({"scenario": scenario.name, "valid": True, "description": described}, indent=2))
        return
    width = max((len(subject) for subject, _ in described), default=0)
    before = None
    for subject, text in described:
        typer.echo(f"{'' if subject == before else subject:<{width}}  {text}")
        before = subject
    typer.echo(f"{file}: a valid scenario")
