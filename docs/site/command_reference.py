"""The page `reference/commands`: every command with its arguments and options, from the command line itself."""

import re
from pathlib import Path

import typer
from markup import code, fenced, plain, table, without_empty

from quiclab.commands import app


def commands_page(project: Path) -> str:
    """All commands, in the order of `--help`."""
    group = typer.main.get_command(app)
    context = group.context_class(group, info_name="quiclab")
    commands = list(_walk(group, context))
    uses = _uses(project, [" ".join(words) for words, _, _ in commands])
    parts, rows = [], []
    for words, command, inner in commands:
        name = " ".join(words)
        first = _first(command.help)
        rows.append((f"[`quiclab {name}`](#command-{'-'.join(words)})", plain(first)))
        parts.append(_command(words, command, inner, uses))
    return table(["command", "what it does"], rows) + "\n" + "\n".join(parts)


def _walk(group, context, words=()):
    for name in group.list_commands(context):
        _, command, _ = group.resolve_command(context, [name])
        inner = command.context_class(command, parent=context, info_name=name)
        if hasattr(command, "list_commands"):
            yield from _walk(command, inner, (*words, name))
        else:
            yield (*words, name), command, inner


def _first(text):
    return " ".join((text or "").split("\n\n")[0].split())


def _command(words, command, context, uses):
    name = " ".join(words)
    usage = command.get_usage(context).removeprefix("Usage: ")
    lines = [f"(command-{'-'.join(words)})=", f"## `quiclab {name}`", ""]
    for paragraph in (command.help or "").split("\n\n"):
        text = " ".join(paragraph.split())
        if text.startswith("Example: "):
            lines += ["For example:", "", fenced(text.removeprefix("Example: "), "sh")]
        else:
            lines += [plain(text), ""]
    lines += [fenced(" ".join(re.sub(r"[{}]", "", usage).split()))]
    if name in uses:
        shown, page = uses[name]
        lines += [f"Another one, from [{page}](../{page}):", "", fenced(shown, "sh")]
    arguments, options = [], []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in parameter.opts:
            told, default = _told(record[1])
            row = (code(record[0]), told, default)
            (arguments if parameter.param_type_name == "argument" else options).append(row)
    for title, rows in (("argument", arguments), ("option", options)):
        if rows:
            lines.append(without_empty([title, "meaning", "default"], rows))
    return "\n".join(lines)


def _told(text):
    """The words of an option with its range, and its default: typer puts both into brackets at the end."""
    found = re.search(r"\s*\[([^\[\]]*)\]$", text)
    if not found:
        return plain(text), ""
    told, default = plain(text[: found.start()]), ""
    for note in found[1].split("; "):
        if note == "required":
            default = note
        elif note.startswith("default: "):
            default = code(note.removeprefix("default: "))
        else:
            told += f" ({code(note)})"
    return told, default


def _uses(project, commands):
    """Of each command, the first line of the documentation that uses it, and the page."""
    found, known = {}, "|".join(commands)
    pages = [
        project / "README.md",
        *sorted((project / "docs").glob("*.md")),
        *sorted((project / "docs/model").glob("*.md")),
    ]
    for path in pages:
        for line in path.read_text(encoding="utf-8").split("\n"):
            use = re.match(rf"(?:    |\$ )?(?:\.venv/bin/)?(quiclab ({known})\b.*)", line)
            if use and use[2] not in found and not line.endswith("\\") and "|" not in line:
                found[use[2]] = (use[1], path.relative_to(project).as_posix())
    return found
