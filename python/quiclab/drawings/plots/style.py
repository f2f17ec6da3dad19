"""How every plot looks: colours that colour-blind people can tell apart, sizes, and fixed names inside of SVG files."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# The palette of Okabe and Ito, "Color Universal Design" (2008).
BLUE = "#0072B2"
SKY = "#56B4E9"
GREEN = "#009E73"
ORANGE = "#E69F00"
VERMILLION = "#D55E00"
BLACK = "#000000"
GREY = "#8C8C8C"
PALE = "#DDDDDD"
PURPLE = "#CC79A7"

PALETTE = (BLUE, VERMILLION, GREEN, ORANGE, SKY, PURPLE, BLACK)
"""Colours of groups, in their order."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""And their markers, for print without colours."""

_RC: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.fontsize": 8,
    # A dollar in a title is a dollar.
    "text.parse_math": False,
    "savefig.dpi": 150,
    "figure.dpi": 100,
    # Otherwise the identifiers in an SVG are random.
    "svg.hashsalt": "quiclab",
    # Long lines are drawn in pieces: a limit of the rasteriser.
    "agg.path.chunksize": 20_000,
}


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib's own defaults and ours, whatever the user's matplotlibrc says: a figure depends on the run alone."""
    import matplotlib.style

    with matplotlib.style.context(["default", _RC]):
        yield
