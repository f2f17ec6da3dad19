"""Arguments that callers of the package give: a wrong one is an error that says what would be right."""

from typing import Any

from quiclab._quiclab import Error


def whole(what: str, value: Any, least: int, most: int) -> int:
    """A whole number from `least` to `most`. Raises `Error`, which begins with `what`: "page_draws: count"."""
    found = getattr(value, "__index__", None)
    number = None if found is None or isinstance(value, bool) else found()
    if number is None or not least <= number <= most:
        shown = repr(value) if number is None or abs(number) < 10**30 else "a number of many digits"
        raise Error(f"{what} is {shown}; expected a whole number from {least} to {most}")
    return int(number)


def text(what: str, value: Any, expected: str) -> str:
    """A text. Raises `Error`, which begins with `what` and says what is expected: "the name of a table"."""
    if not isinstance(value, str):
        raise Error(f"{what} is {value!r}; expected {expected}")
    return value
