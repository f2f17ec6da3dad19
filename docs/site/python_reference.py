"""The page `reference/python`: the public classes and functions with their types and docstrings.

Signatures and types are read from the sources, those of the compiled module from its stubs. Its docstrings are its own.
"""

import importlib
import inspect
import re
import textwrap
from pathlib import Path

import griffe
from markup import fenced
from public import EXAMPLES, MODULES

import quiclab

_undocumented: list[str] = []
_TOLD = {
    "quiclab.traces.Capacity.rates_bps": "The rates, in bit/s.",
    "quiclab.traces.Series.rates_bps": "The rates, in bit/s; None if it has none.",
    "quiclab.traces.Series.losses": "The shares of packets that are lost, from 0 to 1; None if it has none.",
    "quiclab.gym.CongestionControl.metadata": "Of Gymnasium: the environment draws nothing.",
    "quiclab.gym.RateAdaptation.metadata": "Of Gymnasium: the environment draws nothing.",
    "quiclab.gym.CongestionControl.action_space": "Of Gymnasium: what an action is.",
    "quiclab.gym.RateAdaptation.action_space": "Of Gymnasium: what an action is.",
    "quiclab.gym.CongestionControl.observation_space": "Of Gymnasium: what is seen of the sender.",
    "quiclab.gym.RateAdaptation.observation_space": "Of Gymnasium: what is seen of the player.",
}
"""Attributes without a docstring: of modules on which the digests of reproduced figures depend, and of Gymnasium."""

_LEFT_OUT = {"Plugged"}


def python_page(project: Path) -> str:
    """All of it. Raises if something of `quiclab.__all__` is missing."""
    package = griffe.load("quiclab", search_paths=[str(project / "python")], submodules=True, resolve_aliases=True)
    named = {name for names in MODULES.values() for name in names}
    missing = [name for name in quiclab.__all__ if f"quiclab.{name}" not in named and name != "__version__"]
    if missing:
        raise ValueError(
            f"the Python reference does not have {', '.join(missing)}: add it to MODULES in docs/site/public.py"
        )
    parts = []
    for title, names in MODULES.items():
        parts.append(f"## {title}\n")
        parts += [_object(_find(package, name), name) for name in names]
    if _undocumented:
        raise ValueError(f"without a docstring, which the Python reference needs: {', '.join(_undocumented)}")
    return "\n".join(parts)


def _find(package, name):
    """The object behind a public name."""
    found = package
    for part in name.split(".")[1:]:
        found = _member(package, found, part)
    return found


def _member(package, parent, name):
    found = parent.members.get(name)
    if found is not None and found.is_alias:
        found = found.final_target
    if found is not None and not found.is_module:
        return found
    value = getattr(importlib.import_module(parent.path), name, None)
    if value is None or inspect.ismodule(value):
        return found
    # What is there when it is used first, or what has the name of the module it comes from.
    place = package
    for part in value.__module__.split(".")[1:]:
        place = place[part]
    return place[value.__name__]


def _object(found, name):
    if found.is_class:
        return _class(found, name)
    return _function(found, name)


def _class(found, name):
    bases = ", ".join(str(base) for base in found.bases if str(base) not in _LEFT_OUT and "[" not in str(base))
    parameters = ""
    if "__init__" in found.members and found.filepath.suffix == ".py" and "is_private" not in found.labels:
        init = found.members["__init__"]
        if not any(parameter.name == "tables" for parameter in init.parameters):
            parameters = _parameters(init)
    lines = [f"### `{name}`", ""]
    body = _docstring(found, name)
    inner = []
    for member in found.members.values():
        if member.name.startswith("_") or member.is_alias:
            continue
        if member.is_function:
            inner.append(_function(member, f"{name}.{member.name}", fence=4, method=True))
        elif member.is_attribute:
            inner.append(_attribute(member, f"{name}.{member.name}"))
    signature = f"{name}({parameters})" if parameters else name
    lines += [
        f"`````{{py:class}} {signature}",
        *([f"Bases: {bases}", ""] if bases and not bases.startswith("object") else []),
    ]
    lines += [body, "", *inner, "`````", ""]
    return "\n".join(lines)


