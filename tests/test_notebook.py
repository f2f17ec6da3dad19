"""The notebook of examples/: it runs, and draws what it says."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_six_controllers_are_compared_on_a_cellular_link() -> None:
    notebook = nbformat.read(EXAMPLES / "compare_controllers.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in notebook.cells), "it is kept without its results"
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(EXAMPLES)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    table = next(output.data["text/plain"] for output in outputs if "mean RTT" in str(output.get("data", {})))
    for controller in ("newreno", "cubic", "vegas", "copa", "bbr1", "bbr3"):
        assert controller in table
