"""Every controller against every other: who gets how much of a shared link."""

from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from quiclab.reproduce.points import Points, column, groups, select
from quiclab.reproduce.runs import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_A, _B = "flow.a.transport.controller", "flow.b.transport.controller"
_FROM_S = 20.0
"""What came before does not count."""


def measure(sweeps: Mapping[str, Runs]) -> Points:
    """A point for each cell (pair, RTT, queue), for each pair, and for each controller beside itself."""
    runs = sweeps["main"]
    came = {name: _came(runs, f"{name}-home forward") for name in ("a", "b")}
    points: Points = []
    for (a, b, delay, queue), rows in groups(
        runs.rows, _A, _B, "link.bottleneck.delay_ms", "link.bottleneck.queue_bdp"
    ):
        shares = [(came["a"][row["run"]], came["b"][row["run"]]) for row in rows]
        cell = {"what": "cell", "a": a, "b": b, "rtt_ms": 2 * delay, "queue_bdp": queue}
        mean = tuple(fmean(each) for each in zip(*shares, strict=True))
        used = sum(mean) / rows[0]["link.bottleneck.rate_mbps"]
        share = fmean(mine / (mine + other) for mine, other in shares)
        jain = fmean((x + y) ** 2 / (2 * (x * x + y * y)) for x, y in shares)
        points.append({**cell, "a_mbps": mean[0], "b_mbps": mean[1], "share": share, "jain": jain, "least_used": used})
    for (a, b), cells in groups(list(points), "a", "b"):
        pair: dict[str, Any] = {**dict.fromkeys(cells[0]), "what": "pair", "a": a, "b": b}
        pair |= {name: fmean(column(cells, name)) for name in ("a_mbps", "b_mbps", "share", "jain")}
        pair["least_used"] = min(column(cells, "least_used"))
        points.append(pair)
        if a == b:
            points.append({**pair, "what": "self"})
    return points


def _came(runs: Runs, link: str) -> dict[int, float]:
    """What each run took over a link, in Mbit/s, mean of the bins that count."""
    import pyarrow.compute as pc

    assert runs.series is not None, "the scenario keeps the series of rates"
    mine = pc.and_(pc.equal(runs.series["subject"], link), pc.equal(runs.series["quantity"], "delivered_mbps"))
    late = runs.series.filter(pc.and_(mine, pc.greater_equal(runs.series["time_s"], _FROM_S)))
    found: dict[int, list[float]] = {row["run"]: [] for row in runs.rows}
    for run, value in zip(late["run"].to_pylist(), late["value"].to_pylist(), strict=True):
        if run in found:
            found[run].append(value)
    return {run: fmean(values) for run, values in found.items()}


def draw(points: Points) -> "Figure":
    """Two heat maps for each RTT and queue together: the share of the controller of the row, and Jain's index."""
    from matplotlib import pyplot

    cells = select(points, {"what": "cell"})
    names = list(dict.fromkeys(column(cells, "a")))
    delays, queues = sorted(set(column(cells, "rtt_ms"))), sorted(set(column(cells, "queue_bdp")))
    size = (2.1 * len(queues) + 1.2, 2.1 * len(delays) + 0.8)
    figure, grid = pyplot.subplots(
        len(delays), len(queues), figsize=size, layout="constrained", squeeze=False, sharex=True, sharey=True
    )
    image = None
    for axes_of_delay, delay in zip(grid, delays, strict=True):
        for axes, queue in zip(axes_of_delay, queues, strict=True):
            here = select(cells, {"rtt_ms": delay, "queue_bdp": queue})
            share = np.full((len(names), len(names)), np.nan)
            for cell in here:
                share[names.index(cell["a"]), names.index(cell["b"])] = 100 * cell["share"]
            image = axes.imshow(share, cmap="RdBu", vmin=0, vmax=100)
            axes.grid(visible=False)
            for (row, place), value in np.ndenumerate(share):
                colour = "black" if 25 < value < 75 else "white"
                axes.text(place, row, f"{value:.0f}", ha="center", va="center", color=colour, fontsize=5)
            axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
            axes.set_yticks(range(len(names)), names, fontsize=6)
            axes.set_title(f"RTT {delay:g} ms, queue {queue:g} BDP", fontsize=7)
    assert image is not None, "there are cells"
    figure.colorbar(image, ax=grid, label="share of the controller of the row, %", shrink=0.6)
    return figure
