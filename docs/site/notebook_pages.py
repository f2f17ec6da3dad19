"""The pages `notebooks/NAME`: the notebooks of examples/notebooks, with the outputs that they are kept with."""

import base64
import json
from pathlib import Path

from markup import fenced

FOLDER = "examples/notebooks"


def pages(project: Path) -> dict[str, Path]:
    """The notebooks, by the names of their pages."""
    return {f"notebooks/{path.stem}.md": path for path in sorted((project / FOLDER).glob("*.ipynb"))}


def write(notebook: Path, page: Path) -> str:
    """The text of a page. The pictures of the notebook are written beside it."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    parts = []
    for at, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            # Links are seen from the notebook's own folder.
            parts.append(source.replace("](", f"](../{FOLDER}/"))
            continue
        parts.append(fenced(source, "python"))
        for number, output in enumerate(cell["outputs"]):
            parts.append(_output(output, page.with_name(f"{page.stem}-{at}-{number}.png")))
    if not any(cell.get("outputs") for cell in cells):
        # After the title and what the notebook is about.
        parts.insert(1, "The notebook is kept without outputs: open it in Jupyter and run it to see them.")
    parts.append(f"The notebook: `{FOLDER}/{notebook.name}`.\n")
    return "\n\n".join(parts)


def _output(output: dict[str, object], picture: Path) -> str:
    """The richest form of an output that a page can have."""
    data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
    if "image/png" in data:
        bytes_ = base64.b64decode(data["image/png"])
        if not picture.is_file() or picture.read_bytes() != bytes_:
            picture.write_bytes(bytes_)
        size = output["metadata"].get("image/png", {})
        attributes = f"{{width={size['width']}px}}" if "width" in size else ""
        return f"![{data['text/plain']}]({picture.name}){attributes}"
    if "text/html" in data:
        return data["text/html"]
    return fenced(data.get("text/plain") or "".join(output.get("text", "")))
