"""When the window of a sender was smaller than before its losses."""

import numpy as np

from quiclab.why.records import Records
from quiclab.why.steps import Steps

_REGAINED = 0.95
"""A window of this share of what it was is regained."""


def reduced(records: Records, connection: str, side: str) -> Steps:
    """1 from a loss until the congestion window is what it was before it (95 % of that), and 0 otherwise.

    Losses of one round trip belong together: a controller reduces its window once for all of them.
    """
    windows = records.windows.get((connection, side))
    losses = records.losses.get((connection, side))
    if windows is None or losses is None:
        return Steps.zero()
    times, sizes, rtts = (windows[name].astype(float) for name in ("time_s", "cwnd_bytes", "smoothed_rtt_ms"))
    lost = np.sort(losses["time_s"].astype(float))
    spans: list[tuple[float, float]] = []
    first = 0
    while first < lost.size:
        start = float(lost[first])
        # The row at the time of a loss has what is left of the window.
        row = max(0, int(np.searchsorted(times, start, side="left")) - 1)
        settled = start + float(rtts[row]) / 1e3
        first = int(np.searchsorted(lost, settled, side="right"))
        until = float(lost[first]) if first < lost.size else float("inf")
        begin, end = (int(np.searchsorted(times, at, side="left")) for at in (settled, until))
        regained = np.flatnonzero(sizes[begin:end] >= _REGAINED * sizes[row])
        stop = float(times[begin + regained[0]]) if regained.size else min(until, max(settled, float(times[-1])))
        spans.append((start, max(start, stop)))
    return Steps.within(spans)
