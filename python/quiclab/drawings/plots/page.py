"""The page: panels below each other over one time axis, one column for each connection, a title."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quiclab._quiclab import Error
from quiclab.drawings.plots.limits import from_zero
from quiclab.drawings.plots.looks import current, styled
from quiclab.drawings.plots.view import View, views
from quiclab.results.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from quiclab.results.figure import Figure
    from quiclab.results.run import Run


_ABOVE_LEGEND = 20
"""Points between the first panel and the title of its column: the legend is in between."""

_PRINTED = 0.6
"""Of the heights of panels, in the columns of a paper."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes of a page."""

    draw: Callable[["Axes", View], None]
    """Draws a view: lines, labels with units, legend. The page sets the limits."""
    height: float
    """Its share of the page's height."""
    applies: Callable[[View], bool] = lambda _: True
    """Whether there is anything to draw of a connection. A panel that applies to none is left out."""
    without: str = "there is nothing to draw"
    """Why it may apply to no connection."""


def page(run: "Run", panels: Sequence[Panel], connection: str | None, most: int) -> "Figure":
    """One figure of the first connections of a run, at most this many."""
    shown = views(run, connection)
    panels = _applying(panels, shown)
    shown = _with_anything(panels, shown)
    with styled():
        return _page(run, panels, shown[:most], len(shown))


def pages(run: "Run", panels: Sequence[Panel], connection: str | None) -> list["Figure"]:
    """A figure of each connection of a run."""
    shown = views(run, connection)
    panels = _applying(panels, shown)
    shown = _with_anything(panels, shown)
    with styled():
        return [_page(run, panels, [view], len(shown)) for view in shown]


def _applying(panels: Sequence[Panel], shown: Sequence[View]) -> list[Panel]:
    """The panels that apply to any of these connections."""
    applying = [panel for panel in panels if any(panel.applies(view) for view in shown)]
    if not applying:
        raise Error(f"nothing to plot: {panels[0].without}")
    return applying


def _with_anything(panels: Sequence[Panel], shown: list[View]) -> list[View]:
    """The connections to which any of these panels applies."""
    return [view for view in shown if any(panel.applies(view) for panel in panels)]


def _page(run: "Run", panels: Sequence[Panel], shown: Sequence[View], total: int) -> "Figure":
    # Not through pyplot: a Figure by itself belongs to no window and no global list.
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    look = current()
    heights = [panel.height * (1.0 if look.width is None else _PRINTED) for panel in panels]
    width = look.width or (9.0 if len(shown) == 1 else 6.0 * len(shown))
    # Room between the panels for their legends, which the layout does not see.
    layout = ConstrainedLayoutEngine(h_pad=0.13)
    figure = Figure(figsize=(width, (1.0 if look.titles else 0.6) + sum(heights)), layout=layout)
    axes = figure.subplots(len(panels), len(shown), sharex=True, sharey="row", squeeze=False, height_ratios=heights)
    for column, view in enumerate(shown):
        if look.titles or len(shown) > 1:
            axes[0][column].set_title(
                f"connection {view.connection}, sender: {view.side}", loc="left", pad=_ABOVE_LEGEND
            )
        for row, panel in enumerate(panels):
            panel.draw(axes[row][column], view)
        axes[-1][column].set_xlabel("time (s)")
    from_zero(axes)
    # Over the whole run.
    axes[0][0].set_xlim(0, max(float(run.summary.get("duration_s") or 0), axes[0][0].get_xlim()[1]))
    if look.titles:
        figure.suptitle(_title(run, shown, total), fontweight="bold")
    return figure


def _title(run: "Run", shown: Sequence[View], total: int) -> str:
    controllers = dict.fromkeys(name for view in shown if (name := _controller(run, view.connection)))
    parts = [str(run.summary.get("scenario")), *controllers, f"seed {run.summary.get('seed')}"]
    if len(shown) < total:
        parts.append(f"{len(shown)} of {total} connections")
    return ", ".join(parts)


def _controller(run: "Run", connection: str) -> str | None:
    """The congestion controller of a flow, as the resolved scenario has it."""
    scenario = run._document
    flows = [flow for flow in scenario.get("flow", []) if flow.get("name") == connection]
    table = "tcp" if any(flow.get("protocol") == "tcp" for flow in flows) else "transport"
    for place in (*flows, scenario):
        controller = place.get(table, {}).get("controller")
        name = controller.get("type") if isinstance(controller, dict) else controller
        if isinstance(name, str):
            # Of code in a file only the name of the file.
            return name.rpartition("/")[2]
    return None
