"""Boxes: median, quartiles, whiskers to the last run within 1.5 times their distance (Tukey 1977), runs outside."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quiclab.drawings.plots.charts import parts
from quiclab.drawings.plots.charts.panels import Panel, Panels, Point
from quiclab.drawings.plots.charts.places import name_places, offset, width
from quiclab.values.downsampling import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A box for each value and group, side by side; hatched, with their number above, where some runs have no value.

    With a spread also the mean with its interval; with quantiles the whiskers end there.
    """
    spread, tail = all_.choice.spread, 50 * (1 - all_.choice.confidence)
    for layer in panel.layers:
        found = [(x, values) for x in all_.x.values if len(values := layer.at(x))]
        places = all_.x.positions([x for x, _ in found]) + offset(layer.number, all_.layers)
        boxes = axes.boxplot(
            [values for _, values in found],
            positions=places,
            widths=0.8 * width(all_.layers),
            patch_artist=True,
            manage_ticks=False,
            whis=(tail, 100 - tail) if spread == "quantiles" else 1.5,
            medianprops={"color": "black", "linewidth": 1.2},
            whiskerprops={"color": layer.colour},
            capprops={"color": layer.colour},
            flierprops={"marker": "o", "markersize": 2.5, "markerfacecolor": "none", "markeredgecolor": layer.colour},
        )
        for box, place, (x, values) in zip(boxes["boxes"], places, found, strict=True):
            box.set(facecolor=layer.colour, edgecolor=layer.colour, alpha=0.45)
            if not (part := layer.part(x)).whole:
                box.set(hatch=parts.HATCH)
                parts.above(axes, place, float(values.max()), part, layer.colour)
        if spread in ("student", "bootstrap"):
            _means(axes, places, [layer.point(x, all_.choice) for x, _ in found])
        for x in layer.totals:
            if not len(layer.at(x)):
                (place,) = all_.x.positions([x]) + offset(layer.number, all_.layers)
                parts.at_the_foot(axes, place, layer.part(x), layer)
        if found:
            # What the legend takes.
            boxes["boxes"][0].set_label(layer.label)
    name_places(axes, all_.x)


def _means(axes: "Axes", places: Series, points: Sequence[Point | None]) -> None:
    """A diamond at each mean, with its interval as a bar."""
    shown = [(place, point) for place, point in zip(places, points, strict=True) if point is not None]
    errors = [[point.middle - point.low for _, point in shown], [point.high - point.middle for _, point in shown]]
    axes.errorbar(
        [place for place, _ in shown],
        [point.middle for _, point in shown],
        yerr=errors,
        fmt="D",
        color="black",
        markerfacecolor="white",
        markersize=3.5,
        elinewidth=0.9,
        capsize=2.5,
        zorder=3,
    )
