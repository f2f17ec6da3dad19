"""Fig. 7, blue lines: a download over LTE with block errors, with and without LDAD at the base station."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.papers.semi import ways
from quiclab.reproduce.points import Points
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """See `quiclab.papers.semi.ways.measure`."""
    return ways.measure(sweeps, "enb", lambda row: float(row["medium.cell.block_errors"]))


def draw(points: Points) -> "Figure":
    """See `quiclab.papers.semi.ways.draw`."""
    return ways.draw(points, "block error rate", (20, 35))
