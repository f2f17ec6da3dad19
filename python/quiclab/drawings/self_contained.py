"""Pages that need nothing else: modules and style sheets of the package put into one HTML file."""

import base64
import hashlib
import posixpath
import re
from collections.abc import Mapping
from importlib.resources import files

_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?s:.*?)\*/)\n", re.MULTILINE)
"""A comment on lines of its own: the page is read by browsers."""
_IMPORT = re.compile(r'^import \{ (\w+(?:, \w+)*) \} from "(\.[./a-z]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)


def filled(template: str, *, script: str, style: str, parts: Mapping[str, str]) -> str:
    """A template with its `{{words}}` replaced, once each: what a part contains is not looked at.

    :param script: the text of its script, as `bundle` makes it.
    :param style: the text of its style sheet.
    :param parts: the other words: HTML, in which nothing from outside stands unescaped.

    `{{policy}}` is the content security policy: the page loads nothing, and runs no other script than this.
    """
    policy = f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}"
    words = {**parts, "policy": policy, "script": script, "style": style}
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], template)


def bundle(name: str) -> str:
    """An ES module and all that it imports as one script: each module once, after those that it imports.

    Each module is a function with a scope of its own that returns what it exports. Understood are
    `import { one, other } from "./file.js";` on one line, and `export` before a function, a class or a constant.

    :param name: a path in the package: "drawings/view/browser/main.js".
    :raises ValueError: on any other import or export, on a name that the imported module does not export, and on
        modules that import each other.
    """
    exports: dict[str, list[str]] = {}
    texts: list[str] = []

    def add(module: str, above: tuple[str, ...]) -> None:
        if module in above:
            raise ValueError(f"{module}: imports itself by way of {', '.join(above[above.index(module) + 1 :])}")
        if module in exports:
            return

        def imported(found: re.Match[str]) -> str:
            other = posixpath.normpath(posixpath.join(posixpath.dirname(module), found[2]))
            add(other, (*above, module))
            for name in found[1].split(", "):
                if name not in exports[other]:
                    raise ValueError(f"{module}: imports {name} from {other}, which does not export it")
            return f"const {{ {found[1]} }} = {_scope(other)};"

        text = _EXPORT.sub("", _IMPORT.sub(imported, whole := _COMMENT.sub("", source(module))))
        if odd := _OTHER.search(text):
            raise ValueError(
                f"{module}: expected an import of names on one line, or an export of a function, "
                f"a class or a constant instead of {odd[0].strip()!r}"
            )
        exports[module] = _EXPORT.findall(whole)
        texts.append(f"const {_scope(module)} = (() => {{\n{text}return {{ {', '.join(exports[module])} }};\n}})();\n")

    add(name, ())
    return "\n" + "".join(texts)


def source(name: str) -> str:
    """The text of a file of the package."""
    return files("quiclab").joinpath(*name.split("/")).read_text(encoding="utf-8")


def _scope(module: str) -> str:
    """The name that a module has in the script."""
    return re.sub(r"\W", "_", module.removesuffix(".js"))


def _hash(text: str) -> str:
    """What a content security policy calls an inline element by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
