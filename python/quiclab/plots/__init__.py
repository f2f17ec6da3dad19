"""The plots of a run, each kind one file and one line in `PLOTS`; those of a sweep are in `CHARTS`."""

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab import _given
from quiclab._nearest import hint
from quiclab._quiclab import Error, OutputError
from quiclab.plots import air, buffer, delay, flight, latency, quality, queue, rate, rtt, throughput
from quiclab.plots.looks import STYLES, current, drawn_for, look, styled
from quiclab.plots.page import Panel, page, pages

if TYPE_CHECKING:
    from matplotlib.figure import Figure as AnyFigure

    # For the others, `__getattr__`: a run does not need them.
    from quiclab.plots.charts import CHARTS, Choice, chart
    from quiclab.plots.figure import Figure
    from quiclab.plots.sweep import draw_sweep, usual
    from quiclab.run import Run

PLOTS: dict[str, tuple[Panel, ...]] = {
    "overview": (
        quality.PANEL,
        buffer.PANEL,
        flight.PANEL,
        rtt.PANEL,
        rate.PANEL,
        queue.PANEL,
        air.PANEL,
        delay.PANEL,
    ),
    "flight": (flight.PANEL,),
    "rtt": (rtt.PANEL,),
    "rate": (rate.PANEL,),
    "queue": (queue.PANEL,),
    "air": (air.PANEL, delay.PANEL),
    "playback": (quality.PANEL, buffer.PANEL, throughput.PANEL, latency.PANEL),
}
"""Kind of plot of a run: its panels from top to bottom, over one time axis; those that apply are drawn."""

__all__ = [
    "CHARTS",
    "FORMATS",
    "PLOTS",
    "STYLES",
    "Choice",
    "Figure",
    "chart",
    "check_format",
    "draw",
    "draw_sweep",
    "drawn_for",
    "look",
    "save",
    "save_figures",
    "usual",
]

FORMATS = ("png", "svg", "pdf")
"""The endings that a figure's file may have."""

# Nothing of the moment or of the machine: equal runs give equal files.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


_ELSEWHERE = {
    "CHARTS": "charts",
    "Choice": "charts",
    "Figure": "figure",
    "chart": "charts",
    "draw_sweep": "sweep",
    "usual": "sweep",
}
"""What is imported only when it is used, and where it is."""


if not TYPE_CHECKING:
    # For types, all that there is stands above.

    def __getattr__(name: str) -> Any:
        if name not in _ELSEWHERE:
            raise AttributeError(f"module 'quiclab.plots' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"quiclab.plots.{_ELSEWHERE[name]}"), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def draw(run: "Run", kind: str = "overview", connection: str | None = None) -> "Figure":
    """One figure: a column of panels for each connection (the first four of them), or for the one that is named.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> figure = quiclab.plots.draw(run, "rate")
    >>> list(quiclab.plots.PLOTS)
    ['overview', 'flight', 'rtt', 'rate', 'queue', 'air', 'playback']
    """
    return page(_run(run), _panels(kind), connection, most=current().most)


def _run(run: object) -> "Run":
    from quiclab.run import Run

    return _given.instance("run", run, Run, "a Run, as `Scenario.run` and `load` give it")


def save(run: "Run", path: str | PathLike[str], kind: str = "overview", connection: str | None = None) -> None:
    """Draws into a file, in the format that its ending names. A PDF has one page per connection.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> quiclab.plots.save(run, Path("figure.svg"), "queue")

    Raises `OutputError` if the ending is unknown, or if the file cannot be written.
    """
    path, run = _given.path("save: path", path), _run(run)
    ending = check_format(path)
    panels = _panels(kind)
    figures = (
        pages(run, panels, connection) if ending == "pdf" else [page(run, panels, connection, most=current().most)]
    )
    save_figures(figures, path)


def save_figures(figures: Sequence["AnyFigure"], path: Path) -> None:
    """Writes figures into a file, in the format that its ending names: a PDF has a page for each, others the first.

    Equal figures give equal files. Raises `OutputError` if the ending is another one, or if it cannot be written.
    """
    from quiclab._folder import write_new, writing

    ending = check_format(path)
    drawn = _bytes(figures, ending)
    # Beside its name and then moved, so that a figure is never half of one.
    partial = path.with_name(f".{path.name}.partial")
    try:
        with writing(path):
            write_new(partial, drawn)
            partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def check_format(path: Path) -> str:
    """The format that the ending of `path` names. Raises `OutputError` if it is not one of `FORMATS`."""
    ending = path.suffix[1:].lower()
    if ending not in FORMATS:
        raise OutputError(f"{path}: a figure ends in .png, .svg or .pdf")
    return ending


def _panels(kind: str) -> tuple[Panel, ...]:
    _given.text("kind", kind, f"one of {', '.join(PLOTS)}")
    if kind not in PLOTS:
        raise Error(f"no plot {kind!r}: there are {', '.join(PLOTS)}{hint(kind, PLOTS)}")
    return PLOTS[kind]


def _bytes(figures: Sequence["AnyFigure"], ending: str) -> bytes:
    """The file as bytes: the writers of formats need not handle a full disk."""
    file = BytesIO()
    with styled():
        if ending == "pdf":
            from matplotlib.backends.backend_pdf import PdfPages

            with PdfPages(file, metadata=_METADATA["pdf"]) as pages:
                for figure in figures:
                    pages.savefig(figure)
        elif ending == "png":
            _save_png(figures[0], file)
        else:
            figures[0].savefig(file, format=ending, metadata=_METADATA[ending])
    return file.getvalue()


def _save_png(figure: "AnyFigure", file: BytesIO) -> None:
    """As `savefig` does, but with one drawing instead of two: where there is a layout, `savefig` draws to make it."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas, layout, resolution = figure.canvas, figure.get_layout_engine(), figure.get_dpi()
    FigureCanvasAgg(figure)
    try:
        figure.set_dpi(matplotlib.rcParams["savefig.dpi"])
        if layout is not None and figure.axes:
            layout.execute(figure)
        figure.set_layout_engine(None)
        figure.savefig(file, format="png", metadata=_METADATA["png"])
    finally:
        figure.set_layout_engine(layout)
        figure.set_dpi(resolution)
        figure.set_canvas(canvas)
