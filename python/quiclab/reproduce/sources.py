"""What a figure depends on beside its own file: the code that measures and draws it, and the data that its runs read.

Both are hashes by name, which tell whether a page is up to date.
"""

import ast
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from quiclab import papers
from quiclab._quiclab import Error

_PACKAGE = Path(papers.__file__).parent.parent
_PAPERS, _REPRODUCE = "quiclab.papers", "quiclab.reproduce"
_OTHERS = ("reproduce", "drawings/plots", "values/traces", "values/units", "results/statistics")
"""Parts of the package that measure, check and draw. The rest runs simulations, whose results are in the tables."""
_JUDGES = ("accept", "measured")
"""Modules of `quiclab.reproduce` that make the rows and numbers of every figure."""


def code(path: Path) -> dict[str, str]:
    """The hashes of a figure's module and of all it imports from papers and from the parts in `_OTHERS`.

    Papers are looked up beside the module's own. What does not count: see `plain`.
    """
    others = {f"quiclab.{name.replace('/', '.')}": _PACKAGE / name for name in _OTHERS}
    roots = {_PAPERS: path.parent.parent, **others}
    waiting = {f"{_PAPERS}.{path.parent.name}.{path.stem}", *(f"{_REPRODUCE}.{name}" for name in _JUDGES)}
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        file = _file(name, roots)
        if file is None or name in found:
            continue
        text = _read(file)
        found[name] = _hash(plain(text).encode())
        waiting.update(_imports(text, roots))
    return found


def plain(text: str) -> str:
    """The text of a module without what does not change what it does.

    That is its comments and empty lines, where it imports modules of the package from, and by what names: what is
    imported has a hash of its own, and a module that moves leaves a figure up to date.
    """
    lines = text.splitlines()
    modules: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quiclab"):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
            modules.update(alias.asname or alias.name for alias in node.names)
    kept = "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    return re.sub(rf"\b(?:{'|'.join(sorted(modules))})\.", "module.", kept) if modules else kept


def data(folder: Path, figure: str, scenarios: Iterable[Path]) -> dict[str, str]:
    """The hashes of a figure's own data files, and of the files that its scenarios name."""
    files = {path for path in folder.glob(f"{figure}.*") if path.suffix not in (".toml", ".py")}
    for scenario in scenarios:
        named = (
            folder / text for text in _texts(tomllib.loads(_read(scenario))) if "\n" not in text and len(text) < 200
        )
        files.update(path for path in named if path.is_file())
    return {path.name: _hash(path.read_bytes()) for path in sorted(files)}


def _file(module: str, roots: dict[str, Path]) -> Path | None:
    """The file of a module in one of these packages; None for other modules, and for names that are not modules."""
    for package, root in roots.items():
        if module == package or module.startswith(f"{package}."):
            place = root.joinpath(*module.removeprefix(package).split(".")[1:])
            files = (place / "__init__.py", place.with_suffix(".py"))
            return next((file for file in files if file.is_file()), None)
    return None


def _imports(text: str, roots: dict[str, Path]) -> Iterator[str]:
    """The modules that a text imports; of `from package import name` the module `name`, else the package."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if _file(inner, roots) else node.module


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise Error(f"{path}: {error}") from error


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
