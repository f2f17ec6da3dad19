"""Numbers that stand below each other, with as many decimals each."""

import math
from collections.abc import Iterable
from typing import Any

_DIGITS = 4
"""Significant digits of the greatest of them."""
_MOST_DECIMALS = 6


def decimals(values: Iterable[Any]) -> int:
    """How many decimals numbers beside each other have: four significant digits of the greatest, none if all are whole.

    Values that are no numbers do not count.
    """
    numbers = [value for value in values if is_number(value) and math.isfinite(value)]
    if all(isinstance(value, int) for value in numbers):
        return 0
    greatest = max((abs(value) for value in numbers), default=0)
    if greatest == 0:
        return 0
    return min(max(_DIGITS - 1 - math.floor(math.log10(greatest)), 0), _MOST_DECIMALS)


def text(value: Any, digits: int) -> str:
    """A value for people: a number with this many decimals, yes or no, "-" where there is none."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_number(value):
        return f"{value:,.{digits}f}" if isinstance(value, float) or digits == 0 else f"{value:,}"
    return str(value)


def is_number(value: object) -> bool:
    """Whether it is a number: true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
