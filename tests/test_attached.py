"""What is attached to results from above: the table of the door, the methods, and the functions with their bodies."""

import inspect
from types import CodeType
from typing import Any

import pytest

import quiclab
from quiclab.commands import plot
from quiclab.drawings import plots
from quiclab.drawings.plots import charts, looks
from quiclab.results import attached
from quiclab.results.figure import Figure

CLASSES = {kind.__name__: kind for kind in (Figure, quiclab.Run, quiclab.Scenario, quiclab.Sweep)}


def declared() -> dict[str, Any]:
    """The methods that are marked as attached, by name."""
    members = {f"{name}.{key}": one for name, kind in CLASSES.items() for key, one in vars(kind).items()}
    return {name: one for name, one in members.items() if "NotAttachedError" in names_in(one)}


def names_in(member: object) -> tuple[str, ...]:
    """The names that the code behind a decorator uses."""
    code: CodeType | None = getattr(getattr(member, "__wrapped__", None), "__code__", None)
    return code.co_names if code else ()


def test_the_table_has_the_methods_that_are_marked() -> None:
    assert declared().keys() == quiclab._ATTACHED.keys()


@pytest.mark.parametrize("name", quiclab._ATTACHED)
def test_a_body_takes_the_arguments_of_its_method(name: str) -> None:
    def taken(function: Any) -> list[tuple[str, Any, Any]]:
        _, *others = inspect.signature(function).parameters.values()
        return [(one.name, one.kind, one.default) for one in others]

    wanted, body = taken(declared()[name]), taken(attached.body(name))
    # A body may have more of its own, with defaults.
    assert body[: len(wanted)] == wanted
    assert all(default is not inspect.Parameter.empty for _, _, default in body[len(wanted) :])


def test_the_command_offers_what_can_be_drawn() -> None:
    assert list(plots.PLOTS) == list(plot._OF_RUNS)
    assert list(charts.CHARTS) == list(plot._OF_SWEEPS)
    assert set(looks.STYLES) == set(plot._STYLES)
