"""When the picture of a player stood: from the rows of the table `playback`."""

from collections.abc import Iterable, Mapping
from typing import Any

_WITHIN = ("rate", "switch")
"""Events that end no stall."""


def stalls(events: Iterable[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Start and end in seconds of each span without a picture.

    The buffer was empty (a stall), or media never came (a gap). A viewer sees no difference between the two, so that a
    stall that follows a gap is a part of it.

    :param events: the rows of one player, in the order of time.
    """
    spans, began = [], None
    for event in events:
        if event["event"] in ("stall", "gap"):
            began = event["time_s"] if began is None else began
        elif began is not None and event["event"] not in _WITHIN:
            spans.append((began, event["time_s"]))
            began = None
    return spans
