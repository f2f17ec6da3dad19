"""`quiclab list`: what can stand in a scenario, by topic."""

import itertools
import json
import shutil
import sys
from typing import Annotated, Any

import typer

import quiclab
from quiclab._quiclab import Error
from quiclab.commands import completions
from quiclab.commands.arguments import Json
from quiclab.commands.late import late
from quiclab.commands.output import echo
from quiclab.commands.pager import NoPager, console_text, show
from quiclab.values.suggestions import hint, listed

with late():
    import quiclab.commands.pages as markdown
    import quiclab.values.package_data as package_data


def list_(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[WHAT]",
            help="A topic (controllers) or a component (cubic). Default: an overview.",
            show_default=False,
            autocompletion=completions.topics_and_components,
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All topics with all components and options.")] = False,
    no_pager: NoPager = False,
    as_json: Json = False,
) -> None:
    """List what a scenario can contain: controllers, links, queues, losses, applications, with their options.

    Example: quiclab list cubic

    Of one component the page of its model is shown too: scope, equations, validation, references.
    """
    topics = quiclab.topics()
    chosen = topics
    if what is not None:
        chosen = _choose(topics, what)
        if not chosen:
            known = [topic["name"] for topic in topics]
            components = [row["name"] for topic in topics for row in topic["rows"]]
            raise Error(
                f"unknown topic or component {what!r}: topics are {listed(known)}{hint(what, known + components)}"
            )
    if as_json:
        echo(json.dumps(chosen, indent=2))
    elif what is None and not everything:
        show(_overview(topics), no_pager)
    else:
        whole = any(topic["name"] == what for topic in topics)
        show(_whole(chosen) + ("" if what is None or whole else _model_pages(chosen)), no_pager)


def _choose(topics: "list[dict[str, Any]]", what: str) -> "list[dict[str, Any]]":
    whole = [topic for topic in topics if topic["name"] == what]
    if whole:
        return whole
    parts = [{**topic, "rows": [row for row in topic["rows"] if row["name"] == what]} for topic in topics]
    return [topic for topic in parts if topic["rows"]]


def _overview(topics: "list[dict[str, Any]]") -> str:
    """A line for each topic, cut at the edge of a terminal: what it is, and the names of what is in it."""
    from rich.text import Text

    width = max(len(topic["name"]) for topic in topics)
    lines = Text()
    for subject, of_subject in itertools.groupby(topics, lambda topic: topic["subject"]):
        lines.append(f"{subject}\n", "underline")
        for topic in of_subject:
            names = ", ".join(row["name"] for row in topic["rows"])
            line = Text.assemble((f"  {topic['name']:<{width}}", "bold"), f"  {topic['about']}: ", (names, "cyan"))
            if sys.stdout.isatty():
                line.truncate(shutil.get_terminal_size().columns - 1, overflow="ellipsis")
            lines.append_text(line).append("\n")
    lines.append("\nquiclab list TOPIC   its components and their options")
    lines.append("\nquiclab explain KEY  what a key of a scenario, a component or a column means")
    return console_text(lines, width=100_000)


def _whole(topics: "list[dict[str, Any]]") -> str:
    """All options of all components."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    lines: list[Any] = []

    def line(indent: int, *parts: "str | tuple[str, str]") -> None:
        # Text, not markup: "[tls]" is a table of a scenario here.
        lines.append(Padding(Text.assemble(*parts), (0, 0, 0, indent)))

    for topic in topics:
        line(0, (topic["name"], "bold underline"), f": {topic['about']}")
        if topic["shorthand"] is not None:
            row, option = topic["shorthand"]["row"], topic["shorthand"]["option"]
            line(2, (f'a bare value is short for {{ type = "{row}", {option} = VALUE }}', "dim"))
        for row in topic["rows"]:
            line(2, (row["name"], "bold"), f": {row['about']}")
            if row["page"] is not None:
                line(4, (row["page"], "dim"))
            for option in row["parameters"]:
                line(4, (option["name"], "cyan"), f"  {option['kind']}", (_default(option), "green"))
                line(8, (option["about"], "dim"))
        line(0, "")
    return console_text(Group(*lines))


def _model_pages(topics: "list[dict[str, Any]]") -> str:
    """The pages that describe the components: equations, validation, references."""
    from rich.console import Group

    pages = dict.fromkeys(row["page"] for topic in topics for row in topic["rows"] if row["page"] is not None)
    return console_text(
        Group(*(markdown.rendered(text) for page in pages if (text := package_data.model_page(page)) is not None))
    )


def _default(option: dict[str, Any]) -> str:
    if option["default"] is not None:
        return f"  default {option['default']}"
    return "  required" if option["required"] else ""
