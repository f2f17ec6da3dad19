"""The rates of sending and of delivery against what the bottleneck can carry."""

from typing import TYPE_CHECKING

from quiclab.drawings.plots.marks import legend
from quiclab.drawings.plots.page import Panel
from quiclab.drawings.plots.style import BLUE, GREY, PALE, VERMILLION
from quiclab.drawings.plots.view import View
from quiclab.values.downsampling import Series, downsample

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_FAR = 5
"""From this multiple of the highest of the rates on, a capacity is a number and no area."""


def draw(axes: "Axes", view: View) -> None:
    """Capacity as a grey area, the connection's rates as lines."""
    draw_capacity(axes, view, _highest(view))
    _line(axes, view.rate("sent"), VERMILLION, "sent")
    if view.alone:
        _line(axes, view.rate("delivered"), BLUE, "delivered")
    else:
        # What the link carried belongs to all connections; one of them knows its part from its samples.
        _line(axes, view.rate("delivered"), GREY, "all connections")
        _line(axes, view.delivery_samples(), BLUE, "delivered")
    axes.set_ylabel("rate (Mbit/s)")
    legend(axes)


def draw_capacity(axes: "Axes", view: View, highest: float) -> None:
    """The capacity of the bottleneck as a grey area, beside lines whose highest value is given."""
    times, capacity = downsample(*view.rate("capacity"))
    if len(times):
        label = f"capacity of {view.link}"
        if capacity.min() > _FAR * highest:
            # An area that high would flatten all lines of the row.
            times, capacity, label = times[:0], capacity[:0], f"{label}: {capacity.min():,.0f}"
        axes.fill_between(times, capacity, step="post", color=PALE, linewidth=0, label=label)


def _highest(view: View) -> float:
    """The highest rate of what is drawn as lines; infinite if there is none."""
    rates = [view.rate("sent"), view.rate("delivered")]
    return max((float(values.max()) for _, values in rates if len(values)), default=float("inf"))


def _line(axes: "Axes", series: tuple[Series, Series], colour: str, label: str) -> None:
    times, values = downsample(*series)
    axes.plot(times, values, drawstyle="steps-post", color=colour, linewidth=1.0, label=label)


PANEL = Panel(draw, height=2.0)
