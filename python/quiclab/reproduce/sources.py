"""What a figure is made of beside its own file: the code that measures and draws it, and the data that its runs read.

Both as hashes by name, so that a page knows whether it was made of what is there now.
"""

import ast
import hashlib
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from quiclab import papers
from quiclab._quiclab import Error

_PACKAGE = Path(papers.__file__).parent.parent
_PAPERS, _REPRODUCE = "quiclab.papers", "quiclab.reproduce"
_OTHERS = ("reproduce", "plots", "traces", "statistics")
"""Of the package: what measures, judges and draws. The rest runs simulations, whose results are in the tables."""
_JUDGES = ("accept", "measured")
"""Of `quiclab.reproduce`: they make rows and numbers of the points of every figure."""


def code(path: Path) -> dict[str, str]:
    """The hashes of a module of a paper, and of what it imports of papers and of the packages and modules in `_OTHERS`.

    The papers are those in whose folder the module is. Lines that are comments alone do not count.
    """
    roots = {_PAPERS: path.parent.parent, **{f"quiclab.{name}": _PACKAGE / name for name in _OTHERS}}
    waiting = {f"{_PAPERS}.{path.parent.name}.{path.stem}", *(f"{_REPRODUCE}.{name}" for name in _JUDGES)}
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        file = _file(name, roots)
        if file is None or name in found:
            continue
        text = _read(file)
        found[name] = _hash("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")).encode())
        waiting.update(_imports(text, roots))
    return found


def data(folder: Path, figure: str, scenarios: Iterable[Path]) -> dict[str, str]:
    """The hashes of the files that are a figure's own beside code and descriptions, and of those its scenarios name."""
    files = {path for path in folder.glob(f"{figure}.*") if path.suffix not in (".toml", ".py")}
    for scenario in scenarios:
        named = (
            folder / text for text in _texts(tomllib.loads(_read(scenario))) if "\n" not in text and len(text) < 200
        )
        files.update(path for path in named if path.is_file())
    return {path.name: _hash(path.read_bytes()) for path in sorted(files)}


def _file(module: str, roots: dict[str, Path]) -> Path | None:
    """The file of a module of one of these packages; None for others, and for what is no module but a name in one."""
    for package, root in roots.items():
        if module == package or module.startswith(f"{package}."):
            place = root.joinpath(*module.removeprefix(package).split(".")[1:])
            files = (place / "__init__.py", place.with_suffix(".py"))
            return next((file for file in files if file.is_file()), None)
    return None


def _imports(text: str, roots: dict[str, Path]) -> Iterator[str]:
    """All that a module imports: of a name in a package its module, and the package itself only where there is none."""
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
