"""Laws of all figures: what is drawn lies inside of its axes, no legend lies over it, and none is cut off."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, LineCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.spines import Spine
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

_EDGE_PIXELS = 2

Numbers = npt.NDArray[np.float64]


def outside(figure: Figure) -> list[str]:
    """A sentence for each artist that reaches beyond the limits of its axes, in the coordinates of the data.

    A logarithmic axis has no place for numbers of zero and less; they are passed over.
    """
    return [problem for axes in _all(figure.axes) if axes.get_visible() for problem in _of(axes)]


def covered(figure: Figure) -> list[str]:
    """A sentence for each artist with something of it under a legend of axes. Bands of the background do not count."""
    figure.draw_without_rendering()
    legends = [(axes, legend) for axes in _all(figure.axes) if (legend := axes.get_legend()) is not None]
    found = []
    for axes, legend in legends:
        # The frame of a legend is not drawn: its edge counts for nothing.
        box = legend.get_window_extent().padded(-_EDGE_PIXELS)
        for other in _all(figure.axes):
            if not other.get_visible() or not other.get_window_extent().overlaps(box):
                continue
            for artist in other.get_children():
                if artist is not legend and _touches(other, artist, box):
                    where = axes.get_ylabel() or axes.get_title() or "a panel"
                    found.append(f"{where}: the legend lies over {type(artist).__name__} {artist.get_label()!r}")
    return found


def cut(figure: Figure) -> list[str]:
    """A sentence for each legend that reaches out of the figure."""
    figure.draw_without_rendering()
    legends = [*figure.legends, *(legend for axes in _all(figure.axes) if (legend := axes.get_legend()) is not None)]
    found = []
    for legend in legends:
        box, whole = legend.get_window_extent(), figure.bbox.padded(_EDGE_PIXELS)
        if box.x0 < whole.x0 or box.x1 > whole.x1 or box.y0 < whole.y0 or box.y1 > whole.y1:
            words = ", ".join(text.get_text() for text in legend.get_texts())
            found.append(
                f"the legend {words!r} reaches from {box.x0:.0f} to {box.x1:.0f} of {figure.bbox.x1:.0f} pixels"
            )
    return found


def drawn(figure: Figure) -> int:
    """How many artists with an extent in data there are."""
    return sum(1 for axes in _all(figure.axes) for artist in axes.get_children() if list(_extents(axes, artist)))


def _all(some: "list[Axes]") -> Iterator[Axes]:
    for axes in some:
        yield axes
        yield from _all([child for child in axes.child_axes if isinstance(child, Axes)])


def _of(axes: Axes) -> Iterator[str]:
    for artist in axes.get_children():
        for name, axis, least, most in _extents(axes, artist):
            low, high = sorted(axis.get_view_interval())
            room = 1e-6 * (high - low)
            if least < low - room or most > high + room:
                where = axes.get_ylabel() or axes.get_title() or "a panel"
                yield (
                    f"{where}: {type(artist).__name__} {artist.get_label()!r} is from {least:g} to {most:g} along"
                    f" {name}, the axis from {low:g} to {high:g}"
                )


def _extents(axes: Axes, artist: Artist) -> Iterator[tuple[str, Axis, float, float]]:
    """Along each axis on which it is drawn by data: its name, the least and the greatest number."""
    if not artist.get_visible() or artist is axes.patch or isinstance(artist, Spine):
        return
    numbers = _numbers(axes, artist)
    if numbers is None:
        return
    transform = artist.get_transform()
    if isinstance(artist, Annotation):
        transform = artist._get_xy_transform(None, artist.xycoords)  # type: ignore[attr-defined]
    # A marker or a box at a place has its size in points, and its place in data.
    if isinstance(artist, Collection) and artist.get_offset_transform().contains_branch(axes.transData):
        transform = artist.get_offset_transform()
    by_data = transform.contains_branch_seperately(axes.transData)
    for name, axis, values, counts in zip("xy", (axes.xaxis, axes.yaxis), numbers.T, by_data, strict=True):
        shown = values
        if axis.get_scale() == "log":
            shown = shown[shown > 0]
        if counts and len(shown):
            yield name, axis, float(shown.min()), float(shown.max())


def _touches(axes: Axes, artist: Artist, box: Bbox) -> bool:
    """Whether something of an artist that is drawn by data on both axes lies in a box of pixels."""
    if not list(_extents(axes, artist)):
        return False
    if isinstance(artist, Text):
        return bool(artist.get_window_extent().overlaps(box))
    transform = artist.get_transform()
    if isinstance(artist, Collection):
        offsets = np.asarray(artist.get_offsets())
        if len(offsets) and artist.get_offset_transform().contains_branch(axes.transData):
            return bool(box.count_contains(artist.get_offset_transform().transform(offsets)))
        paths = [transform.transform_path(path) for path in artist.get_paths()]
        filled = not isinstance(artist, LineCollection)
    elif isinstance(artist, Line2D):
        line = transform.transform_path(artist.get_path())
        if artist.get_linestyle() == "None":
            return bool(box.count_contains(np.asarray(line.vertices)))
        paths, filled = [line], False
    elif isinstance(artist, Patch):
        if not all(transform.contains_branch_seperately(axes.transData)):
            return False
        paths, filled = [transform.transform_path(artist.get_path())], True
    else:
        return True
    return any(path.cleaned(remove_nans=True).intersects_bbox(box, filled=filled) for path in paths if len(path))


def _numbers(axes: Axes, artist: Artist) -> Numbers | None:
    """The corners of an artist, as rows of x and y; None of what is no data."""
    found: Any = None
    if isinstance(artist, Line2D):
        found = artist.get_xydata()
    elif isinstance(artist, Collection):
        limits = artist.get_datalim(axes.transData)
        found = limits.get_points()
    elif isinstance(artist, Patch):
        found = artist.get_patch_transform().transform_path(artist.get_path()).vertices
    elif isinstance(artist, AxesImage):
        left, right, bottom, top = artist.get_extent()
        found = [(left, bottom), (right, top)]
    elif isinstance(artist, Annotation):
        found = [artist.xy]
    elif isinstance(artist, Text) and artist.get_text():
        found = [artist.get_position()]
    if found is None or not len(found):
        return None
    rows = np.asarray(np.ma.filled(np.ma.asarray(found, dtype=np.float64), np.nan)).reshape(-1, 2)
    # A point with one number missing is not drawn.
    return rows[np.isfinite(rows).all(axis=1)]
