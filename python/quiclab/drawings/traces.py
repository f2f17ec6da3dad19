"""A trace as a figure."""

import math
from typing import TYPE_CHECKING

from quiclab.drawings.plots.around_zero import label_powers
from quiclab.results.figure import Figure
from quiclab.values.traces.capacity import Capacity

if TYPE_CHECKING:
    from quiclab.results.figure import Figure


_BINS, _SPREAD_BINS = 6_000, 100_000
"""The most bins that are drawn over time, and that the distribution is of."""
_FINE_MS = 10
_BEYOND = 1.3
"""How far beyond the highest rate a logarithmic axis goes."""


def draw(capacity: Capacity, name: str, bin_ms: int = 100) -> "Figure":
    """Rate over time in bins of `bin_ms` milliseconds, and the distribution of the rate in bins of 10 ms.

    The bins of long traces are wider, as the axes say.
    """
    bin_ms, fine_ms = (
        max(least, _wide(1e3 * capacity.duration_s / most))
        for least, most in ((bin_ms, _BINS), (_FINE_MS, _SPREAD_BINS))
    )
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    over_time, spread = figure.subplots(1, 2, width_ratios=[3, 1])
    rates = capacity.binned(bin_ms * 1_000_000)
    # The last bin may reach beyond the end.
    times = [min(at * bin_ms / 1000, capacity.duration_s) for at in range(len(rates) + 1)]
    over_time.stairs(rates, times, fill=True, color="#9aa5b1")
    over_time.axhline(capacity.mean_mbps, color="#1f4e79", linewidth=1)
    over_time.set(title=f"{name}: mean {capacity.mean_mbps:.4g} Mbit/s", xlabel="time (s)")
    over_time.set(ylabel=f"rate over {bin_ms} ms (Mbit/s)", xlim=(0, capacity.duration_s), ylim=(0, None))
    fine = capacity.binned(fine_ms * 1_000_000)
    spread.ecdf(fine, color="#1f4e79")
    spread.set(xlabel=f"rate over {fine_ms} ms (Mbit/s)", ylabel="share of the time", ylim=(0, 1))
    low, high = min(fine, default=0.0), max(fine, default=0.0)
    if high > 10 * low:
        # Linear up to the least power of ten that tells rates apart: a rate of zero has a place too.
        least = 10.0 ** math.floor(math.log10(high) - 2) if high > 0 else 1.0
        spread.set_xscale("symlog", linthresh=least)
        label_powers(spread.xaxis, least)
        # What stands at the edge would be drawn by half.
        spread.set_xlim(0, _BEYOND * high if high > 0 else 1)
    return figure


def _wide(ms: float) -> int:
    """The next width of a bin in milliseconds: 1, 2 or 5 times a power of ten."""
    power = int(10 ** max(0, math.ceil(math.log10(max(ms, 1.0))) - 1))
    return next(wide for wide in (power, 2 * power, 5 * power, 10 * power) if wide >= ms)
