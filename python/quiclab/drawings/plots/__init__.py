"""The plots of a run, each kind one file and one line in `PLOTS`; those of a sweep are in `CHARTS`."""

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from quiclab._quiclab import Error
from quiclab.drawings.plots import air, buffer, delay, flight, latency, quality, queue, rate, rtt, throughput
from quiclab.drawings.plots.files import FORMATS, check_format, save_figures
from quiclab.drawings.plots.looks import STYLES, current, drawn_for, look
from quiclab.drawings.plots.page import Panel, page, pages
from quiclab.results.run import Run
from quiclab.values import arguments
from quiclab.values.suggestions import hint

if TYPE_CHECKING:
    # For the others, `__getattr__`: a run does not need them.
    from quiclab.drawings.plots.charts import CHARTS, Choice, chart
    from quiclab.drawings.plots.sweep import draw_sweep, usual
    from quiclab.results.figure import Figure

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

_ELSEWHERE = {
    "CHARTS": "quiclab.drawings.plots.charts",
    "Choice": "quiclab.drawings.plots.charts",
    "Figure": "quiclab.results.figure",
    "chart": "quiclab.drawings.plots.charts",
    "draw_sweep": "quiclab.drawings.plots.sweep",
    "usual": "quiclab.drawings.plots.sweep",
}
"""What is imported only when it is used, and where it is."""


if not TYPE_CHECKING:
    # For types, all that there is stands above.

    def __getattr__(name: str) -> Any:
        if name not in _ELSEWHERE:
            raise AttributeError(f"module 'quiclab.plots' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_ELSEWHERE[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def draw(run: Run, kind: str = "overview", connection: str | None = None) -> "Figure":
    """One figure: a column of panels for each connection (the first four of them), or for the one that is named.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> figure = quiclab.plots.draw(run, "rate")
    >>> list(quiclab.plots.PLOTS)
    ['overview', 'flight', 'rtt', 'rate', 'queue', 'air', 'playback']
    """
    return page(_run(run), _panels(kind), connection, most=current().most)


def _run(run: object) -> Run:
    return arguments.instance("run", run, Run, "a Run, as `Scenario.run` and `load` give it")


def save(run: Run, path: str | PathLike[str], kind: str = "overview", connection: str | None = None) -> None:
    """Draws into a file, in the format that its ending names. A PDF has one page per connection.

    >>> run = quiclab.Scenario.from_file("examples/cellular.toml").run()
    >>> quiclab.plots.save(run, Path("figure.svg"), "queue")

    Raises `OutputError` if the ending is unknown, or if the file cannot be written.
    """
    path, run = arguments.path("save: path", path), _run(run)
    ending = check_format(path)
    panels = _panels(kind)
    figures = (
        pages(run, panels, connection) if ending == "pdf" else [page(run, panels, connection, most=current().most)]
    )
    save_figures(figures, path)


def plot_run(
    run: Run, path: str | PathLike[str] | None = None, kind: str = "overview", *, connection: str | None = None
) -> "Figure":
    """The body of `Run.plot`."""
    where = None if path is None else arguments.path("plot: path", path)
    figure = draw(run, kind, connection)
    if where is not None:
        save(run, where, kind, connection)
    return figure


def _panels(kind: str) -> tuple[Panel, ...]:
    arguments.text("kind", kind, f"one of {', '.join(PLOTS)}")
    if kind not in PLOTS:
        raise Error(f"no plot {kind!r}: there are {', '.join(PLOTS)}{hint(kind, PLOTS)}")
    return PLOTS[kind]
