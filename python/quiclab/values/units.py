"""Numbers with units, as in the resolved scenario: `2 Mbit/s`, `45 ms`, `360 kB`."""

from quiclab._quiclab import Error

# Only for plots and figures of papers, whose pages record this code: with `make papers` they go by `quantities`,
# whose numbers differ by a rounding of the last digit (18 ms is 0.018 there).
_UNITS = {
    "bit/s": 1e-6,
    "kbit/s": 1e-3,
    "Mbit/s": 1.0,
    "Gbit/s": 1e3,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "packets": 1.0,
}
"""Factors to Mbit/s, seconds, bytes and packets."""


def number(value: float | str) -> float:
    """A rate in Mbit/s, a time in seconds, a size in bytes; a plain number stays as it is.

    Raises `Error` for any other text.
    """
    if not isinstance(value, str):
        return float(value)
    digits, _, unit = value.partition(" ")
    try:
        return float(digits) * _UNITS[unit]
    except (ValueError, KeyError):
        raise Error(f"{value!r}: expected a number with one of the units {', '.join(_UNITS)}") from None
