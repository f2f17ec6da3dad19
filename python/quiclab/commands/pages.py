"""Pages in Markdown for the terminal: formulas become text, links what they say, pictures their titles."""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.latexwalker import LatexMacroNode
    from rich.console import RenderableType

_PARTS = re.compile(r"(^```.*?^```$|^ {4}.*?$|`[^`\n]+`)|\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL | re.MULTILINE)
"""Code, which is left alone; a formula by itself; a formula in a line."""
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
"""To another page of the project."""
_FRACTION = re.compile(r"\\[dt]frac\b")
"""In the size of a formula by itself, and of one in a line."""
_RAISED = re.compile(r"([\^_])\{(?!-?\\?\w+\})([^{}]+)\}")
"""An exponent or index of more than one word, which needs brackets in text."""
_SIGNS = re.compile(r" *([&·≤≥←]) *")
"""Signs with a space on both sides; & is where lines are aligned."""
_HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)


def rendered(page: str) -> "RenderableType":
    """The page as rich prints it."""
    from rich.markdown import Markdown

    return Markdown(as_text(page), code_theme="ansi_dark", hyperlinks=False)


def as_text(page: str) -> str:
    """The page in Markdown without formulas, and without links and pictures that lead nowhere from a terminal."""
    page = _PARTS.sub(_formula, page)
    return _LINK.sub(r"\1", _PICTURE.sub(r"*Figure: \1*", page))


def section(page: str, title: str) -> str | None:
    """The part of a page under the heading that begins with `title`, with the heading; None if there is none."""
    headings = list(_HEADING.finditer(page))
    for number, heading in enumerate(headings):
        if heading[2].startswith(title):
            ends = (later.start() for later in headings[number + 1 :] if len(later[1]) <= len(heading[1]))
            return page[heading.start() : next(ends, len(page))].rstrip() + "\n"
    return None


def _formula(part: "re.Match[str]") -> str:
    code, display, inline = part.groups()
    if code is not None:
        return str(code)
    if inline is not None:
        return _escaped(" ".join(formula(inline).split()))
    lines = [" ".join(line.split()) for line in formula(display).splitlines()]
    return "```\n" + "\n".join(line for line in lines if line) + "\n```"


def _escaped(text: str) -> str:
    """With the signs of a formula that would mean something in Markdown escaped; a bar would end a cell of a table."""
    return re.sub(r"([*_|\\`\[\]<>])", r"\\\1", text)


def formula(tex: str) -> str:
    """A formula in the TeX of the pages as Unicode text."""
    return _converter()(tex)


@cache
def _converter() -> "Callable[[str], str]":
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

    # The library looks for the name `l2tobj`.
    def fraction(node: "LatexMacroNode", l2tobj: "LatexNodes2Text") -> str:
        above, below = (_grouped(l2tobj.nodelist_to_text([part])) for part in node.nodeargd.argnlist)
        return f"{above}/{below}"

    def root(node: "LatexMacroNode", l2tobj: "LatexNodes2Text") -> str:
        index, under = node.nodeargd.argnlist
        sign = {"3": "∛", "4": "∜"}.get(l2tobj.nodelist_to_text([index]), "√") if index else "√"
        return f"{sign}({l2tobj.nodelist_to_text([under]).strip()})"

    known = get_default_latex_context_db()
    macros = [MacroTextSpec("frac", simplify_repl=fraction), MacroTextSpec("sqrt", simplify_repl=root)]
    known.add_context_category("quiclab", prepend=True, macros=macros)
    converter = LatexNodes2Text(latex_context=known, math_mode="text", strict_latex_spaces="based-on-source")

    def convert(tex: str) -> str:
        tex = _RAISED.sub(r"\1{(\2)}", _FRACTION.sub(r"\\frac", tex))
        return _SIGNS.sub(r" \1 ", converter.latex_to_text(tex, tolerant_parsing=False)).replace(" & ", " ")

    return convert


def _grouped(text: str) -> str:
    text = text.strip()
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"
