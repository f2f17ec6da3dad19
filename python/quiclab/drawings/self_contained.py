"""Pages that need nothing else: modules and style sheets of the package put into one HTML file."""

import base64
import hashlib
import posixpath
import re
from collections.abc import Mapping
from importlib.resources import files

_IMPORT = re.compile(r'^import \{[^}]*\} from "([./a-z]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


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
    """A module and all that it imports as one script: each module once, after those that it imports.

    The modules are plain JavaScript and share one scope. `name` is a path in the package:
    "drawings/view/browser/main.js".
    """
    done: list[str] = []
    texts: list[str] = []

    def add(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, f"{module} imports itself"
        if module in done:
            return
        text = source(module)
        for imported in _IMPORT.findall(text):
            add(posixpath.normpath(posixpath.join(posixpath.dirname(module), imported)), (*above, module))
        done.append(module)
        texts.append(_EXPORT.sub("", _IMPORT.sub("", text)))

    add(name, ())
    return "\n" + "\n".join(texts)


def source(name: str) -> str:
    """The text of a file of the package."""
    return files("quiclab").joinpath(*name.split("/")).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a content security policy calls an inline element by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
