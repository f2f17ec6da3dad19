"""Checks: the `[[accept]]` tables of a figure, and the rows that they give for its points."""

import re
from dataclasses import dataclass, field, replace
from typing import Any

from quiclab._quiclab import Error
from quiclab.reproduce.points import Point, Points, Value, select

FORMS = ("full", "quick")
"""The two forms of a reproduction: in full, and with `--quick`."""

OF = ("number", "sentence", "ours")
"""What a row compares with: a number of the paper, a sentence of the paper, or a target of our own."""

_POINTS = {"%": "percentage points"}
"""The unit of a difference between two shares."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")

_WHOLE = {"": (0.0, 1.0), "%": (0.0, 100.0)}
"""The range of a share, by its unit."""


@dataclass(frozen=True)
class Row:
    """One check and its outcome."""

    name: str
    """What is checked, without measured values: unique in a figure, and the same in both forms."""
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
    room: float = 0.0
    """How far the value is from the nearest limit, in its unit; negative beyond it. Of a deviation: the share left."""
    detail: str = ""
    """Measured values beside `here`: the number of runs, an interval."""
    of: str = "ours"
    """What it compares with: one of `OF`."""
    cannot_fail: str = ""
    """Why it cannot fail; empty if it can."""
    suspect: str = ""
    """A sign that it cannot fail, found in its values; empty if there is none."""
    known: str = ""
    """Why it is known not to hold; empty if it is expected to hold."""
    among: str = ""
    """Words before the name, of a row that stands for others too: see `shown`."""

    @property
    def case(self) -> str:
        """Name and detail."""
        return f"{self.among}{self.name}{', ' if self.detail else ''}{self.detail}"

    @property
    def expected(self) -> bool:
        """Whether the outcome is the expected one: it holds, or does not hold and is known not to."""
        return self.ok != bool(self.known)

    @property
    def outcome(self) -> str:
        """See `outcome`."""
        return outcome(ok=self.ok, known=self.known, cannot_fail=self.cannot_fail)

    def to_dict(self) -> dict[str, str | bool]:
        """As plain values, for JSON."""
        return {
            "name": self.name,
            "case": self.case,
            "of": self.of,
            "paper": self.paper,
            "target": self.target,
            "here": self.here,
            "accept": self.accept,
            "ok": self.ok,
            "outcome": self.outcome,
            "known": self.known,
            "cannot_fail": self.cannot_fail,
        }


def outcome(*, ok: bool, known: str, cannot_fail: str) -> str:
    """`holds`, `cannot fail`, `differs, as known`, `differs`, or `holds, but is known to differ`."""
    if ok:
        return "holds, but is known to differ" if known else "cannot fail" if cannot_fail else "holds"
    return "differs, as known" if known else "differs"


@dataclass(frozen=True)
class Rule:
    """One `[[accept]]` table, which gives a row for each point that it selects.

    ::

        [[accept]]
        case = "MTU {mtu_bytes} B"     # the name of the row, filled in from the point: nothing measured
        detail = "{runs} runs"         # measured values behind it; default: none
        of = "number"                  # what it compares with: "number" or "sentence" of the paper, or "ours"
        where = { loss = 0.001 }       # which points; default: all. A list of values means any of them
        ours = [{ controller = "bbr3" }]  # of these, the points about which the paper says nothing: their rows are ours
        here = "throughput_mbps"       # the measured column
        paper = "theory_mbps"          # the value of the paper: another column, a number, or its own words
        target = 95                    # our own target: a column, a number, or words, filled in like `case`
        within = "0.5 %"               # the accepted deviation from the target, or else from the paper; or a number
        unit = "Mbit/s"
        digits = 2
        every = true                   # the page lists every row; default: see `shown`
        not_quick = "..."              # why the quick form does not judge it; default: it does
        cannot_fail = "..."            # why it holds whatever a run does: its rows are shown, and not counted
        can_fail = "..."               # why it can fail although its values look as if it could not: see `suspect`

    Instead of `within`: `at_least`, `at_most` or both, each a number or a column. A bound that is not the paper's own
    number needs a `target` that says so. `paper` is left out where the paper says nothing.
    """

    case: str
    here: str
    of: str
    detail: str = ""
    paper: str | float | None = None
    target: str | float | None = None
    within: str | float | None = None
    at_least: str | float | None = None
    at_most: str | float | None = None
    where: dict[str, Any] = field(default_factory=dict)
    ours: list[dict[str, Any]] = field(default_factory=list)
    unit: str = ""
    digits: int = 2
    every: bool = False
    not_quick: str = ""
    cannot_fail: str = ""
    can_fail: str = ""
    described: dict[str, Any] = field(default_factory=dict)
    """The table as read."""

    @staticmethod
    def read(table: dict[str, Any], origin: str) -> "Rule":
        """Reads a table. Raises `Error` for an unknown key, and if a required one is missing."""
        known = Rule.__dataclass_fields__.keys() - {"described"}
        unknown = table.keys() - known
        if unknown:
            raise Error(f"{origin}: accept.{sorted(unknown)[0]}: unknown key")
        if not {"case", "here"} <= table.keys() or not {"paper", "target"} & table.keys():
            raise Error(f"{origin}: accept: needs case, here, and paper or target")
        if table.get("of") not in OF:
            raise Error(f"{origin}: accept: of: one of {', '.join(OF)}")
        needed = "target" if table["of"] == "ours" else "paper"
        if needed not in table:
            raise Error(f"{origin}: accept: of is {table['of']!r}, which needs {needed}")
        if not {"within", "at_least", "at_most"} & table.keys():
            raise Error(f"{origin}: accept: needs within, at_least or at_most")
        if table["of"] == "ours" and "ours" in table:
            raise Error(f"{origin}: accept: of is 'ours', so no points need to be named")
        if {"cannot_fail", "can_fail"} <= table.keys():
            raise Error(f"{origin}: accept: cannot_fail or can_fail, not both")
        if "target" not in table:
            for word in ("at_least", "at_most"):
                if word in table and table[word] != table["paper"]:
                    raise Error(f"{origin}: accept: {word} is not the number of the paper, and needs a target")
        return Rule(**table, described=table)

    def rows(self, points: Points, *, quick: bool) -> list[Row]:
        """One row per selected point; none in the quick form with `not_quick`.

        If no point is selected, the full form gives one row, which does not hold; the quick form, which makes fewer
        runs, gives none.
        """
        if quick and self.not_quick:
            return []
        about = select(points, self.where)
        if not about and not quick:
            return [Row(self.case, "", "", "no such point", str(self.where), ok=False, of=self.of)]
        return [self._row(point) for point in about]

    def _row(self, point: Point) -> Row:
        names = {key: _plain(value) for key, value in point.items()}
        here = point.get(self.here)
        paper, target = (_of(point, value, names) for value in (self.paper, self.target))
        if isinstance(paper, str) and paper == self.paper and paper.isidentifier():
            raise Error(f"{self.case}: paper: no column {paper!r}; words of a paper need quotation marks")
        accepted = self._accepted(point, paper if target is None else target)
        of = "ours" if any(select([point], ours) for ours in self.ours) else self.of
        if of == "number":
            self._about(paper, accepted)
        if of != self.of:
            paper, target = None, paper if target is None else target
        measured = _number(here) if _is_number(here) else None
        sure = self.can_fail or self.cannot_fail or measured is None
        return Row(
            self.case.format(**names),
            self._said(paper),
            self._said(target),
            self._text(here),
            accepted.words,
            measured is not None and accepted.holds(measured),
            0.0 if measured is None else accepted.room(measured),
            self.detail.format(**names),
            of,
            self.cannot_fail,
            "" if sure or measured is None else self._suspect(measured, accepted),
        )

    def _accepted(self, point: Point, judged: Value) -> "_Accepted":
        conditions, low, high, middle, most = [], float("-inf"), float("inf"), None, 0.0
        if self.within is not None:
            off, share = _share(self.within)
            middle = _number(judged)
            most = off * abs(middle) if share else off
            unit = "" if share else f" {_POINTS.get(self.unit, self.unit)}".rstrip()
            conditions.append(f"within {self.within}{unit}")
        if self.at_least is not None:
            low = _number(point[self.at_least] if isinstance(self.at_least, str) else self.at_least)
            conditions.append(f"at least {self._text(low)}")
        if self.at_most is not None:
            high = _number(point[self.at_most] if isinstance(self.at_most, str) else self.at_most)
            conditions.append(f"at most {self._text(high)}")
        return _Accepted(", ".join(conditions), low, high, middle, most)

    def _about(self, paper: Value, accepted: "_Accepted") -> None:
        """Checks that a row of a number is about that number: a bound, or between two."""
        if isinstance(paper, str):
            # A range in words: "20 to 35 %".
            about = {float(number) for number in _NUMBER.findall(paper)} == {accepted.low, accepted.high}
        else:
            value = _number(paper)
            about = (accepted.two_sided and accepted.holds(value)) or value in (accepted.low, accepted.high)
        if not about:
            raise Error(f"{self.case}: of is 'number', but {accepted.words} is not about {paper!r}, that of the paper")

    def _suspect(self, measured: float, accepted: "_Accepted") -> str:
        """A sign in the values of a row that it cannot fail."""
        if measured in (accepted.low, accepted.high, accepted.middle):
            return "what is measured equals what it is compared with to the last digit"
        bounded = accepted.low > float("-inf") and accepted.high < float("inf")
        if bounded and self.unit in _WHOLE and all(accepted.holds(end) for end in _WHOLE[self.unit]):
            return "the condition accepts all that a share can be"
        return ""

    def _said(self, value: Value) -> str:
        return "" if value is None else self._text(value)

    def _text(self, value: Value) -> str:
        if value is None:
            return "nothing"
        if not _is_number(value):
            return str(value)
        return f"{value:.{self.digits}f} {self.unit}".rstrip()


@dataclass(frozen=True)
class _Accepted:
    """The condition of a row."""

    words: str
    low: float
    high: float
    middle: float | None
    """What `within` is about; None without it."""
    most: float
    """The accepted deviation from that."""

    @property
    def two_sided(self) -> bool:
        return self.middle is not None or (self.low > float("-inf") and self.high < float("inf"))

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high and (self.middle is None or abs(value - self.middle) <= self.most)

    def room(self, value: float) -> float:
        """How far a value is from the nearest limit."""
        if self.middle is not None and self.most > 0:
            return 1 - abs(value - self.middle) / self.most
        return min(value - self.low, self.high - value)


def unproved(rules: "tuple[Rule, ...]", points: Points, *, quick: bool) -> list[str]:
    """The rules all of whose rows look as if they could not fail, and that say neither `cannot_fail` nor `can_fail`."""
    found = []
    for rule in rules:
        signs = [row.suspect for row in rule.rows(points, quick=quick)]
        if signs and all(signs):
            found.append(f"{rule.case}: {signs[0]}")
    return found


def shown(rows: list[Row], most: int = 12) -> list[Row]:
    """The rows of one rule as a table shows them.

    If there are more than `most`: the row nearest to its limit, or farthest beyond it, and the others that do not hold.
    """
    if len(rows) <= most:
        return rows
    worst = min(rows, key=lambda row: (row.ok, row.room))
    failed = [row for row in rows if not row.ok and row is not worst]
    held = sum(row.ok for row in rows)
    where = "the nearest to its limit" if worst.ok else "the farthest beyond its limit"
    return [replace(worst, among=f"{held} of {len(rows)} cases; {where}: "), *failed]


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
    if value not in point:
        return value.format(**names)
    if point[value] is None:
        raise Error(
            f"{value!r} is the name of a column, which has no value here; words need to differ from all columns"
        )
    return point[value]


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
