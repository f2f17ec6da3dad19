"""A group of commands that imports only the command that is named, and commands that read plain values themselves."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from quiclab._quiclab import nearest
from quiclab.commands.output import echo
from quiclab.commands.values import read_plainly


class Row(NamedTuple):
    """What is known about a command before it is imported."""

    help: str
    """The first line of its manual."""
    short: str = ""
    """What a list of commands says about it, in up to 60 letters; by default the same."""
    where: str = ""
    """Its function or its group, as `module:attribute` in `quiclab.commands`."""
    heading: str = ""
    """What it stands under in `quiclab --help`; empty in a group."""
    example: str = ""
    """Only of a group that consists of the rows behind it: the example of its manual."""
    old: str = ""
    """Its word before it came into its group, which goes on working, with a line on standard error. With `--json` a
    program reads what a command prints, and gets no line."""
    quiet: bool = False
    """The old word is without that line: start-up files of shells run it, in each new terminal."""


class Command(TyperCommand):
    """A command whose values are read without pydantic where they can be."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Of click: the arguments and options, `--help` too."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """The same for a group, which by itself prints its help."""

    old: Mapping[str, str] = {}
    """Words that commands had before, which are in no list, and the words of today."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Of click: what the words of a command line say."""
        return super().parse_args(ctx, args or ([] if ctx.resilient_parsing else ["--help"]))

    def get_params(self, ctx: Any) -> list[Any]:
        """Of click: the arguments and options, `--help` too."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Of click: the command that the first argument names."""
        word = args[0]
        if word not in self.commands and not word.startswith("-") and not ctx.resilient_parsing:
            # As typer says it, which knows no old words.
            near = nearest(word, [*self.commands, *self.old]) if word.isprintable() else None
            meant = "" if near is None else f" Did you mean {self.old.get(near, near)!r}?"
            ctx.fail(f"No such command {word!r}.{meant}")
        return super().resolve_command(ctx, args)


class Group(PlainGroup):
    """A group that lists its commands by their rows, and imports the one that is to run."""

    rows: ClassVar[Mapping[str, Row]] = {}
    """All commands by their words, those of other groups too."""
    words: ClassVar[str] = ""
    """The words of the group, with a space behind them; none for that of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        inside = {name.removeprefix(self.words): row for name, row in self.rows.items() if name.startswith(self.words)}
        # Only names and help lines: what a list and a suggestion need.
        self.commands = {
            name: TyperCommand(name, help=row.help, short_help=row.short or None)
            for name, row in inside.items()
            if " " not in name
        }
        self.old = {} if self.words else {row.old: name for name, row in self.rows.items() if row.old}

    def load(self, name: str) -> "Callable[..., None] | typer.Typer":
        """The function or the group of a name of `rows`."""
        raise NotImplementedError

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Of click: the list of commands, here under the headings of their rows."""
        width = max(map(len, self.commands))
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            about = command.get_short_help_str(formatter.width - 6 - width)
            heading = self.rows[self.words + name].heading or "Commands"
            sections.setdefault(heading, []).append((name.ljust(width), about))
        for heading, listed in sections.items():
            with formatter.section(heading):
                formatter.write_dl(listed)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Of click: the command that the first argument names."""
        word = args[0]
        if word in self.old:
            now = self.old[word]
            if not (self.rows[now].quiet or "--json" in args or ctx.resilient_parsing):
                echo(f"quiclab {word} is called quiclab {now} now", err=True)
            return now, _made(now, self.load(now)), args[1:]
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else _made(name, self.load(self.words + name)), rest


def _made(name: str, loaded: "Callable[..., None] | typer.Typer") -> Any:
    if not isinstance(loaded, typer.Typer):
        function = loaded
        loaded = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        loaded.command(name, cls=Command)(function)
    return typer.main.get_command(loaded)
