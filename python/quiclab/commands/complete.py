"""`quiclab __complete SHELL WORD...`: what the last word can be, for the scripts of `quiclab dev completion`.

The words are those behind `quiclab` up to the cursor, the last of them unfinished or empty. Each line of the answer is
a value; for zsh and fish a tab and a line of explanation may follow. For bash the first line says whether a space goes
behind the only value.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from quiclab.commands import app, completions

_OPEN = ("/", "=", ".")
"""What ends a value behind which more is to be typed."""
_LONGEST = 72
"""Letters of an explanation."""


class Item(NamedTuple):
    """A value that the last word can be."""

    value: str
    help: str = ""


def answer(shell: str, words: Sequence[str]) -> str:
    """What is printed."""
    if shell == "bash":
        return _bash(list(words))
    lines = [f"{item.value}\t{_shortened(item.help)}" if item.help else item.value for item in complete(words or [""])]
    return "".join(f"{line}\n" for line in lines)


def _bash(pieces: list[str]) -> str:
    """Bash breaks words at = and :, and replaces the last piece alone."""
    words: list[str] = []
    glue = False
    for piece in pieces or [""]:
        breaks = bool(piece) and not piece.strip("=:")
        if words and (glue or (breaks and words[-1] != "")):
            words[-1] += piece
        else:
            words.append(piece)
        glue = breaks
    last = pieces[-1] if pieces else ""
    kept = len(words[-1]) - (0 if last and not last.strip("=:") else len(last))
    quote = last[:1] if last[:1] in ("'", '"') else ""
    words = [word.replace("'", "").replace('"', "").replace("\\", "") for word in words]
    kept = min(kept, len(words[-1]))
    found = [item.value for item in complete(words)]
    space = "nospace" if len(found) == 1 and found[0].endswith(_OPEN) else "space"
    values = [value[kept:] for value in found]
    shown = [quote + value if quote else re.sub(r"([\s'\"\\$`&|;<>()*?!#\[\]{}])", r"\\\1", value) for value in values]
    return "".join(f"{line}\n" for line in (space, *shown))


def complete(words: Sequence[str]) -> list[Item]:
    """What the last word can be."""
    import typer

    *before, last = words
    command: Any = typer.main.get_command(app)
    context = command.context_class(command, info_name="quiclab", resilient_parsing=True)
    while hasattr(command, "list_commands"):
        rest = [word for word in before if not word.startswith("-")]
        if not rest:
            if last.startswith("-"):
                return _options(command, context, last, before)
            named = [(name, command.commands[name]) for name in command.list_commands(context)]
            commands = [Item(name, one.get_short_help_str(_LONGEST)) for name, one in named]
            return [item for item in commands if item.value.startswith(last)]
        if rest[0] not in command.list_commands(context) and rest[0] not in command.old:
            return []
        _, command, _ = command.resolve_command(context, [rest[0]])
        context = command.context_class(command, parent=context, info_name=rest[0], resilient_parsing=True)
        before = before[before.index(rest[0]) + 1 :]
    return _of_command(command, context, before, last)


def _of_command(command: Any, context: Any, before: Sequence[str], last: str) -> list[Item]:
    parameters = command.get_params(context)
    options = {name: one for one in parameters for name in one.opts if name.startswith("-")}
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    expecting, given = None, 0
    for place, word in enumerate(before):
        if expecting is not None:
            expecting = None
        elif word == "--":
            given += len(before) - place - 1
            break
        elif word in options:
            # A flag takes no value.
            expecting = None if _is_flag(options[word]) else options[word]
        elif not word.startswith("-") or word == "-":
            if given < len(arguments):
                context.params[arguments[given].name] = word
            given += 1
    if expecting is not None:
        return _values(expecting, context, last)
    name, equals, value = last.partition("=")
    if equals and name in options:
        return [Item(f"{name}={item.value}", item.help) for item in _values(options[name], context, value)]
    if last.startswith("-") and last != "-":
        return _options(command, context, last, before)
    if arguments and (given < len(arguments) or arguments[-1].nargs == -1):
        return _values(arguments[min(given, len(arguments) - 1)], context, last)
    return _options(command, context, "--", before) if not last else []


def _options(command: Any, context: Any, last: str, before: Sequence[str]) -> list[Item]:
    found = []
    for one in command.get_params(context):
        if one.param_type_name != "option" or getattr(one, "hidden", False):
            continue
        if not one.multiple and any(name in before for name in one.opts):
            continue
        names = [name for name in one.opts if name.startswith("--" if last.startswith("--") or last == "-" else "-")]
        found += [Item(name, getattr(one, "help", "") or "") for name in names if name.startswith(last)]
    return found


def _is_flag(option: Any) -> bool:
    return bool(getattr(option, "is_flag", False)) or bool(getattr(option, "count", False))


def _values(parameter: Any, context: Any, last: str) -> list[Item]:
    found = _declared(parameter, context, last)
    if found or _declared(parameter, context, ""):
        return [Item(value, about) for value, about in dict(found).items() if value.startswith(last)]
    annotation = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    return [] if annotation in (int, float) else [Item(value) for value in completions.paths(last)]


def _declared(parameter: Any, context: Any, last: str) -> list[tuple[str, str]]:
    """What the parameter itself says, without the mere mark that it is a file."""
    items = parameter.shell_complete(context, last)
    return [(item.value, item.help or "") for item in items if getattr(item, "type", "plain") == "plain"]


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3].rstrip()}..."