def _function(found, name, fence=5, method=False):
    ticks = "`" * fence
    kind = "py:method" if method else "py:function"
    flags = [f":{flag}:" for flag in ("classmethod", "staticmethod") if flag in found.labels]
    returns = f" -> {_type(found.returns)}" if found.returns is not None else ""
    head = [] if method else [f"### `{name}`", ""]
    return "\n".join(
        [
            *head,
            f"{ticks}{{{kind}}} {name}({_parameters(found)}){returns}",
            *flags,
            "",
            _docstring(found, name),
            ticks,
            "",
        ]
    )


def _attribute(found, name):
    kind = "py:property" if "property" in found.labels else "py:attribute"
    flags = [f":type: {_type(found.annotation)}"] if found.annotation is not None else []
    if found.value is not None and kind == "py:attribute" and len(str(found.value)) < 40:
        flags.append(f":value: {found.value}")
    return "\n".join([f"````{{{kind}}} {name}", *flags, "", _docstring(found, name), "````", ""])


def _type(annotation):
    text = " ".join(str(annotation).replace('"', "").split())
    # What a module imports under a private name is called as everywhere.
    text = re.sub(r"(?<![\w.])_(?=[A-Z])", "", text)
    # Some attributes are called bytes; the type is not one of them.
    return re.sub(r"(?<![\w.])bytes\b", "~builtins.bytes", text)


def _parameters(function):
    """The parameters as they stand in the source, with their marks for those by position or by name only."""
    told, by_name = [], False
    known = [one for one in function.parameters if one.name not in ("self", "cls")]
    for at, one in enumerate(known):
        kind = one.kind.value if one.kind else ""
        star = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        if kind == "keyword-only" and not by_name:
            by_name = True
            if not any(other.kind.value == "variadic positional" for other in known[:at]):
                told.append("*")
        text = star + one.name + (f": {_type(one.annotation)}" if one.annotation is not None else "")
        if one.default is not None and not star:
            text += f" = {one.default}" if one.annotation is not None else f"={one.default}"
        told.append(text)
        following = known[at + 1].kind.value if at + 1 < len(known) else None
        if kind == "positional-only" and following != "positional-only":
            told.append("/")
    return ", ".join(told)


def _docstring(found, name):
    text = found.docstring.value if found.docstring else _TOLD.get(name) or _of_module(name)
    if not text:
        _undocumented.append(name)
    return _markdown("\n\n".join(filter(None, [text, EXAMPLES.get(name)])))


def _of_module(name):
    """The docstring of a compiled object."""
    value = quiclab
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return (value.__doc__ or "") if value is not None else ""


def _markdown(text):
    """A docstring as Markdown: its blocks of code, its list of parameters, its code type."""
    text = textwrap.dedent(text) if text.startswith(" ") else text
    lines, block, parameters = [], [], []

    def close():
        if block:
            language = "pycon" if block[0].startswith(">>> ") else "python"
            lines.extend(["", fenced(textwrap.dedent("\n".join(block)).strip("\n"), language), ""])
            block.clear()

    session = False
    for line in text.split("\n"):
        # A session goes on to the next empty line.
        session = bool(line.strip()) and (session or line.startswith(">>> "))
        if session:
            block.append(line)
            continue
        if block and block[0].startswith(">>> "):
            close()
        field = re.match(r":(param|raises) ?(\w*):\s*(.*)", line)
        if line.startswith("    ") and not parameters:
            block.append(line)
        elif not line.strip() and block:
            block.append("")
        elif field:
            close()
            raised = "raises " if field[1] == "raises" else ""
            parameters.append([f"{raised}`{field[2]}`", field[3]])
        elif parameters and line.startswith(" "):
            parameters[-1][1] += " " + line.strip()
        else:
            close()
            if parameters:
                lines += _list(parameters)
                parameters.clear()
            if line.strip() != "::":
                lines.append(re.sub(r"::$", ":", line))
    close()
    lines += _list(parameters)
    return _quotes("\n".join(lines)).strip("\n")


def _list(parameters):
    return ["", *(f"* {name}: {about}" for name, about in parameters), ""] if parameters else []


def _quotes(text):
    parts = re.split(r"(```.*?```)", text, flags=re.DOTALL)
    return "".join(part if part.startswith("```") else part.replace("``", "`") for part in parts)
