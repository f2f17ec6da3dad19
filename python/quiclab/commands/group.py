"""A group of commands that imports only the command that is named, and commands that read plain values themselves."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from quiclab.commands.values import read_plainly


class Row(NamedTuple):
    """What is known of a command before it is imported."""

    help: str
    """The first line of its manual."""
    short: str = ""
    """What a list of commands says of it, in up to 60 letters; by default the same."""
    where: str = ""
    """Its function or its group, as `module:attribute` in `quiclab.commands`."""


class Command(TyperCommand):
    """A command whose values are read without pydantic where they can be."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Of click: the arguments and options, `--help` too."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """The same for a group, which by itself prints its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Of click: what the words of a command line say."""
        return super().parse_args(ctx, args or ([] if ctx.resilient_parsing else ["--help"]))

    def get_params(self, ctx: Any) -> list[Any]:
        """Of click: the arguments and options, `--help` too."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]


class Group(PlainGroup):
    """A group that lists its commands by their rows, and imports the one that is to run."""

    rows: ClassVar[Mapping[str, Row]] = {}

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Only names and help lines: what a list and a suggestion need.
        self.commands = {
            name: TyperCommand(name, help=row.help, short_help=row.short or None) for name, row in self.rows.items()
        }

    def load(self, name: str) -> "Callable[..., None] | typer.Typer":
        """The function or the group of a name of `rows`."""
        raise NotImplementedError

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Of click: the command that the first argument names."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else _made(name, self.load(name)), rest


def _made(name: str, loaded: "Callable[..., None] | typer.Typer") -> Any:
    if not isinstance(loaded, typer.Typer):
        function = loaded
        loaded = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        loaded.command(name, cls=Command)(function)
    return typer.main.get_command(loaded)
