"""Boxes: median, quartiles, whiskers to the last run within 1.5 times their distance (Tukey 1977), runs outside."""

from typing import TYPE_CHECKING

from quiclab.plots.charts import parts
from quiclab.plots.charts.panels import Panel, Panels
from quiclab.plots.charts.places import name_places, offset, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(axes: "Axes", panel: Panel, all_: Panels) -> None:
    """A box for each value and group, side by side; hatched, with their number above, where some runs have no value."""
    for layer in panel.layers:
        found = [(x, values) for x in all_.x.values if len(values := layer.at(x))]
        places = all_.x.positions([x for x, _ in found]) + offset(layer.number, all_.layers)
        boxes = axes.boxplot(
            [values for _, values in found],
            positions=places,
            widths=0.8 * width(all_.layers),
            patch_artist=True,
            manage_ticks=False,
            whis=1.5,
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
        for x in layer.totals:
            if not len(layer.at(x)):
                (place,) = all_.x.positions([x]) + offset(layer.number, all_.layers)
                parts.at_the_foot(axes, place, layer.part(x), layer)
        if found:
            # What the legend takes.
            boxes["boxes"][0].set_label(layer.label)
    name_places(axes, all_.x)
