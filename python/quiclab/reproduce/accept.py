"""Checks: the `[[accept]]` tables of a figure, and the rows that they give for its points."""

from dataclasses import dataclass, field, replace
from typing import Any

from quiclab._quiclab import Error
from quiclab.reproduce.points import Point, Points, Value, select

FORMS = ("full", "quick")
"""The two forms of a reproduction: in full, and with `--quick`."""

_POINTS = {"%": "percentage points"}
"""The unit of a difference between two shares."""


@dataclass(frozen=True)
class Row:
    """One check and its outcome."""

    case: str
    """What is checked."""
    paper: str
    """The value of the paper, or of theory, with its unit; empty if there is none."""
    target: str
    """Our own target, where the paper gives no number or we ask for more; else empty."""
    here: str
    """The value measured here."""
    accept: str
    """The condition."""
    ok: bool
    """Whether the condition holds."""
    used: float = 0.0
    """The share of the accepted deviation that was used: 1 is the limit. 0 if the condition has no such scale."""

    def to_dict(self) -> dict[str, str | bool]:
        """As plain values, for JSON."""
        return {
            "case": self.case,
            "paper": self.paper,
            "target": self.target,
            "here": self.here,
            "accept": self.accept,
            "ok": self.ok,
        }


@dataclass(frozen=True)
class Rule:
    """One `[[accept]]` table, which gives a row for each point that it selects.

    ::

        [[accept]]
        case = "MTU {mtu_bytes} B"     # the name of the row, filled in from the point
        where = { loss = 0.001 }       # which points; default: all. A list of values means any of them
        here = "throughput_mbps"       # the measured column
        paper = "theory_mbps"          # the value of the paper: another column, a number, or its own words
        target = 95                    # our own target: a column, a number, or words, filled in like `case`
        within = "0.5 %"               # the accepted deviation from the target, or else from the paper; or a number
        unit = "Mbit/s"
        digits = 2
        in = ["full"]                  # which forms check it; default: full and quick
        every = true                   # the page lists every row; default: see `shown`

    Instead of `within`: `at_least`, `at_most` or both, each a number or a column. A bound that is not the paper's own
    number needs a `target` that says so. `paper` is left out where the paper says nothing.
    """

    case: str
    here: str
    paper: str | float | None = None
    target: str | float | None = None
    within: str | float | None = None
    at_least: str | float | None = None
    at_most: str | float | None = None
    where: dict[str, Any] = field(default_factory=dict)
    unit: str = ""
    digits: int = 2
    every: bool = False
    forms: tuple[str, ...] = FORMS
    described: dict[str, Any] = field(default_factory=dict)
    """The table as read."""

    @staticmethod
    def read(table: dict[str, Any], origin: str) -> "Rule":
        """Reads a table. Raises `Error` for an unknown key, and if a required one is missing."""
        known = {"case", "here", "paper", "target", "within", "at_least", "at_most", "where", "unit", "digits"}
        known |= {"every", "in"}
        unknown = table.keys() - known
        if unknown:
            raise Error(f"{origin}: accept.{sorted(unknown)[0]}: unknown key")
        if not {"case", "here"} <= table.keys() or not {"paper", "target"} & table.keys():
            raise Error(f"{origin}: accept: needs case, here, and paper or target")
        if not {"within", "at_least", "at_most"} & table.keys():
            raise Error(f"{origin}: accept: needs within, at_least or at_most")
        if "target" not in table:
            for word in ("at_least", "at_most"):
                if word in table and table[word] != table["paper"]:
                    raise Error(f"{origin}: accept: {word} is not the number of the paper, and needs a target")
        values = {key: value for key, value in table.items() if key != "in"}
        return Rule(**values, forms=forms_of(table, f"{origin}: accept"), described=table)

    def rows(self, points: Points, *, quick: bool) -> list[Row]:
        """One row per selected point. A rule that selects no point gives one row, which does not hold."""
        if FORMS[quick] not in self.forms:
            return []
        about = select(points, self.where)
        if not about:
            return [Row(self.case, "", "", "no such point", str(self.where), ok=False)]
        return [self._row(point) for point in about]

    def _row(self, point: Point) -> Row:
        names = {key: _plain(value) for key, value in point.items()}
        here = point.get(self.here)
        paper, target = (_of(point, value, names) for value in (self.paper, self.target))
        if isinstance(paper, str) and paper == self.paper and paper.isidentifier():
            raise Error(f"{self.case}: paper: no column {paper!r}; words of a paper need quotation marks")
        conditions, held, used = [], True, 0.0
        if self.within is not None:
            off, share = _share(self.within)
            judged = _number(paper if target is None else target)
            most = off * abs(judged) if share else off
            held &= _is_number(here) and abs(_number(here) - judged) <= most
            used = abs(_number(here) - judged) / most if _is_number(here) and most > 0 else 0.0
            conditions.append(
                f"within {self.within}" + ("" if share else f" {_POINTS.get(self.unit, self.unit)}".rstrip())
            )
        for word, bound, sign in (("at least", self.at_least, 1), ("at most", self.at_most, -1)):
            if bound is not None:
                value = _number(point[bound] if isinstance(bound, str) else bound)
                held &= _is_number(here) and sign * (_number(here) - value) >= 0
                conditions.append(f"{word} {self._text(value)}")
        return Row(
            self.case.format(**names),
            self._said(paper),
            self._said(target),
            self._text(here),
            ", ".join(conditions),
            held,
            used,
        )

    def _said(self, value: Value) -> str:
        return "" if value is None else self._text(value)

    def _text(self, value: Value) -> str:
        if value is None:
            return "nothing"
        if not _is_number(value):
            return str(value)
        return f"{value:.{self.digits}f} {self.unit}".rstrip()


def shown(rows: list[Row], most: int = 12) -> list[Row]:
    """The rows of one rule as a table shows them.

    If there are more than `most`: the row nearest to its limit, and those that do not hold.
    """
    if len(rows) <= most:
        return rows
    worst = max(rows, key=lambda row: (not row.ok, row.used))
    failed = [row for row in rows if not row.ok and row is not worst]
    held = sum(row.ok for row in rows)
    nearest = replace(worst, case=f"{held} of {len(rows)} cases; the nearest to its limit: {worst.case}")
    return [nearest, *failed[:most]]


def forms_of(table: dict[str, Any], where: str) -> tuple[str, ...]:
    """The forms under `in`; both if it is missing."""
    forms = tuple(table.get("in", FORMS))
    if not forms or not set(forms) <= set(FORMS):
        raise Error(f"{where}.in: any of {', '.join(FORMS)}")
    return forms


def _of(point: Point, value: str | float | None, names: dict[str, Value]) -> Value:
    """What a rule gives for a point: the value of a column, a number, or words."""
    if not isinstance(value, str):
        return value
    return point[value] if value in point else value.format(**names)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Value) -> float:
    if not _is_number(value):
        raise Error(f"{value!r}: expected a number to compare with")
    return float(value)


def _share(text: str | float) -> tuple[float, bool]:
    """The accepted deviation, and whether it is relative."""
    if isinstance(text, str):
        return float(text.removesuffix("%")) / 100, True
    return float(text), False


class _Plain(float):
    """A number that formats itself without needless decimals, unless the text has a format: `{rate:.2f}`."""

    def __format__(self, form: str) -> str:
        return float(self).__format__(form or "g")


def _plain(value: Value) -> Value:
    return _Plain(value) if isinstance(value, float) else value
