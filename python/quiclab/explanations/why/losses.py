"""When the window of a sender was smaller than before its losses."""

from dataclasses import dataclass

import numpy as np

from quiclab._quiclab import Error
from quiclab.explanations.why.records import Records
from quiclab.explanations.why.steps import Steps

_REGAINED = 0.95
"""A window of this share of what it was is regained."""
_LATE_S = 0.05
"""A loss is detected up to two round trips and this time after the packet was dropped."""


@dataclass(frozen=True)
class Reduced:
    """A time in which a window was smaller than before."""

    start: float
    """When losses were detected."""
    end: float
    since: float
    """When the packets were dropped at the earliest."""


def reduced(records: Records, connection: str, side: str) -> list[Reduced]:
    """The times from a loss until the congestion window is what it was before it (95 % of that), in order.

    Losses of one round trip belong together: a controller reduces its window once for all of them.
    """
    windows = records.windows.get((connection, side))
    losses = records.losses.get((connection, side))
    if windows is None or losses is None:
        return []
    times, sizes, rtts = (windows[name].astype(float) for name in ("time_s", "cwnd_bytes", "smoothed_rtt_ms"))
    lost = np.sort(losses["time_s"].astype(float))
    spans: list[Reduced] = []
    first = 0
    while first < lost.size:
        start = float(lost[first])
        # The row at the time of a loss has what is left of the window.
        row = max(0, int(np.searchsorted(times, start, side="left")) - 1)
        settled = start + float(rtts[row]) / 1e3
        if not settled >= start:
            raise Error(
                f"connection: smoothed_rtt_ms is {rtts[row]:g} at {times[row]:g} s; a round trip takes no negative time"
            )
        first = int(np.searchsorted(lost, settled, side="right"))
        until = float(lost[first]) if first < lost.size else float("inf")
        begin, end = (int(np.searchsorted(times, at, side="left")) for at in (settled, until))
        regained = np.flatnonzero(sizes[begin:end] >= _REGAINED * sizes[row])
        stop = float(times[begin + regained[0]]) if regained.size else min(until, max(settled, float(times[-1])))
        spans.append(Reduced(start, max(start, stop), start - 2 * float(rtts[row]) / 1e3 - _LATE_S))
    return spans


def within(spans: list[Reduced]) -> Steps:
    """1 within these times, and 0 outside."""
    return Steps.within([(span.start, span.end) for span in spans])
