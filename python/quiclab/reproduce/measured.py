"""Measured numbers in texts: the `[numbers]` table of a figure, and the texts filled in from its points."""

from dataclasses import dataclass, field
from statistics import fmean
from string import Formatter
from typing import Any

from quiclab._quiclab import Error
from quiclab.reproduce.accept import FORMS, forms_of
from quiclab.reproduce.points import Points, Value, select

_KINDS = ("one", "least", "most", "mean", "sum", "count", "range")


@dataclass(frozen=True)
class Measured:
    """One number in `found` or `chosen`, computed from the points of each reproduction.

    ::

        [numbers.kept]                 # {kept} in the text
        here = "kept_rounds"           # the column
        where = { what = "run" }       # which points; default: all. A list of values means any of them
        as = "range"                   # one (default: the value that all these points share), least, most, mean, sum,
                                       # count (of points; needs no column), range (`11 to 12`)
        times = 100                    # a factor; default 1
        digits = 0                     # decimals; default 0
        in = ["full"]                  # which forms have it; default: full and quick
    """

    name: str
    here: str = ""
    where: dict[str, Any] = field(default_factory=dict)
    kind: str = "one"
    times: float = 1.0
    digits: int = 0
    forms: tuple[str, ...] = FORMS
    described: dict[str, Any] = field(default_factory=dict)
    """The table as read."""

    @staticmethod
    def read(name: str, table: dict[str, Any], origin: str) -> "Measured":
        """Reads a table. Raises `Error` for an unknown key or kind."""
        where = f"{origin}: numbers.{name}"
        unknown = table.keys() - {"here", "where", "as", "times", "digits", "in"}
        if unknown:
            raise Error(f"{where}.{sorted(unknown)[0]}: unknown key")
        kind = table.get("as", "one")
        if kind not in _KINDS:
            raise Error(f"{where}.as: expected one of {', '.join(_KINDS)}")
        if kind != "count" and "here" not in table:
            raise Error(f"{where}: needs here, the name of a column")
        values = {key: value for key, value in table.items() if key not in ("as", "in")}
        return Measured(name, **values, kind=kind, forms=forms_of(table, where), described=table)

    def text(self, points: Points) -> str:
        """The number as text. Raises `Error` if the points do not give it."""
        about = select(points, self.where)
        if self.kind == "count":
            return str(len(about))
        values = [_number(self, point.get(self.here)) * self.times for point in about]
        if not values:
            raise Error(f"numbers.{self.name}: no point has {self.where}")
        texts = [self._text(value) for value in values]
        if self.kind == "one":
            if len(set(texts)) > 1:
                raise Error(f"numbers.{self.name}: {self.here} is {texts[0]} and {texts[-1]}: narrow where, or set as")
            return texts[0]
        least, most = self._text(min(values)), self._text(max(values))
        kinds = {
            "least": least,
            "most": most,
            "mean": self._text(fmean(values)),
            "sum": self._text(sum(values)),
            "range": least if least == most else f"{least} to {most}",
        }
        return kinds[self.kind]

    def _text(self, value: float) -> str:
        # No minus before a zero.
        return f"{round(value, self.digits) + 0.0:.{self.digits}f}"


def names(text: str) -> set[str]:
    """The names of the numbers in a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def taken(numbers: "tuple[Measured, ...]", points: Points, *, quick: bool) -> tuple[dict[str, str], list[str]]:
    """All numbers of a form, by name, and a sentence for each that these points do not give."""
    texts: dict[str, str] = {}
    problems: list[str] = []
    for number in numbers:
        if FORMS[quick] in number.forms:
            try:
                texts[number.name] = number.text(points)
            except Error as error:
                problems.append(str(error))
    return texts, problems


def filled(text: str, values: dict[str, str]) -> str:
    """A text with its numbers filled in. Raises `Error` if one is missing."""
    missing = names(text) - values.keys()
    if missing:
        raise Error(f"{sorted(missing)[0]}: this number was not measured")
    return text.format(**values)


def _number(of: Measured, value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Error(f"numbers.{of.name}: {of.here} is {value!r}; expected a number")
    return float(value)
