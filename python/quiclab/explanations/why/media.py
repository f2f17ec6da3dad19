"""Media: the lanes that share their capacity, and what a byte costs there for each terminal."""

from collections.abc import Iterable, Mapping
from typing import Any

from quiclab.explanations.why.situation import kind, number

_FULL_BITS = 12_000.0
_OVERHEAD_S = 150e-6
"""Of a frame of a WLAN: contention, preamble, acknowledgement. A rough value, to compare terminals of one lane."""
HIGHEST_MBPS = {"b": 11.0, "a": 54.0, "g": 54.0}
_STREAM_MBPS = (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0)
"""802.11n with one stream in 20 MHz and a long guard interval, by the MCS."""


def lanes(name: str, media: Iterable[Mapping[str, Any]]) -> tuple[str | None, list[str]]:
    """The medium of a lane, and the lanes that share its capacity: itself included.

    In a cell these are the lanes of one direction, in other media all.

    :param name: of an attachment, with the receiver in the downlink of a cell: `air ap`, `cell enb phone`.
    :param media: the entries of the summary.
    """
    found = [(" ".join(str(one[key]) for key in ("name", "attachment", "to") if one.get(key)), one) for one in media]
    own = next((one for label, one in found if label == name), None)
    if own is None:
        return None, [name]
    together = [
        label for label, one in found if one["name"] == own["name"] and bool(one.get("to")) == bool(own.get("to"))
    ]
    return str(own["name"]), together


def phy_mbps(medium: Mapping[str, Any], terminal: str) -> float | None:
    """The rate of data frames from and to a terminal of a WLAN in Mbit/s; None if it changes, or in another medium."""
    options = {**medium, **medium.get("at", {}).get(terminal, {})}
    if medium.get("type") != "wlan" or kind(options.get("rate_control", "fixed")) != "fixed":
        return None
    standard = str(options.get("standard", "g"))
    if standard in HIGHEST_MBPS:
        return number(options.get("rate")) or HIGHEST_MBPS[standard]
    mcs = int(options.get("mcs", 7))
    wide = 2.08 if options.get("width") == "40 MHz" else 1.0
    return _STREAM_MBPS[mcs % 8] * (mcs // 8 + 1) * wide


def seconds_per_bit(medium: Mapping[str, Any] | None, terminals: Iterable[str]) -> float:
    """About how long a bit takes there, of a flow from or to one of some terminals: for comparisons within a lane."""
    for terminal in terminals if medium is not None else ():
        if medium is not None and terminal in medium.get("terminals", []) and (rate := phy_mbps(medium, terminal)):
            overhead = _OVERHEAD_S / _FULL_BITS if medium.get("standard") not in ("n", "n-2.4") else 0.0
            return 1e-6 / rate + overhead
    return 1e-6
