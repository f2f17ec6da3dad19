"""Logarithmic axes: nothing that is drawn vanishes, labels do not overlap, and marks at the edges are whole."""

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from matplotlib.figure import Figure

from quiclab.drawings import traces as trace_figure
from quiclab.drawings.plots.edges import with_whole_marks
from quiclab.drawings.plots.logarithmic import set_logarithmic
from quiclab.drawings.plots.style import styled
from quiclab.plots import Choice, chart
from quiclab.values.traces.capacity import Capacity

ODD = pa.table(
    {
        "run": list(range(12)),
        "d": [1, 1, 1, 1, 10, 10, 10, 10, 100, 100, 100, 100],
        "p": [0, 0.01, 0.1, 1] * 3,
        "y": [0, 0.01, 0.1, 1, 5, 50, 500, 5000, 0, 0, -3, 1e5],
    }
)
"""Numbers of many powers of ten, of which some have no logarithm."""


@pytest.mark.parametrize(
    ("kind", "log", "columns"),
    [
        ("box", "y", {"x": "d", "y": "y"}),
        ("line", "y", {"x": "run", "y": "y"}),
        ("bar", "y", {"x": "run", "y": "y"}),
        ("line", "x", {"x": "p", "y": "y"}),
        ("ecdf", "x", {"x": "y"}),
    ],
)
def test_a_logarithmic_axis_has_a_place_for_what_has_no_logarithm(kind: str, log: str, columns: dict[str, Any]) -> None:
    figure = chart(ODD, kind, Choice(log=log, **columns))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    values = ODD[columns[log]].to_pylist()
    axis, limits = (axes.xaxis, axes.get_xlim()) if log == "x" else (axes.yaxis, axes.get_ylim())
    assert axis.get_scale() == "symlog"
    places = axis.get_transform().transform(np.asarray(values, dtype=float))
    low, high = axis.get_transform().transform(np.asarray(limits))
    assert np.isfinite(places).all() and low <= places.min() and places.max() <= high
    assert len(set(places)) == len(set(values)), "different values have different places"
    if kind == "box":
        # The box of values 0, 0, -3 and 100,000 has its median at 0, and its whisker at -3.
        drawn = [np.asarray(line.get_ydata(), dtype=float) for line in axes.lines]
        assert any(list(line) == [0, 0] for line in drawn)
        assert min(line.min() for line in drawn if len(line)) == -3
    # Where all values have a logarithm the axis is as it was.
    positive = ODD.filter(pc.and_(pc.greater(ODD["y"], 0), pc.greater(ODD["p"], 0))).slice(1)
    (axes,) = chart(positive, kind, Choice(log=log, **columns)).figure.axes
    assert (axes.get_xscale() if log == "x" else axes.get_yscale()) == "log"


def test_a_logarithmic_heat_map_colours_what_has_no_logarithm() -> None:
    figure = chart(ODD, "heatmap", Choice(x="d", y="p", value="y", log="v"))
    figure.draw_without_rendering()
    (image,) = figure.axes[0].images
    colours = list(np.asarray(image.norm(np.asarray([-3, 0, 0.01, 1, 50, 1e5])), dtype=float))
    assert colours == sorted(colours) and len(set(colours)) == len(colours)


@pytest.mark.parametrize("powers", range(2, 12))
def test_labels_beside_zero_do_not_overlap(powers: int) -> None:
    """Also over many powers of ten: those in the linear part have no labels."""
    for least in (1e-3, 1.0, 50.0):
        rates = [0.0, least, 3 * least, 12.5 * least, least * 10.0**powers]
        capacity = Capacity([at * 10**9 for at in range(5)], [round(1e6 * rate) for rate in rates], 5 * 10**9)
        figure = trace_figure.draw(capacity, "t")
        figure.draw_without_rendering()
        spread = figure.axes[1]
        boxes = [
            label.get_window_extent() for label in spread.get_xticklabels() if label.get_text() and label.get_visible()
        ]
        low, high = spread.get_window_extent().intervalx
        boxes = sorted((box for box in boxes if low - 1 <= (box.x0 + box.x1) / 2 <= high + 1), key=lambda box: box.x0)
        assert len(boxes) >= 2
        assert all(one.x1 <= other.x0 for one, other in pairwise(boxes)), (powers, least)


def test_marks_at_the_edge_are_whole() -> None:
    with styled():
        figure = Figure(figsize=(12, 3))
        marked, line, chosen, logarithmic = figure.subplots(1, 4)
        for axes in (marked, chosen, logarithmic):
            axes.plot([1, 2, 5], [1, 2, 3], "o")
        line.plot([1, 2, 5], [1, 2, 3])
        chosen.set_xlim(0, 5)
        set_logarithmic(logarithmic, "x")
        with_whole_marks(figure)
        figure.draw_without_rendering()
    for axes in (marked, logarithmic):
        low, high = axes.get_window_extent().intervalx
        places = axes.transData.transform([(1, 1), (5, 3)])[:, 0]
        radius = axes.lines[0].get_markersize() / 2 * figure.dpi / 72
        assert low + radius <= places[0] and places[1] <= high - radius
    assert line.get_xlim() == (1, 5) and chosen.get_xlim() == (0, 5)
