"""Numbers with units, as scenarios have them: `2 Mbit/s`, `45 ms`, `360 kB`."""

from quiclab._quiclab import Error, quantity

_SCALES = {"bit/s": 1e6, "s": 1.0, "B": 1.0, "packets": 1.0}
"""By base unit: what `number` divides by."""


def number(value: float | str) -> float:
    """A rate in Mbit/s, a time in seconds, a size in bytes; a plain number stays as it is.

    Raises `Error` for any other text.
    """
    if not isinstance(value, str):
        return float(value)
    found = quantity(value)
    if found is None or found[1] not in _SCALES:
        raise Error(f"{value!r}: expected a number with its unit, like '2 Mbit/s', '45 ms', '360 kB' or '7 packets'")
    return found[0] / _SCALES[found[1]]


def read(text: str, unit: str) -> float | None:
    """A text in this base unit, `s`, `bit/s` or `B`; None if it is something else."""
    found = quantity(text)
    return found[0] if found is not None and found[1] == unit else None
