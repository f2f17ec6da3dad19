"""The page `reference/commands`: every command with its arguments and options, from the command line itself."""

import re
from pathlib import Path

import typer
from markdown import code, fenced, plain, table

from quiclab.commands import app

_INTRODUCTION = """# Command line

`quiclab COMMAND --help` prints the same. In a checkout the command is `.venv/bin/quiclab`.

```sh
quiclab --help
quiclab run --help
```

The exit code is 0 if all is well, 1 if something that was asked for does not hold or failed, 2 for an error, which is one line on
standard error, 130 after Ctrl-C, and 143 after SIGTERM. `--json` prints a document instead of a table.

"""


def commands_page(project: Path) -> str:
    """All commands, in the order of `--help`."""
    group = typer.main.get_command(app)
    context = group.context_class(group, info_name="quiclab")
    uses = _uses(project)
    parts, rows = [], []
    for words, command, inner in _walk(group, context):
        name = " ".join(words)
        first = _first(command.help)
        rows.append((f"[`quiclab {name}`](#command-{'-'.join(words)})", plain(first)))
        parts.append(_command(words, command, inner, uses))
    return _INTRODUCTION + table(["command", "what it does"], rows) + "\n" + "\n".join(parts)


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
        lines += [plain(" ".join(paragraph.split())), ""]
    lines += [fenced(" ".join(usage.split()))]
    if name in uses:
        shown, page = uses[name]
        lines += [f"For example, from [{page}](../{page}):", "", fenced(shown, "sh")]
    arguments, options = [], []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in parameter.opts:
            told, default = _told(record[1])
            row = (code(record[0]), plain(told), default)
            (arguments if parameter.param_type_name == "argument" else options).append(row)
    for title, rows in (("argument", arguments), ("option", options)):
        if rows:
            lines.append(table([title, "meaning", "default"], rows))
    return "\n".join(lines)


def _told(text):
    """The words of an option, and its default, which typer puts into brackets at the end."""
    found = re.search(r"\s*\[([^\[\]]*)\]$", text)
    if not found:
        return text, ""
    notes = []
    for note in found[1].split("; "):
        notes.append(code(note.removeprefix("default: ")) if note.startswith("default: ") else plain(note))
    return text[: found.start()], ", ".join(notes)


def _uses(project):
    """Of each command, the first line of the documentation that uses it, and the page."""
    found = {}
    pages = [project / "README.md", *sorted((project / "docs").glob("*.md")), *sorted((project / "docs/model").glob("*.md"))]
    for path in pages:
        for line in path.read_text(encoding="utf-8").split("\n"):
            use = re.match(r"(?:    |\$ )?(?:\.venv/bin/)?(quiclab ((?:trace )?[a-z]+)\b.*)", line)
            if use and use[2] not in found and not line.endswith("\\") and "|" not in line:
                found[use[2]] = (use[1], path.relative_to(project).as_posix())
    return found
