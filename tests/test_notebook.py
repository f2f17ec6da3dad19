"""Notebooks: those of examples/notebooks run and show what they are kept with; figures and progress in a kernel."""

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import notebooks
from conftest import SCENARIO, many_short_runs


def outputs(*cells: str) -> list[list[Any]]:
    """What the cells of a notebook show in a new kernel."""
    made = [nbformat.v4.new_code_cell(cell) for cell in cells]  # type: ignore[no-untyped-call]
    notebook = nbformat.v4.new_notebook(cells=made)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120).execute()
    return [cell.outputs for cell in notebook.cells]


def test_every_notebook_is_tested() -> None:
    found = {path.stem for path in notebooks.FOLDER.glob("*.ipynb")}
    assert found == {*notebooks.WITH_OUTPUTS, *notebooks.WITHOUT}


@pytest.mark.parametrize("name", notebooks.WITH_OUTPUTS)
def test_a_notebook_shows_what_it_is_kept_with(name: str) -> None:
    kept, now = (notebooks.texts(notebook) for notebook in (notebooks.read(name), notebooks.run(name)))
    assert now == kept, "if that is right: make notebooks"
    shown = [kind for _, outputs in kept for output in outputs for kind in output]
    assert shown.count("image/png") >= 2 and shown.count("text/html") >= 3


@pytest.mark.parametrize("name", notebooks.WITH_OUTPUTS)
def test_a_notebook_is_small_and_names_no_machine(name: str) -> None:
    text = (notebooks.FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert str(notebooks.FOLDER.parent) not in text


def test_six_controllers_are_compared_on_a_cellular_link() -> None:
    assert not any(cell.get("outputs") for cell in notebooks.read("compare-controllers").cells)
    notebook = notebooks.run("compare-controllers")
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    table = next(output.data["text/plain"] for output in outputs if "mean RTT" in str(output.get("data", {})))
    for controller in ("newreno", "cubic", "vegas", "copa", "bbr1", "bbr3"):
        assert controller in table


RUN = f"import quiclab\nscenario = quiclab.Scenario.from_text('''{SCENARIO}''')\nrun = scenario.run()"


def test_a_figure_is_shown_once_with_and_without_pyplot() -> None:
    first, assigned, drawn, with_pyplot, inline, own = outputs(
        f"{RUN}\nrun.plot(kind='rtt')",
        "figure = run.plot()",
        "quiclab.plots.draw(run, 'queue')",
        "import matplotlib.pyplot as plt\nrun.plot(kind='rtt')",
        "%matplotlib inline\nrun.plot(kind='rtt')",
        "plt.plot([1, 2]);",
    )
    for shown in (first, drawn, with_pyplot, inline, own):
        assert sum("image/png" in output.get("data", {}) for output in shown) == 1, shown
    assert assigned == []
    assert first[0].metadata["image/png"] == {"width": 900, "height": 300}


def test_figures_of_sweeps_and_traces_are_shown() -> None:
    script = f"import quiclab\nsweep = quiclab.sweep(quiclab.Scenario.from_text('''{many_short_runs(1)}'''))\n"
    trace = "from quiclab.drawings.traces import draw\ndraw(quiclab.traces.Capacity([0], [10**7], 10**9), 'a trace')"
    for (output,) in outputs(f"{script}sweep.plot(x='ack_ratio', y='goodput_mbps')", trace):
        assert "image/png" in output["data"]


def test_progress_is_one_bar() -> None:
    run, sweep, failed = outputs(
        f"{RUN}\nrun = scenario.run(progress=True)",
        f"sweep = quiclab.sweep(quiclab.Scenario.from_text('''{many_short_runs(5)}'''), progress=True)",
        "try:\n    scenario.run(out='/dev/null/no', progress=True)\nexcept quiclab.OutputError:\n    pass",
    )
    assert [output.data["text/plain"] for output in run] == ["bulk: done"]
    assert [output.data["text/plain"] for output in sweep] == ["bulk: 30 of 30 runs, 0 failed"]
    assert '<progress value="1.000"' in sweep[0].data["text/html"]
    assert [output.data["text/plain"] for output in failed] == ["bulk: 0 %"]
