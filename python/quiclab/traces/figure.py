"""A trace as a figure."""

import math
from typing import TYPE_CHECKING

from quiclab.plots.logarithmic import label_powers
from quiclab.traces.capacity import Capacity

if TYPE_CHECKING:
    from quiclab.plots.figure import Figure


def draw(capacity: Capacity, name: str, bin_ms: int = 100) -> "Figure":
    """Rate over time in bins of `bin_ms` milliseconds, and the distribution of the rate in bins of 10 ms."""
    from quiclab.plots.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    over_time, spread = figure.subplots(1, 2, width_ratios=[3, 1])
    rates = capacity.binned(bin_ms * 1_000_000)
    # The last bin may reach beyond the end.
    times = [min(at * bin_ms / 1000, capacity.duration_s) for at in range(len(rates) + 1)]
    over_time.stairs(rates, times, fill=True, color="#9aa5b1")
    over_time.axhline(capacity.mean_mbps, color="#1f4e79", linewidth=1)
    over_time.set(title=f"{name}: mean {capacity.mean_mbps:.4g} Mbit/s", xlabel="time (s)")
    over_time.set(ylabel=f"rate over {bin_ms} ms (Mbit/s)", xlim=(0, capacity.duration_s), ylim=(0, None))
    spread.ecdf(capacity.binned(10_000_000), color="#1f4e79")
    spread.set(xlabel="rate over 10 ms (Mbit/s)", ylabel="share of the time", ylim=(0, 1))
    # Linear up to the least power of ten that tells rates apart: a rate of zero has a place too.
    high = max(capacity.binned(10_000_000), default=0.0)
    least = 10.0 ** math.floor(math.log10(high) - 2) if high > 0 else 1.0
    spread.set_xscale("symlog", linthresh=least)
    label_powers(spread.xaxis, linthresh=least)
    return figure
