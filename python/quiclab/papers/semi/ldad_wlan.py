"""Fig. 7, red lines: a download over 802.11b with packet errors, with and without LDAD at the access point."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.papers.semi import ways
from quiclab.reproduce.points import Points
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """See `quiclab.papers.semi.ways.measure`."""
    return ways.measure(sweeps, "ap", lambda row: float(row["medium.air.frame_errors"]))


def draw(points: Points) -> "Figure":
    """See `quiclab.papers.semi.ways.draw`."""
    return ways.draw(points, "packet error rate", (9, 11))
