"""The notebooks of examples/notebooks: run, compared with the outputs that they are kept with, and kept anew.

`python tests/notebooks.py` runs those that are kept with outputs, and writes what came out.
"""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
WITH_OUTPUTS = ("first-steps", "own-controller")
WITHOUT = ("compare-controllers",)
"""Notebooks that are kept without their outputs: these depend on which traces there are."""


def read(name: str) -> Any:
    """A notebook as it is kept."""
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]


def run(name: str) -> Any:
    """A notebook with the outputs of a kernel of this Python."""
    notebook = read(name)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(FOLDER)}}).execute()
    for cell in notebook.cells:
        # Times of the clock.
        cell.metadata.pop("execution", None)
    notebook.metadata = {"kernelspec": notebook.metadata.get("kernelspec", {}), "language_info": {"name": "python"}}
    return notebook


def texts(notebook: Any) -> list[tuple[str, list[dict[str, str]]]]:
    """The cells, and what each shows by kind: all texts, and of pictures that they are there."""
    return [(cell.source, [_text(output) for output in cell.get("outputs", ())]) for cell in notebook.cells]


def _text(output: Any) -> dict[str, str]:
    if "data" not in output:
        return {output.get("name", output.output_type): output.get("text", "")}
    return {kind: "" if kind.startswith("image/") else text for kind, text in output.data.items()}


def main() -> None:
    """Runs and writes them."""
    for name in WITH_OUTPUTS:
        nbformat.write(run(name), FOLDER / f"{name}.ipynb")  # type: ignore[no-untyped-call]
        sys.stdout.write(f"{name}.ipynb: {(FOLDER / f'{name}.ipynb').stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
